#!/usr/bin/env python3
"""The rate limit service over Redis: the same decisions."""

import unittest

import server_rls_test
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


if __name__ == "__main__":
    unittest.main()
