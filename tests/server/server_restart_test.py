#!/usr/bin/env python3
"""kill -9 of the server under load, and the next server at the same store: what was held by connections ends, what was promised
to clients is kept, and named visitors find their places."""

import random
import shutil
import signal
import threading
import time
import unittest

from server_case import LONG, REDIS_SERVER, Client, RedisServer, ServerCase, eventually

LIMIT = 3


class Load(threading.Thread):
    """A client that holds by its connection or by a token, or goes away while it waits, again and again."""

    def __init__(self, path, seed):
        super().__init__()
        self.path, self.chance = path, random.Random(seed)
        self.fences, self.problems, self.is_over = [], [], threading.Event()

    def run(self):
        while not self.is_over.is_set():
            try:
                with Client(self.path) as client:
                    client.socket.settimeout(LONG)
                    self.use(client)
            except (OSError, EOFError):  # The server was killed.
                time.sleep(0.01)

    def use(self, client):
        body = {"limit": LIMIT, "ttl": "2s", "wait": "100s"}
        if self.chance.random() < 0.2:
            return client.write_request("POST", "/v1/gates/g/admit", body)
        if self.chance.random() < 0.5:
            client.begin_stream("/v1/gates/g/admit", body)
            name, event = client.read_event()
            while name == "queued":
                name, event = client.read_event()
            if name != "granted":
                return self.problems.append(event)
            self.fences.append(event["fence"])
            return time.sleep(self.chance.random() * 0.01)
        answer = client.post("/v1/gates/g/admit", body)
        if answer.status != 200:
            return self.problems.append(answer)
        self.fences.append(answer.json["fence"])
        client.post("/v1/release", {"token": answer.json["token"]})


class Restart:
    def kill_and_restart(self):
        self.server.send_signal(signal.SIGKILL)
        self.server.wait(LONG)
        for client in self.clients:
            client.close()
        self.server = self.start_server()
        self.http = self.client()

    def ask_as(self, visitor, **fields):
        return self.admit("line", limit=1, ttl="1h", visitor=visitor, **fields).json

    def expect_places(self, token):
        again = self.ask_as("first")
        self.assertEqual((again["answer"], again["token"], again["repeated"]), ("granted", token, True))
        self.assertEqual([self.ask_as(visitor)["position"] for visitor in ("ann", "bob", "cat")], [1, 2, 3])

    def test_kill_9_under_load(self):
        token = self.ask_as("first")["token"]
        self.expect_places(token)
        kept = self.admit("kept", limit=1, ttl="1h").json["token"]
        load = [Load(self.socket_path, seed) for seed in range(8)]
        try:
            for thread in load:
                thread.start()
            for _ in range(4):
                self.assertTrue(eventually(lambda: self.show("g")["in_use"] == LIMIT and self.show("g")["waiting"] > 0))
                waiting = self.client()  # Killed while it waits, too.
                waiting.write_request("POST", "/v1/gates/line/admit", {"limit": 1, "visitor": "ann", "wait": "1h"})
                self.expect_places(token)
                self.kill_and_restart()
                self.expect_places(token)
                self.assertEqual(self.http.post("/v1/renew", {"token": kept, "ttl": "1h"}).status, 200)
                for _ in range(20):
                    shown = self.show("g")
                    self.assertLessEqual(shown["in_use"], LIMIT)
                    self.assertLessEqual(len(shown["holders"]), LIMIT)
            reached = sum(len(thread.fences) for thread in load)
            self.assertTrue(eventually(lambda: sum(len(thread.fences) for thread in load) > reached + 20))
        finally:
            for thread in load:
                thread.is_over.set()
            for thread in load:
                thread.join(LONG)
        self.assertEqual([problem for thread in load for problem in thread.problems], [])
        fences = [fence for thread in load for fence in thread.fences]
        self.assertEqual(len(set(fences)), len(fences))
        self.await_in_use("g", 0)
        self.await_waiting("g", 0)
        self.assertEqual(self.http.post("/v1/release", {"token": token}).status, 200)
        self.assertTrue(eventually(lambda: self.ask_as("ann")["answer"] == "granted"))

    def test_what_is_held_by_a_connection(self):
        holder = self.client()
        holder.begin_stream("/v1/gates/g/admit", {"limit": 1, "ttl": self.TTL})
        self.assertEqual(holder.read_event()[0], "granted")
        self.kill_and_restart()
        begin = time.monotonic()
        granted = self.admit("g", limit=1, wait="100s").json
        self.assertEqual(granted["answer"], "granted")
        self.assertGreater(granted["fence"], 0)
        self.assertLess(time.monotonic() - begin, 60)  # Of a ttl of 1 h, where the store notices the death itself.


class SharedMemory(Restart, ServerCase):
    STORE = "shm:test?dir=DIR/store"
    TTL = "1h"


@unittest.skipUnless(shutil.which(REDIS_SERVER), f"{REDIS_SERVER} is not installed")
class Redis(RedisServer, Restart, ServerCase):
    TTL = "2s"


if __name__ == "__main__":
    unittest.main()
