#!/usr/bin/env python3
"""The rate limit service over Redis: the same decisions."""

import os
import signal
import unittest

import server_rls_test
from http2_client import RATE_LIMIT, Http2Client, message
from server_case import RedisServer


class Decisions(RedisServer, server_rls_test.Decisions):
    pass


class Concurrency(RedisServer, server_rls_test.Concurrency):
    pass


class Outage(RedisServer, server_rls_test.RlsCase):
    def test_a_store_that_does_not_answer_is_no_answer(self):
        self.redis.kill()
        self.redis.wait()
        user = server_rls_test.entries(("user", "ann"))
        self.assertEqual(self.ask(user).status, 503)
        self.assertEqual(self.codes(server_rls_test.entries(("internal", "x"))), ("OK", ["OK"]))


class Deadlines(RedisServer, server_rls_test.RlsCase):
    # RateLimitRequest: domain "edge", one descriptor with the entry ("user", "ann").
    ASK = message(b"\x0a\x04edge\x12\x0d\x0a\x0b\x0a\x04user\x12\x03ann")
    CHECK = "/grpc.health.v1.Health/Check"

    def start_server(self, *arguments):
        self.grpc_path = os.path.join(self.dir, "grpc.sock")
        return super().start_server("--listen", f"grpc+unix:{self.grpc_path}", *arguments)

    def call(self, body, *fields):
        client = Http2Client(self.grpc_path)
        self.clients.append(client)
        return client.call(body, *fields)

    def test_a_call_is_answered_by_its_deadline_while_the_store_does_not_answer(self):
        self.assertEqual(len(self.call(self.ASK)[0]), 2)  # A head and trailers: an answer.
        self.redis.send_signal(signal.SIGSTOP)
        heads, body = self.call(self.ASK, RATE_LIMIT, ("grpc-timeout", "200m"))
        self.assertEqual((len(heads), body), (1, b""))
        # The loop is not blocked, also where more calls wait than there are threads that ask.
        waiting = [Http2Client(self.grpc_path) for _ in range(20)]
        self.clients += waiting
        for client in waiting:
            stream = client.begin()
            client.send(b"\0\0" + bytes([len(self.ASK)]) + b"\0\1" + stream.to_bytes(4, "big") + self.ASK)
        self.assertEqual(self.call(message(b""), self.CHECK)[1], message(b"\x08\x01"))
        self.redis.send_signal(signal.SIGCONT)
        for client in waiting:
            self.assertEqual(len(client.read_answer_of(1)[0]), 2)


if __name__ == "__main__":
    unittest.main()
