#!/usr/bin/env python3
"""What operators do to a running server, and what they see of it."""

import os
import re
import signal
import subprocess
import threading
import unittest

from server_case import BINARY, LONG, ServerCase, eventually

GATE = '[[gate]]\nmatch = "g"\nlimit = {limit}\nttl = "{ttl}"\n'


class OperationsCase(ServerCase):
    CONFIG = GATE.format(limit=1, ttl="100s")

    def write_config(self, text):
        """As a careful editor does: nobody reads a half of it."""
        with open(self.config + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.config + ".new", self.config)

    def start_server(self, *arguments):
        self.config = os.path.join(self.dir, "airlock.toml")
        self.errors = os.path.join(self.dir, "stderr")
        self.write_config(self.CONFIG)
        command = [BINARY, "--store", self.store, "--listen", f"unix:{self.socket_path}", "--config", self.config, *arguments]
        with open(self.errors, "a", encoding="utf-8") as errors:
            server = self.start(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        self.listens = server.stdout.readline()
        self.assertIn("listens at", self.listens)
        return server

    def said(self):
        with open(self.errors, encoding="utf-8") as file:
            return file.read()

    def await_said(self, text, times=1):
        self.assertTrue(eventually(lambda: self.said().count(text) >= times), self.said())

    def metric(self, name):
        """The value of one series, or None."""
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.http.ask("GET", "/metrics").body, re.MULTILINE)
        return float(found[1]) if found else None

    def await_metric(self, name, value):
        self.assertTrue(eventually(lambda: self.metric(name) == value), f"{name} is {self.metric(name)}, not {value}")

    def reload(self, text, generation):
        self.write_config(text)
        self.server.send_signal(signal.SIGHUP)
        self.await_metric("airlock_server_config_generation", generation)


class Reload(OperationsCase):
    def test_a_new_file_counts_for_new_requests(self):
        self.assertEqual(self.metric("airlock_server_config_generation"), 1)
        loaded_at = self.metric("airlock_server_config_loaded_timestamp_seconds")
        self.assertEqual(self.admit("g").status, 200)
        self.assertEqual(self.admit("g").status, 429)
        self.reload(GATE.format(limit=2, ttl="9s"), 2)
        self.assertAlmostEqual(self.admit("g").json["expires_in_seconds"], 9)
        self.assertGreaterEqual(self.metric("airlock_server_config_loaded_timestamp_seconds"), loaded_at)
        self.assertEqual(self.metric("airlock_server_config_failed_reloads_total"), 0)
        self.assertEqual(self.metric("airlock_server_config_failed_timestamp_seconds"), 0)
        self.await_said(f"reloaded: {self.config} is configuration 2")

    def test_a_request_keeps_the_configuration_that_it_began_with(self):
        token = self.admit("g").json["token"]
        waiter = self.client()
        waiter.write_request("POST", "/v1/gates/g/admit", {"wait": "1h"})
        self.await_waiting("g", 1)
        self.reload(GATE.format(limit=1, ttl="9s"), 2)
        self.http.post("/v1/release", {"token": token})
        granted = waiter.read_answer().json
        self.assertAlmostEqual(granted["expires_in_seconds"], 100)

    def test_a_mistake_changes_nothing(self):
        for number, (text, rule) in enumerate([
                ('[[gate]]\nmatch = "g"\nlimit = 5\n[[gate]]\nmatch = "h"\nlimit = 0\n', f"{self.config}:6: gate[2].limit: "),
                ("[[gate]\n", "is not TOML"), ('[server]\nlisten = "tcp:0.0.0.0:1"\n', "server.listen")], start=1):
            self.write_config(text)
            self.server.send_signal(signal.SIGHUP)
            self.await_metric("airlock_server_config_failed_reloads_total", number)
            self.await_said("not reloaded, nothing has changed: ", number)
            self.assertIn(rule, self.said().splitlines()[-1])
        os.unlink(self.config)
        self.server.send_signal(signal.SIGHUP)
        self.await_metric("airlock_server_config_failed_reloads_total", 4)
        self.assertGreater(self.metric("airlock_server_config_failed_timestamp_seconds"), 0)
        self.assertEqual(self.metric("airlock_server_config_generation"), 1)
        self.assertEqual((self.admit("g").status, self.admit("g").status), (200, 429))
        self.reload(GATE.format(limit=2, ttl="9s"), 2)
        self.assertEqual(self.admit("g").status, 200)

    def test_what_needs_a_restart_is_said(self):
        self.reload('[server]\nlisten = "tcp:127.0.0.1:1"\nstore = "memory:"\nthreads = 7\n' + self.CONFIG, 2)
        for key in ("listen", "store", "threads"):
            self.await_said(f"server.{key} has changed, which takes effect when the server starts the next time")
        self.reload(self.CONFIG, 3)
        self.await_said("is configuration 3")
        self.assertEqual(self.said().count("has changed"), 3)

    def test_under_load(self):
        """Every request is answered by one of the two files, and by no mixture, whatever is loaded meanwhile."""
        both = [f'[[gate]]\nmatch = "g"\nlimit = {limit}\nttl = "{ttl}s"\nrates = "{limit}000000/1s"\n'
                for limit, ttl in ((100, 10), (200, 20))]
        self.reload(both[0], 2)
        seen, failures, is_over = set(), [], threading.Event()

        def ask(client):
            while not is_over.is_set():
                answer = self.admit("g", client)
                if answer.status != 200:
                    return failures.append(answer)
                granted = answer.json
                seen.add((round(granted["expires_in_seconds"]), granted["rate"]["limit"]))
                if client.post("/v1/release", {"token": granted["token"]}).status != 200:
                    return failures.append(granted)

        threads = [threading.Thread(target=ask, args=(self.client(),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            for generation in range(3, 23):
                self.write_config("limit = wrong")
                self.server.send_signal(signal.SIGHUP)
                self.await_metric("airlock_server_config_failed_reloads_total", generation - 2)
                self.reload(both[generation % 2], generation)
        finally:
            is_over.set()
            for thread in threads:
                thread.join(LONG)
        self.assertEqual(failures, [])
        self.assertEqual(seen, {(10, 100000000), (20, 200000000)})


class ReloadWithoutAFile(ServerCase):
    def test_changes_nothing(self):
        self.server.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: "airlock_server_config_failed_reloads_total 1\n" in
                                   self.http.ask("GET", "/metrics").body))
        self.assertEqual(self.http.ask("GET", "/live").status, 200)


if __name__ == "__main__":
    unittest.main()
