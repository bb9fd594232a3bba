#!/usr/bin/env python3
"""The waiting room: who gets a place, in which order visitors come in, and what forged, stolen and expired cookies are worth."""

import base64
import os
import re
import signal
import subprocess
import time
import unittest

from server_case import BINARY, LONG, ServerCase, eventually

ROOMS = """
[[room]]
gate = "shop"
limit = 1
ttl = "1h"
site = "Harbour <Tickets>"
keys = "room.keys"

[[room]]
gate = "other"
limit = 1
keys = "room.keys"

[[room]]
gate = "short"
limit = 1
ttl = "2s"
keys = "room.keys"

[[room]]
gate = "fast"
limit = 1
ttl = "8s"
keys = "room.keys"

[[room]]
gate = "fixed"
limit = 1
ttl = "3s"
session = "fixed"
keys = "room.keys"

[[room]]
gate = "slow"
limit = 100
inflow = "1/1h"

[[room]]
gate = "tiny"
limit = 1
max_waiting = 1
status = 200

[[room]]
gate = "over"
limit = 1
ends_at = "2020-01-01T00:00:00Z"

[[room]]
gate = "soon"
limit = 1
opens_at = "2999-01-01T00:00:00+01:00"
order = "priority"

[[room]]
gate = "event:*"
limit = 1
template = "own.html"
css = "own.css"
languages = ["fr", "de"]
target = "/start"
"""
OWN_PAGE = "<p lang='{{lang}}'>{{headline}}|{{site}}|{{position}}</p>{{css_html}}{{script_html}}"


class Visitor:
    """A browser's cookie jar and its requests."""

    def __init__(self, case, gate, client=None):
        self.case, self.gate, self.cookie = case, gate, None
        self.client = client or case.http

    def take_cookie(self, fields):
        if "set-cookie" in fields:
            self.cookie = fields["set-cookie"].split(";")[0]

    def ask(self, path="", method="GET", client=None, **fields):
        if self.cookie:
            fields["Cookie"] = self.cookie
        answer = (client or self.client).ask(method, f"/room/{self.gate}{path}", **fields)
        self.take_cookie(answer.fields)
        return answer

    def status(self, **fields):
        return self.ask("/status", **fields).json

    def join(self):
        """Returns what the second request is answered: the first one only sets the cookie."""
        self.ask("/status")
        return self.status()

    def open_page(self):
        """A stream. Returns the connection and the first event."""
        self.ask("/status" if not self.cookie else "?back=1")
        client = self.case.client()
        client.write_request("GET", f"/room/{self.gate}/stream", Cookie=self.cookie, Accept="text/event-stream")
        status, fields = client.read_head()
        self.case.assertEqual((status, fields["content-type"]), (200, "text/event-stream"))
        name, standing = client.read_event()
        self.case.assertEqual(name, "standing")
        return client, standing


def await_state(client, state):
    """The first event with it."""
    while True:
        _, standing = client.read_event()
        if standing["state"] == state:
            return standing


class RoomCase(ServerCase):
    def start_server(self, *arguments):
        files = {"airlock.toml": ROOMS, "own.html": OWN_PAGE, "own.css": "p { color: teal }"}
        keys = os.path.join(self.dir, "room.keys")
        if not os.path.exists(keys):
            files["room.keys"] = "2026-05 " + base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=") + "\n"
        for name, text in files.items():
            with open(os.path.join(self.dir, name), "w", encoding="utf-8") as file:
                file.write(text)
        return super().start_server("--config", os.path.join(self.dir, "airlock.toml"), *arguments)

    def reload(self, change, into):
        self.assertIn(change, ROOMS)
        with open(os.path.join(self.dir, "airlock.toml"), "w", encoding="utf-8") as file:
            file.write(ROOMS.replace(change, into, 1))
        self.server.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: "airlock_server_config_generation 2\n" in self.http.ask("GET", "/metrics").body))

    def visitor(self, gate="shop"):
        return Visitor(self, gate)

    def admitted(self, gate="shop"):
        visitor = self.visitor(gate)
        self.assertEqual(visitor.join()["state"], "admitted")
        return visitor

    def end(self, visitor):
        self.assertEqual(visitor.ask("/session", "DELETE").status, 204)


class Cookies(RoomCase):
    def test_a_place_is_taken_only_by_a_visitor_that_returns_its_cookie(self):
        first = self.http.ask("GET", "/room/shop?to=/cart?a=1&b=2")
        self.assertEqual((first.status, first.fields["location"]), (303, "/room/shop?back=1&to=/cart?a=1&b=2"))
        cookie = first.fields["set-cookie"]
        self.assertRegex(cookie, r"^__Host-airlock-[0-9a-f]{16}=[^; ]+; Max-Age=\d+; Path=/; Secure; HttpOnly; SameSite=Lax$")
        without = self.http.ask("GET", "/room/shop?back=1&to=/cart")
        self.assertEqual(without.status, 503)
        self.assertIn('data-state="cookies"', without.body)
        self.assertIsNotNone(re.search(r"__Host-airlock-", without.fields["set-cookie"]))
        self.assertEqual(self.http.ask("GET", "/v1/gates").json, [])
        entered = self.http.ask("GET", first.fields["location"], Cookie=cookie.split(";")[0])
        self.assertEqual((entered.status, entered.fields["location"]), (303, "/cart?a=1&b=2"))
        self.assertEqual(self.show("shop")["in_use"], 1)

    def test_cookies_are_of_one_gate(self):
        self.assertNotEqual(self.admitted("shop").cookie.split("=")[0], self.admitted("other").cookie.split("=")[0])

    def test_forged_and_stolen_cookies_are_worth_nothing(self):
        good = self.admitted("shop").cookie
        name, value = good.split("=", 1)
        visitor_id, gate_pass = value.split("!")
        other = self.visitor("other")
        other.ask("/status")
        other_name = other.cookie.split("=")[0]
        stolen = other_name + "=" + value
        forged = [value[:-1] + ("A" if value[-1] != "A" else "B"), visitor_id + "!" + visitor_id, gate_pass + "!" + gate_pass,
                  visitor_id.replace("~shop~", "~other~"), "", "!", "!" + gate_pass, "x" * 4000]
        for cookie in [stolen, *(name + "=" + each for each in forged)]:
            gate = "other" if cookie == stolen else "shop"
            answer = self.http.ask("GET", f"/room/{gate}", Cookie=cookie)
            is_known = cookie == name + "=" + forged[0] or cookie == name + "=" + forged[1]
            self.assertEqual("set-cookie" in answer.fields, True, cookie)
            if not is_known:  # Its id is good, its pass is not: the room knows the visitor, and gives it a new pass.
                self.assertIn("?back=1", answer.fields["location"], cookie)
        self.assertEqual(self.show("shop")["in_use"], 1)
        self.assertEqual(self.show("other")["in_use"], 0)

    def test_a_target_is_a_path_of_the_same_site(self):
        visitor = self.admitted()
        for to in ("https://evil.example/", "//evil.example/", "/\\evil.example", "%2F%2Fevil.example", "%2Fa%0d%0aX:y", "", "x"):
            answer = visitor.ask(f"?to={to}")
            self.assertEqual((answer.status, answer.fields["location"]), (303, "/"), to)
        self.assertEqual(visitor.ask("?to=%2Fa%3Fb%3D1&x=1").fields["location"], "/a?b=1")

    def test_there_is_no_room_without_configuration(self):
        answer = self.http.ask("GET", "/room/nothing")
        self.assertEqual((answer.status, answer.json["field"]), (404, "gate"))


class Waiting(RoomCase):
    def test_visitors_come_in_in_the_order_of_their_places(self):
        inside = self.admitted()
        pages = []
        for place in (1, 2, 3):
            visitor = self.visitor()
            client, standing = visitor.open_page()
            self.assertEqual((standing["state"], standing["position"], standing["waiting"]), ("waiting", place, place))
            pages.append((visitor, client))
        for visitor, client in pages:
            self.end(inside)
            standing = await_state(client, "admitted")
            self.assertEqual(standing["location"], "/")
            entered = visitor.ask("?to=/cart")
            self.assertEqual((entered.status, entered.fields["location"]), (303, "/cart"))
            inside = visitor
        self.assertEqual((self.show("shop")["in_use"], self.show("shop")["waiting"]), (1, 0))

    def test_positions_are_pushed(self):
        inside = self.admitted()
        ahead, _ = self.visitor().open_page()
        client, standing = self.visitor().open_page()
        self.assertEqual((standing["position"], standing["shown"]["ahead"]), (2, "1"))
        self.end(inside)
        await_state(ahead, "admitted")
        while standing["position"] != 1:
            _, standing = client.read_event()
        self.assertEqual(standing["shown"]["headline"], "You are next")

    def test_a_page_that_reloads_itself_gets_in_without_javascript(self):
        inside = self.admitted()
        visitor = self.visitor()
        visitor.ask()
        page = visitor.ask("?back=1&to=/cart?a=1&b=2")
        self.assertEqual(page.status, 503)
        self.assertEqual(self.show("shop")["waiting"], 0)  # A script would take the place by its stream.
        refresh = re.search(r'<noscript><meta http-equiv="refresh" content="1; url=([^"]+)"></noscript>', page.body).group(1)
        again = refresh.replace("&amp;", "&").removeprefix("/room/shop")
        page = visitor.ask(again)
        self.assertIn('data-state="waiting"', page.body)
        self.assertRegex(page.body, r'data-room="position">1<')
        self.assertRegex(page.body, r'content="15; url=')
        self.assertEqual((page.status, page.fields["retry-after"]), (503, "15"))
        self.end(inside)
        entered = visitor.ask(again)
        self.assertEqual((entered.status, entered.fields["location"]), (303, "/cart?a=1&b=2"))

    def test_a_visitor_whose_page_has_closed_is_passed_over_and_keeps_its_place(self):
        inside = self.admitted()
        gone = self.visitor()
        client, _ = gone.open_page()
        second = self.visitor()
        second_client, _ = second.open_page()
        client.close()
        self.assertTrue(eventually(lambda: not self.show("shop")["line"][0]["present"]))
        self.end(inside)
        await_state(second_client, "admitted")
        self.assertEqual(self.show("shop")["waiting"], 1)
        _, third = self.visitor().open_page()
        self.assertEqual(third["position"], 1)  # The absent one does not count.
        _, standing = gone.open_page()
        self.assertEqual(standing["position"], 1)
        self.end(second)
        self.assertTrue(eventually(lambda: gone.status()["state"] == "admitted"))

    def test_a_second_page_shows_the_same_place_and_both_get_in(self):
        inside = self.admitted()
        visitor = self.visitor()
        first, _ = visitor.open_page()
        second, standing = visitor.open_page()
        self.assertEqual((standing["position"], standing["waiting"]), (1, 1))
        self.end(inside)
        for client in (first, second):
            await_state(client, "admitted")
        self.assertEqual(self.show("shop")["in_use"], 1)

    def test_closing_one_of_two_pages_loses_no_turn(self):
        inside = self.admitted()
        visitor = self.visitor()
        first, _ = visitor.open_page()
        second, _ = visitor.open_page()
        first.close()
        self.assertTrue(eventually(lambda: not self.show("shop")["line"][0]["present"]))
        self.assertTrue(eventually(lambda: self.show("shop")["line"][0]["present"]))  # The other page has noticed.
        self.end(inside)
        await_state(second, "admitted")

    def test_the_inflow_limits_how_many_come_in(self):
        self.admitted("slow")
        visitor = self.visitor("slow")
        self.assertEqual(visitor.join()["state"], "waiting")
        self.assertEqual(self.show("slow")["in_use"], 1)

    def test_a_line_is_as_long_as_the_room_says(self):
        self.admitted("tiny")
        waiting = self.visitor("tiny")
        self.assertEqual(waiting.join()["state"], "waiting")
        full = self.visitor("tiny")
        self.assertEqual(full.join()["state"], "full")
        self.assertIn('data-state="full"', full.ask("?plain=1").body)
        self.assertEqual(waiting.ask("?plain=1").status, 200)  # The status of the room.
        self.assertEqual(waiting.ask("/session", "DELETE").status, 204)
        self.assertEqual(self.show("tiny")["waiting"], 0)

    def test_a_pause_is_shown(self):
        self.admitted()
        client, _ = self.visitor().open_page()
        self.http.ask("PUT", "/v1/gates/shop/pause", {"for": "1h"})
        standing = await_state(client, "paused")
        self.assertEqual((standing["position"], standing["shown"]["headline"]), (1, "Paused for a moment"))
        self.http.ask("DELETE", "/v1/gates/shop/pause")
        await_state(client, "waiting")

    def test_a_room_that_is_over_lets_nobody_join(self):
        visitor = self.visitor("over")
        self.assertEqual(visitor.join()["state"], "ended")
        page = visitor.ask("?plain=1")
        self.assertIn('data-state="ended"', page.body)
        self.assertNotIn('http-equiv="refresh"', page.body)
        self.assertEqual(self.http.ask("GET", "/v1/gates").json, [])

    def test_a_room_that_opens_later_draws_the_order_of_those_who_are_early(self):
        early = [self.visitor("soon") for _ in range(12)]
        for visitor in early:
            standing = visitor.join()
            self.assertEqual((standing["state"], standing["position"]), ("early", None))
        gate = self.show("soon")
        self.assertEqual((gate["in_use"], gate["waiting"]), (0, 12))
        self.assertGreater(len({each["priority"] for each in gate["line"]}), 6)
        self.assertTrue(all(each["priority"] > 0 for each in gate["line"]))

    def test_the_server_stops_and_another_finds_the_places(self):
        self.server.terminate()
        self.server.wait(LONG)
        self.store = f"shm:room-{os.getpid()}?dir={self.dir}"
        self.server = self.start_server()
        self.http = self.client()
        inside = self.admitted()
        pages = [self.visitor() for _ in range(3)]
        for visitor in pages:
            visitor.open_page()
        self.server.kill()
        self.server.wait()
        self.server = self.start_server()
        self.http = inside.client = self.client()
        for place, visitor in enumerate(pages, 1):
            visitor.client = self.http
            _, standing = visitor.open_page()
            self.assertEqual((standing["state"], standing["position"]), ("waiting", place))
        self.end(inside)
        self.assertTrue(eventually(lambda: pages[0].status()["state"] == "admitted"))


class Reload(RoomCase):
    SOON = 'opens_at = "2999-01-01T00:00:00+01:00"'

    def test_those_who_wait_are_let_in_by_the_new_limit(self):
        self.admitted()
        page, standing = self.visitor().open_page()
        self.assertEqual(standing["state"], "waiting")
        self.reload("limit = 1", "limit = 2")
        await_state(page, "admitted")

    def test_an_opening_that_is_moved_lets_those_in_who_wait(self):
        page, standing = self.visitor("soon").open_page()
        self.assertEqual(standing["state"], "early")
        self.reload(self.SOON, 'opens_at = "2020-01-01T00:00:00Z"')
        await_state(page, "admitted")

    def test_an_opening_that_is_moved_opens_the_room_for_others(self):
        self.assertEqual(self.visitor("soon").join()["state"], "early")
        self.reload(self.SOON, 'opens_at = "2020-01-01T00:00:00Z"')
        _, standing = self.visitor("soon").open_page()
        self.assertEqual(standing["state"], "waiting")
        self.assertEqual(self.show("soon")["pauses"], [])

    def test_an_opening_that_is_sooner_is_counted_down_to(self):
        page, standing = self.visitor("soon").open_page()
        self.assertEqual(standing["state"], "early")
        self.reload(self.SOON, time.strftime('opens_at = "%Y-%m-%dT%H:%M:%SZ"', time.gmtime(time.time() + 3600)))
        self.assertLess(await_state(page, "early")["wait_seconds"]["high"], 3700)
        self.assertTrue(eventually(lambda: self.show("soon")["pauses"][0]["remaining_seconds"] < 3700))

    def test_another_order_waits_for_an_empty_line(self):
        self.admitted()
        self.visitor().join()
        self.reload('gate = "shop"', 'gate = "shop"\norder = "lottery"')
        late = self.visitor()
        self.assertEqual(late.join()["state"], "outage")
        self.assertEqual(late.ask("?plain=1").status, 503)


class Sessions(RoomCase):
    def test_a_session_ends_when_nobody_uses_it(self):
        visitor = self.admitted("short")
        self.assertTrue(eventually(lambda: self.show("short")["in_use"] == 0))
        other = self.admitted("short")
        self.assertEqual(visitor.status()["state"], "waiting")
        self.end(other)

    def test_a_fixed_session_is_not_extended(self):
        visitor = self.admitted("fixed")
        begin = time.monotonic()
        other = self.visitor("fixed")
        other.join()

        def is_other_in():
            visitor.ask("/status")  # Would extend a sliding session.
            return other.status()["state"] == "admitted"

        self.assertTrue(eventually(is_other_in))
        self.assertGreater(time.monotonic() - begin, 2)

    def test_a_visitor_that_does_not_come_for_its_turn_is_in_for_half_a_minute_only(self):
        inside = self.admitted()
        client, _ = self.visitor().open_page()
        self.end(inside)
        await_state(client, "admitted")
        remaining = self.show("shop")["holders"][0]["remaining_seconds"]
        self.assertTrue(0 < remaining <= 30, remaining)


class Checks(RoomCase):
    """What proxies ask for every request."""

    def check(self, visitor, query="", **fields):
        answer = visitor.client.ask("GET", f"/check?gate={visitor.gate}{query}", Cookie=visitor.cookie or "x=y", **fields)
        visitor.take_cookie(answer.fields)
        return answer

    def test_a_visitor_with_a_pass_is_in(self):
        visitor = self.admitted()
        answer = self.check(visitor)
        self.assertEqual((answer.status, answer.fields["airlock-status"]), (204, "admitted"))
        self.assertNotIn("set-cookie", answer.fields)

    def test_others_have_to_wait_in_the_room(self):
        self.admitted()
        waiting = self.visitor()
        waiting.join()
        for visitor in (self.visitor(), waiting):
            answer = self.check(visitor, X_Original_URI="/cart?a=1&b=2")
            self.assertEqual((answer.status, answer.fields["airlock-status"]), (401, "queued"))
            self.assertEqual(answer.fields["airlock-room"], "/room/shop?to=/cart?a=1&b=2")
            answer = self.check(visitor, "&style=forward", X_Forwarded_Uri="/cart")
            self.assertEqual((answer.status, answer.fields["location"]), (303, "/room/shop?to=/cart"))
            answer = self.check(visitor, "&style=forward", X_Forwarded_Uri="//evil.example")
            self.assertEqual(answer.fields["location"], "/room/shop?to=/")

    def test_a_pass_is_worth_nothing_at_another_gate_or_changed(self):
        visitor = self.admitted()
        name, value = visitor.cookie.split("=", 1)
        other = self.admitted("other")
        thief = self.visitor()
        thief.ask("/status")
        for gate, cookie in (("other", other.cookie.split("=")[0] + "=" + value), ("other", visitor.cookie),
                             ("shop", f"{name}={other.cookie.split('=', 1)[1]}"), ("shop", f"{name}={value.split('!')[0]}"),
                             ("shop", f"{thief.cookie}!{value.split('!')[1]}"), ("shop", f"{name}={value.split('!')[1]}"),
                             ("shop", f"{name}={value[:-2]}"),
                             ("shop", f"{name}={other.cookie.split('=', 1)[1].split('!')[0]}!{value.split('!')[1]}")):
            answer = self.http.ask("GET", f"/check?gate={gate}", Cookie=cookie)
            self.assertEqual(answer.status, 401, cookie)
        self.assertEqual(self.http.ask("GET", "/check?gate=shop", Cookie=f"a=b; {name}=x; {visitor.cookie}").status, 204)

    def test_a_session_lives_as_long_as_it_is_used(self):
        visitor = self.admitted("short")
        begin = time.monotonic()
        while time.monotonic() < begin + 4:  # Twice its ttl. A renewed pass comes with the answer.
            self.assertEqual(self.check(visitor).status, 204)
            time.sleep(0.02)

    def test_a_pass_that_the_proxy_did_not_bring_is_given_by_the_room(self):
        visitor = self.admitted("short")
        first = visitor.cookie

        def is_out():
            visitor.cookie = first
            return self.check(visitor).status == 401

        self.assertTrue(eventually(is_out))
        visitor.cookie = first
        entered = visitor.ask("?to=/cart")
        self.assertEqual((entered.status, entered.fields["location"]), (303, "/cart"))
        self.assertEqual(self.check(visitor).status, 204)

    def test_many_requests_renew_once(self):
        visitor = self.admitted("fast")
        first = visitor.cookie
        renewed = []
        while not renewed:
            renewed += [answer for answer in (self.check(visitor) for _ in range(20)) if "set-cookie" in answer.fields]
        before = self.show("fast")["holders"][0]["remaining_seconds"]
        visitor.cookie = first
        for _ in range(20):  # All of them get a pass until the same time, and the store is not asked again.
            visitor.cookie = first
            self.assertIn("set-cookie", self.check(visitor).fields)
        self.assertLessEqual(self.show("fast")["holders"][0]["remaining_seconds"], before)

    def test_a_session_is_ended_by_the_site(self):
        for end in (lambda visitor: self.check(visitor, Airlock_Session="end"), lambda visitor: visitor.ask("/session", "DELETE")):
            visitor = self.admitted()
            cookie = visitor.cookie
            answer = end(visitor)
            self.assertEqual(answer.status, 204)
            self.assertRegex(answer.fields["set-cookie"], r"^__Host-airlock-[0-9a-f]{16}=; Max-Age=0; ")
            self.assertEqual(self.show("shop")["in_use"], 0)
            visitor.cookie = cookie  # A copy of the pass does not help.
            self.assertEqual(self.check(visitor).status, 401)

    def test_a_revoked_visitor_is_out_at_its_next_renewal(self):
        visitor = self.admitted("short")
        self.http.post("/v1/gates/short/revoke", {"now": True})
        self.assertTrue(eventually(lambda: self.check(visitor).status == 401))


class Pages(RoomCase):
    def page(self, gate="shop", **fields):
        visitor = self.visitor(gate)
        visitor.ask()
        return visitor.ask("?plain=1", **fields)

    def test_headers(self):
        self.admitted()
        page = self.page()
        self.assertEqual(page.fields["cache-control"], "no-store")
        self.assertEqual(page.fields["x-robots-tag"], "noindex")
        self.assertEqual(page.fields["content-type"], "text/html; charset=utf-8")
        policy = page.fields["content-security-policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", policy).group(1)
        self.assertEqual(page.body.count(f'nonce="{nonce}"'), 2)
        self.assertNotIn(nonce, self.page().body)
        self.assertNotIn("{{", page.body)
        self.assertIn("Harbour &lt;Tickets&gt;", page.body)

    def test_languages(self):
        self.admitted()
        for accepted, language in (("de-AT,de;q=0.9,en;q=0.5", "de"), ("es, fr;q=0.3, en;q=0.2", "fr"), ("", "en"), ("es", "en"),
                                   ("en;q=0.1, FR;q=0.7", "fr"), ("de;q=0", "en"), ("de;q=x,,;;q=1", "en")):
            self.assertIn(f'<html lang="{language}">', self.page(Accept_Language=accepted).body, accepted)

    def test_a_site_has_a_page_of_its_own(self):
        self.admitted("event:1")
        page = self.page("event:1", Accept_Language="en")
        self.assertIn("<p lang='fr'>Vous êtes le prochain||1</p>", page.body)
        self.assertIn("p { color: teal }", page.body)
        self.assertEqual(self.visitor("event:2").join()["location"], "/start")

    def test_json(self):
        self.admitted()
        visitor = self.visitor()
        first = visitor.ask(Accept="application/json")
        self.assertEqual((first.status, first.json["state"]), (503, "joining"))
        answer = visitor.ask(Accept="application/json")
        self.assertEqual((answer.status, answer.fields["content-type"]), (503, "application/json"))
        self.assertGreaterEqual(int(answer.fields["retry-after"]), 1)
        self.assertEqual((answer.json["state"], answer.json["position"]), ("waiting", 1))
        self.assertEqual(visitor.ask("/status").status, 200)

    def test_the_expected_wait_says_what_is_not_known(self):
        inside = self.admitted()
        waiting = [self.visitor() for _ in range(8)]
        for visitor in waiting:
            visitor.join()
        self.assertIsNone(waiting[-1].status()["wait_seconds"])
        for visitor in waiting[:4]:
            self.end(inside)
            self.assertTrue(eventually(lambda v=visitor: v.status()["state"] == "admitted"))
            inside = visitor
        self.assertTrue(eventually(lambda: waiting[-1].status()["wait_seconds"] is not None))
        wait = waiting[-1].status()["wait_seconds"]
        self.assertLess(wait["low"], wait["high"])


class Configuration(RoomCase):
    def test_a_mistake_is_named(self):
        room = '[[room]]\ngate = "g"\nlimit = 1\n'
        with open(os.path.join(self.dir, "bad.html"), "w", encoding="utf-8") as file:
            file.write("{{headline}} {{script_html}} {{unheard_of}}")
        for line, key, rule in (('limit = 0', 'limit', ''), ('inflow = "x"', 'inflow', ''), ('ttl = "1s"', 'ttl', 'from 2s'),
                                ('session = "x"', 'session', 'sliding, fixed'), ('order = "priority"', 'order', 'opens_at'),
                                ('status = 404', 'status', '503'), ('languages = ["xx"]', 'languages', 'en, de, fr'),
                                ('opens_at = "tomorrow"', 'opens_at', '2026-12-01T10:00:00Z'),
                                ('opens_at = "2026-02-30T10:00:00Z"', 'opens_at', ''), ('target = "x"', 'target', '/'),
                                ('target = "/\\r\\nX: y"', 'target', 'visible'), ('target = "//x"', 'target', 'one /'),
                                ('keys = "none"', 'keys', ''), ('template = "none"', 'template', ''),
                                ('template = "bad.html"', 'template', '{{unheard_of}}'), ('css = "none"', 'css', ''),
                                ('gates = "x"', 'gates', '')):
            path = os.path.join(self.dir, "bad.toml")
            text = room.replace("limit = 1\n", "") if line.startswith("limit") else room
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + line + "\n")
            done = subprocess.run([BINARY, "--check", "--config", path], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 64, line)
            self.assertIn(f"room[1].{key}: ", done.stderr)
            self.assertIn(rule, done.stderr)


if __name__ == "__main__":
    unittest.main()
