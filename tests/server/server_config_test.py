#!/usr/bin/env python3
"""airlock.toml: what it defines counts for callers that bring no limits; a mistake in it is named by file, line and key."""

import os
import subprocess
import unittest

from server_case import BINARY, LONG, ServerCase

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../server/airlock.toml")
GATES = """
[[gate]]
match = "erp"
limit = 1
ttl = "7s"
max_waiting = 1

[[gate]]
match = "mails:*"
rates = ["2/1h", "100/1h,sliding"]

[[gate]]
match = "disk/*"
limit = 1

[[gate]]
match = "shop/*"
limit = 2
rates = "1/1h"
order = "priority"
wait = "20ms"
"""


class ConfigCase(ServerCase):
    CONFIG = GATES

    def config_file(self, text):
        path = os.path.join(self.dir, "airlock.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def start_server(self, *arguments):
        return super().start_server("--config", self.config_file(self.CONFIG), *arguments)


class Gates(ConfigCase):
    def test_a_limit_is_that_of_the_gate(self):
        granted = self.admit("erp")
        self.assertEqual(granted.status, 200)
        self.assertAlmostEqual(granted.json["expires_in_seconds"], 7)
        refused = self.admit("erp")
        self.assertEqual((refused.status, refused.json["reason"]), (429, "full"))
        self.assertEqual(self.admit("erp", limit=2).status, 200)

    def test_a_line_is_as_long_as_the_gate_says(self):
        self.admit("erp")
        self.assertEqual(self.admit("erp", visitor="ann").status, 202)
        refused = self.admit("erp", visitor="bob")
        self.assertEqual((refused.status, refused.json["reason"]), (429, "line_full"))

    def test_rates_are_those_of_the_gate(self):
        for _ in range(2):
            self.assertEqual(self.http.post("/v1/gates/mails:ann/take", {}).status, 200)
        self.assertEqual(self.http.post("/v1/gates/mails:ann/take", {}).status, 429)
        self.assertEqual(self.http.post("/v1/gates/mails:bob/take", {}).status, 200)
        self.assertEqual(self.admit("mails:eve", cost=2).json["rate"]["remaining"], 0)

    def test_limit_rates_order_and_wait_together(self):
        self.assertEqual(self.admit("shop~till", priority=3).status, 200)
        refused = self.admit("shop~till", priority=3)
        self.assertEqual(refused.status, 429)
        self.assertEqual(refused.json["reason"], "late")  # It has waited.
        self.assertEqual(self.admit("shop~till", join=False).json["reason"], "rate")
        self.assertEqual(self.admit("shop~till", rates=["5/1m"]).status, 200)

    def test_gates_of_a_group_by_name_alone(self):
        for status in (200, 429):
            self.assertEqual(self.http.post("/v1/admit", {"gates": ["disk/read", {"gate": "disk/write"}]}).status, status)
        refused = self.http.post("/v1/admit", {"gates": ["disk/read", "other/write"]})
        self.assertEqual((refused.status, refused.json["field"]), (400, "gates[1].limit"))

    def test_other_gates_need_limits(self):
        self.assertEqual((self.admit("other").status, self.admit("other").json["field"]), (400, "limit"))
        refused = self.http.post("/v1/gates/erp/take", {})
        self.assertEqual((refused.status, refused.json["field"]), (400, "rates"))
        self.assertEqual(self.admit("erp", weight=2).json["field"], "weight")
        self.assertEqual(self.admit("mails:ann", ttl="1s").json["field"], "ttl")


class FileCase(unittest.TestCase):
    def check(self, text):
        command = [BINARY, "--config", "/dev/stdin", "--check"]
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=LONG, check=False)

    def refuses(self, text, line, key, rule):
        done = self.check(text)
        self.assertEqual((done.returncode, done.stdout), (64, ""), text)
        place = f"airlock-server: /dev/stdin:{line}: {key}: "
        self.assertTrue(done.stderr.startswith(place), f"{text}\n{done.stderr}")
        self.assertIn(rule, done.stderr[len(place):])


class Hosts(ConfigCase):
    CONFIG = '[server]\nhosts = ["airlock.example"]\n'

    def test_browsers_may_ask_for_hosts_of_the_list(self):
        def status(host, origin):
            client = self.client()
            client.send(f"GET /v1/gates HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n\r\n")
            return client.read_answer().status

        self.assertEqual(status("Airlock.Example:8443", "https://airlock.example:8443"), 200)
        self.assertEqual(status("localhost", "http://localhost"), 200)
        for host in ("example", "evil.airlock.example", "airlock.example.evil"):
            self.assertEqual(status(host, f"https://{host}"), 421, host)
        self.assertEqual(status("airlock.example", "https://evil.example"), 403)


class Checks(FileCase):
    def test_good_files(self):
        for text in ("", GATES, '[server]\nlisten = "tcp:127.0.0.1:0"\nthreads = 1\nstore = "memory:"\n'):
            done = self.check(text)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "/dev/stdin: good\n", ""))

    def test_what_is_no_toml(self):
        done = self.check("[server]\nlisten = [\n")
        self.assertEqual(done.returncode, 64)
        self.assertRegex(done.stderr, "^airlock-server: /dev/stdin:[23]: is not TOML: ")
        self.assertEqual(self.check('[[gate]]\nmatch = "a"\nmatch = "b"\n').returncode, 64)

    def test_unknown_keys(self):
        self.refuses('[[gate]]\nmatch = "a"\nlimit = 1\nlimt = 2\n', 4, "gate[1].limt", "did you mean limit?")
        self.refuses('[[gates]]\nmatch = "a"\n', 1, "gates", "did you mean gate?")
        self.refuses('[server]\nhosts = ["a:80"]\n', 2, "server.hosts", "without a port")
        self.refuses('[server]\nwhatever = 1\n', 2, "server.whatever", "it has store, listen")

    def test_wrong_values(self):
        gate = '[[gate]]\nmatch = "a"\n'
        self.refuses(gate, 2, "gate[1].match", "needs a limit, or rates")
        self.refuses("[[gate]]\nlimit = 1\n", 1, "gate[1].match", "is needed")
        for limit in ("0", "-1", '"1"', "2147483649", "1.5"):
            self.refuses(f"{gate}limit = {limit}\n", 3, "gate[1].limit", "a whole number from 1 to 2147483648")
        for rates in ("[]", "[1]", '["2/s", ""]', "5", str(["1/s"] * 9)):
            self.refuses(f"{gate}rates = {rates}\n", 3, "gate[1].rates", "")
        self.refuses(f'{gate}rates = ["1/s", "2/s"]\n', 3, "gate[1].rates", "")  # No store takes these together.
        self.refuses(f'{gate}rates = "often"\n', 3, "gate[1].rates", "often")
        self.refuses(f'{gate}limit = 1\nttl = "1ms"\n', 4, "gate[1].ttl", "has to be from 20ms")
        self.refuses(f'{gate}limit = 1\nttl = true\n', 4, "gate[1].ttl", "a duration")
        self.refuses(f'{gate}limit = 1\nwait = inf\n', 4, "gate[1].wait", "a duration")
        self.refuses(f'{gate}rates = "1/s"\nttl = "1s"\n', 4, "gate[1].ttl", "needs a limit")
        self.refuses(f'{gate}limit = 1\norder = "lifo"\n', 4, "gate[1].order", "one of fifo, priority")
        self.refuses('gate = 5\n', 1, "gate", "[[gate]]")
        self.refuses('server = 5\n', 1, "server", "[server]")
        self.refuses('[server]\nlisten = "tcp:0.0.0.0:80"\n', 2, "server.listen", "is refused")
        for proxies in ('"proxy"', '["10.0.0.1/33"]', '"10.0.0.1:80"', '"10.0.0"', '["unix", "::1/129"]'):
            self.refuses(f"[server]\ntrusted_proxies = {proxies}\n", 2, "server.trusted_proxies", 'is neither "unix" nor an address')
        self.refuses('[server]\nclient_header = "Forwarded"\n', 2, "server.client_header", "needs trusted_proxies")
        self.refuses('[server]\ntrusted_proxies = "unix"\nclient_header = "X"\n', 3, "server.client_header", "one of X-F")
        self.refuses('[log]\naccess = "on"\n', 2, "log.access", "one of off, text, json")
        self.refuses('[log]\nfile = "access.log"\n', 2, "log.file", "begins with /")

    def test_a_file_that_cannot_be_read(self):
        for arguments in (["--config", "/nowhere/airlock.toml", "--check"], ["--check"]):
            done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=LONG, check=False)
            self.assertEqual((done.returncode, done.stdout), (64, ""), done)

    def test_the_example(self):
        done = subprocess.run([BINARY, "--config", EXAMPLE, "--check"], capture_output=True, text=True, timeout=LONG,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)


class Example(ServerCase):
    def start_server(self, *arguments):
        return super().start_server("--config", EXAMPLE, *arguments)

    def test_its_gates_admit(self):
        for gate in ("erp", "mails:ann", "reports~daily"):
            self.assertEqual(self.admit(gate).status, 200, gate)


if __name__ == "__main__":
    unittest.main()
