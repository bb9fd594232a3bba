#!/usr/bin/env python3
"""The waiting room over Redis: the same promises, and an admitted visitor needs no store."""

import signal
import unittest

import server_room_test as room
from server_case import RedisServer, eventually


class Waiting(RedisServer, room.Waiting):
    # What it starts again is over shm.
    test_the_server_stops_and_another_finds_the_places = None


class Checks(RedisServer, room.Checks):
    def test_a_visitor_with_a_pass_needs_no_store(self):
        visitor = self.admitted()
        self.redis.send_signal(signal.SIGSTOP)
        for _ in range(20):
            self.assertEqual(self.check(visitor).status, 204)
        self.redis.send_signal(signal.SIGCONT)

    def test_a_store_that_does_not_answer_is_a_page(self):
        self.admitted()
        visitor = self.visitor()
        client, _ = visitor.open_page()
        self.redis.kill()
        self.redis.wait()
        self.assertTrue(eventually(lambda: 'data-state="outage"' in visitor.ask("?plain=1").body))


if __name__ == "__main__":
    unittest.main()
