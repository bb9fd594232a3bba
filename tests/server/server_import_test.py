#!/usr/bin/env python3
"""`airlock-server import`: a configuration of envoyproxy/ratelimit becomes an airlock.toml that decides the same."""

import os
import subprocess
import tempfile
import unittest

from server_case import BINARY, LONG
from server_rls_test import RlsCase, entries

YAML = r"""---
domain: "mongo: \"cps\""
descriptors:
  - key: database
    value: users
    shadow_mode: true
    rate_limit: {unit: SECOND, requests_per_unit: 500, name: users}
  - key: database
    rate_limit:
      unit: hour
      requests_per_unit: 7
      replaces:
        - name: users
        - {name: "others"}
    descriptors:
      - key: "tab\tle"
        value: 123
        rate_limit: {unit: year, requests_per_unit: 4}
        detailed_metric: true
      - key: path
        value: /files/*
        share_threshold: true
        rate_limit: {unit: month, requests_per_unit: 9}
  - key: internal
    rate_limit: {unlimited: true}
  - key: blocked
    rate_limit: {unit: minute, requests_per_unit: 0}
  - key: listed
    shadow_mode: true
  - key: quota
    quota_mode: true
    value_to_metric: true
    metadata: {a: b}
    rate_limit: {unit: minute, requests_per_unit: 4294967295}
"""


def run(*files):
    return subprocess.run([BINARY, "import", *files], capture_output=True, text=True, timeout=LONG, check=False)


class Imported(RlsCase):
    def start_server(self, *arguments):
        path = os.path.join(self.dir, "config.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(YAML)
        done = run(path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.warnings = done.stderr.splitlines()
        self.CONFIG = done.stdout
        return super().start_server(*arguments)

    def limit_of(self, *pairs):
        status, = self.ask(entries(*pairs), domain='mongo: "cps"').json["statuses"]
        return status.get("currentLimit")

    def test_it_has_the_same_limits(self):
        self.assertEqual(self.limit_of(("database", "users")), {"name": "users", "requestsPerUnit": 500, "unit": "SECOND"})
        self.assertEqual(self.limit_of(("database", "x")), {"requestsPerUnit": 7, "unit": "HOUR"})
        self.assertEqual(self.limit_of(("database", "x"), ("tab\tle", "123")), {"requestsPerUnit": 4, "unit": "YEAR"})
        self.assertEqual(self.limit_of(("database", "x"), ("path", "/files/a")), {"requestsPerUnit": 9, "unit": "MONTH"})
        self.assertEqual(self.limit_of(("blocked", "x")), {"unit": "MINUTE"})
        self.assertEqual(self.limit_of(("quota", "x")), {"requestsPerUnit": 2147483648, "unit": "MINUTE"})
        self.assertIsNone(self.limit_of(("listed", "x")))
        two = self.ask(entries(("database", "users")), entries(("database", "x")), domain='mongo: "cps"').json["statuses"]
        self.assertNotIn("currentLimit", two[0])
        hits = [name for name in self.counters() if "hits_total" in name]
        self.assertIn('airlock_rls_hits_total{limit="mongo: \\"cps\\".database_x.tab?le_123"}', hits)

    def test_what_is_left_out_is_said(self):
        self.assertEqual([warning.split(": ", 1)[0].rsplit(":", 1)[1] + ": " + warning.split(": ", 1)[1]
                          for warning in self.warnings],
                         ["34: requests_per_unit: is lowered to 2147483648", "31: quota_mode: is left out",
                          "33: metadata: is left out", "32: value_to_metric: becomes detailed_metric"])


class Mistakes(unittest.TestCase):
    def test_are_named_by_line_and_nothing_is_printed(self):
        head = "domain: d\ndescriptors:\n  - key: k\n"
        table = [
            ("domain: [\n", 2, "is not YAML"), ("descriptors: []\n", 1, "domain: is needed"), ("- a\n", 1, "has to be a mapping"),
            (head + "    rate_limt: {}\n", 4, "rate_limt: is not a key"),
            (head + "    rate_limit: {unit: fortnight, requests_per_unit: 1}\n", 4, "unit: has to be one of"),
            (head + "    rate_limit: {unit: day, requests_per_unit: -1}\n", 4, "requests_per_unit: has to be a whole number"),
            (head + "    rate_limit: {unit: day, replaces: [{}]}\n", 4, "replaces: needs a name"),
            (head + "    shadow_mode: perhaps\n    rate_limit: {unit: day}\n", 4, "shadow_mode: has to be true or false"),
            (head + "  - value: x\n", 4, "key: is needed"), ("domain: d\ndescriptors: 5\n", 2, "descriptors: has to be a list"),
            ("domain: d\ndescriptors: &a\n  - key: k\n    descriptors: *a\n", 0, ""),
        ]
        with tempfile.NamedTemporaryFile("w+", suffix=".yaml") as file:
            for text, line, rule in table:
                file.seek(0)
                file.truncate()
                file.write(text)
                file.flush()
                done = run(file.name)
                self.assertEqual((done.returncode, done.stdout), (65, ""), f"{text}\n{done.stderr}")
                place = f"{file.name}:{line}: " if line else file.name
                self.assertTrue(done.stderr.startswith(f"airlock-server import: {place}"), f"{text}\n{done.stderr}")
                self.assertIn(rule, done.stderr)
        self.assertIn("cannot be read", run("/nowhere.yaml").stderr)
        self.assertEqual(run().returncode, 64)


if __name__ == "__main__":
    unittest.main()
