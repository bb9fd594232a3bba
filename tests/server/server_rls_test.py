#!/usr/bin/env python3
"""The rate limit service by /json: which limit counts for a descriptor, what a decision takes and gives back, what it answers."""

import hashlib
import json
import os
import re
import subprocess
import unittest

from server_case import BINARY, LONG, ServerCase

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/rate-limit-service.md")
CONFIG = """
[[descriptors]]
domain = "edge"
key = "remote_address"
rate_limit = {unit = "hour", requests_per_unit = 3}

[[descriptors]]
domain = "edge"
key = "remote_address"
value = "50.0.0.5"
rate_limit = {unit = "second", requests_per_unit = 0}

[[descriptors]]
domain = "edge"
key = "message_type"
value = "marketing"
[[descriptors.descriptors]]
key = "to_number"
rate_limit = {unit = "day", requests_per_unit = 5, name = "per_number"}
[[descriptors.descriptors]]
key = "to_number"
value = "911"
rate_limit = {unit = "week", requests_per_unit = 1}

[[descriptors]]
domain = "edge"
key = "message_type"
[[descriptors.descriptors]]
key = "country"
rate_limit = {unit = "minute", requests_per_unit = 70}

[[descriptors]]
domain = "edge"
key = "path"
value = "/api/*"
rate_limit = {unit = "month", requests_per_unit = 40}

[[descriptors]]
domain = "edge"
key = "path"
value = "/files/*.pdf"
share_threshold = true
rate_limit = {unit = "year", requests_per_unit = 50}

[[descriptors]]
domain = "edge"
key = "path"
rate_limit = {period = "10m", requests_per_unit = 60}

[[descriptors]]
domain = "edge"
key = "internal"
rate_limit = {unlimited = true}

[[descriptors]]
domain = "edge"
key = "listed"

[[descriptors]]
domain = "edge"
key = "shady"
shadow_mode = true
rate_limit = {unit = "hour", requests_per_unit = 1}

[[descriptors]]
domain = "edge"
key = "user"
detailed_metric = true
rate_limit = {unit = "hour", requests_per_unit = 10, name = "user"}

[[descriptors]]
domain = "edge"
key = "vip"
rate_limit = {unit = "hour", requests_per_unit = 100, replaces = ["user"]}

[[descriptors]]
domain = "edge"
key = "windowed"
rate_limit = {unit = "hour", requests_per_unit = 2, algorithm = "fixed_window"}

[[descriptors]]
domain = "edge"
key = "tenant"
concurrency = {limit = 2, ttl = "1h"}

[[domain]]
name = "together"
atomic = true
headers = "draft"

[[descriptors]]
domain = "together"
key = "a"
rate_limit = {unit = "hour", requests_per_unit = 2}

[[descriptors]]
domain = "together"
key = "b"
rate_limit = {unit = "hour", requests_per_unit = 5}

[[descriptors]]
domain = "together"
key = "slot"
concurrency = {limit = 1}

[[domain]]
name = "odd: one"

[[domain]]
name = "odd: two"
atomic = true

[[domain]]
name = "trial"
shadow_mode = true
headers = "split"

[[descriptors]]
domain = "trial"
key = "a"
rate_limit = {unit = "hour", requests_per_unit = 1}

[[domain]]
name = "shown"
headers = "split"

[[descriptors]]
domain = "shown"
key = "a"
rate_limit = {unit = "hour", requests_per_unit = 10, name = "ten"}
"""


def entries(*pairs):
    """{"entries": ...} of (key, value) pairs."""
    return {"entries": [{"key": key, "value": value} for key, value in pairs]}


class RlsCase(ServerCase):
    CONFIG = CONFIG

    def start_server(self, *arguments):
        path = os.path.join(self.dir, "airlock.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.CONFIG)
        return super().start_server("--config", path, *arguments)

    def ask(self, *descriptors, domain="edge", **fields):
        return self.http.post("/json", {"domain": domain, "descriptors": list(descriptors), **fields})

    def codes(self, *descriptors, **fields):
        """The overall code, and those of the descriptors."""
        answer = self.ask(*descriptors, **fields)
        self.assertIn(answer.status, (200, 429), answer)
        self.assertEqual(answer.json["overallCode"], "OK" if answer.status == 200 else "OVER_LIMIT")
        return answer.json["overallCode"], [status["code"] for status in answer.json["statuses"]]

    def remaining(self, *pairs, domain="edge"):
        """How much is left of a limit, asked without taking any of it."""
        answer = self.ask({**entries(*pairs), "hitsAddend": 0}, domain=domain)
        return answer.json["statuses"][0].get("limitRemaining", 0)

    def counters(self):
        lines = self.http.ask("GET", "/metrics").body.splitlines()
        return {name: int(value) for name, value in (line.rsplit(" ", 1) for line in lines if line.startswith("airlock_rls_"))}


class Matching(RlsCase):
    def limit_of(self, *pairs, domain="edge"):
        status, = self.ask(entries(*pairs), domain=domain).json["statuses"]
        return status.get("currentLimit")

    def test_the_most_specific_descriptor_counts(self):
        table = [
            ([("remote_address", "10.0.0.1")], {"requestsPerUnit": 3, "unit": "HOUR"}),
            ([("remote_address", "50.0.0.5")], {"unit": "SECOND"}),
            ([("message_type", "marketing"), ("to_number", "2061")],
             {"name": "per_number", "requestsPerUnit": 5, "unit": "DAY"}),
            ([("message_type", "marketing"), ("to_number", "911")], {"requestsPerUnit": 1, "unit": "WEEK"}),
            ([("message_type", "news"), ("country", "de")], {"requestsPerUnit": 70, "unit": "MINUTE"}),
            # The descriptor with the value is taken, although only the one without has a country below.
            ([("message_type", "marketing"), ("country", "de")], None),
            # The limit is that of the last entry: not fewer, not more.
            ([("message_type", "marketing")], None),
            ([("remote_address", "10.0.0.1"), ("path", "/")], None),
            ([("path", "/api/")], {"requestsPerUnit": 40, "unit": "MONTH"}),
            ([("path", "/api/users/7")], {"requestsPerUnit": 40, "unit": "MONTH"}),
            ([("path", "/files/a.pdf")], {"requestsPerUnit": 50, "unit": "YEAR"}),
            ([("path", "/files/a.txt")], {"name": "60/10m", "requestsPerUnit": 60}),
            ([("path", "/api")], {"name": "60/10m", "requestsPerUnit": 60}),
            ([("listed", "yes")], None),
            ([("unheard_of", "x")], None),
            ([("Remote_Address", "10.0.0.1")], None),
        ]
        for pairs, limit in table:
            self.assertEqual(self.limit_of(*pairs), limit, pairs)
        self.assertIsNone(self.limit_of(("remote_address", "10.0.0.1"), domain="elsewhere"))
        self.assertEqual(self.counters()["airlock_rls_unknown_domain_total"], 1)

    def test_each_value_has_a_limit_of_its_own_unless_it_is_shared(self):
        self.ask(entries(("path", "/api/a")), hitsAddend=30)
        self.ask(entries(("path", "/files/a.pdf")), hitsAddend=30)
        self.assertEqual([self.remaining(("path", path)) for path in ("/api/a", "/api/b", "/files/a.pdf", "/files/b.pdf")],
                         [10, 40, 20, 20])

    def test_no_two_descriptors_share_a_gate(self):
        """Whatever their bytes: names that look alike, separators, what does not fit."""
        override = {"limit": {"requestsPerUnit": 1, "unit": "YEAR"}}
        lists = [[("a", "b")], [("a", "b:c")], [("a:b", "c")], [("a", "b"), ("c", "d")], [("a", "b:c:d")], [("a:b:c", "d")],
                 [("a", "-b")], [("a", "x" * 70)], [("a", "x" * 71)], [("a", "\u00e4")], [("x" * 70, "b")],
                 [("a", "b"), ("a", "b")], [("-all", "1")], [("1:a1:b", "1")], [("a", " ")], [("a", "b/c")], [("a/b", "c")]]
        for domain in ("edge", "together", "odd: one", "odd: two"):
            for pairs in lists:
                self.assertEqual(self.codes({**entries(*pairs), **override}, domain=domain)[0], "OK", pairs)
                self.assertEqual(self.codes({**entries(*pairs), **override}, domain=domain)[0], "OVER_LIMIT", pairs)
        names = [gate["name"] for gate in self.http.ask("GET", "/v1/gates").json]
        self.assertEqual(len(names), 4 * len(lists))
        self.assertIn("rls:edge:a:b:c:d", names)
        self.assertIn("rls:together/a:b:c:d", names)


class Decisions(RlsCase):
    def test_hits_are_counted_down_and_then_refused(self):
        address = entries(("remote_address", "10.0.0.1"))
        answer = self.ask(address)
        self.assertEqual(answer.json, {"overallCode": "OK", "statuses": [{
            "code": "OK", "currentLimit": {"requestsPerUnit": 3, "unit": "HOUR"}, "limitRemaining": 2,
            "durationUntilReset": "1200s"}]})
        self.assertEqual(self.codes(address, hitsAddend=2)[0], "OK")
        refused = self.ask(address)
        self.assertEqual((refused.status, refused.json["overallCode"]), (429, "OVER_LIMIT"))
        self.assertNotIn("limitRemaining", refused.json["statuses"][0])
        self.assertTrue(1100 <= int(refused.fields["retry-after"]) <= 1200)

    def test_unlimited_and_blocked(self):
        status, = self.ask(entries(("internal", "x"))).json["statuses"]
        self.assertEqual(status, {"code": "OK", "limitRemaining": 4294967295})
        self.assertEqual(self.codes(entries(("remote_address", "50.0.0.5"))), ("OVER_LIMIT", ["OVER_LIMIT"]))

    def test_a_refusal_takes_nothing_from_the_others(self):
        for domain, loose, tight in (("edge", ("user", "ann"), ("remote_address", "1")), ("together", ("b", "1"), ("a", "1"))):
            before = self.remaining(loose, domain=domain)
            while self.codes(entries(tight), domain=domain)[0] == "OK":
                pass
            for order in ((loose, tight), (tight, loose)):
                code, codes = self.codes(*(entries(pair) for pair in order), domain=domain)
                self.assertEqual((code, sorted(codes)), ("OVER_LIMIT", ["OK", "OVER_LIMIT"]))
            self.assertEqual(self.remaining(loose, domain=domain), before)

    def test_more_than_the_limit_at_once_is_refused_and_takes_nothing(self):
        address = entries(("remote_address", "10.0.0.1"))
        answer = self.ask(address, entries(("user", "ann")), hitsAddend=2147483648)
        self.assertEqual([status["code"] for status in answer.json["statuses"]], ["OVER_LIMIT", "OVER_LIMIT"])
        self.assertEqual(answer.json["statuses"][0]["limitRemaining"], 3)
        self.assertEqual(self.remaining(("remote_address", "10.0.0.1")), 3)

    def test_each_descriptor_may_have_its_own_hits(self):
        self.ask({**entries(("user", "ann")), "hitsAddend": "4"}, entries(("remote_address", "1")), hits_addend=2)
        self.assertEqual((self.remaining(("user", "ann")), self.remaining(("remote_address", "1"))), (6, 1))

    def test_0_hits_ask_whether_one_more_would_pass(self):
        look = {**entries(("remote_address", "1")), "hits_addend": 0}
        self.assertEqual(self.codes(look)[0], "OK")
        self.codes(entries(("remote_address", "1")), hitsAddend=3)
        self.assertEqual(self.codes(look, entries(("user", "ann"))), ("OVER_LIMIT", ["OVER_LIMIT", "OK"]))
        self.assertEqual(self.remaining(("user", "ann")), 10)

    def test_negative_hits_give_back(self):
        user = entries(("user", "ann"))
        self.codes(user, hitsAddend=10)
        self.assertEqual(self.codes({**user, "isNegativeHits": True, "hitsAddend": 4})[0], "OK")
        self.assertEqual(self.remaining(("user", "ann")), 4)
        self.codes({**user, "isNegativeHits": True, "hitsAddend": 2147483648})
        self.assertEqual(self.remaining(("user", "ann")), 10)
        self.codes(user, hitsAddend=6)
        # Also where another descriptor refuses.
        self.codes({**user, "is_negative_hits": True}, entries(("remote_address", "50.0.0.5")))
        self.assertEqual(self.remaining(("user", "ann")), 5)

    def test_the_callers_limit_counts_instead_of_the_configured_one(self):
        address = {**entries(("remote_address", "1")), "limit": {"requestsPerUnit": 1, "unit": "DAY"}}
        self.assertEqual([self.codes(address)[0] for _ in range(2)], ["OK", "OVER_LIMIT"])
        self.assertEqual(self.remaining(("remote_address", "1")), 3)
        many = {**entries(("x", "1")), "limit": {"requests_per_unit": 4294967295, "unit": 6}}
        status, = self.ask(many, hitsAddend=7).json["statuses"]
        self.assertEqual((status["limitRemaining"], status["currentLimit"]["unit"]), (2147483641, "YEAR"))

    def test_shadows_are_decided_and_let_through(self):
        shady = entries(("shady", "x"))
        for _ in range(3):
            self.assertEqual(self.codes(shady), ("OK", ["OK"]))
        # It takes nothing where another limit refuses.
        blocked = entries(("remote_address", "50.0.0.5"))
        self.assertEqual(self.codes(entries(("shady", "y")), blocked), ("OVER_LIMIT", ["OK", "OVER_LIMIT"]))
        self.assertEqual(self.remaining(("shady", "y")), 1)
        for _ in range(2):
            self.assertEqual(self.codes(entries(("a", "1")), domain="trial"), ("OK", ["OK"]))
        counted = self.counters()
        self.assertEqual(counted['airlock_rls_shadow_mode_total{limit="edge.shady"}'], 2)
        self.assertEqual(counted['airlock_rls_shadow_mode_total{limit="trial.a"}'], 1)

    def test_a_limit_replaces_another(self):
        self.assertEqual(self.codes(entries(("user", "ann")), entries(("vip", "ann")))[0], "OK")
        self.assertEqual((self.remaining(("user", "ann")), self.remaining(("vip", "ann"))), (10, 99))

    def test_a_window_is_one(self):
        windowed = entries(("windowed", "x"))
        self.assertEqual([self.codes(windowed)[0] for _ in range(3)], ["OK", "OK", "OVER_LIMIT"])
        self.assertEqual(self.ask(windowed).json["statuses"][0]["durationUntilReset"], "3600s")

    def test_descriptors_decided_together(self):
        both = [entries(("a", "1")), entries(("b", "1"))]
        self.assertEqual([self.codes(*both, domain="together")[0] for _ in range(3)], ["OK", "OK", "OVER_LIMIT"])
        self.assertEqual(self.remaining(("b", "1"), domain="together"), 3)
        answer = self.ask(both[0], both[0], domain="together")
        self.assertEqual((answer.status, answer.json["field"]), (400, "descriptors"))

    def test_headers(self):
        answer = self.ask(entries(("a", "1")), domain="shown")
        self.assertEqual(answer.json["responseHeadersToAdd"], [
            {"key": "RateLimit-Limit", "value": "10"}, {"key": "RateLimit-Remaining", "value": "9"},
            {"key": "RateLimit-Reset", "value": "360"}])
        answer = self.ask(entries(("a", "9")), entries(("b", "9")), domain="together")
        self.assertEqual(answer.json["responseHeadersToAdd"], [
            {"key": "RateLimit-Policy", "value": '"2/h";q=2;w=3600, "5/h";q=5;w=3600'},
            {"key": "RateLimit", "value": '"2/h";r=1;t=1800'}])


class Concurrency(RlsCase):
    def hold(self, visitor, *more, key="tenant", domain="edge", **fields):
        return self.codes({**entries((key, "acme"), ("airlock_visitor", visitor)), **fields}, *more, domain=domain)[0]

    def test_places_are_held_until_they_are_given_back(self):
        self.assertEqual([self.hold(name) for name in ("r1", "r2", "r3")], ["OK", "OK", "OVER_LIMIT"])
        self.assertEqual(self.hold("r1"), "OK")  # It holds already.
        self.assertEqual(self.hold("r9", isNegativeHits=True), "OK")  # Holds nothing, gives nothing back.
        self.assertEqual(self.hold("r3"), "OVER_LIMIT")
        self.assertEqual(self.hold("r1", isNegativeHits=True), "OK")
        self.assertEqual(self.hold("r3"), "OK")
        status, = self.ask({**entries(("tenant", "acme"), ("airlock_visitor", "r2")), "isNegativeHits": True}).json["statuses"]
        self.assertEqual((status["limitRemaining"], status["currentLimit"]), (1, {"name": "concurrency", "requestsPerUnit": 2}))

    def test_a_place_is_given_back_where_another_limit_refuses(self):
        self.assertEqual(self.hold("r1", entries(("remote_address", "50.0.0.5"))), "OVER_LIMIT")
        self.codes(entries(("remote_address", "1")), hitsAddend=3)
        self.assertEqual(self.hold("r1", entries(("remote_address", "1"))), "OVER_LIMIT")
        self.assertEqual(self.hold("r0"), "OK")
        # What was held before is not.
        self.assertEqual(self.hold("r0", entries(("remote_address", "1"))), "OVER_LIMIT")
        self.assertEqual([self.hold(name) for name in ("r2", "r3")], ["OK", "OVER_LIMIT"])

    def test_together_with_rates(self):
        rate = entries(("a", "1"))
        held = [self.hold(name, rate, key="slot", domain="together") for name in ("r1", "r2", "r2")]
        self.assertEqual(held, ["OK", "OVER_LIMIT", "OVER_LIMIT"])
        self.assertEqual(self.remaining(("a", "1"), domain="together"), 1)

    def test_a_visitor_is_needed(self):
        answer = self.ask(entries(("user", "ann")), entries(("tenant", "acme")))
        self.assertEqual((answer.status, answer.json["field"]), (400, "descriptors[1].entries"))
        self.assertIn("airlock_visitor", answer.json["detail"])
        self.assertEqual(self.remaining(("user", "ann")), 10)


class Metrics(RlsCase):
    def test_hits_are_counted_by_limit(self):
        user = entries(("user", "ann"))
        self.codes(user, hitsAddend=7)
        self.codes(user, hitsAddend=2)
        self.codes(user, hitsAddend=3)
        self.codes(entries(("user", 'b"ob')), entries(("remote_address", "50.0.0.5")))
        counted = self.counters()
        expected = {"hits": 12, "within_limit": 9, "near_limit": 1, "over_limit": 3, "shadow_mode": 0}
        for name, value in expected.items():
            self.assertEqual(counted[f'airlock_rls_{name}_total{{limit="edge.user_ann"}}'], value, name)
        self.assertEqual(counted['airlock_rls_hits_total{limit="edge.user_b\\"ob"}'], 1)
        self.assertEqual(counted['airlock_rls_within_limit_total{limit="edge.user_b\\"ob"}'], 0)
        self.assertEqual(counted['airlock_rls_over_limit_total{limit="edge.remote_address_50.0.0.5"}'], 1)

    def test_series_with_values_of_requests_are_bounded(self):
        for first in range(0, 1100, 50):
            self.codes(*[entries(("user", f"u{i}")) for i in range(first, first + 50)])
        self.codes(entries(("path", "/")))
        counted = self.counters()
        hits = {name: value for name, value in counted.items() if name.startswith("airlock_rls_hits_total")}
        self.assertEqual((len(hits), hits['airlock_rls_hits_total{limit="other"}'], sum(hits.values())), (1002, 100, 1101))
        self.assertEqual(hits['airlock_rls_hits_total{limit="edge.path"}'], 1)


class Configuration(unittest.TestCase):
    HEAD = '[[descriptors]]\ndomain = "d"\nkey = "k"\n'

    def refuses(self, text, place, rule):
        command = [BINARY, "--config", "/dev/stdin", "--check"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=LONG, check=False)
        self.assertEqual(done.returncode, 64, f"{text}\n{done.stderr}")
        self.assertRegex(done.stderr, "^airlock-server: /dev/stdin:[0-9]+: " + re.escape(place) + ": ", text)
        self.assertIn(rule, done.stderr)

    def test_a_mistake_is_named_by_line_and_key(self):
        nested = "".join(f"[[descriptors{'.descriptors' * i}]]\n" + ('domain = "d"\n' if i == 0 else "") + 'key = "k"\n'
                         for i in range(17))
        table = [
            ('[[descriptors]]\nkey = "k"\n', "descriptors[1].domain", "is needed"),
            ('[[descriptors]]\ndomain = "d"\n', "descriptors[1].key", "is needed"),
            (self.HEAD + self.HEAD, "descriptors[2].key", "there already"),
            (self.HEAD + 'value = "x*"\n' + self.HEAD + 'value = "x*"\n', "descriptors[2].key", "there already"),
            (self.HEAD + 'rate_limits = {}\n', "descriptors[1].rate_limits", "did you mean rate_limit?"),
            (self.HEAD + 'rate_limit = {unit = "second"}\n', "descriptors[1].rate_limit.requests_per_unit", "is needed"),
            (self.HEAD + 'rate_limit = {requests_per_unit = 1}\n', "descriptors[1].rate_limit.unit", "either unit or period"),
            (self.HEAD + 'rate_limit = {requests_per_unit = 1, unit = "day", period = "1s"}\n',
             "descriptors[1].rate_limit.unit", "not both"),
            (self.HEAD + 'rate_limit = {requests_per_unit = 1, unit = "fortnight"}\n', "descriptors[1].rate_limit.unit",
             "one of second, minute"),
            (self.HEAD + 'rate_limit = {unlimited = true, unit = "day"}\n', "descriptors[1].rate_limit.unit", "of no use"),
            (self.HEAD + 'rate_limit = {requests_per_unit = 100000, unit = "day", algorithm = "fixed_window"}\n',
             "descriptors[1].rate_limit.requests_per_unit", "take gcra"),
            (self.HEAD + 'rate_limit = {requests_per_unit = 1, unit = "day", name = "n", replaces = "n"}\n',
             "descriptors[1].rate_limit.replaces", "the limit itself"),
            (self.HEAD + 'shadow_mode = true\n', "descriptors[1].shadow_mode", "needs a rate_limit"),
            (self.HEAD + 'share_threshold = true\nvalue = "x"\n', "descriptors[1].share_threshold", "with a *"),
            (self.HEAD + 'concurrency = {limit = 0}\n', "descriptors[1].concurrency.limit", "from 1"),
            (self.HEAD + 'rate_limit = {unlimited = true}\nconcurrency = {limit = 1}\n', "descriptors[1].concurrency", "either"),
            ('[[domain]]\nname = "d"\n[[domain]]\nname = "d"\n', "domain[2].name", "there already"),
            ('[[domain]]\nname = "d"\nheaders = "all"\n', "domain[1].headers", "one of none, split, draft"),
            (nested, "descriptors[1]" + ".descriptors[1]" * 16 + ".key", "nested deeper than 16"),
        ]
        for text, place, rule in table:
            self.refuses(text, place, rule)


class Rights(RlsCase):
    TOKENS = {name: f"airlock_{name}_secret" for name in ("proxy", "definer", "stranger")}
    CONFIG += "".join(
        f'[[principal]]\nname = "{name}"\ntokens = "sha256:{hashlib.sha256(f"airlock_{name}_secret".encode()).hexdigest()}"\n{roles}\n'
        for name, roles in (("proxy", 'admit = "rls:edge:user:*"\nobserve = "rls:edge.user*"'),
                            ("definer", 'admit = "rls:*"\ndefine = "rls:*"\nobserve = "*"'), ("stranger", 'admit = "erp"')))

    def status(self, name, *descriptors, **fields):
        return self.http.post("/json", {"domain": "edge", "descriptors": list(descriptors), **fields},
                              Authorization=f"Bearer {self.TOKENS[name]}")

    def test_a_caller_needs_the_gates_of_the_limits(self):
        user, path = entries(("user", "ann")), entries(("path", "/"))
        own = {**user, "limit": {"requestsPerUnit": 1, "unit": "YEAR"}}
        self.assertEqual(self.ask(user).status, 401)
        self.assertEqual(self.status("proxy", user).status, 200)
        for name, asked, field in (("proxy", [user, path], "descriptors[1]"), ("proxy", [own], "descriptors[0].limit"),
                                   ("stranger", [user], "descriptors[0]")):
            refused = self.status(name, *asked)
            self.assertEqual((refused.status, refused.json["field"]), (403, field))
        self.assertEqual(self.status("definer", own, path).status, 200)
        left = self.status("proxy", {**user, "hitsAddend": 0}).json["statuses"][0]["limitRemaining"]
        self.assertEqual(left, 9)

    def test_metrics_are_shown_by_limit(self):
        self.status("definer", entries(("user", "ann")), entries(("path", "/")))
        shown = {name: self.http.ask("GET", "/metrics", Authorization=f"Bearer {self.TOKENS[name]}").body
                 for name in ("proxy", "definer")}
        self.assertIn('limit="edge.user_ann"', shown["proxy"])
        self.assertNotIn("edge.path", shown["proxy"])
        self.assertIn('limit="edge.path"', shown["definer"])


class Page(RlsCase):
    """What docs/rate-limit-service.md shows."""

    with open(PAGE, encoding="utf-8") as file:
        TEXT = file.read()
    CONFIG = TEXT.split("```toml\n")[1].split("```")[0]

    def test_its_example(self):
        asked = json.loads(self.TEXT.split("curl --json '")[1].split("'")[0])
        shown = self.TEXT.split("```json\n")[1].split("```")[0]
        self.assertEqual({**self.http.post("/json", asked).json, "responseHeadersToAdd": None},
                         {**json.loads(shown), "responseHeadersToAdd": None})
        self.assertEqual(self.codes(entries(("tenant", "acme"), ("airlock_visitor", "r1")))[0], "OK")


class LargeRates(RlsCase):
    RATES = ((100_000, "day"), (100_003, "day"), (2_147_483_648, "year"), (2_147_483_647, "minute"))
    CONFIG = "".join(f'[[descriptors]]\ndomain = "d"\nkey = "{count}_{unit}"\n'
                     f'rate_limit = {{requests_per_unit = {count}, unit = "{unit}"}}\n' for count, unit in RATES)

    def test_they_are_as_large_and_as_fast_as_they_say(self):
        for count, unit in self.RATES:
            half = {**entries((f"{count}_{unit}", "x")), "hitsAddend": count // 2}
            status, = self.ask(half, domain="d").json["statuses"]
            self.assertEqual(status["currentLimit"], {"requestsPerUnit": count, "unit": unit.upper()})
            self.assertAlmostEqual(status["limitRemaining"] / (count - count // 2), 1, places=5)
            seconds = {"minute": 60, "day": 86400, "year": 365 * 86400}[unit]
            late = int(status["durationUntilReset"][:-1]) - seconds / 2  # Rounded up to whole seconds.
            self.assertTrue(-1 <= late <= 1 + seconds * 1e-5, status)


class BadRequests(RlsCase):
    def test_what_is_wrong_is_named_and_changes_nothing(self):
        good = entries(("user", "ann"))
        table = [
            ({}, "domain"), ({"domain": "edge"}, "descriptors"), ({"domain": "", "descriptors": [good]}, "domain"),
            ({"domain": "edge", "descriptors": []}, "descriptors"),
            ({"domain": "edge", "descriptors": [good] * 65}, "descriptors"),
            ({"domain": "edge", "descriptors": [good, {}]}, "descriptors[1].entries"),
            ({"domain": "edge", "descriptors": [good, entries(("", "x"))]}, "descriptors[1].entries[0].key"),
            ({"domain": "edge", "descriptors": [good, entries(("x", ""))]}, "descriptors[1].entries[0].value"),
            ({"domain": "edge", "descriptors": [good, entries(("x", "y" * 4097))]}, "descriptors[1].entries[0].value"),
            ({"domain": "edge", "descriptors": [good, entries(("x", 5))]}, "descriptors[1].entries[0].value"),
            ({"domain": "edge", "descriptors": [{**good, "other": 1}]}, "descriptors[0].other"),
            ({"domain": "edge", "descriptors": [good], "hits": 1}, "hits"),
            ({"domain": "edge", "descriptors": [good], "hitsAddend": -1}, "hitsAddend"),
            ({"domain": "edge", "descriptors": [good], "hitsAddend": 2147483649}, "hitsAddend"),
            ({"domain": "edge", "descriptors": [{**good, "hitsAddend": "18446744073709551615"}]}, "descriptors[0].hitsAddend"),
            ({"domain": "edge", "descriptors": [{**good, "limit": {"requestsPerUnit": 1}}]}, "descriptors[0].limit.unit"),
            ({"domain": "edge", "descriptors": [{**good, "limit": {"unit": "FORTNIGHT"}}]}, "descriptors[0].limit.unit"),
            ([], "body"), ("x", "body"),
        ]
        for body, field in table:
            answer = self.http.post("/json", body)
            self.assertEqual((answer.status, answer.json.get("field")), (400, field), answer)
        self.assertEqual(self.http.post("/json", {}, Content_Type="text/plain").status, 415)
        self.assertEqual(self.remaining(("user", "ann")), 10)


if __name__ == "__main__":
    unittest.main()
