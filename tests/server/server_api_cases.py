"""What every call answers, over any store. server_api_test.py and server_api_redis_test.py run it."""

import re
import signal
import socket
import threading
import time

from server_case import eventually


class Admit:
    def test_granted_renewed_released(self):
        answer = self.admit("g", limit=2, ttl="20s")
        self.assertEqual(answer.status, 200)
        granted = answer.json
        self.assertEqual(granted["answer"], "granted")
        self.assertEqual((granted["slot"], granted["repeated"], granted["rate"]), (0, False, None))
        self.assertAlmostEqual(granted["expires_in_seconds"], 20, delta=1)
        self.assertGreater(granted["fence"], 0)
        self.assertGreater(self.admit("g", limit=2).json["fence"], granted["fence"])
        renewed = self.http.post("/v1/renew", {"token": granted["token"], "ttl": 500})
        self.assertEqual((renewed.status, renewed.json), (200, {"answer": "renewed", "expires_in_seconds": 500.0}))
        self.assertGreater(self.show("g")["holders"][0]["remaining_seconds"], 300)
        self.assertEqual(self.http.post("/v1/release", {"token": granted["token"]}).json, {"answer": "released"})
        for path in ("/v1/release", "/v1/renew"):
            gone = self.http.post(path, {"token": granted["token"]})
            self.assertEqual(gone.status, 410)
            self.assertNotIn(granted["token"], gone.body)
        self.assertEqual(self.show("g")["in_use"], 1)

    def test_refused(self):
        self.admit("g", limit=1)
        answer = self.admit("g", limit=1)
        self.assertEqual(answer.status, 429)
        self.assertEqual((answer.json["answer"], answer.json["reason"]), ("refused", "full"))
        self.assertGreaterEqual(int(answer.fields["retry-after"]), 1)
        answer = self.admit("g", limit=1, wait="50ms")
        self.assertEqual((answer.status, answer.json["reason"]), (429, "late"))
        self.assertEqual(self.show("g")["waiting"], 0)

    def test_rates(self):
        for left in (1, 0):
            answer = self.admit("g", rates=["2/1h", "100/1d"])
            self.assertEqual((answer.status, answer.json["rate"]["remaining"]), (200, left))
            self.assertNotIn("token", answer.json)
            self.assertEqual(answer.fields["ratelimit-policy"], '"2/h";q=2;w=3600, "100/d";q=100;w=86400')
            self.assertRegex(answer.fields["ratelimit"], rf'^"2/h";r={left};t=\d+$')
        answer = self.admit("g", rates=["2/1h", "100/1d"])
        self.assertEqual((answer.status, answer.json["reason"]), (429, "rate"))
        retry_after = answer.json["retry_after_seconds"]
        self.assertGreaterEqual(int(answer.fields["retry-after"]), retry_after)
        self.assertLess(int(answer.fields["retry-after"]), retry_after + 1)

    def test_a_waiter_is_granted_when_the_holder_releases(self):
        token = self.admit("g", limit=1).json["token"]
        waiter = self.client()
        waiter.write_request("POST", "/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
        self.await_waiting("g", 1)
        self.http.post("/v1/release", {"token": token})
        granted = waiter.read_answer().json
        self.assertEqual(granted["answer"], "granted")
        self.assertGreater(granted["waited_seconds"], 0)
        self.assertEqual(self.show("g")["holders"][0]["hold"], "detached")
        self.assertEqual(self.http.post("/v1/release", {"token": granted["token"]}).status, 200)

    def test_waiters_are_granted_in_order(self):
        token = self.admit("g", limit=1).json["token"]
        waiters = []
        for count in range(1, 4):
            waiters.append(self.client())
            waiters[-1].write_request("POST", "/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
            self.await_waiting("g", count)
        for waiter in waiters:
            self.http.post("/v1/release", {"token": token})
            token = waiter.read_answer().json["token"]

    def test_a_higher_priority_is_granted_first(self):
        token = self.admit("g", limit=1).json["token"]
        waiters = {}
        for count, priority in enumerate((1, 3, 2), 1):
            waiters[priority] = self.client()
            waiters[priority].write_request("POST", "/v1/gates/g/admit", {"limit": 1, "wait": "1h", "order": "priority",
                                                                         "priority": priority})
            self.await_waiting("g", count)
        for priority in (3, 2, 1):
            self.http.post("/v1/release", {"token": token})
            token = waiters[priority].read_answer().json["token"]

    def test_a_client_that_goes_away_while_it_waits_leaves_the_line(self):
        token = self.admit("g", limit=1).json["token"]
        for end in (lambda client: client.close(), lambda client: client.socket.shutdown(socket.SHUT_WR)):
            waiter = self.client()
            waiter.write_request("POST", "/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
            self.await_waiting("g", 1)
            end(waiter)
            self.await_waiting("g", 0)
        self.http.post("/v1/release", {"token": token})
        self.assertEqual(self.show("g")["in_use"], 0)

    def test_weights_and_labels(self):
        self.assertEqual(self.admit("g", limit=5, weight=4, label="night job").status, 200)
        self.assertEqual(self.admit("g", limit=5, weight=2).status, 429)
        holder = self.show("g")["holders"][0]
        self.assertEqual((holder["weight"], holder["label"]), (4, "night job"))

    def test_groups_are_written_with_a_tilde(self):
        self.assertEqual(self.admit("team~db", limit=1).status, 200)
        self.assertEqual(self.show("team~db")["name"], "team/db")
        answer = self.http.post("/v1/gates/team%2Fdb/admit", {"limit": 1})
        self.assertEqual((answer.status, answer.json["field"]), (400, "gate"))

    def test_bad_input_is_named_and_changes_nothing(self):
        bad = [({"limit": 0}, "limit"), ({"limit": -1}, "limit"), ({"limit": 1.5}, "limit"), ({"limit": "1"}, "limit"),
               ({"limit": 2**31 + 1}, "limit"), ({}, "limit"), ({"limit": 1, "weight": 2}, "weight"), ({"weight": 1}, "weight"),
               ({"limit": 1, "ttl": "x"}, "ttl"), ({"limit": 1, "ttl": 0}, "ttl"), ({"limit": 1, "ttl": -1}, "ttl"),
               ({"limit": 1, "ttl": "forever"}, "ttl"), ({"limit": 1, "ttl": True}, "ttl"), ({"limit": 1, "wait": -1}, "wait"),
               ({"rates": []}, "rates"), ({"rates": ["x"]}, "rates"), ({"rates": "1/s"}, "rates"), ({"rates": [1]}, "rates"),
               ({"rates": 9 * ["1/s"]}, "rates"), ({"limit": 1, "cost": 2}, "cost"), ({"limit": 1, "limits": 1}, "limits"),
               ({"limit": 1, "order": "lifo"}, "order"), ({"limit": 1, "priority": 1}, "priority"),
               ({"limit": 1, "order": "priority", "priority": 4096}, "priority"), ({"limit": 1, "visitor": ""}, "visitor"),
               ({"limit": 1, "visitor": 201 * "a"}, "visitor"), ({"limit": 1, "label": 65 * "a"}, "label"),
               ({"limit": 1, "join": 1}, "join"), ({"limit": 1, "join": True}, "join"), ({"limit": None}, "limit"),
               ({"limit": 1, "wait": "1s", "join": False}, "join")]
        for body, field in bad:
            answer = self.http.post("/v1/gates/g/admit", body)
            self.assertEqual((answer.status, answer.json.get("field")), (400, field), f"{body}: {answer}")
            self.assertEqual(answer.fields["content-type"], "application/problem+json")
        for body in ("", "[]", "{", "1", '{"limit":1,"limit":2}', '{"limit":1}x', '{"limit":1e999}', 1000 * "[", '{"limit":\xff}'):
            self.assertEqual(self.http.ask("POST", "/v1/gates/g/admit", body).status, 400, body)
        for gate in ("a%00b", "a b".replace(" ", "%20"), 201 * "a", "%", "%4", "%zz", "a~b~c"):
            answer = self.http.post(f"/v1/gates/{gate}/admit", {"limit": 1})
            self.assertEqual((answer.status, answer.json["field"]), (400, "gate"), gate)
        self.assertEqual(self.http.ask("GET", "/v1/gates").json, [])


class Groups:
    READ = {"gate": "disk/read", "limit": 4, "weight": 2}
    WRITE = {"gate": "disk/write", "limit": 1, "ttl": "60s", "rates": ["5/1h"]}

    def admit_all(self, *gates, **fields):
        return self.http.post("/v1/admit", {"gates": gates, **fields})

    def in_use(self):
        return [self.show(gate)["in_use"] for gate in ("disk~read", "disk~write")]

    def test_all_or_none(self):
        granted = self.admit_all(self.READ, self.WRITE)
        self.assertEqual(granted.status, 200)
        read, write = granted.json["gates"]
        self.assertEqual((granted.json["answer"], read["gate"], write["gate"]), ("granted", "disk/read", "disk/write"))
        self.assertEqual((read["rate"], write["rate"]["remaining"], write["repeated"]), (None, 4, False))
        self.assertAlmostEqual(write["expires_in_seconds"], 60, delta=1)
        self.assertEqual(self.in_use(), [2, 1])
        refused = self.admit_all(self.READ, self.WRITE)
        self.assertEqual(refused.status, 429)
        self.assertEqual((refused.json["answer"], refused.json["gate"], refused.json["reason"]), ("refused", "disk/write", "full"))
        self.assertGreaterEqual(int(refused.fields["retry-after"]), 1)
        self.assertEqual(self.in_use(), [2, 1])
        for part in (read, write):
            self.assertEqual(self.http.post("/v1/release", {"token": part["token"]}).status, 200)
        self.assertEqual(self.in_use(), [0, 0])

    def test_a_refusal_burns_no_rates(self):
        self.admit("disk~write", limit=1)
        for _ in range(3):
            self.assertEqual(self.admit_all({"gate": "disk/mails", "rates": ["2/1h"]}, self.WRITE).json["gate"], "disk/write")
        self.assertEqual(self.http.post("/v1/gates/disk~mails/take", {"rates": ["2/1h"], "cost": 2}).status, 200)
        refused = self.admit_all(self.READ, {"gate": "disk/mails", "rates": ["2/1h"]}, cost=2)
        self.assertEqual((refused.json["gate"], refused.json["reason"]), ("disk/mails", "rate"))
        self.assertIn("ratelimit", refused.fields)

    def test_a_visitor_is_found_again(self):
        first = self.admit_all(self.READ, self.WRITE, visitor="ann").json["gates"]
        again = self.admit_all(self.READ, self.WRITE, visitor="ann").json["gates"]
        self.assertEqual([(each["token"], True) for each in first], [(each["token"], each["repeated"]) for each in again])
        self.assertEqual(self.admit_all(self.READ, self.WRITE, visitor="bob").status, 429)

    def test_what_nobody_reads_is_given_back(self):
        with self.client() as client:
            client.write_request("POST", "/v1/admit", {"gates": [{**each, "ttl": "1h"} for each in (self.READ, self.WRITE)]})
        self.assertTrue(eventually(lambda: self.http.ask("GET", "/v1/gates/disk~write").status == 200))
        self.assertTrue(eventually(lambda: self.in_use() == [0, 0]), self.in_use())

    def test_a_visitor_that_waits_at_one_of_the_gates(self):
        self.admit("disk~write", limit=1)
        self.assertEqual(self.admit("disk~write", limit=1, visitor="ann").status, 202)
        refused = self.admit_all(self.READ, self.WRITE, visitor="ann")
        self.assertEqual((refused.status, refused.json["gate"], refused.json["reason"]), (429, "disk/write", "full"))
        self.assertEqual(self.in_use(), [0, 1])

    def test_a_bad_group_is_named_and_changes_nothing(self):
        for gates, field in (([], "gates"), (["disk/read"], "gates[0].limit"), ([5], "gates"), ("disk/read", "gates"),
                             (17 * [self.READ], "gates"), ([self.READ, {"limit": 1}], "gates[1].gate"),
                             ([self.READ, {"gate": "disk/b", "limit": 0}], "gates[1].limit"),
                             ([{"gate": "disk/b", "limit": 1, "wait": "1s"}], "gates[0].wait"),
                             ([{"gate": "a b", "limit": 1}], "gates[0].gate"), ([{"gate": "disk~b", "limit": 1}], "gates[0].gate"),
                             ([{"gate": "disk/b", "limit": 1, "weight": 2}], "gates[0].weight")):
            refused = self.http.post("/v1/admit", {"gates": gates})
            self.assertEqual((refused.status, refused.json["field"]), (400, field), gates)
        for gates in ([self.READ, self.READ], [self.READ, {"gate": "other/read", "limit": 1}]):
            refused = self.admit_all(*gates)
            self.assertEqual(refused.status, 400)
            self.assertIn("group", refused.json["detail"])
        for body in ({"gates": [self.READ], "wait": "1s"}, {"gates": [self.READ], "join": True}, {}):
            self.assertEqual(self.http.post("/v1/admit", body).status, 400)
        twice = '{"gates": [{"gate": "disk/read", "limit": 1, "limit": 9}]}'
        self.assertIn("stands twice", self.http.post("/v1/admit", twice).json["detail"])
        deep = '{"gates": [' + 9 * "[" + 9 * "]" + "]}"
        self.assertIn("too deeply", self.http.post("/v1/admit", deep).json["detail"])
        self.assertEqual(self.in_use(), [0, 0])


class Visitors:
    def test_a_place_is_kept_for_a_visitor(self):
        token = self.admit("g", limit=1).json["token"]
        answer = self.admit("g", limit=1, visitor="ann")
        self.assertEqual(answer.status, 202)
        queued = answer.json
        self.assertEqual((queued["answer"], queued["visitor"], queued["position"], queued["waiting"]), ("queued", "ann", 1, 1))
        self.assertEqual(self.admit("g", limit=1, visitor="bob").json["position"], 2)
        self.assertEqual(self.admit("g", limit=1, visitor="ann").json["position"], 1)
        self.http.post("/v1/release", {"token": token})
        granted = self.admit("g", limit=1, visitor="ann").json
        self.assertEqual((granted["answer"], granted["repeated"]), ("granted", False))
        again = self.admit("g", limit=1, visitor="ann").json
        self.assertEqual((again["token"], again["repeated"]), (granted["token"], True))

    def test_a_visitor_that_waits_is_granted_or_queued_in_the_end(self):
        token = self.admit("g", limit=1).json["token"]
        answer = self.admit("g", limit=1, visitor="ann", wait="100ms")
        self.assertEqual((answer.status, answer.json["position"]), (202, 1))
        waiter = self.client()
        waiter.write_request("POST", "/v1/gates/g/admit", {"limit": 1, "visitor": "ann", "wait": "1h"})
        self.http.post("/v1/release", {"token": token})
        self.assertEqual(waiter.read_answer().json["answer"], "granted")

    def test_a_visitor_whose_connection_ends_keeps_its_place(self):
        token = self.admit("g", limit=1).json["token"]
        waiter = self.client()
        waiter.write_request("POST", "/v1/gates/g/admit", {"limit": 1, "visitor": "ann", "wait": "1h"})
        self.await_waiting("g", 1)
        waiter.close()
        self.assertEqual(self.admit("g", limit=1, visitor="bob").json["position"], 2)
        self.http.post("/v1/release", {"token": token})
        self.assertEqual(self.admit("g", limit=1, visitor="ann").json["answer"], "granted")

    def test_a_visitor_leaves(self):
        self.admit("g", limit=1)
        self.admit("g", limit=1, visitor="a/b c")
        self.assertEqual(self.http.ask("DELETE", "/v1/gates/g/visitors/a%2Fb%20c").json, {"answer": "left"})
        self.assertEqual(self.http.ask("DELETE", "/v1/gates/g/visitors/a%2Fb%20c").status, 404)
        self.assertEqual(self.show("g")["waiting"], 0)

    def test_a_visitor_need_not_join(self):
        self.admit("g", limit=1)
        self.assertEqual(self.admit("g", limit=1, visitor="ann", join=False).status, 429)
        self.assertEqual(self.show("g")["waiting"], 0)


class Streams:
    def test_the_lease_lives_as_long_as_the_connection(self):
        holder = self.client()
        holder.begin_stream("/v1/gates/g/admit", {"limit": 1, "ttl": "2s"})
        name, granted = holder.read_event()
        self.assertEqual((name, granted["answer"]), ("granted", "granted"))
        waiter = self.client()
        waiter.begin_stream("/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
        name, queued = waiter.read_event()
        self.assertEqual((name, queued["position"]), ("queued", 1))
        # Renewed meanwhile: ages beyond its ttl.
        self.assertTrue(eventually(lambda: self.show("g")["holders"][0]["age_seconds"] > 4))
        self.assertEqual(self.show("g")["holders"][0]["fence"], granted["fence"])
        holder.close()
        name, after = waiter.read_event()
        self.assertEqual(name, "granted")
        self.assertGreater(after["fence"], granted["fence"])
        waiter.close()
        self.await_in_use("g", 0)

    def test_positions_move_up(self):
        token = self.admit("g", limit=1).json["token"]
        streams = []
        for position in range(1, 4):
            streams.append(self.client())
            streams[-1].begin_stream("/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
            self.assertEqual(streams[-1].read_event()[1]["position"], position)
        streams[0].close()
        self.await_waiting("g", 2)
        self.assertEqual(streams[2].read_event()[1]["position"], 2)
        self.http.post("/v1/release", {"token": token})
        events = [streams[1].read_event()]
        while events[-1][0] == "queued":
            events.append(streams[1].read_event())
        self.assertEqual(events[-1][0], "granted")

    def test_a_lost_lease_is_told(self):
        holder = self.client()
        holder.begin_stream("/v1/gates/g/admit", {"limit": 1})
        self.assertEqual(holder.read_event()[0], "granted")
        self.assertEqual(self.http.post("/v1/gates/g/revoke", {"now": True}).json, {"revoked": 1})
        self.assertEqual(holder.read_event(), ("lost", {"reason": "ended"}))
        self.assertTrue(holder.is_closed())

    def test_a_stream_that_is_refused(self):
        self.admit("g", limit=1)
        answer = self.http.post("/v1/gates/g/admit", {"limit": 1}, Accept="text/event-stream")
        self.assertEqual((answer.status, answer.json["reason"]), (429, "full"))
        waiter = self.client()
        waiter.begin_stream("/v1/gates/g/admit", {"limit": 1, "wait": "1s"})
        self.assertEqual(waiter.read_event()[0], "queued")
        name, refused = waiter.read_event()
        self.assertEqual((name, refused["reason"]), ("refused", "late"))
        self.assertTrue(waiter.is_closed())
        self.assertEqual(self.show("g")["waiting"], 0)

    def test_a_named_visitor_that_streams_gives_up_its_place_with_its_connection(self):
        self.admit("g", limit=1)
        waiter = self.client()
        waiter.begin_stream("/v1/gates/g/admit", {"limit": 1, "wait": "1h", "visitor": "ann"})
        self.assertEqual(waiter.read_event()[1]["visitor"], "ann")
        waiter.close()
        self.await_waiting("g", 0)


class Take:
    def test_take_peek_at_most_reserve(self):
        def take(**body):
            return self.http.post("/v1/gates/r/take", {"rates": ["10/1h"], **body})

        self.assertEqual(take(cost=4).json["rate"]["remaining"], 6)
        self.assertEqual(take(cost=4, mode="peek").json["rate"]["remaining"], 6)
        self.assertEqual(take(cost=20, mode="at_most").json["taken"], 6)
        refused = take()
        self.assertEqual((refused.status, refused.json["reason"]), (429, "rate"))
        self.assertEqual(refused.fields["ratelimit"].split(";")[1], "r=0")
        self.assertAlmostEqual(take(mode="reserve").json["delay_seconds"], 360, delta=60)
        never = take(cost=11)
        self.assertEqual((never.status, never.json["reason"], never.json["retry_after_seconds"]), (429, "never", None))
        self.assertNotIn("retry-after", never.fields)

    def test_bad_input(self):
        for body, field in (({}, "rates"), ({"rates": ["1/s"], "mode": "x"}, "mode"), ({"rates": ["1/s"], "cost": 0}, "cost"),
                            ({"rates": ["1/s"], "limit": 1}, "limit")):
            answer = self.http.post("/v1/gates/r/take", body)
            self.assertEqual((answer.status, answer.json["field"]), (400, field))


class Operators:
    def test_list_and_show(self):
        for gate in ("b:1", "a:1", "b:2"):
            self.admit(gate, limit=3)
        self.assertEqual([each["name"] for each in self.http.ask("GET", "/v1/gates").json], ["a:1", "b:1", "b:2"])
        self.assertEqual([each["name"] for each in self.http.ask("GET", "/v1/gates?match=b:*").json], ["b:1", "b:2"])
        self.assertEqual([each["name"] for each in self.http.ask("GET", "/v1/gates?match=%2a%3A1").json], ["a:1", "b:1"])
        self.assertEqual(self.http.ask("GET", "/v1/gates?math=b").status, 400)
        shown = self.http.ask("GET", "/v1/gates/b:1").json
        self.assertEqual((shown["in_use"], shown["limit"], len(shown["holders"])), (1, 3, 1))
        self.assertEqual(self.http.ask("GET", "/v1/gates/none").status, 404)

    def test_limit(self):
        self.admit("g", limit=1)
        waiter = self.client()
        waiter.write_request("POST", "/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
        self.await_waiting("g", 1)
        self.assertEqual(self.http.ask("PUT", "/v1/gates/g/limit", {"limit": 2}).status, 204)
        self.assertEqual(waiter.read_answer().status, 200)
        self.assertEqual(self.show("g")["override_limit"], 2)
        self.assertEqual(self.http.ask("DELETE", "/v1/gates/g/limit").status, 204)
        self.assertIsNone(self.show("g")["override_limit"])
        for body in ({}, {"limit": -1}, {"limit": 1, "x": 1}):
            self.assertEqual(self.http.ask("PUT", "/v1/gates/g/limit", body).status, 400)

    def test_pause(self):
        self.assertEqual(self.http.ask("PUT", "/v1/gates/g/pause", {"for": "1h"}).status, 204)
        self.assertEqual(self.http.ask("PUT", "/v1/gates/g/pause", {"for": 60, "reporter": "probe"}).status, 204)
        self.assertEqual(self.admit("g", limit=1).json["reason"], "paused")
        self.assertEqual(sorted(each["reporter"] for each in self.show("g")["pauses"]), ["operator", "probe"])
        self.assertEqual(self.http.ask("DELETE", "/v1/gates/g/pause").status, 204)
        self.assertEqual(self.http.ask("DELETE", "/v1/gates/g/pause?reporter=operator").status, 404)
        self.assertEqual(self.admit("g", limit=1).json["reason"], "paused")
        self.assertEqual(self.http.ask("DELETE", "/v1/gates/g/pause?reporter=probe").status, 204)
        self.assertEqual(self.admit("g", limit=1).status, 200)
        self.assertEqual(self.http.ask("PUT", "/v1/gates/g/pause", {}).json["field"], "for")

    def test_revoke(self):
        tokens = [self.admit("g", limit=3).json["token"] for _ in range(3)]
        digests = [holder["visitor"] for holder in self.show("g")["holders"]]
        revoke = "/v1/gates/g/revoke"
        self.assertEqual(self.http.post(revoke, {"visitor": digests[0], "now": True}).json, {"revoked": 1})
        self.assertEqual(sum(self.http.post("/v1/renew", {"token": token}).status == 200 for token in tokens), 2)
        self.assertEqual(self.http.post(revoke, {"visitor": "00000000"}).status, 404)
        self.assertEqual(self.http.post(revoke, {"now": True}).json, {"revoked": 2})
        self.assertEqual(self.show("g")["in_use"], 0)

    def test_purge(self):
        token = self.admit("g", limit=1).json["token"]
        self.assertEqual(self.http.ask("DELETE", "/v1/gates/g").status, 204)
        self.assertEqual(self.http.post("/v1/release", {"token": token}).status, 410)
        self.assertEqual(self.http.ask("DELETE", "/v1/gates/never").status, 404)

    def test_tokens_that_are_none(self):
        for token in ("x", "", "airlock1~" + 100 * "a", 2000 * "a", 1, None):
            for path in ("/v1/renew", "/v1/release"):
                answer = self.http.post(path, {"token": token})
                self.assertEqual((answer.status, answer.json["field"]), (400, "token"))
        self.assertEqual(self.http.post("/v1/release", {}).json["field"], "token")


class Probes:
    def test_methods_and_paths(self):
        self.assertEqual(self.http.ask("GET", "/none").status, 404)
        for path in ("/v1", "/v1/", "/v1/gates/", "/v1/gates/g/", "//live", "/live/"):
            self.assertEqual(self.http.ask("GET", path).status, 404, path)
        answer = self.http.ask("POST", "/live", {})
        self.assertEqual((answer.status, answer.fields["allow"]), (405, "GET, HEAD, OPTIONS"))
        answer = self.http.ask("OPTIONS", "/v1/gates/g/limit")
        self.assertEqual((answer.status, answer.fields["allow"]), (204, "PUT, DELETE, OPTIONS"))
        answer = self.http.ask("HEAD", "/live")
        self.assertEqual((answer.status, answer.body), (200, ""))
        self.assertEqual(int(answer.fields["content-length"]), len(self.http.ask("GET", "/live").body))

    def test_metrics(self):
        self.admit("g", limit=1)
        answer = self.http.ask("GET", "/metrics")
        self.assertTrue(answer.fields["content-type"].startswith("text/plain"))
        self.assertIn('airlock_granted_total{gate="g"} 1\n', answer.body)
        self.assertTrue(re.search(r"^airlock_server_connections 1$", answer.body, re.MULTILINE))
        self.assertEqual(self.http.ask("GET", "/ready").json, {"status": "ready"})

    def test_term_ends_what_is_begun(self):
        holder, waiter, queued = self.client(), self.client(), self.client()
        holder.begin_stream("/v1/gates/g/admit", {"limit": 1})
        self.assertEqual(holder.read_event()[0], "granted")
        waiter.write_request("POST", "/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
        self.await_waiting("g", 1)
        queued.begin_stream("/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
        self.assertEqual(queued.read_event()[0], "queued")
        waited = []
        thread = threading.Thread(target=lambda: waited.append(waiter.read_answer()))
        thread.start()
        status, seconds = self.stop_server()
        thread.join()
        self.assertEqual(status, 0)
        self.assertLess(seconds, 10)
        # A holder that ends first may be followed by one of those that wait.
        self.assertIn(waited[0].status, (200, 503))
        self.assertEqual(holder.read_event(), ("lost", {"reason": "draining"}))
        self.assertIn(queued.read_event()[0], ("refused", "granted"))
        self.expect_nobody_is_left()
