#!/usr/bin/env python3
"""The calls over Redis, and what is answered while it does not answer."""

import shutil
import signal
import unittest

import server_api_cases as cases
from server_case import REDIS_SERVER, RedisServer, ServerCase, eventually


@unittest.skipUnless(shutil.which(REDIS_SERVER), f"{REDIS_SERVER} is not installed")
class Redis(RedisServer, cases.Admit, cases.Visitors, cases.Streams, cases.Take, cases.Operators, cases.Probes, ServerCase):
    def expect_nobody_is_left(self):
        self.server = self.start_server()
        self.http = self.client()
        self.await_in_use("g", 0)
        self.await_waiting("g", 0)

    def test_no_loop_waits_for_a_server_that_hangs(self):
        self.admit("g", limit=1)
        self.redis.send_signal(signal.SIGSTOP)
        hanging = self.client()
        hanging.write_request("POST", "/v1/gates/g/admit", {"limit": 1})
        for _ in range(10):
            self.assertEqual(self.client().ask("GET", "/live").status, 200)
        hanging.socket.setblocking(False)
        with self.assertRaises(BlockingIOError):
            hanging.socket.recv(1)
        hanging.socket.setblocking(True)
        self.redis.send_signal(signal.SIGCONT)
        self.assertEqual(hanging.read_answer().status, 429)

    def test_a_server_that_is_down_is_503(self):
        self.redis.kill()
        self.redis.wait()
        answer = self.admit("g", limit=1)
        self.assertEqual(answer.status, 503)
        self.assertEqual(answer.fields["content-type"], "application/problem+json")
        self.assertIn("retry-after", answer.fields)
        self.assertEqual(self.http.ask("GET", "/live").status, 200)


if __name__ == "__main__":
    unittest.main()
