#!/usr/bin/env python3
"""Rights: who may call what, at which gates, and what a caller without them learns."""

import hashlib
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import unittest

from server_case import BINARY, LONG, Client, ServerCase

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
ROUTES = os.path.join(ROOT, "server/api/api.cpp")
ROLES = ("admit", "define", "observe", "operate")
PURE = {role: f"airlock_{role}_{secrets.token_hex(32)}" for role in ROLES}  # Each has one role at in/*.
BOSS, BOSS_TOO, OTHER = (secrets.token_hex(32) for _ in range(3))
GATES = '[[gate]]\nmatch = "*/ruled"\nlimit = 3\nttl = "20s"\nrates = ["1000/s"]\n'

# What a role may be asked for: everything else it is refused.
TABLE = [
    ("POST", "/v1/gates/{gate}/admit", "admit", {}),
    ("POST", "/v1/gates/{gate}/take", "admit", {}),
    ("POST", "/v1/admit", "admit", {"gates": ["GATE"]}),
    ("GET", "/check?gate={gate}", "admit", None),
    ("DELETE", "/v1/gates/{gate}/visitors/{visitor}", "admit", None),
    ("POST", "/v1/renew", "admit", {"token": "TOKEN"}),
    ("POST", "/v1/release", "admit", {"token": "TOKEN"}),
    ("GET", "/v1/gates", "observe", None),
    ("GET", "/v1/gates/{gate}", "observe", None),
    ("DELETE", "/v1/gates/{gate}", "operate", None),
    ("PUT", "/v1/gates/{gate}/limit", "operate", {"limit": 9}),
    ("DELETE", "/v1/gates/{gate}/limit", "operate", None),
    ("PUT", "/v1/gates/{gate}/pause", "operate", {"for": "1ms"}),
    ("DELETE", "/v1/gates/{gate}/pause", "operate", None),
    ("POST", "/v1/gates/{gate}/revoke", "operate", {"visitor": "none"}),
    ("GET", "/v1/doctor", "observe", None),
    ("POST", "/json", "admit", {"domain": "d", "descriptors": [{"entries": [{"key": "k", "value": "v"}]}]}),
    ("GET", "/v1/me?gate={gate}", "observe", None),
    ("GET", "/v1/events", "observe", None),
    ("GET", "/v1/history?gates={gate}", "observe", None),
    ("GET", "/", None, None),
    ("GET", "/assets/{file}", None, None),
    ("GET", "/metrics", "observe", None),
    ("GET", "/room/{gate}", None, None),
    ("GET", "/room/{gate}/stream", None, None),
    ("GET", "/room/{gate}/status", None, None),
    ("DELETE", "/room/{gate}/session", None, None),
    ("GET", "/live", None, None),
    ("GET", "/ready", None, None),
]

ASK_AS_ANOTHER = """
import json, socket, sys
http = socket.socket(socket.AF_UNIX)
http.connect(sys.argv[1])
http.sendall(f"POST /v1/gates/{sys.argv[2]}/admit HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r\\n"
             "Connection: close\\r\\nContent-Length: 17\\r\\n\\r\\n{\\"visitor\\":\\"ann\\"}".encode())
answer = b"".join(iter(lambda: http.recv(65536), b"")).decode()
print(answer.split()[1], json.loads(answer.split("\\r\\n\\r\\n")[1]).get("token"))
"""


def token_hash(token):
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


def principal(name, credentials, **roles):
    lines = [f'[[principal]]\nname = "{name}"', credentials]
    return "\n".join(lines + [f"{role} = {patterns!r}" for role, patterns in roles.items()]) + "\n"


def with_tokens(name, *tokens, **roles):
    return principal(name, f"tokens = {[token_hash(token) for token in tokens]}", **roles)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


BOSSES = with_tokens("boss", BOSS, BOSS_TOO, **{role: "*" for role in ROLES})


class RightsCase(ServerCase):
    CONFIG = ""

    def config_file(self, text):
        path = os.path.join(self.dir, "airlock.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def start_server(self, *arguments):
        os.chmod(self.dir, 0o755)
        config = self.config_file(self.CONFIG.replace("DIR", self.dir))
        return super().start_server("--config", config, "--listen", "tcp:127.0.0.1:0", *arguments)

    def tcp_client(self):
        client = Client(("127.0.0.1", int(re.search(r"127\.0\.0\.1:(\d+)", self.listens)[1])))
        self.clients.append(client)
        return client

    def expect_problem(self, answer, status, field=None):
        self.assertEqual((answer.status, answer.json["status"], answer.json.get("field")), (status, status, field), answer)
        self.assertEqual(answer.fields["content-type"], "application/problem+json")
        return answer


class RoleTable(RightsCase):
    CONFIG = GATES + BOSSES + "".join(with_tokens(role, token, **{role: ["in/*"]}) for role, token in PURE.items())

    def call(self, method, path, body, gate, fields):
        place = path.replace("={gate}", f"={gate}").replace("{gate}", gate.replace("/", "~")).replace("{visitor}", "ann")
        place = place.replace("{file}", "app.css")
        if body and "gates" in body:
            body = {"gates": [gate]}
        if body and "token" in body:
            body = {"token": self.admit(gate.replace("/", "~"), **bearer(BOSS)).json["token"]}
        http = self.client() if path == "/v1/events" else self.http  # A stream keeps its connection.
        return http.ask(method, place, body, **fields)

    def admit(self, gate, client=None, **fields):
        return (client or self.http).post(f"/v1/gates/{gate}/admit", {"limit": 1000}, **fields)

    def test_every_route_is_in_the_table(self):
        with open(ROUTES, encoding="utf-8") as file:
            routes = re.findall(r'Route\{"([^"]+)", "([A-Z]+)", Role::(\w+),', file.read())
        ours = {(path.split("?")[0], method): role for method, path, role, _ in TABLE}
        theirs = {(path, method): None if role == "none" else role for path, method, role in routes}
        self.assertEqual(ours, theirs)

    def test_each_route_needs_its_role_at_its_gate(self):
        for gate in ("in/ruled", "out/ruled"):
            for method, path, needed, body in TABLE:
                for role, token in PURE.items():
                    with self.subTest(gate=gate, method=method, path=path, role=role):
                        answer = self.call(method, path, body, gate, bearer(token))
                        at_gate = gate == "in/ruled" or (body is None and "{gate}" not in path)
                        at_gate = at_gate or path == "/json"  # Gates of limits: server_rls_test.py.
                        may = needed is None or (needed == role and at_gate)
                        self.assertEqual(answer.status == 403, not may, answer)
                        self.assertNotEqual(answer.status, 401)
                        if not may:
                            self.assertIn(f"the role {needed}", answer.json["detail"])
                        self.assertNotEqual(self.call(method, path, body, gate, bearer(BOSS)).status, 403)

    def test_nobody_may_call_without_a_credential(self):
        for method, path, needed, body in TABLE:
            answer = self.call(method, path, body, "in/ruled", {})
            if needed is None:
                self.assertNotIn(answer.status, (401, 403))
                continue
            self.assertEqual(self.expect_problem(answer, 401).json["title"], "Unauthorized")
            self.assertEqual(answer.fields["www-authenticate"], 'Bearer realm="airlock"')

    def test_what_is_refused_changes_nothing(self):
        self.admit("out~ruled", **bearer(BOSS))
        before = self.http.ask("GET", "/v1/gates/out~ruled", **bearer(BOSS)).json
        for method, path, _, body in TABLE:
            if "{gate}" in path:
                for token in PURE.values():
                    self.call(method, path, body, "out/ruled", bearer(token))
        after = self.http.ask("GET", "/v1/gates/out~ruled", **bearer(BOSS)).json
        for name in ("in_use", "limit", "granted", "refused", "paused"):
            self.assertEqual(before.get(name), after.get(name), name)

    def test_a_list_has_only_what_the_caller_may_observe(self):
        for gate in ("in~a", "in~b", "out~c"):
            self.assertEqual(self.admit(gate, **bearer(BOSS)).status, 200)

        def names(token, path="/v1/gates"):
            return [gate["name"] for gate in self.http.ask("GET", path, **bearer(token)).json]

        self.assertEqual(names(BOSS), ["in/a", "in/b", "out/c"])
        self.assertEqual(names(PURE["observe"]), ["in/a", "in/b"])
        self.assertEqual(names(PURE["observe"], "/v1/gates?match=*b"), ["in/b"])
        self.assertEqual(names(PURE["observe"], "/v1/gates?match=out/*"), [])
        self.assertIn("out/c", self.http.ask("GET", "/metrics", **bearer(BOSS)).body)
        metrics = self.http.ask("GET", "/metrics", **bearer(PURE["observe"])).body
        self.assertIn("in/a", metrics)
        self.assertNotIn("out/c", metrics)

    def test_viewers_see_what_they_may_observe(self):
        for gate in ("in~a", "out~c"):
            self.assertEqual(self.admit(gate, **bearer(BOSS)).status, 200)
        for token, seen in ((BOSS, ["in/a", "out/c"]), (PURE["observe"], ["in/a"])):
            viewer = self.client()
            viewer.write_request("GET", "/v1/events", **bearer(token))
            self.assertEqual(viewer.read_head()[0], 200)
            names = set()
            while not names >= set(seen):
                names |= {row["name"] for row in viewer.read_event()[1]["changed"]}
            viewer.read_event()
            self.assertEqual(sorted(names), seen)
        self.expect_problem(self.http.ask("GET", "/v1/history?gates=in/a,out/c", **bearer(PURE["observe"])), 403, "gate")
        self.assertEqual(self.http.ask("GET", "/v1/me?gate=in/a", **bearer(PURE["observe"])).json,
                         {"principal": "observe", "roles": ["observe"]})
        self.assertEqual(len(self.http.ask("GET", "/v1/me", **bearer(BOSS)).json["roles"]), 4)

    def test_errors_of_others_come_before_rights(self):
        self.assertEqual(self.http.ask("GET", "/nothing").status, 404)
        self.assertEqual(self.http.ask("PUT", "/v1/gates").status, 405)
        self.assertEqual(self.http.ask("OPTIONS", "/v1/gates").status, 204)
        self.assertEqual(self.http.ask("GET", "/v1/gates/a%2Fb", **bearer(BOSS)).status, 400)
        self.assertEqual(self.http.ask("GET", "/v1/gates/a%2Fb").status, 401)

    def test_the_start_line_counts_principals(self):
        self.assertIn("; rights of 5 principals", self.listens)
        self.assertNotIn("everybody", self.listens)


class Tokens(RightsCase):
    CONFIG = GATES + BOSSES + with_tokens("other", OTHER, admit="*")

    def test_a_token_that_is_not_exactly_one_of_the_file_is_refused(self):
        wrong = ["Bearer " + "0" * 64, "Bearer " + BOSS[:-1], f"Bearer {BOSS}0", f"Bearer {BOSS.upper()}x", "Bearer", "Bearer x",
                 f"Basic {BOSS}", BOSS, f"Bearer {token_hash(BOSS)}", f"Bearer {token_hash(BOSS)[7:]}",
                 f"Bearer {BOSS}, Bearer {OTHER}", f"Bearer {BOSS} {OTHER}", f"BearerX{BOSS}"]
        for value in wrong:
            answer = self.http.ask("GET", "/v1/gates", Authorization=value)
            self.expect_problem(answer, 401, "Authorization")
            self.assertEqual(answer.fields["www-authenticate"], 'Bearer realm="airlock", error="invalid_token"')
            self.assertNotIn(BOSS[:16], repr(answer), value)
        self.http.send(f"GET /v1/gates HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {BOSS}\r\n"
                       f"Authorization: Bearer {BOSS}\r\n\r\n")
        self.expect_problem(self.http.read_answer(), 401, "Authorization")

    def test_the_scheme_may_be_written_in_any_case(self):
        for value in (f"Bearer {BOSS}", f"bearer {BOSS}", f"BEARER  {BOSS}", f"Bearer {BOSS_TOO}"):
            self.assertEqual(self.http.ask("GET", "/v1/gates", Authorization=value).status, 200)

    def test_probes_need_nothing_and_look_at_nothing(self):
        for path in ("/live", "/ready"):
            self.assertEqual(self.http.ask("GET", path, Authorization="Bearer wrong").status, 200)

    def test_each_request_of_a_connection_has_the_rights_of_its_own_credential(self):
        path = "/v1/gates/x~ruled/admit"
        requests = [({}, 401), (bearer(BOSS), 200), ({}, 401), (bearer(OTHER), 200), (bearer("x"), 401), (bearer(BOSS), 200)]
        for fields, _ in requests:
            self.http.write_request("POST", path, {}, **fields)
        self.assertEqual([self.http.read_answer().status for _ in requests], [status for _, status in requests])
        self.assertEqual(self.http.ask("GET", "/v1/gates", **bearer(BOSS)).status, 200)
        self.assertEqual(self.http.ask("GET", "/live").status, 200)
        self.assertEqual(self.http.ask("GET", "/v1/gates").status, 401)

    def test_visitors_belong_to_their_principal(self):
        def ask(token):
            return self.http.post("/v1/gates/x~ruled/admit", {"visitor": "ann"}, **bearer(token)).json

        first = ask(BOSS)
        self.assertEqual(ask(BOSS_TOO)["token"], first["token"])  # Two tokens of one principal: the old one and the new one.
        self.assertNotEqual(ask(OTHER)["token"], first["token"])

    def test_the_token_command_makes_a_token_and_its_line(self):
        made = set()
        for _ in range(2):
            done = subprocess.run([BINARY, "token"], capture_output=True, text=True, timeout=LONG, check=True)
            token = re.search(r": +(airlock_[0-9a-f]{64})\n", done.stdout)[1]
            self.assertIn(f'tokens = ["{token_hash(token)}"]', done.stdout)
            made.add(token)
        self.assertEqual(len(made), 2)

    def test_secrets_are_not_written(self):
        self.stop_server()
        log = open(os.path.join(self.dir, "log"), "w+", encoding="utf-8")
        self.addCleanup(log.close)
        path = os.path.join(self.dir, "second.sock")
        config = self.config_file(self.CONFIG)
        self.server = self.start([BINARY, "--store", "memory:", "--config", config, "--listen", f"unix:{path}"],
                                 stdout=subprocess.PIPE, stderr=log, text=True)
        self.listens = self.server.stdout.readline()
        client = Client(path)
        self.clients.append(client)
        answers = [client.ask("GET", "/v1/gates", **bearer(token)) for token in (BOSS, OTHER, "hunter2" + BOSS)]
        answers.append(client.ask("GET", "/metrics", **bearer(BOSS)))
        answers.append(client.ask("GET", f"/v1/gates?token={BOSS}", **bearer(BOSS)))
        self.assertEqual([answer.status for answer in answers], [200, 403, 401, 200, 400])
        self.assertEqual(self.stop_server()[0], 0)
        log.seek(0)
        written = repr(answers) + self.listens + log.read()
        for secret in (BOSS, OTHER, token_hash(BOSS)[7:], "hunter2"):
            self.assertNotIn(secret, written)


class Define(RightsCase):
    CONFIG = (GATES + BOSSES + with_tokens("plain", OTHER, admit="*") +
              '[[gate]]\nmatch = "mails"\nrates = "100/s"\n')

    def ask(self, gate, token=OTHER, call="admit", **body):
        return self.http.post(f"/v1/gates/{gate}/{call}", body, **bearer(token))

    def test_without_it_the_configuration_counts(self):
        granted = self.ask("a~ruled", weight=2, wait=0, label="x", visitor="v")
        self.assertEqual((granted.status, granted.json["expires_in_seconds"]), (200, 20))
        self.assertEqual(self.ask("a~ruled", weight=2).status, 429)  # Of 3.
        for name, value in (("limit", 100), ("limit", 3), ("rates", ["9/s"]), ("order", "priority")):
            self.expect_problem(self.ask("a~ruled", **{name: value}), 403, name)
        self.expect_problem(self.ask("mails", call="take", rates=["9/s"]), 403, "rates")
        self.assertEqual(self.ask("mails", call="take", cost=2).status, 200)
        self.expect_problem(self.ask("mails", limit=5), 403, "limit")

    def test_without_it_a_ttl_is_at_most_that_of_the_gate(self):
        self.expect_problem(self.ask("a~ruled", ttl="21s"), 403, "ttl")
        granted = self.ask("a~ruled", ttl="5s").json
        self.assertEqual(granted["expires_in_seconds"], 5)

        def renew(token, **body):
            return self.http.post("/v1/renew", {"token": granted["token"], **body}, **bearer(token))

        self.expect_problem(renew(OTHER, ttl="21s"), 403, "ttl")
        self.assertEqual(renew(OTHER).json["expires_in_seconds"], 20)
        self.assertEqual(renew(BOSS, ttl="1h").json["expires_in_seconds"], 3600)

    def test_without_it_other_gates_are_not_opened(self):
        self.expect_problem(self.ask("wild"), 403, "gate")
        self.expect_problem(self.ask("wild", call="take"), 403, "gate")
        self.expect_problem(self.ask("wild", limit=1), 403, "limit")
        self.assertEqual(self.http.ask("GET", "/v1/gates", **bearer(BOSS)).json, [])

    def test_with_it_callers_bring_what_they_like(self):
        self.assertEqual(self.ask("a~ruled", BOSS, limit=7, ttl="1h", rates=["5/s"], order="lottery").status, 200)
        self.assertEqual(self.ask("wild", BOSS, limit=1).status, 200)
        self.assertEqual(self.ask("wild", BOSS, call="take", rates=["5/s"]).status, 200)


class Peers(RightsCase):
    CONFIG = (f'[server]\nsocket_mode = "0666"\n{GATES}' +
              principal("me", f"users = ['{os.getuid()}']", admit="*", observe="*") +
              principal("staff", "groups = ['4242']", admit="*") + principal("anyone", "users = '*'", admit="a/*") +
              principal("local", "loopback = true", observe="*") + with_tokens("other", OTHER, operate="*"))

    def statuses(self, client, **fields):
        return [client.ask("GET", "/v1/gates", **fields).status, client.post("/v1/gates/a~ruled/admit", {}, **fields).status,
                client.post("/v1/gates/b~ruled/admit", {}, **fields).status]

    def test_users_of_unix_sockets_and_callers_from_this_machine_are_known(self):
        self.assertEqual(self.statuses(self.http), [200, 200, 200])
        self.assertEqual(self.statuses(self.tcp_client()), [200, 403, 403])

    def test_a_token_counts_before_the_peer(self):
        self.assertEqual(self.statuses(self.http, **bearer(OTHER)), [403, 403, 403])
        self.assertEqual(self.http.ask("PUT", "/v1/gates/a~b/limit", {"limit": 1}, **bearer(OTHER)).status, 204)
        self.assertEqual(self.statuses(self.http, **bearer("wrong")), [401, 401, 401])

    def test_the_socket_has_the_mode_of_the_configuration(self):
        self.assertEqual(os.stat(self.socket_path).st_mode & 0o777, 0o666)

    @unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
    def test_other_users_are_told_apart(self):
        def ask(user, groups, gate="a~ruled"):
            done = subprocess.run(["python3", "-c", ASK_AS_ANOTHER, self.socket_path, gate], user=user, group=user,
                                  extra_groups=groups, capture_output=True, text=True, timeout=LONG, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            status, token = done.stdout.split()
            return int(status), token

        self.assertEqual(ask(4001, [], "b~ruled")[0], 403)
        self.assertEqual(ask(4001, [4242], "b~ruled")[0], 200)  # A group that is not its first.
        self.assertEqual(ask(4242, [], "b~ruled")[0], 200)  # Its first.
        self.assertEqual(ask(4001, list(range(5000, 5030)) + [4242], "b~ruled")[0], 200)  # Of many.
        first, again, other = ask(4001, []), ask(4001, []), ask(4002, [])
        self.assertEqual((first[0], other[0]), (200, 200))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)  # They share a principal and no visitors.


class Strangers(RightsCase):
    CONFIG = principal("other", f"users = ['{os.getuid() + 1}']\ngroups = ['{os.getgid() + 77777}']", observe="*")

    def test_a_peer_that_no_principal_names_is_nobody(self):
        for client in (self.http, self.tcp_client()):
            answer = self.expect_problem(client.ask("GET", "/v1/gates"), 401)
            self.assertIn("www-authenticate", answer.fields)


class Open(ServerCase):
    def test_without_rights_everybody_may_do_everything_and_the_server_says_so(self):
        self.assertIn("everybody who can connect may do everything", self.listens)
        for fields in ({}, {"Authorization": "Bearer anything"}):
            self.assertEqual(self.http.post("/v1/gates/g/admit", {"limit": 5}, **fields).status, 200)
            self.assertEqual(self.http.ask("PUT", "/v1/gates/g/limit", {"limit": 6}, **fields).status, 204)


class Shown(unittest.TestCase):
    def check(self, text):
        done = subprocess.run([BINARY, "--config", "/dev/stdin", "--check"], input=text, capture_output=True, text=True,
                              timeout=LONG, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), text)

    def with_files(self, text):
        """With a certificate and a key where the text has paths."""
        folder = tempfile.mkdtemp(prefix="airlock-test-")
        self.addCleanup(shutil.rmtree, folder)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
                        "-keyout", f"{folder}/server.key", "-out", f"{folder}/server.pem"], check=True, capture_output=True)
        shutil.copyfile(f"{folder}/server.pem", f"{folder}/clients.pem")
        os.chmod(f"{folder}/server.key", 0o600)
        return text.replace("/etc/airlock", folder)

    def test_the_examples_of_the_page_are_good(self):
        with open(os.path.join(ROOT, "docs/rights.md"), encoding="utf-8") as file:
            blocks = re.findall(r"```toml\n(.*?)```", file.read(), re.DOTALL)
        self.assertTrue(any("[[principal]]" in block for block in blocks))
        for block in blocks:
            self.check(self.with_files(block))

    def test_what_is_a_comment_in_the_example_is_good(self):
        with open(os.path.join(ROOT, "server/airlock.toml"), encoding="utf-8") as file:
            text = file.read().replace("sha256:HEX", token_hash("x"))
        keys = "certificate|key|client_ca|client_certificate_required|certificates|name|tokens|users|groups|loopback|socket_mode|" + "|".join(ROLES)
        count = 0
        sections = text.split("\n\n")
        for at, section in enumerate(sections):
            if re.search(r"\[tls\]|\[\[principal\]\]|socket_mode", section):
                sections[at], more = re.subn(rf"^# (\[tls\]|\[\[principal\]\]|({keys}) = )", r"\1", section, flags=re.MULTILINE)
                count += more
        self.assertGreater(count, 20)
        self.check(self.with_files("\n\n".join(sections)))


class Mistakes(unittest.TestCase):
    HEAD = '[[principal]]\nname = "a"\n'
    GOOD = f'tokens = "{token_hash("x")}"\n'

    def refuses(self, text, line, key, rule):
        done = subprocess.run([BINARY, "--config", "/dev/stdin", "--check"], input=text, capture_output=True, text=True,
                              timeout=LONG, check=False)
        self.assertEqual((done.returncode, done.stdout), (64, ""), text)
        self.assertTrue(done.stderr.startswith(f"airlock-server: /dev/stdin:{line}: {key}: "), f"{text}\n{done.stderr}")
        self.assertIn(rule, done.stderr)
        return done.stderr

    def test_they_are_named_by_line_and_key(self):
        name = "principal[1].name"
        self.refuses("[[principal]]\n" + self.GOOD, 1, name, "is needed")
        self.refuses(f'[[principal]]\nname = "a b"\n{self.GOOD}', 2, name, "has letters")
        self.refuses(self.HEAD + 'admit = "*"\n', 2, name, "needs tokens, certificates, users, groups or loopback")
        self.refuses(self.HEAD + 'loopback = false\nadmit = "*"\n', 2, name, "needs tokens")
        self.refuses(self.HEAD + self.GOOD, 2, name, "has no role")
        self.refuses(self.HEAD + self.GOOD + "admit = []\n", 4, "principal[1].admit", "a list of texts")
        self.refuses(2 * (self.HEAD + self.GOOD + 'admit = "*"\n'), 6, "principal[2].name", "another [[principal]]")
        self.refuses(self.HEAD + 'users = "no such user"\nadmit = "*"\n', 3, "principal[1].users", "no such user is no user")
        self.refuses(self.HEAD + 'groups = ["x y z"]\nadmit = "*"\n', 3, "principal[1].groups", "x y z is no group")
        self.refuses(self.HEAD + 'users = "4294967295"\nadmit = "*"\n', 3, "principal[1].users", "no number")
        self.refuses(self.HEAD + self.GOOD + 'observe = "*"\nadmits = "*"\n', 5, "principal[1].admits", "did you mean admit?")
        for certificate in ("shop", "DNS:", "DNS:*.example", "IP:1.2.3.4", "CN="):
            self.refuses(self.HEAD + f'certificates = "{certificate}"\nadmit = "*"\n', 3, "principal[1].certificates", "CN=NAME")

    def test_what_may_be_a_secret_is_not_shown(self):
        for value in ("hunter2", "sha256:hunter2", token_hash("hunter2")[:-1], token_hash("hunter2") + "0",
                      token_hash("hunter2")[:-1] + "g", token_hash("hunter2")[7:]):
            said = self.refuses(self.HEAD + f'tokens = "{value}"\nadmit = "*"\n', 3, "principal[1].tokens", "64 hexadecimal")
            self.assertNotIn(value[-8:], said)

    def test_wide_sockets_need_rights(self):
        self.refuses('[server]\nsocket_mode = "0666"\n', 2, "server.socket_mode", "needs a [[principal]]")
        self.refuses('[server]\nsocket_mode = "0777"\n', 2, "server.socket_mode", "one of 0600, 0660, 0666")

    def test_a_file_that_everybody_may_write_is_refused(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(self.HEAD + self.GOOD + 'admit = "*"\n')
            file.flush()
            for mode, status in ((0o644, 0), (0o664, 0), (0o646, 64)):
                os.chmod(file.name, mode)
                done = subprocess.run([BINARY, "--config", file.name, "--check"], capture_output=True, text=True, timeout=LONG,
                                      check=False)
                self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn("everybody may write it", done.stderr)

    def test_rights_do_not_open_plain_addresses(self):
        self.refuses(f'[server]\nlisten = "tcp:0.0.0.0:80"\n{self.HEAD}{self.GOOD}admit = "*"\n', 2, "server.listen", "is refused")


if __name__ == "__main__":
    unittest.main()
