#!/usr/bin/env python3
"""GET /v1/events and /v1/history: what the dashboard shows is what happened, and a viewer that reads nothing costs little."""

import os
import signal
import socket
import time
import unittest

from server_case import LONG, RedisServer, ServerCase, eventually


class Viewing(ServerCase):
    def watch(self, query=""):
        viewer = self.client()
        viewer.write_request("GET", "/v1/events" + query)
        status, fields = viewer.read_head()
        self.assertEqual((status, fields["content-type"]), (200, "text/event-stream"))
        return viewer

    def state(self, viewer):
        name, data = viewer.read_event()
        self.assertEqual(name, "state")
        return data

    def await_state(self, viewer, condition):
        """The first state that is as `condition` wants it; every one is applied to `self.rows` before."""
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            state = self.state(viewer)
            if state["reset"]:
                self.rows = {}
            for row in state["changed"]:
                self.rows[row["name"]] = row
            for name in state["removed"]:
                del self.rows[name]
            if condition(self.rows):
                return state
        raise AssertionError(f"never seen: {self.rows}")


class Events(Viewing):
    def history(self, **query):
        text = "&".join(f"{name}={value}" for name, value in query.items())
        answer = self.http.ask("GET", f"/v1/history?{text}")
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def test_changes_follow_a_first_state_with_everything(self):
        self.admit("a", limit=2, label="first")
        self.admit("a", limit=2)
        self.assertEqual(self.admit("a", limit=2).status, 429)
        self.admit("b", limit=1)
        viewer = self.watch()
        first = self.await_state(viewer, lambda rows: set(rows) == {"a", "b"} and rows["a"].get("in_use") == 2)
        self.assertIsNone(first["store_error"])
        self.assertLess(abs(first["now"] - time.time()), LONG)
        self.assertEqual(self.rows["a"]["kind"], "permits")
        self.assertEqual((self.rows["a"]["limit"], self.rows["a"]["holder_count"]), (2, 2))

        self.http.ask("PUT", "/v1/gates/a/limit", {"limit": 5})
        self.http.ask("PUT", "/v1/gates/b/pause", {"for": "1h", "reporter": "deploy \"<b>\u202e"})
        self.await_state(viewer, lambda rows: rows["a"].get("override_limit") == 5 and "pauses" in rows["b"])
        self.assertEqual(self.rows["b"]["pauses"][0]["reporter"], "deploy \"<b>\u202e")
        self.assertLess(abs(self.rows["b"]["pauses"][0]["until"] - time.time() - 3600), LONG)
        quiet = self.await_state(viewer, lambda rows: "granted_per_second" not in rows["a"])
        quiet = self.state(viewer) if quiet["changed"] else quiet
        self.assertEqual((quiet["changed"], quiet["removed"], quiet["reset"]), ([], [], False),
                         "a pause that runs is no change")
        self.http.ask("DELETE", "/v1/gates/b")
        self.await_state(viewer, lambda rows: rows["b"] == {"name": "b", "kind": "unused"})

    def test_a_viewer_sees_the_gates_it_names_alone(self):
        for gate in ("mail:a", "mail:b", "erp"):
            self.admit(gate, limit=1)
        by_glob, by_name = self.watch("?match=mail:*"), self.watch("?gates=erp,absent")
        self.await_state(by_glob, lambda rows: set(rows) == {"mail:a", "mail:b"})
        self.await_state(by_name, lambda rows: set(rows) == {"erp"})
        self.http.ask("DELETE", "/v1/gates/mail:a")
        self.http.ask("DELETE", "/v1/gates/erp")
        self.await_state(by_name, lambda rows: rows == {"erp": {"name": "erp", "kind": "unused"}})
        self.rows = {}
        self.await_state(by_glob, lambda rows: rows == {"mail:a": {"name": "mail:a", "kind": "unused"}})

    def test_what_is_wrong_in_a_query_is_named(self):
        for query, field in (("gates=a b", "gates"), ("other=1", "query"), ("gates=a&gates=b", "gates")):
            answer = self.http.ask("GET", f"/v1/events?{query.replace(' ', '%20')}")
            self.assertEqual((answer.status, answer.json["field"]), (400, field), answer)
        for query, field in (("", "gates"), ("gates=", "gates"), ("gates=a&span=1s", "span"), ("gates=a&span=25h", "span"),
                             ("gates=a&span=x", "span"), ("gates=a&columns=size", "columns"),
                             ("gates=" + ",".join(["a"] * 6) + "&span=1h", "gates")):
            answer = self.http.ask("GET", f"/v1/history?{query}")
            self.assertEqual((answer.status, answer.json["field"]), (400, field), answer)

    def test_the_head_of_events_has_no_body(self):
        client = self.client()
        client.write_request("HEAD", "/v1/events")
        self.assertEqual(client.read_head()[0], 200)
        self.assertTrue(client.is_closed())
        self.assertEqual(client.unread, b"")

    def test_history_remembers_use_line_grants_and_refusals(self):
        viewer = self.watch()
        self.admit("quiet", limit=1)
        token = self.admit("erp", limit=1).json["token"]
        self.admit("erp", limit=1, visitor="waits")
        self.await_state(viewer, lambda rows: rows.get("erp", {}).get("waiting") == 1)
        for _ in range(3):
            self.assertEqual(self.admit("erp", limit=1).status, 429)
        self.http.post("/v1/release", {"token": token})
        self.await_state(viewer, lambda rows: "waiting" not in rows["erp"])
        self.assertEqual(self.admit("erp", limit=1, visitor="waits").status, 200)

        def erp():
            answer = self.history(gates="erp,quiet", span="2m")
            self.assertEqual(answer["resolution_seconds"], 1)
            self.assertEqual(answer["to"] - answer["from"], 119)
            found, quiet = answer["gates"]
            self.assertEqual((found["name"], quiet["name"]), ("erp", "quiet"))
            self.assertTrue(all(len(column) == 120 for column in
                                [found["in_use"], found["waiting"], found["granted_per_second"], found["wait_p99_seconds"]]))
            return found

        def total(values):
            return sum(value or 0 for value in values)

        self.assertTrue(eventually(lambda: total(erp()["refused_per_second"].get("full", [])) == 3), erp())
        self.assertTrue(eventually(lambda: total(erp()["wait_p99_seconds"]) > 0), "one has waited")
        found = erp()
        self.assertEqual(found["missing"][0]["because"], "not_sampled", "nobody looked before the server began")
        known = [each for each in found["waiting"] if each is not None]
        self.assertEqual((max(known), known[-1]), (1, 0))
        self.assertEqual(max(each for each in found["in_use"] if each is not None), 1)
        self.assertEqual({each for each in found["limit"] if each is not None}, {1})
        only = self.history(gates="quiet", span="1m", columns="in_use")["gates"][0]
        self.assertEqual(set(only), {"name", "missing", "in_use"})
        day = self.history(gates="erp", span="24h")
        self.assertEqual((day["resolution_seconds"], len(day["gates"][0]["in_use"])), (60, 1440))
        absent = self.history(gates="absent", span="1m")["gates"][0]
        self.assertEqual({each["because"] for each in absent["missing"]} - {"not_sampled"}, {"not_known"})

    def test_a_viewer_that_reads_nothing_sees_the_newest_state_later(self):
        reporter = "r" * 60
        for i in range(300):
            self.admit(f"gate-{i}-{'x' * 150}", limit=1)
        viewer = socket.socket(socket.AF_UNIX)
        viewer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        viewer.connect(self.socket_path)
        self.addCleanup(viewer.close)
        viewer.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        watching = self.watch("?gates=mark")
        for round_ in range(8):
            for i in range(300):
                gate = f"gate-{i}-{'x' * 150}"
                self.http.ask("PUT", f"/v1/gates/{gate}/limit", {"limit": 2 + round_})
            self.state(watching)
        self.http.ask("PUT", "/v1/gates/mark/pause", {"for": "1h", "reporter": reporter})
        self.rows = {}
        self.await_state(watching, lambda rows: "mark" in rows)
        viewer.settimeout(LONG)
        text = b""
        while b'"mark"' not in text:
            data = viewer.recv(65536)
            if not data:
                break  # It took too little for 15 s: it may come again.
            text += data
        self.assertIn(b'"mark"', text)
        # Eight rounds were made. What it got is the first state, part of it in the buffers of the kernel, and what
        # changed since: not one event per second.
        self.assertLess(text.count(b"event: state"), 8)

    def test_at_most_64_watch(self):
        viewers = [self.watch() for _ in range(64)]
        answer = self.http.ask("GET", "/v1/events")
        self.assertEqual(answer.status, 503, answer)
        viewers.pop().close()
        self.assertTrue(eventually(lambda: self.is_let_in()), "a place is free again")

    def is_let_in(self):
        with self.client() as client:
            client.write_request("GET", "/v1/events")
            return client.read_head()[0] == 200

    def test_viewers_are_sent_away_when_the_server_stops(self):
        viewer = self.watch()
        self.state(viewer)
        self.server.send_signal(signal.SIGTERM)
        name = "state"
        while name == "state":
            name, data = viewer.read_event()
        self.assertEqual((name, data["reason"]), ("end", "draining"))
        self.assertEqual(self.server.wait(LONG), 0)

    def test_without_history_gates_are_looked_at_while_somebody_watches(self):
        path = os.path.join(self.dir, "airlock.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("[dashboard]\nhistory = false\n")
        self.stop_server()
        self.server = self.start_server("--config", path)
        self.http = self.client()
        self.admit("erp", limit=1)
        self.assertEqual(self.http.ask("GET", "/v1/history?gates=erp").status, 404)
        self.await_state(self.watch(), lambda rows: "erp" in rows)


class EventsOfRedis(RedisServer, Viewing):
    def test_gates_that_are_gone_and_outages_are_shown(self):
        self.admit("erp", limit=1)
        self.admit("mail", limit=1)
        viewer = self.watch()
        self.await_state(viewer, lambda rows: set(rows) == {"erp", "mail"})
        with socket.socket(socket.AF_UNIX) as redis:
            redis.connect(os.path.join(self.dir, "redis.sock"))
            redis.sendall(b"FLUSHALL\r\n")
            self.assertEqual(redis.recv(100), b"+OK\r\n")
        self.await_state(viewer, lambda rows: not rows)
        self.admit("erp", limit=1)
        self.await_state(viewer, lambda rows: set(rows) == {"erp"})
        self.redis.kill()
        self.redis.wait()
        state = self.state(viewer)
        while state["store_error"] is None:
            state = self.state(viewer)
        self.assertEqual((state["changed"], state["removed"]), ([], []), "what was seen last stays")


if __name__ == "__main__":
    unittest.main()
