#!/usr/bin/env python3
"""What operators do to a running server, and what they see of it."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import unittest

from server_case import BINARY, LONG, Client, ServerCase, eventually

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
        self.reload("[dashboard]\nhistory = false\n" + self.CONFIG, 4)
        self.await_said("dashboard.history has changed, which takes effect when the server starts the next time")

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


class ReloadOfRights(OperationsCase):
    CONFIG = '[[principal]]\nname = "ann"\nusers = ["*"]\nadmit = "*"\nobserve = "*"\n'

    def start_server(self, *arguments):
        self.CONFIG = '[server]\nsocket_mode = "0666"\n' + ReloadOfRights.CONFIG
        return super().start_server(*arguments)

    def test_what_others_reach_keeps_rights(self):
        for number, text in enumerate(("", "[server]\nthreads = 1\n"), start=1):
            self.write_config(text)
            self.server.send_signal(signal.SIGHUP)
            self.await_metric("airlock_server_config_failed_reloads_total", number)
        self.await_said("others may connect, so airlock.toml needs a [[principal]]", 2)
        self.assertEqual(self.http.ask("PUT", "/v1/gates/g/limit", {"limit": 1}).status, 403)

    def test_rights_count_for_the_next_request(self):
        self.assertEqual(self.http.ask("PUT", "/v1/gates/g/limit", {"limit": 1}).status, 403)
        self.reload(self.CONFIG + 'operate = "*"\n', 2)
        self.assertEqual(self.http.ask("PUT", "/v1/gates/g/limit", {"limit": 1}).status, 204)
        self.reload(ReloadOfRights.CONFIG, 3)
        self.assertEqual(self.http.ask("PUT", "/v1/gates/g/limit", {"limit": 1}).status, 403)
        self.await_said("server.socket_mode has changed")

    def viewer(self):
        viewer = self.client()
        viewer.write_request("GET", "/v1/events")
        self.assertEqual(viewer.read_head()[0], 200)
        self.assertEqual(viewer.read_event()[0], "state")
        return viewer

    def await_event(self, viewer, condition, config):
        """There is one every second."""
        self.write_config(config)
        self.server.send_signal(signal.SIGHUP)
        self.await_said("is configuration 2")
        self.assertTrue(eventually(lambda: condition(*viewer.read_event())))

    def test_a_viewer_sees_no_longer_what_it_may_not_observe(self):
        self.await_event(self.viewer(), lambda _, state: state["reset"], self.CONFIG.replace('observe = "*"', 'observe = "other"'))

    def test_a_viewer_without_rights_is_sent_away(self):
        viewer = self.viewer()
        config = self.CONFIG.replace('observe = "*"', "")
        self.await_event(viewer, lambda name, data: (name, data.get("reason")) == ("end", "rights"), config)
        self.assertTrue(viewer.is_closed())


class ReloadWithoutRights(OperationsCase):
    CONFIG = ReloadOfRights.CONFIG

    def test_a_file_that_was_emptied_opens_nothing(self):
        for number, text in enumerate(("", "[server]\nthreads = 1\n"), start=1):
            self.write_config(text)
            self.server.send_signal(signal.SIGHUP)
            self.await_metric("airlock_server_config_failed_reloads_total", number)
        self.await_said("has no [[principal]] any more", 2)
        self.assertEqual(self.http.ask("PUT", "/v1/gates/g/limit", {"limit": 1}).status, 403)

    def test_what_cannot_be_read_is_not_empty(self):
        os.unlink(self.config)
        os.mkdir(self.config)
        self.server.send_signal(signal.SIGHUP)
        self.await_metric("airlock_server_config_failed_reloads_total", 1)
        self.await_said("cannot be read")


class ReloadWithoutAFile(ServerCase):
    def test_changes_nothing(self):
        self.server.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: "airlock_server_config_failed_reloads_total 1\n" in
                                   self.http.ask("GET", "/metrics").body))
        self.assertEqual(self.http.ask("GET", "/live").status, 200)


class AccessLog(OperationsCase):
    FORMAT = "json"

    def setUp(self):
        self.log = None
        super().setUp()

    def start_server(self, *arguments):
        self.log = os.path.join(self.dir, "access.log")
        self.CONFIG = f'[log]\naccess = "{self.FORMAT}"\nfile = "{self.log}"\n' + OperationsCase.CONFIG
        return super().start_server(*arguments)

    def lines(self, count, path=None):
        """All lines, once there are so many."""

        def read():
            with open(path or self.log, encoding="ascii") as file:
                return [line for line in file if line.endswith("\n")]

        self.assertTrue(eventually(lambda: len(read()) >= count), read())
        self.assertEqual(len(read()), count)
        return read()

    def records(self, count):
        return [json.loads(line) for line in self.lines(count)]

    def test_one_line_per_request(self):
        token = self.admit("g", visitor="secret-ann").json["token"]
        self.assertEqual(self.admit("g").status, 429)
        self.http.ask("DELETE", "/v1/gates/g/visitors/secret-ann?secret=1", Authorization="Bearer secret")
        self.http.post("/v1/release", {"token": token})
        self.http.ask("GET", "/" + token)
        self.http.ask("GET", '/"\\')
        self.http.ask("HEAD", "/live")
        self.http.send("GET /secret HTTP/1.1\r\nsecret\r\n\r\n")
        self.http.read_answer()
        records = self.records(8)
        self.assertEqual([(each["method"], each["path"], each["status"]) for each in records], [
            ("POST", "/v1/gates/g/admit", 200), ("POST", "/v1/gates/g/admit", 429),
            ("DELETE", "/v1/gates/g/visitors/{visitor}", 404), ("POST", "/v1/release", 200),
            ("GET", f"/{token[:15]}...", 404), ("GET", '/"\\', 404), ("GET", "/live", 200), (None, None, 400)])
        for each in records:
            self.assertEqual(list(each), ["time", "principal", "client", "method", "path", "status", "bytes", "seconds", "peer"])
            self.assertRegex(each["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
            self.assertEqual((each["principal"] or "-", each["client"]), (f"uid:{os.getuid()}" if each in records[:4] else "-", None))
            self.assertEqual(each["peer"], f"http pid {os.getpid()}")
            self.assertGreater(each["bytes"], 80)
            self.assertGreaterEqual(each["seconds"], 0)
        self.assertNotIn("secret", "\n".join(self.lines(8)))
        self.assertNotIn(token[16:], "\n".join(self.lines(8)))

    def test_calls_that_wait(self):
        token = self.admit("g").json["token"]
        gone, waiter, stream = self.client(), self.client(), self.client()
        gone.write_request("POST", "/v1/gates/g/admit", {"wait": "1h"})
        self.await_waiting("g", 1)
        gone.close()
        self.await_waiting("g", 0)
        waiter.write_request("POST", "/v1/gates/g/admit", {"wait": "1h"})
        self.await_waiting("g", 1)
        self.http.post("/v1/release", {"token": token})
        token = waiter.read_answer().json["token"]
        self.http.post("/v1/release", {"token": token})
        stream.begin_stream("/v1/gates/g/admit", {})
        self.assertEqual(stream.read_event()[0], "granted")
        stream.close()
        self.assertTrue(eventually(lambda: len(self.admits()) == 4))
        self.assertEqual([each["status"] for each in self.admits()], [200, 499, 200, 200])
        self.assertGreater(self.admits()[2]["seconds"], 0)
        self.assertGreater(self.admits()[3]["bytes"], 200)

    def written(self):
        with open(self.log, encoding="ascii") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def admits(self):
        return [each for each in self.written() if each["path"].endswith("/admit")]

    def test_it_is_reopened(self):
        for number, signal_ in enumerate((signal.SIGUSR1, signal.SIGHUP)):
            self.http.ask("GET", "/live")
            self.lines(1)
            os.rename(self.log, f"{self.log}.{number}")
            self.server.send_signal(signal_)
            self.assertTrue(eventually(lambda: os.path.exists(self.log)))
            self.assertEqual(os.stat(self.log).st_mode & 0o777, 0o640)
        self.http.ask("GET", "/live")
        self.lines(1)
        self.lines(1, self.log + ".0")
        self.lines(1, self.log + ".1")

    def test_one_that_cannot_be_opened_changes_nothing(self):
        self.write_config(self.CONFIG.replace("access.log", "none/access.log").replace("limit = 1", "limit = 2"))
        self.server.send_signal(signal.SIGHUP)
        self.await_said("none/access.log: cannot be opened: No such file or directory")
        self.http.ask("GET", "/live")
        self.lines(1)
        self.assertEqual((self.admit("g").status, self.admit("g").status), (200, 429))
        os.rename(self.log, self.log + ".0")
        os.mkdir(self.log)
        self.server.send_signal(signal.SIGUSR1)
        self.await_said("the earlier log is kept: ")
        self.http.ask("GET", "/live")
        self.lines(4, self.log + ".0")

    def test_it_can_be_turned_on_and_off(self):
        self.reload(OperationsCase.CONFIG, 2)
        self.http.ask("GET", "/live")
        self.reload(self.CONFIG, 3)
        self.http.ask("GET", "/ready")
        self.assertTrue(eventually(lambda: "/ready" in [each["path"] for each in self.written()]))
        self.assertNotIn("/live", [each["path"] for each in self.written()])


class TextLog(OperationsCase):
    CONFIG = '[log]\naccess = "text"\n'

    def test_a_line(self):
        self.http.ask("GET", '/a"b\\c')
        line = self.server.stdout.readline()
        self.assertRegex(line, r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z "-" - "GET /a\\x22b\\x5cc" 404 \d+ '
                               r'0\.\d{6} "http pid \d+"\n$')

    def test_a_reader_that_does_not_read_stops_nobody(self):
        """More than the pipe and the queue hold is dropped and counted, and the server still ends in time."""
        request = "GET /" + 10 * (190 * "a" + "/") + " HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for _ in range(30):
            self.http.send(50 * request)
            for _ in range(50):
                self.assertEqual(self.http.read_answer().status, 404)
        self.assertGreater(self.metric('airlock_server_log_lines_dropped_total{log="access"}'), 0)
        status, seconds = self.stop_server()
        self.assertEqual(status, 0)
        self.assertLess(seconds, 10)


SAMPLE = re.compile(r'^([a-z_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*\})? (\S+)$')


class Metrics(OperationsCase):
    def read(self):
        """Series by their text. Whoever breaks a rule of the format fails the test."""
        types, series = {}, {}
        text = self.http.ask("GET", "/metrics").body
        self.assertTrue(text.endswith("\n"))
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                name, kind = line.split(" ")[2:]
                self.assertNotIn(name, types)
                types[name] = kind
            elif not line.startswith("# HELP "):
                self.assertRegex(line, SAMPLE)
                name, labels, value = SAMPLE.match(line).groups()
                family = name if name in types else re.sub(r"_(bucket|sum|count)$", "", name)
                self.assertIn(family, types, line)
                self.assertEqual(list(types)[-1], family, "families are not interleaved")
                self.assertEqual(types[family] == "histogram", family != name, line)
                self.assertEqual(types[family] == "counter", name.endswith("_total"), line)
                self.assertNotIn(name + (labels or ""), series)
                series[name + (labels or "")] = float(value)
        if shutil.which("promtool"):
            subprocess.run(["promtool", "check", "metrics"], input=text, text=True, timeout=LONG, check=True)
        return series

    def requests(self, route, method, status):
        return self.read().get(f'airlock_server_requests_total{{route="{route}",method="{method}",status="{status}"}}', 0)

    def test_requests_by_route_and_status(self):
        admit = "/v1/gates/{gate}/admit"
        self.admit("g")
        for gate in range(5):
            self.admit(f"other:{gate}", limit=0)
        for path in range(5):
            self.http.ask("GET", f"/none/{path}")
        self.http.ask("GET", "/v1/gates/g")
        self.assertEqual((self.requests(admit, "POST", "2xx"), self.requests(admit, "POST", "4xx")), (1, 5))
        self.assertEqual(self.metric("airlock_server_store_available"), 1)
        self.assertEqual((self.requests("none", "", "4xx"), self.requests("/v1/gates/{gate}", "GET", "2xx")), (5, 1))
        series = self.read()
        labels = f'{{route="{admit}",method="POST"'
        buckets = [value for name, value in series.items() if name.startswith(f"airlock_server_request_seconds_bucket{labels}")]
        self.assertEqual(buckets, sorted(buckets))
        self.assertEqual((len(buckets), buckets[-1], series[f"airlock_server_request_seconds_count{labels}}}"]), (13, 6, 6))
        self.assertGreater(series[f"airlock_server_request_seconds_sum{labels}}}"], 0)
        self.assertFalse([name for name in series if "other" in name and "airlock_server" in name])

    def test_what_waits_and_streams(self):
        admit = "/v1/gates/{gate}/admit"
        stream, waiter = self.client(), self.client()
        stream.begin_stream("/v1/gates/g/admit", {})
        self.assertEqual(stream.read_event()[0], "granted")
        waiter.write_request("POST", "/v1/gates/g/admit", {"wait": "1h"})
        self.await_metric("airlock_server_waiting_calls", 1)
        self.assertEqual((self.metric("airlock_server_streams"), self.metric("airlock_server_connections")), (1, 3))
        stream.close()
        self.assertEqual(waiter.read_answer().status, 200)
        self.await_metric("airlock_server_streams", 0)
        self.assertEqual(self.metric("airlock_server_waiting_calls"), 0)
        waiter.write_request("POST", "/v1/gates/g/admit", {"wait": "1h"})
        self.await_metric("airlock_server_waiting_calls", 1)
        waiter.close()
        self.await_metric("airlock_server_waiting_calls", 0)
        self.assertEqual((self.requests(admit, "POST", "2xx"), self.requests(admit, "POST", "gone")), (2, 1))
        self.assertEqual(self.metric(f'airlock_server_request_seconds_count{{route="{admit}",method="POST"}}'), 1)


class Clients(OperationsCase):
    """Whose request it is. The access log says whom the server takes for the client."""
    CONFIG = '[log]\naccess = "json"\n[server]\n{proxies}\n'
    UNIX = 'trusted_proxies = ["unix", "10.0.0.0/8", "2001:db8:ffff::/48", "192.0.2.9"]\n'

    def start_server(self, *arguments):
        self.CONFIG = Clients.CONFIG.format(proxies=self.UNIX)
        return super().start_server("--listen", "tcp:127.0.0.1:0", "--threads", "1", *arguments)

    def client_of(self, *fields, http=None):
        """`fields`: lines of the head."""
        http = http or self.http
        http.send("GET /live HTTP/1.1\r\nHost: localhost\r\n" + "".join(f"{field}\r\n" for field in fields) + "\r\n")
        self.assertEqual(http.read_answer().status, 200)
        while True:
            record = json.loads(self.server.stdout.readline())
            if record["path"] == "/live":
                return record["client"]

    def tcp(self):
        self.clients.append(Client(("127.0.0.1", int(re.search(r"127\.0\.0\.1:(\d+)", self.listens)[1]))))
        return self.clients[-1]

    def test_x_forwarded_for(self):
        for hops, client in {
                "192.0.2.1": "192.0.2.1", "6.6.6.6, 192.0.2.1": "192.0.2.1", "6.6.6.6,192.0.2.1 ": "192.0.2.1",
                "192.0.2.1:4711": "192.0.2.1", "2001:db8::1": "2001:db8::1", "[2001:db8::1]:4711": "2001:db8::1",
                "::ffff:192.0.2.1": "192.0.2.1", "6.6.6.6, 192.0.2.1, 10.1.2.3, 192.0.2.9": "192.0.2.1",
                "192.0.2.1, 2001:db8:ffff:1::1": "192.0.2.1", "10.0.0.1, 10.0.0.2": "10.0.0.1", "192.0.2.1, nonsense": None,
                "192.0.2.1, nonsense, 10.0.0.1": "10.0.0.1", "fe80::1%1": None, "1.2.3": None, "01.2.3.4": None, "": None,
                "192.0.2.1,": None, "[2001:db8::1": None}.items():
            self.assertEqual(self.client_of(f"X-Forwarded-For: {hops}"), client, hops)
        self.assertEqual(self.client_of("X-Forwarded-For: 192.0.2.2", "x-forwarded-for: 192.0.2.1"), "192.0.2.1")
        self.assertIsNone(self.client_of("Forwarded: for=192.0.2.1", "X-Real-IP: 192.0.2.1"))

    def test_other_headers(self):
        self.reload(self.CONFIG + 'client_header = "Forwarded"\n', 2)
        for element, client in {
                "for=192.0.2.1": "192.0.2.1", "proto=https; For=\"192.0.2.1:99\";by=10.0.0.1": "192.0.2.1",
                "for=6.6.6.6, for=\"[2001:db8::1]:4711\"": "2001:db8::1", "for=192.0.2.1, for=10.0.0.1": "192.0.2.1",
                "for=\"6.6.6.6, for=192.0.2.1": "192.0.2.1", "for=unknown": None, "for=_x": None, "by=192.0.2.1": None,
                "proto=https": None}.items():
            self.assertEqual(self.client_of(f"Forwarded: {element}"), client, element)
        self.reload(self.CONFIG + 'client_header = "X-Real-IP"\n', 3)
        self.assertEqual(self.client_of("X-Real-IP: 192.0.2.1"), "192.0.2.1")
        self.assertIsNone(self.client_of("X-Forwarded-For: 192.0.2.1"))

    def test_of_peers_that_are_not_trusted(self):
        self.assertEqual(self.client_of("X-Forwarded-For: 192.0.2.1", http=self.tcp()), "127.0.0.1")
        self.reload(self.CONFIG.replace('"unix"', '"127.0.0.1"'), 2)
        self.assertIsNone(self.client_of("X-Forwarded-For: 192.0.2.1"))
        self.assertEqual(self.client_of("X-Forwarded-For: 192.0.2.1", http=self.tcp()), "192.0.2.1")

    def test_names_with_an_underscore_are_refused(self):
        """Some servers behind a proxy take X_Forwarded_For for what the proxy has written."""
        self.assertIsNone(self.client_of("Other_Name: 6.6.6.6"))
        for name in ("X_Forwarded_For", "x_real-ip"):
            http = self.client()
            http.send(f"GET /live HTTP/1.1\r\nHost: localhost\r\n{name}: 6.6.6.6\r\n\r\n")
            answer = http.read_answer()
            self.assertEqual(answer.status, 400)
            self.assertIn("underscore", answer.json["detail"])


class Caps(OperationsCase):
    CONFIG = '[server]\ntrusted_proxies = ["unix"]\n' + OperationsCase.CONFIG

    def wait_from(self, address, stream=False):
        """A client that waits, once it does, or its refusal."""
        client = self.client()
        waiting = self.metric("airlock_server_waiting_calls"), self.metric("airlock_server_streams")
        fields = {"Accept": "text/event-stream"} if stream else {}
        client.write_request("POST", "/v1/gates/g/admit", {"wait": "1h"}, X_Forwarded_For=address, **fields)

        def is_decided():
            client.socket.setblocking(False)
            try:
                client.read_some()
            except BlockingIOError:
                pass
            finally:
                client.socket.settimeout(LONG)
            now = self.metric("airlock_server_waiting_calls"), self.metric("airlock_server_streams")
            return client.unread or now != waiting

        self.assertTrue(eventually(is_decided))
        return client

    def expect_refused(self, address):
        answer = self.wait_from(address).read_answer()
        self.assertEqual((answer.status, answer.fields["retry-after"]), (429, "1"))
        self.assertIn("one address may have 64 calls that wait", answer.json["detail"])

    def test_places_of_one_address(self):
        self.admit("g")
        waiting = [self.wait_from("192.0.2.1", stream=number % 2 == 0) for number in range(64)]
        self.expect_refused("192.0.2.1")
        self.expect_refused("6.6.6.6, 192.0.2.1")
        self.assertEqual(self.metric('airlock_server_refused_total{cap="address_places"}'), 2)
        self.assertEqual(self.show("g")["waiting"], 64)  # Nobody was evicted, and who was refused has no place.
        self.assertEqual(self.http.post("/v1/gates/g/admit", {}, X_Forwarded_For="192.0.2.1").json["reason"], "full")
        self.wait_from("192.0.2.2").socket.setblocking(False)
        self.await_waiting("g", 65)
        waiting[5].close()
        self.await_waiting("g", 64)
        self.wait_from("192.0.2.1")
        self.await_waiting("g", 65)
        self.expect_refused("192.0.2.1")

    def test_ipv6_counts_by_64_bits(self):
        self.admit("g")
        for number in range(64):
            self.wait_from(f"2001:db8:0:1:{number:x}::1")
        self.await_waiting("g", 64)
        self.expect_refused("2001:db8:0:1:ffff::")
        self.wait_from("2001:db8:0:2::1")
        self.await_waiting("g", 65)

    def test_unix_sockets_and_loopback_are_not_counted(self):
        self.admit("g")
        for number in range(130):
            self.wait_from(("", "127.0.0.1")[number % 2])
        self.await_waiting("g", 130)


def own_address():
    """One of this machine that is not loopback, or nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))
        except OSError:
            return None
        address = probe.getsockname()[0]
    return None if address.startswith("127.") else address


@unittest.skipUnless(own_address() and shutil.which("openssl"), "this machine has loopback addresses only, or no openssl")
class ConnectionCap(OperationsCase):
    def start_server(self, *arguments):
        key, certificate = os.path.join(self.dir, "key.pem"), os.path.join(self.dir, "certificate.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                        key, "-out", certificate, "-subj", "/CN=x", "-days", "2"], check=True, capture_output=True, timeout=LONG)
        os.chmod(key, 0o600)
        self.CONFIG = (f'[tls]\ncertificate = "{certificate}"\nkey = "{key}"\n'
                       f'[[principal]]\nname = "a"\nusers = "*"\nobserve = "*"\ntokens = "sha256:{64 * "0"}"\n')
        return super().start_server("--listen", f"tls:{own_address()}:0", *arguments)

    def test_connections_of_one_address(self):
        where = (own_address(), int(re.search(r"tls:[^ ]*:(\d+)", self.listens)[1]))
        connected = []
        for _ in range(256):
            connected.append(Client(where))
            self.clients.append(connected[-1])
        self.await_metric("airlock_server_connections", 257)
        with Client(where) as refused:
            self.assertFalse(refused.read_some())
        self.assertEqual(self.metric('airlock_server_refused_total{cap="address_connections"}'), 1)
        self.assertEqual(self.metric("airlock_server_connections"), 257)  # Nobody was evicted.
        connected[0].close()
        self.await_metric("airlock_server_connections", 256)
        self.clients.append(Client(where))
        self.await_metric("airlock_server_connections", 257)
        self.assertEqual(self.metric('airlock_server_refused_total{cap="address_connections"}'), 1)


class Drain(OperationsCase):
    def read_all(self, client):
        while client.read_some():
            pass
        return client.unread.decode()

    def test_probes_streams_and_calls_that_wait(self):
        holder = self.client()
        holder.begin_stream("/v1/gates/g/admit", {})
        self.assertEqual(holder.read_event()[0], "granted")
        streams, waiters = [self.client() for _ in range(4)], [self.client() for _ in range(4)]
        for client in streams:
            client.begin_stream("/v1/gates/g/admit", {"wait": "1h"})
        for client in waiters:
            client.write_request("POST", "/v1/gates/g/admit", {"wait": "1h"})
        self.await_waiting("g", 8)
        # A client that does not read its answers keeps the server from ending meanwhile.
        slow = self.client()
        slow.socket.setblocking(False)
        with self.assertRaises(BlockingIOError):
            while True:
                slow.socket.send(100 * b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        probe, idle = self.client(), self.client()
        probe.send("GET /ready HT")
        self.assertEqual(idle.ask("GET", "/ready").status, 200)
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(idle.read_some(), False)
        probe.send("TP/1.1\r\nHost: localhost\r\n\r\n")
        ready = probe.read_answer()
        self.assertEqual((ready.status, ready.json["detail"]), (503, "the server is stopping"))
        self.assertIn(int(ready.fields["retry-after"]), range(1, 6))
        self.assertEqual(self.client().ask("GET", "/live").status, 200)
        refused = self.client().post("/v1/gates/g/admit", {})
        self.assertEqual(refused.status, 503)
        self.assertIn(int(refused.fields["retry-after"]), range(1, 6))
        delays = [re.findall(r"^retry: (\d+)$", self.read_all(client), re.MULTILINE) for client in [holder, *streams]]
        self.assertEqual([len(each) for each in delays], 5 * [1], delays)
        self.assertTrue(all(1000 <= int(delay) <= 5000 for [delay] in delays), delays)
        self.assertGreater(len({delay for [delay] in delays}), 1)
        answers = [client.read_answer() for client in waiters]
        # One of them may have been granted what the holder gave back.
        self.assertTrue({answer.status for answer in answers} <= {200, 503}, answers)
        self.assertTrue(all("retry-after" in answer.fields for answer in answers if answer.status == 503), answers)
        self.close_clients()
        self.assertEqual(self.server.wait(LONG), 0)

    def test_requests_that_are_on_the_way_are_answered(self):
        clients = [self.client() for _ in range(30)]
        for client in clients:
            self.assertEqual(client.ask("GET", "/live").status, 200)
        self.server.send_signal(signal.SIGSTOP)
        for client in clients:
            client.write_request("GET", "/live")
        self.server.send_signal(signal.SIGTERM)
        self.server.send_signal(signal.SIGCONT)
        self.assertEqual([client.read_answer().status for client in clients], 30 * [200])
        self.close_clients()
        self.assertEqual(self.server.wait(LONG), 0)


if __name__ == "__main__":
    unittest.main()
