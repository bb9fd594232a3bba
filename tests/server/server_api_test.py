#!/usr/bin/env python3
"""The calls over memory: and over shared memory."""

import os
import re
import shutil
import subprocess
import unittest

import server_api_cases as cases
from server_case import BINARY, Client, ServerCase

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/server.md")


class Memory(cases.Admit, cases.Groups, cases.Visitors, cases.Streams, cases.Take, cases.Operators, cases.Probes, ServerCase):
    STORE = "memory:"

    def expect_nobody_is_left(self):
        self.assertFalse(os.path.exists(self.socket_path))

    def test_unix_sockets_are_private_and_not_taken_over(self):
        self.assertEqual(os.stat(self.socket_path).st_mode & 0o777, 0o600)
        second = subprocess.run([BINARY, "--store", "memory:", "--listen", f"unix:{self.socket_path}"], check=False,
                                timeout=120, stderr=subprocess.PIPE, text=True)
        self.assertEqual(second.returncode, 69)
        self.assertIn("in use", second.stderr)
        self.assertEqual(self.http.ask("GET", "/live").status, 200)
        self.server.kill()
        self.server.wait()
        self.start_server()  # What the first left behind is replaced.
        self.assertEqual(self.client().ask("GET", "/live").status, 200)

    def test_listens_where_only_this_machine_comes(self):
        for where in ("tcp:0.0.0.0:0", "tcp:[::]:0", "tcp:192.0.2.1:80", "tcp:example:80", "tcp:127.0.0.1", "tcp:127.0.0.1:x",
                      "tcp:127.0.0.1:65536", "unix:", "x", "unix:" + 200 * "a"):
            done = subprocess.run([BINARY, "--store", "memory:", "--listen", where], check=False, timeout=120,
                                  stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 64, where)
            self.assertIn("--listen", done.stderr)

    @unittest.skipUnless(shutil.which("curl") and shutil.which("jq"), "curl or jq is not installed")
    def test_the_example_of_the_page(self):
        with open(PAGE, encoding="utf-8") as file:
            start, example = file.read().split("```sh\n")[1].split("```")[0].split("\n", 1)
        self.assertTrue(start.startswith("airlock-server "))
        server = self.start([BINARY, "--store", "memory:", "--listen", "tcp:127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
        where = re.search(r"127\.0\.0\.1:\d+", server.stdout.readline())[0]
        done = subprocess.run(["bash", "-c", example.replace("127.0.0.1:8420", where)], check=False, timeout=120,
                              stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 28)  # The time of the last one is up.
        answers = re.findall(r'"answer":"(\w+)"', done.stdout)
        self.assertEqual(answers, ["renewed", "released", "granted", "granted"])

    def test_a_visitor_of_another_principal_is_another_visitor(self):
        self.stop_server()
        self.server = self.start_server("--listen", "tcp:127.0.0.1:0")
        local = self.client()
        remote = Client(("127.0.0.1", int(re.search(r"127\.0\.0\.1:(\d+)", self.listens)[1])))
        self.clients.append(remote)
        held = self.admit("g", local, limit=1, visitor="ann").json
        self.assertEqual(self.admit("g", remote, limit=1, visitor="ann").json["answer"], "queued")
        self.assertEqual(self.admit("g", local, limit=1, visitor="ann").json["token"], held["token"])
        self.assertEqual(local.ask("DELETE", "/v1/gates/g/visitors/ann").status, 404)
        self.assertEqual(remote.ask("DELETE", "/v1/gates/g/visitors/ann").status, 200)

    def test_passwords_are_not_shown(self):
        server = self.start([BINARY, "--store", "redis://user:hunter2@127.0.0.1:1/0?timeout=1s", "--listen", "tcp:127.0.0.1:0"],
                            stdout=subprocess.PIPE, text=True)
        line = server.stdout.readline()
        self.assertIn("redis://", line)
        self.assertNotIn("hunter2", line)


class SharedMemory(cases.Admit, cases.Groups, cases.Visitors, cases.Streams, cases.Take, cases.Operators, cases.Probes, ServerCase):
    STORE = "shm:test?dir=DIR/store"

    def expect_nobody_is_left(self):
        self.server = self.start_server()
        self.http = self.client()
        self.assertEqual((self.show("g")["in_use"], self.show("g")["waiting"]), (0, 0))


if __name__ == "__main__":
    unittest.main()
