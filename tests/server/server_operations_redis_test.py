#!/usr/bin/env python3
"""What operators see, and what one address may have, while Redis does not answer."""

import shutil
import signal
import unittest

from server_case import REDIS_SERVER, RedisServer, eventually
from server_operations_test import OperationsCase


class ErrorLog(OperationsCase):
    def prepare_store(self):
        self.store = "redis://127.0.0.1:1?timeout=1s"

    def test_a_kind_of_errors_has_10_lines_at_most(self):
        for _ in range(25):
            self.assertEqual(self.http.post("/v1/gates/g/admit", {"limit": 1}).status, 503)
        self.await_said("airlock-server: store: ", 10)
        self.assertEqual(self.metric("airlock_server_store_available"), 0)
        self.assertEqual(self.stop_server()[0], 0)
        self.assertEqual(self.said().count("airlock-server: store: "), 11)
        self.assertIn("airlock-server: store: 15 more lines were suppressed\n", self.said())


@unittest.skipUnless(shutil.which(REDIS_SERVER), f"{REDIS_SERVER} is not installed")
class Hanging(RedisServer, OperationsCase):
    CONFIG = '[server]\ntrusted_proxies = ["unix"]\n'

    def live_from(self, address):
        return self.http.ask("GET", "/live", X_Forwarded_For=address)

    def test_an_address_has_256_requests_at_once(self):
        self.redis.send_signal(signal.SIGSTOP)
        clients = [self.client() for _ in range(256)]
        for client in clients:
            client.write_request("GET", "/v1/gates/g", X_Forwarded_For="192.0.2.1")
        self.assertTrue(eventually(lambda: self.live_from("192.0.2.1").status == 429))
        refused = self.live_from("192.0.2.1")
        self.assertEqual(refused.fields["retry-after"], "1")
        self.assertIn("one address may have 256 requests", refused.json["detail"])
        self.assertEqual(self.live_from("192.0.2.2").status, 200)
        self.redis.send_signal(signal.SIGCONT)
        self.assertEqual({client.read_answer().status for client in clients}, {404})
        self.assertEqual(self.live_from("192.0.2.1").status, 200)
        self.assertGreater(self.metric('airlock_server_refused_total{cap="address_connections"}'), 1)


if __name__ == "__main__":
    unittest.main()
