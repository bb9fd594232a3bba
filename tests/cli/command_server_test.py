#!/usr/bin/env python3
"""The command over a server: what it shows and sets is what it shows and sets at the store; what servers may do wrong."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
import unittest

from command_case import QUOTED, BashCase, CommandCase, RedisCase, eventually
from command_screen_test import Terminal

SERVER = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "airlock-server"
USAGE, UNAVAILABLE, LOST = 64, 69, 76
TIMES = re.compile(r"\d+(\.\d+)?(us|ms|s|m|h|d)\b|(?<=_seconds\": )[\d.]+|processes that use it: \d+")


def without_times(text):
    return re.sub(" +", " ", TIMES.sub("#", text))


class Served:
    """A server over the store of the case, at a Unix socket and at a port."""

    def setUp(self):
        super().setUp()
        self.url = f"unix:{self.path('server.sock')}"
        self.serve("--listen", self.url, "--listen", "tcp:127.0.0.1:0")

    def serve(self, *arguments):
        self.http_server = subprocess.Popen([SERVER, *arguments], env=self.environment, text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(self.http_server)
        self.port = int(re.search(r"t(?:cp|ls):127\.0\.0\.1:(\d+)", self.http_server.stdout.readline()).group(1))

    def over(self, *arguments, url=None, **options):
        return self.airlock("--server", url or self.url, *arguments, **options)

    def said(self, *arguments, **options):
        done = self.over(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Operators(Served, CommandCase):
    def fill(self):
        for arguments in (["--slots", "3", "build"], ["job"], ["-s", "readers"], ["-s", "readers"],
                          ["--slots", "2", "--rate", "9/h", "team/api:x"]):
            self.start_inside(*arguments)
        self.start("run", "job", "true")
        self.start("run", "-s", "job", "true")
        self.start("run", "--order", "priority", "--priority", "7", "--slots", "3", "--weight", "3", "build", "true")
        self.assertTrue(eventually(lambda: self.waiting("job") == 2 and self.waiting("build") == 1))
        self.output("take", "feed", "--rate", "10/h", "--rate", "5/1d,fixed")
        self.output("run", "free", "true")
        self.output("limit", "unheard", "0")
        self.output("limit", "build", "2")
        self.output("pause", "job", "--for", "1h")
        self.status("run", "-n", "--slots", "3", "build", "true")

    def test_shows_what_the_store_shows(self):
        self.fill()
        gates = [gate["name"] for gate in json.loads(self.output("ls", "--json"))]
        self.assertEqual(len(gates), 7)
        calls = [["ls"], ["ls", "--json"], ["ls", "--overrides"], ["ls", "--match", "*b*"], ["ls", "--match", "none"],
                 ["doctor"], ["doctor", "--json"], ["show", "nope"], ["show", "jbo"]]
        calls += [["show", gate] for gate in gates] + [["show", gate, "--json"] for gate in gates]
        for url in (self.url, f"http://127.0.0.1:{self.port}", f"http://localhost:{self.port}/"):
            for call in calls if url == self.url else calls[:2]:
                with self.subTest(call=call, url=url):
                    here, there = self.airlock(*call), self.over(*call, url=url)
                    self.assertEqual((there.returncode, without_times(there.stdout), there.stderr),
                                     (here.returncode, without_times(here.stdout), here.stderr))

    def test_metrics_are_those_of_the_store_and_of_the_server(self):
        self.fill()
        for match in ("*", "*b*"):
            there = self.said("metrics", "--match", match)
            self.assertTrue(there.startswith(self.output("metrics", "--match", match)), there)
            self.assertIn("airlock_server_connections", there)

    def test_sets_what_is_set_at_the_store(self):
        holder, _ = self.start_inside("--slots", "3", "team/api:x")
        gate = lambda: json.loads(self.output("show", "team/api:x", "--json"))
        self.said("limit", "team/api:x", "5")
        self.assertEqual(gate()["override_limit"], 5)
        self.said("limit", "team/api:x", "clear")
        self.assertIsNone(gate()["override_limit"])
        self.said("pause", "team/api:x", "--for", "90s")
        self.assertTrue(80 < gate()["pauses"][0]["remaining_seconds"] <= 90)
        self.said("pause", "team/api:x", "--until-resumed")
        self.assertGreater(gate()["pauses"][0]["remaining_seconds"], 1e6)
        self.said("resume", "team/api:x")
        again = self.over("resume", "team/api:x")
        self.assertEqual((again.returncode, again.stderr), (1, 'airlock: gate "team/api:x": no operator had paused it\n'))
        none = self.over("revoke", "team/api:x", "zz")
        self.assertEqual((none.returncode, none.stderr), (LOST, 'airlock: gate "team/api:x": no holder is called zz\n'))
        visitor = gate()["holders"][0]["visitor"]
        self.assertEqual(self.said("revoke", "team/api:x", visitor[:3]), "1 revoked\n")
        self.assertEqual(holder.wait(60), LOST)
        self.assertEqual(self.said("revoke", "team/api:x", "--all", "--now"), "0 revoked\n")
        self.said("purge", "team/api:x", "--force")
        self.assertEqual(gate()["kind"], "unused")
        self.assertEqual(self.over("purge", "unheard", "--force").returncode, 1)

    def test_the_server_is_named_by_the_environment_too(self):
        self.output("run", "job", "true")
        self.environment["AIRLOCK_SERVER"] = f"unix:{self.path('none.sock')}"
        self.assertEqual(self.status("ls"), UNAVAILABLE)
        self.assertIn("job", self.said("ls"))
        self.assertIn("job", self.output("ls", "--store", self.environment["AIRLOCK_STORE"]))
        self.assertEqual(self.status("run", "job", "true"), 0, "AIRLOCK_STORE is what it uses")
        del self.environment["AIRLOCK_STORE"]
        done = self.airlock("run", "job", "true")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("run: does not work over a server", done.stderr)

    def test_commands_that_need_a_store_say_so(self):
        for call in (["run", "x", "true"], ["acquire", "x"], ["renew", "t"], ["release", "t"], ["take", "x", "--rate", "1/s"],
                     ["stores"], ["store", "rm", "x"], ["serve"], ["demo"]):
            for line in (["--server", self.url, *call], [call[0], f"--server={self.url}", *call[1:]]):
                done = self.airlock(*line)
                self.assertEqual(done.returncode, USAGE, line)
                self.assertIn("does not work over a server", done.stderr)
        self.assertEqual(self.output("run", "x", "echo", "--server", "a"), "--server a\n")

    def test_what_the_server_rejects_is_a_matter_of_usage(self):
        done = self.over("pause", "x", "--for", "1us")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("for: has to be from 1ms", done.stderr)

    def test_a_server_that_is_not_there(self):
        for call in (["ls"], ["show", "x"], ["doctor"], ["limit", "x", "1"], ["metrics"], ["top"]):
            done = self.over(*call, url=f"unix:{self.path('none.sock')}")
            text = done.stdout + done.stderr
            if call == ["top"]:
                self.assertEqual(done.returncode, USAGE, "no terminal")
            else:
                self.assertEqual(done.returncode, UNAVAILABLE, text)
                self.assertIn(f"server unix:{self.path('none.sock')}: no connection", text)

    def test_urls_that_cannot_be(self):
        for url in ("shm:", "ftp://host", "http://", "http://user:secret@host", "http://[::1", "http://host:0", "http://ho st",
                    "http://host:99999", "unix:", "http://host?wait=1s", "http://host?timeout=0", "http://host/a b", "http://host/#x"):
            done = self.over("ls", url=url)
            self.assertEqual(done.returncode, USAGE, url)
            self.assertTrue(done.stderr.startswith("airlock: --server: "), done.stderr)
            self.assertNotIn("secret", done.stderr)
        for line in (["--server", self.url, "--store", "shm:", "ls"], ["--ca", "f", "ls"], ["--token-file", "f", "ls"],
                     ["--server", self.url, "--ca", "f", "ls"]):
            self.assertEqual(self.status(*line), USAGE, line)


class Completion(Served, BashCase):
    def test_gates_are_those_of_the_server_on_the_line(self):
        self.output("run", "there", "true")
        del self.environment["AIRLOCK_STORE"]
        for line in (f"airlock --server {self.url} show ", f"airlock show --server={self.url} --token-file=/dev/null "):
            self.assertEqual(self.offers(line), ["there"] if "token" not in line else [], line)
        self.assertEqual(self.offers("airlock ls --server "), ["unix:", "http://", "https://"])
        self.assertIn("--token-file", self.offers("airlock --"))


class Outage(Served, RedisCase):
    def test_an_outage_of_the_store_is_what_the_server_says(self):
        self.output("limit", "x", "1")
        self.server.kill()
        self.server.wait()
        done = self.over("ls")
        self.assertEqual(done.returncode, UNAVAILABLE)
        self.assertIn(f"airlock: server {self.url}: the store is unavailable: ", done.stderr)
        examined = self.over("doctor")
        self.assertEqual(examined.returncode, UNAVAILABLE)
        self.assertIn("problem: redis", examined.stdout)
        self.assertIn("see that it is there", examined.stdout)


def answer(status, body="", content_type="application/json"):
    return (f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body.encode())}\r\n\r\n{body}").encode()


def problem(status, detail, **more):
    return answer(f"{status} X", json.dumps({"status": status, "detail": detail, **more}), "application/problem+json")


def unread(client):
    """How much of what was written to a Unix socket has not been read yet."""
    return struct.unpack("i", fcntl.ioctl(client, termios.TIOCOUTQ, b"\0" * 4))[0]


class Foreign(CommandCase):
    """A server that says what the test wants, in pieces, and keeps what it was asked."""

    def setUp(self):
        super().setUp()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path("foreign.sock"))
        self.listener.listen()
        self.addCleanup(self.listener.close)
        self.asked = []

    def play(self, pieces, hold=False):
        client = self.listener.accept()[0]
        with client:
            data = b""
            while not data.endswith(b"}") and (b"\r\n\r\n" not in data or b"Content-Length" in data):
                data += client.recv(65536)
            self.asked.append(data.decode())
            try:
                for piece in pieces:
                    client.sendall(piece)
                    while unread(client):
                        time.sleep(0)
                while hold and client.recv(100):
                    pass
            except OSError:
                pass

    def told(self, *pieces, call=("ls",), hold=False, url="", **options):
        player = threading.Thread(target=self.play, args=(pieces, hold), daemon=True)
        player.start()
        done = self.airlock(*call, "--server", f"unix:{self.path('foreign.sock')}{url}", **options)
        player.join(60)
        return done

    def fails(self, text, *pieces, status=UNAVAILABLE, **options):
        done = self.told(*pieces, **options)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertIn(text, done.stderr)
        self.assertTrue(done.stderr.startswith("airlock: "))
        self.assertEqual(done.stderr.count("\n"), 1)
        return done.stderr

    def test_an_answer_may_come_in_pieces_and_chunks(self):
        gates = json.dumps([{"name": f"g{i}", "kind": "unreadable", "error": "e" * 50} for i in range(40)])
        plain = answer("200 OK", gates)
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        for i in range(0, len(gates), 700):
            piece = gates[i:i + 700].encode()
            chunked += f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
        chunked += b"0\r\n\r\n"
        for text in (plain, chunked):
            for size in (1, 7, len(text)):
                done = self.told(*(text[i:i + size] for i in range(0, len(text), size)))
                self.assertEqual((done.returncode, done.stdout.count("unreadable")), (0, 40), done.stderr)

    def test_an_answer_that_is_none(self):
        ok = "HTTP/1.1 200 OK\r\n"
        self.fails("its answer has no length", f"{ok}\r\n[]".encode())
        self.fails("the server closed the connection", answer("200 OK", "[]    ")[:-3])
        self.fails("the server closed the connection")
        self.fails("its answer is not HTTP/1.1", b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        self.fails("its answer is not HTTP/1.1", f"{ok}X: {'y' * 20000}\r\n\r\n".encode())
        self.fails("its answer is not HTTP/1.1", f"{ok}Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode())
        self.fails("its answer is not HTTP/1.1", f"{ok}Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n[]\r\n0\r\n\r\n".encode())
        self.fails("its answer has more than 64 MB", f"{ok}Content-Length: 99999999999\r\n\r\n".encode())
        self.fails("not as this version knows it", f"{ok}Transfer-Encoding: chunked\r\n\r\n".encode(), b"0\r\n", b"\r", b"\n")
        self.fails("not as this version knows it", answer("200 OK", "{["))
        self.fails("not as this version knows it", answer("200 OK", "[" * 100000))
        self.fails("not as this version knows it", answer("200 OK", '[{"name": 3}]'))
        self.fails("not as this version knows it", answer("200 OK", '{"name": "x", "kind": "lock"}'), call=("show", "x"))
        self.fails("not as this version knows it", answer("200 OK", "{}"), call=("revoke", "x", "--all"))
        self.fails("it answers with status 302", answer("302 Found", "<html>"))
        self.fails("it answers with status 404", answer("404 Not Found", "no such page"), call=("show", "x"))

    def test_an_answer_that_is_too_long_is_not_kept(self):
        piece = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
        self.fails("its answer has more than 64 MB", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *([piece] * 65))

    def test_an_answer_that_does_not_come(self):
        self.fails("no answer in time", hold=True, url="?timeout=200ms")
        self.fails("no answer in time", answer("200 OK", "[]")[:-1], hold=True, url="?timeout=200ms")
        self.fails("it may have done what it was asked for", hold=True, url="?timeout=200ms", call=("limit", "x", "1"))
        self.assertIn("PUT /v1/gates/x/limit HTTP/1.1\r\nHost: localhost\r\n", self.asked[-1])

    def test_rights_and_problems(self):
        self.fails("the token is not known", problem(401, "the token is not known"), status=UNAVAILABLE)
        self.assertIn("--token-file", self.fails("a token is needed", problem(401, "a token is needed")))
        self.fails("role operate is needed", problem(403, "role operate is needed"), call=("limit", "x", "1"))
        self.fails("the server is stopping", problem(503, "the server is stopping"))
        self.fails("match: is wrong", problem(400, "is wrong", field="match"), status=USAGE)
        self.fails("bad?[31m", problem(503, "bad\x1b[31m"))

    def test_control_characters_do_not_reach_the_terminal(self):
        done = self.told(answer("200 OK", json.dumps([{"name": "a\x1b]0;b\x07", "kind": "unreadable", "error": "\u009b31m\n"}])))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a?]0;b?", done.stdout)
        self.assertNotRegex(done.stdout, "[\x1b\x07\u009b]")

    def test_the_token_is_in_the_head_and_nowhere_else(self):
        with open(self.path("token"), "w", encoding="utf-8") as file:
            file.write("s3cret-of-the-file\r\nsecond line\n")
        self.environment["AIRLOCK_SERVER_TOKEN"] = "s3cret-of-the-environment"
        self.environment["AIRLOCK_TOKEN"] = "airlock1~a-lease"
        message = self.fails("no", problem(401, "no"))
        self.assertNotIn("s3cret", message)
        self.assertIn("\r\nAuthorization: Bearer s3cret-of-the-environment\r\n", self.asked[-1])
        message = self.fails("no", problem(403, "no"), call=("ls", "--token-file", self.path("token")))
        self.assertNotIn("s3cret", message)
        self.assertIn("\r\nAuthorization: Bearer s3cret-of-the-file\r\n", self.asked[-1])
        self.assertNotIn("airlock1~", "".join(self.asked))
        refused = self.airlock("ls", "--server", "http://example.invalid")
        self.assertEqual(refused.returncode, USAGE)
        self.assertIn("a token is not sent over a network as plain text", refused.stderr)
        for wrong in ("two words", "line\nX: y", "x" * 5000):
            self.environment["AIRLOCK_SERVER_TOKEN"] = wrong
            refused = self.airlock("ls", "--server", f"unix:{self.path('foreign.sock')}")
            self.assertEqual(refused.returncode, USAGE)
            self.assertNotIn(wrong[:4], refused.stderr.replace("AIRLOCK_SERVER_TOKEN", ""))


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class Tls(Served, CommandCase):
    """Two servers with a certificate each, for localhost and for another host, and callers that have one role each."""

    def setUp(self):
        super().setUp()
        self.plain, self.ports = self.port, {}
        for name, host in (("ours", "localhost"), ("other", "example.org")):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                            "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{host}",
                            "-keyout", self.path(f"{name}.key"), "-out", self.path(f"{name}.pem")],
                           check=True, stderr=subprocess.DEVNULL)
            self.write(f"{name}.toml", f'[tls]\ncertificate = "{self.path(name)}.pem"\nkey = "{self.path(name)}.key"\n'
                       + self.principal("eyes", 'observe = ["team/*", "job"]') + self.principal("hands", 'operate = "team/*"'))
            self.serve("--config", self.path(f"{name}.toml"), "--listen", "tls:127.0.0.1:0")
            self.ports[name] = self.port

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def principal(self, name, role):
        digest = hashlib.sha256(f"{name}-token".encode()).hexdigest()
        self.write(f"{name}.token", f"{name}-token\n")
        return f'[[principal]]\nname = "{name}"\ntokens = ["sha256:{digest}"]\n{role}\n'

    def call(self, *arguments, token="eyes", server="ours", host="localhost", ca="ours"):
        options = ["--ca", self.path(f"{ca}.pem")] if ca else []
        options += ["--token-file", self.path(f"{token}.token")] if token else []
        return self.over(*arguments, *options, url=f"https://{host}:{self.ports[server]}")

    def test_certificates(self):
        self.output("run", "job", "true")
        self.assertIn("job", self.call("ls").stdout)
        for where, text in (({"host": "127.0.0.1"}, "IP address mismatch"), ({"server": "other", "ca": "other"}, "ostname mismatch"),
                            ({"ca": "other"}, "certificate"), ({"ca": None}, "certificate"), ({"ca": "none"}, "none.pem")):
            done = self.call("ls", **where)
            self.assertEqual((done.returncode, done.stdout), (UNAVAILABLE, ""), where)
            self.assertIn(text, done.stderr, where)
        self.ports["ours"] = self.plain
        self.assertIn("TLS", self.call("ls").stderr, "no TLS there")

    def test_rights(self):
        self.output("run", "job", "true")
        for gate in ("team/a", "secret"):
            self.output("limit", gate, "3")
        listed = self.call("ls").stdout
        self.assertTrue("team/a" in listed and "secret" not in listed, listed)
        examined = self.call("doctor").stdout
        self.assertTrue("gate team/a: an operator set" in examined and "secret" not in examined, examined)
        self.assertNotIn("secret", self.call("metrics").stdout)
        self.assertEqual(self.call("limit", "team/a", "5", token="hands").returncode, 0)
        self.assertIn("5", self.call("show", "team/a").stdout)
        for call, token, text in ((("limit", "team/a", "1"), "eyes", "operate"), (("show", "secret"), "eyes", "observe"),
                                  (("doctor",), "hands", "observe"), (("ls",), None, "--token-file")):
            done = self.call(*call, token=token)
            self.assertEqual(done.returncode, UNAVAILABLE, done)
            self.assertIn(text, done.stdout + done.stderr)
        self.assertIn("override_limit\": 5", self.output("show", "team/a", "--json"))


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class Screen(Served, Terminal, CommandCase):
    def test_top_over_a_server_that_goes_away_and_comes_back(self):
        self.start_inside("backup")
        self.start("run", "backup", "true")
        self.assertTrue(eventually(lambda: self.waiting("backup") == 1))
        self.open(f"{QUOTED} --server {self.url} top --interval 0.1", columns=120)
        self.shows(f"1 gate by use  {self.url}")
        self.shows("> backup")
        self.shows("held")
        self.tmux("send-keys", "-t", "0", "Enter")
        self.shows("backup: lock, held by 1, 1 waiting")
        self.shows("in line:")
        self.http_server.send_signal(signal.SIGKILL)
        self.http_server.wait()
        self.shows(f": server {self.url}: ")
        self.shows("unavailable for")
        self.assertIn("in line:", self.screen(), "the last picture stays")
        self.output("pause", "backup", "--for", "1h")
        self.serve("--listen", self.url, "--listen", "tcp:127.0.0.1:0")
        self.shows("paused by operator")
        self.assertTrue(eventually(lambda: "unavailable for" not in self.screen()), self.screen())
        self.tmux("send-keys", "-t", "0", "Escape")
        self.shows("1 gate by use")
        self.tmux("send-keys", "-t", "0", "q")
        self.shows("status 0")


if __name__ == "__main__":
    unittest.main()
