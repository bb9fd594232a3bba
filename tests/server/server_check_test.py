#!/usr/bin/env python3
"""GET /check: what a proxy is answered, and whom a gate is asked for. Real proxies are in server_proxies_test.py."""

import unittest

from server_case import Client, RedisServer, eventually
from server_config_test import ConfigCase, FileCase

GATES = """
[[gate]]
match = "site"
rates = "2/1h"

[[gate]]
match = "login"
rates = "1/1h"
[gate.check]
address_header = "X-Real-IP"

[[gate]]
match = "far"
rates = "1/1h"
[gate.check]
address_header = "X-Real-IP"
trusted = "10.0.0.0/8"

[[gate]]
match = "seats"
limit = 1
ttl = "60s"
[gate.check]
visitor_header = "X-Visitor"

[[gate]]
match = "line"
limit = 1
max_waiting = 1
[gate.check]
visitor_cookie = "session_id"
patience = "30s"

[[gate]]
match = "short"
limit = 1
ttl = "1s"
[gate.check]
visitor_header = "X-Visitor"

[[gate]]
match = "used"
limit = 1
ttl = "6s"
[gate.check]
visitor_header = "X-Visitor"

[[gate]]
match = "open"
rates = "1/1h"
[gate.check]
on_outage = "open"

[[gate]]
match = "plain"
limit = 1
"""


class CheckCase(ConfigCase):
    CONFIG = GATES

    def check(self, gate, client=None, **fields):
        return (client or self.http).ask("GET", f"/check?gate={gate}", **fields)

    def expect(self, answer, status, word, **fields):
        self.assertEqual((answer.status, answer.fields.get("airlock-status")), (status, word), answer)
        for name, value in fields.items():
            self.assertEqual(answer.fields.get(name.replace("_", "-")), value, answer)


class Rates(CheckCase):
    def test_a_check_takes_from_the_rates(self):
        for left in ("1", "0"):
            admitted = self.check("site")
            self.expect(admitted, 204, "admitted", cache_control="no-store")
            self.assertIn(f";r={left};", admitted.fields["ratelimit"])
        refused = self.check("site")
        self.expect(refused, 403, "refused", airlock_reason="rate", content_length="0")
        self.assertGreater(int(refused.fields["retry-after"]), 1000)
        self.assertIn(";r=0;", refused.fields["ratelimit"])

    def test_forward_style_has_true_statuses_and_a_body(self):
        for _ in range(2):
            self.expect(self.check("site&style=forward"), 204, "admitted")
        refused = self.check("site&style=forward")
        self.expect(refused, 429, "refused", content_type="application/problem+json")
        self.assertEqual((refused.json["status"], refused.json["reason"]), (429, "rate"))
        self.assertGreater(int(refused.fields["retry-after"]), 1000)

    def test_each_address_has_rates_of_its_own(self):
        for address in ("10.0.0.1", "10.0.0.2", "2001:db8:1:1::1", "2001:db8:1:2::1"):
            self.expect(self.check("login", X_Real_IP=address), 204, "admitted")
        for same in ("10.0.0.1", "::ffff:10.0.0.1", "2001:db8:1:1:ffff::2", "2001:DB8:1:2::"):
            self.expect(self.check("login", X_Real_IP=same), 403, "refused")
        self.assertEqual(self.http.ask("GET", "/v1/gates/login:10.0.0.1").status, 200)


class Permits(CheckCase):
    def test_a_visitor_is_found_again_and_others_are_refused(self):
        for _ in range(3):
            self.expect(self.check("seats", X_Visitor="ann"), 204, "admitted")
        self.assertEqual(self.show("seats")["in_use"], 1)
        self.expect(self.check("seats", X_Visitor="bob"), 403, "refused", airlock_reason="full")

    def test_a_long_name_is_as_good_as_a_short_one(self):
        self.expect(self.check("seats", X_Visitor=3000 * "a"), 204, "admitted")
        self.expect(self.check("seats", X_Visitor=3000 * "a"), 204, "admitted")
        self.expect(self.check("seats", X_Visitor=2999 * "a" + "b"), 403, "refused")

    def test_use_renews_what_a_visitor_holds(self):
        self.expect(self.check("used", X_Visitor="ann"), 204, "admitted")
        fence = self.show("used")["holders"][0]["fence"]

        def has_been_renewed():
            before = self.show("used")["holders"][0]["remaining_seconds"]
            self.check("used", X_Visitor="ann")
            return self.show("used")["holders"][0]["remaining_seconds"] > before

        self.assertFalse(has_been_renewed())  # Not by every check.
        self.assertTrue(eventually(has_been_renewed))
        self.assertEqual(self.show("used")["holders"][0]["fence"], fence)

    def test_a_visitor_that_asks_no_more_is_gone_after_the_ttl(self):
        self.expect(self.check("short", X_Visitor="ann"), 204, "admitted")
        self.assertTrue(eventually(lambda: self.check("short", X_Visitor="bob").status == 204))

    def test_a_revoked_visitor_has_to_ask_again(self):
        self.expect(self.check("used", X_Visitor="ann"), 204, "admitted")
        fence = self.show("used")["holders"][0]["fence"]
        self.http.post("/v1/gates/used/revoke", {})

        def is_admitted_again():
            self.expect(self.check("used", X_Visitor="ann"), 204, "admitted")
            return fence not in [each["fence"] for each in self.show("used")["holders"]]

        self.assertTrue(eventually(is_admitted_again))


class PermitsOverRedis(RedisServer, Permits):
    pass


class Restart(CheckCase):
    STORE = "shm:test?dir=DIR/store"

    def test_seats_outlive_the_server(self):
        self.expect(self.check("seats", X_Visitor="ann"), 204, "admitted")
        self.server.kill()
        self.server.wait()
        self.server = self.start_server()
        self.http = self.client()
        self.expect(self.check("seats", X_Visitor="bob"), 403, "refused")
        self.expect(self.check("seats", X_Visitor="ann"), 204, "admitted")


class Lines(CheckCase):
    def ask(self, session, style=""):
        return self.check("line" + style, Cookie=f"a=b; session_id={session}; c=d")

    def test_who_has_to_wait_keeps_its_place(self):
        self.expect(self.ask("ann"), 204, "admitted")
        for _ in range(2):
            self.expect(self.ask("bob"), 401, "queued", airlock_position="1", retry_after="10")
        self.expect(self.ask("eve"), 403, "refused", airlock_reason="line_full")
        queued = self.ask("bob", "&style=forward")
        self.expect(queued, 429, "queued", content_type="application/problem+json")
        self.assertEqual((queued.json["answer"], queued.json["position"]), ("queued", 1))
        self.http.post("/v1/gates/line/revoke", {"now": True})
        self.expect(self.ask("bob"), 204, "admitted")

    def test_sessions_are_not_shown(self):
        self.ask("secret-ann")
        self.ask("secret-bob")
        self.assertNotIn("secret", str(self.show("line")))


class Invalid(CheckCase):
    def test_for_whom_has_to_be_said_once(self):
        for gate, fields in (("seats", {}), ("seats", {"X_Visitor": ""}), ("line", {}), ("line", {"Cookie": "session_id="}),
                             ("line", {"Cookie": "other=1"}), ("line", {"Cookie": "session_id=a; session_id=b"}),
                             ("login", {}), ("login", {"X_Real_IP": "example.com"}), ("login", {"X_Real_IP": "10.0.0.1, 10.0.0.2"}),
                             ("login", {"X_Real_IP": "10.0.0.1:80"}), ("login", {"X_Real_IP": "fe80::1%eth0"})):
            self.expect(self.check(gate, **fields), 403, "invalid")
            self.expect(self.check(gate + "&style=forward", **fields), 400, "invalid", content_type="application/problem+json")

    def test_a_field_that_stands_twice(self):
        for name in ("X-Visitor", "x-visitor"):
            with self.client() as client:
                client.send(f"GET /check?gate=seats HTTP/1.1\r\nHost: localhost\r\nX-Visitor: a\r\n{name}: b\r\n\r\n")
                self.expect(client.read_answer(), 403, "invalid")
        self.assertEqual(self.show("seats")["in_use"], 0)

    def test_an_underscore_is_no_hyphen(self):
        with self.client() as client:
            client.send("GET /check?gate=seats HTTP/1.1\r\nHost: localhost\r\nX-Visitor: a\r\nX_Visitor: b\r\n\r\n")
            self.expect(client.read_answer(), 204, "admitted")

    def test_addresses_come_from_trusted_peers(self):
        self.expect(self.check("far", X_Real_IP="10.0.0.1"), 403, "invalid")
        self.expect(self.check("far&style=forward", X_Real_IP="10.0.0.1"), 403, "invalid")

    def test_mistakes_of_the_operator(self):
        for query, field in (("?gate=unknown", "gate"), ("", "gate"), ("?gate=a%20b", "gate"), ("?gate=plain", "gate"),
                             ("?gate=site&style=loud", "style"), ("?gate=site&gate=open", "gate"), ("?gate=site&limit=9", "query"),
                             ("?gate=%", "gate")):
            answer = self.http.ask("GET", "/check" + query)
            self.assertEqual((answer.status, answer.json["field"]), (400, field), query)
        self.assertEqual(self.http.ask("POST", "/check?gate=site").status, 405)


class TcpPeers(CheckCase):
    def start_server(self, *arguments):
        return super().start_server(*arguments, "--listen", "tcp:127.0.0.1:0")

    def test_loopback_is_trusted_and_other_networks_are_not(self):
        port = int(self.listens.split("tcp:127.0.0.1:")[1].split(";")[0])
        with Client(("127.0.0.1", port)) as client:
            self.expect(self.check("login", client, X_Real_IP="10.0.0.1"), 204, "admitted")
            self.expect(self.check("far", client, X_Real_IP="10.0.0.1"), 403, "invalid")


class Outage(RedisServer, CheckCase):
    def prepare_store(self):
        super().prepare_store()
        self.store = self.store.replace("timeout=30s", "timeout=1s")

    def test_a_store_that_does_not_answer(self):
        self.expect(self.check("open"), 204, "admitted")
        self.redis.kill()
        self.redis.wait()
        self.expect(self.check("open"), 204, "outage")
        self.expect(self.check("open&style=forward"), 204, "outage")
        self.expect(self.check("site"), 403, "outage", retry_after="1")
        closed = self.check("seats&style=forward", X_Visitor="ann")
        self.expect(closed, 503, "outage", content_type="application/problem+json")
        self.assertNotIn(self.dir, closed.body)
        self.expect(self.check("seats"), 403, "invalid")


class Configuration(FileCase):
    def test_the_gates_of_this_test(self):
        self.assertEqual(self.check(GATES).returncode, 0)

    def test_mistakes(self):
        gate = '[[gate]]\nmatch = "a"\nlimit = 1\n[gate.check]\n'
        self.refuses(f'{gate}visitor_heder = "a"\n', 5, "gate[1].check.visitor_heder", "did you mean")
        for name in ('"X_Visitor"', '"a b"', '"a:"', '""'):
            self.refuses(f"{gate}visitor_header = {name}\n", 5, "gate[1].check.visitor_header", "has to")
        self.refuses(f'{gate}visitor_cookie = "a=b"\n', 5, "gate[1].check.visitor_cookie", "has to")
        self.refuses(f'{gate}visitor_header = "A"\nvisitor_cookie = "b"\n', 6, "gate[1].check.visitor_cookie", "is enough")
        self.refuses(f'{gate}visitor_header = "A"\ntrusted = "unix"\n', 6, "gate[1].check.trusted", "needs address_header")
        for peer in ("10.0.0.0/33", "example.com", "10.0.0.1/8/8", "::1/129", "Unix"):
            self.refuses(f'{gate}address_header = "A"\ntrusted = ["unix", "{peer}"]\n', 6, "gate[1].check.trusted", "neither")
        self.refuses(f'{gate}patience = "30s"\n', 5, "gate[1].check.patience", "needs a visitor")
        self.refuses(f'{gate}visitor_header = "A"\npatience = "2s"\n', 6, "gate[1].check.patience", "has to be from 3s")
        self.refuses(f'{gate}on_outage = "half"\n', 5, "gate[1].check.on_outage", "open, closed")
        self.refuses('[[gate]]\nmatch = "a"\nrates = "1/s"\n[gate.check]\nvisitor_header = "A"\npatience = "30s"\n', 4,
                     "gate[1].check", "with a limit")


if __name__ == "__main__":
    unittest.main()
