#!/usr/bin/env python3
"""The calls over Redis, and what is answered while it does not answer."""

import os
import select
import shutil
import signal
import subprocess
import unittest

import server_api_cases as cases
from holding_proxy import HoldingProxy
from server_case import BINARY, LONG, REDIS_SERVER, Client, RedisServer, ServerCase, eventually


@unittest.skipUnless(shutil.which(REDIS_SERVER), f"{REDIS_SERVER} is not installed")
class Redis(RedisServer, cases.Admit, cases.Groups, cases.Visitors, cases.Streams, cases.Take, cases.Operators, cases.Probes, ServerCase):
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


@unittest.skipUnless(shutil.which(REDIS_SERVER), f"{REDIS_SERVER} is not installed")
class LeavingLate(RedisServer, ServerCase):
    """What clients of a server read while its question to leave the line is on the way. Another server sees the store."""

    def prepare_store(self):
        super().prepare_store()
        direct, path = self.store, os.path.join(self.dir, "proxy.sock")
        self.proxy = HoldingProxy(path, os.path.join(self.dir, "redis.sock"))
        self.addCleanup(self.proxy.close)
        self.store = f"redis+unix://{path}?timeout=30s"
        self.other_path = os.path.join(self.dir, "other.sock")
        other = self.start([BINARY, "--store", direct, "--listen", f"unix:{self.other_path}"], stdout=subprocess.PIPE, text=True)
        self.assertIn("listens at", other.stdout.readline())

    def start_server(self, *arguments):
        """Nothing but the callers asks the store."""
        path = os.path.join(self.dir, "airlock.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("[dashboard]\nhistory = false\n")
        return super().start_server("--config", path, *arguments)

    def setUp(self):
        super().setUp()
        self.http.ask("DELETE", "/v1/gates/probe/visitors/nobody")
        self.leave_script = self.proxy.scripts[-1]
        self.waiter, self.http = self.http, self.other()

    def other(self):
        self.clients.append(Client(self.other_path))
        return self.clients[-1]

    def begin(self, is_stream):
        """The waiter's time is up, and the server has begun to leave."""
        self.token = self.admit("g", limit=1).json["token"]
        self.proxy.hold(self.leave_script)
        body = {"limit": 1, "wait": "1s"}
        if is_stream:
            self.waiter.begin_stream("/v1/gates/g/admit", body)
            self.assertEqual(self.waiter.read_event()[0], "queued")
        else:
            self.waiter.write_request("POST", "/v1/gates/g/admit", body)
        self.assertTrue(self.proxy.await_held(LONG))

    def expect_refused_after_leaving(self, is_stream):
        self.begin(is_stream)
        is_early = bool(select.select([self.waiter.socket], [], [], 0.3)[0])
        self.assertEqual((is_early, self.show("g")["waiting"]), (False, 1))
        self.proxy.let_go()
        answer = self.waiter.read_event()[1] if is_stream else self.waiter.read_answer().json
        self.assertEqual((answer["answer"], answer["reason"]), ("refused", "late"))
        self.assertEqual(self.show("g")["waiting"], 0)

    def test_a_stream_that_has_read_refused_has_no_place(self):
        self.expect_refused_after_leaving(is_stream=True)

    def test_a_caller_that_has_read_refused_has_no_place(self):
        self.expect_refused_after_leaving(is_stream=False)

    def test_a_slot_handed_over_meanwhile_goes_to_the_next(self):
        for is_stream in (True, False):
            self.begin(is_stream)
            follower = self.other()
            follower.write_request("POST", "/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
            self.await_waiting("g", 2)
            self.http.post("/v1/release", {"token": self.token})
            self.await_waiting("g", 1)  # The slot is the waiter's.
            self.proxy.let_go()
            answer = self.waiter.read_event()[1] if is_stream else self.waiter.read_answer().json
            self.assertEqual(answer["reason"], "late")
            granted = follower.read_answer().json
            self.assertEqual(granted["answer"], "granted")
            self.assertEqual((self.show("g")["in_use"], self.show("g")["waiting"]), (1, 0))
            self.assertEqual(self.http.post("/v1/release", {"token": granted["token"]}).status, 200)
            self.waiter = self.client()

    def lose_redis(self, is_stream):
        self.begin(is_stream)
        self.redis.kill()
        self.redis.wait()
        self.proxy.let_go()

    def test_a_stream_whose_place_could_not_be_given_up_is_not_refused(self):
        self.lose_redis(is_stream=True)
        with self.assertRaises(EOFError):
            self.waiter.read_event()

    def test_a_caller_whose_place_could_not_be_given_up_is_not_refused(self):
        self.lose_redis(is_stream=False)
        self.assertEqual(self.waiter.read_answer().status, 503)

    def test_a_server_that_stops_leaves_before_it_says_so(self):
        self.admit("g", limit=1)
        self.proxy.hold(self.leave_script)
        self.waiter.begin_stream("/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
        self.assertEqual(self.waiter.read_event()[0], "queued")
        self.server.send_signal(signal.SIGTERM)
        self.assertTrue(self.proxy.await_held(LONG))
        self.assertFalse(select.select([self.waiter.socket], [], [], 0.3)[0])
        self.proxy.let_go()
        self.assertEqual(self.waiter.read_event(), ("refused", {"reason": "draining"}))
        self.assertEqual(self.show("g")["waiting"], 0)


if __name__ == "__main__":
    unittest.main()
