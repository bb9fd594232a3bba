#!/usr/bin/env python3
"""Many clients, and clients that are killed: never over the limit, and nothing is left behind."""

import os
import random
import signal
import threading
import time
import unittest

from server_case import LONG, Client, ServerCase, eventually

LIMIT = 3


def hold_and_let_go(path, seed, ready):
    """A process: holds by a connection and goes away, again and again, until it is killed."""
    chance = random.Random(seed)
    os.write(ready, b"r")
    while True:
        client = Client(path)
        if chance.random() < 0.3:
            client.write_request("POST", "/v1/gates/g/admit", {"limit": LIMIT, "wait": "1h"}, Accept="text/event-stream")
            if chance.random() < 0.5:
                client.read_head()
        else:
            client.begin_stream("/v1/gates/g/admit", {"limit": LIMIT, "wait": "1h"})
            while client.read_event()[0] != "granted":
                pass
            time.sleep(chance.random() * 0.004)
        client.close()


class Crowd(ServerCase):
    STORE = "shm:test?dir=DIR/store"

    def start_client(self, seed):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                hold_and_let_go(self.socket_path, seed, write)
            finally:
                os._exit(1)
        os.close(write)
        os.read(read, 1)
        os.close(read)
        return pid

    def test_clients_that_are_killed_while_they_hold(self):
        chance = random.Random(int(os.environ.get("AIRLOCK_TEST_SEED", "1")))
        pids = []

        def kill(pid):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

        try:
            pids = [self.start_client(seed) for seed in range(8)]
            seen = 0
            for round_ in range(60):
                shown = self.show("g")
                self.assertLessEqual(shown["in_use"], LIMIT)
                self.assertLessEqual(len(shown["holders"]), LIMIT)
                seen = max(seen, shown["in_use"])
                kill(pids.pop(chance.randrange(len(pids))))
                pids.append(self.start_client(100 + round_))
            self.assertEqual(seen, LIMIT)
        finally:
            for pid in pids:
                kill(pid)
        self.await_in_use("g", 0)
        self.await_waiting("g", 0)
        self.assertEqual(self.http.ask("DELETE", "/v1/gates/g").status, 204)

    def test_a_slot_of_a_client_that_is_gone_is_taken_at_once(self):
        spans = []
        for _ in range(20):
            holder, waiter = self.client(), self.client()
            holder.begin_stream("/v1/gates/g/admit", {"limit": 1})
            self.assertEqual(holder.read_event()[0], "granted")
            waiter.write_request("POST", "/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
            self.await_waiting("g", 1)
            begin = time.monotonic()
            holder.close()
            token = waiter.read_answer().json["token"]
            spans.append(time.monotonic() - begin)
            self.http.post("/v1/release", {"token": token})
        print(f"gone to granted: median {sorted(spans)[10] * 1e3:.2f} ms")
        # Far below the ttl of 30 s and every interval at which something is asked again.
        self.assertLess(sorted(spans)[10], 0.5)

    def test_1000_idle_and_200_waiting(self):
        idle = [self.client() for _ in range(1000)]
        token = self.admit("g", limit=1).json["token"]
        waiters = [self.client() for _ in range(200)]
        for waiter in waiters:
            waiter.write_request("POST", "/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
        self.await_waiting("g", 200)
        fences = []
        done = []

        def answer(client):
            granted = client.read_answer().json
            fences.append(granted["fence"])
            done.append(client.post("/v1/release", {"token": granted["token"]}).status)

        threads = [threading.Thread(target=answer, args=(waiter,)) for waiter in waiters]
        for thread in threads:
            thread.start()
        self.http.post("/v1/release", {"token": token})
        for thread in threads:
            thread.join(LONG)
        self.assertEqual(done, 200 * [200])
        self.assertEqual(len(set(fences)), 200)
        self.assertTrue(all(client.ask("GET", "/live").status == 200 for client in idle))
        self.assertEqual((self.show("g")["in_use"], self.show("g")["waiting"]), (0, 0))
        status, seconds = self.stop_server()
        self.assertEqual(status, 0)
        self.assertLess(seconds, 10)


if __name__ == "__main__":
    unittest.main()
