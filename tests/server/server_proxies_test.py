#!/usr/bin/env python3
"""Real proxies in front of a site ask /check, with the files that docs/proxies.md shows: what users see."""

import http.server
import os
import shutil
import socket
import sys
import threading
import unittest
import urllib.parse

from server_case import Answer, Client, RedisServer, ServerCase, eventually

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
EXAMPLES = os.path.join(ROOT, "examples/proxies")
UNPACKED = os.path.join(ROOT, "build/proxies")  # By ./dev, which does not install them: they would be started.


# What the examples answer while airlock-server is down.
CADDY_DOWN = '''header Retry-After 1
		respond "Closed for a moment. Please try again." 503
	}
}'''
NGINX_DOWN = '''default_type text/plain;
        add_header Retry-After 1 always;
        return 503 "Closed for a moment. Please try again.\\n";'''


# Who asks over the Unix socket: this test.
TESTER = """
[[principal]]
name = "test"
users = "*"
admit = "*"
observe = "*"
operate = "*"
"""


def program(name):
    folders = [os.path.join(UNPACKED, "usr", each) for each in ("sbin", "bin")] + [os.environ["PATH"], "/usr/sbin"]
    found = shutil.which(name, path=os.pathsep.join(folders))
    if not found:
        raise AssertionError(f"{name} is needed: ./dev build unpacks it into build/proxies, or install it")
    return found


def libraries():
    folder = os.path.join(UNPACKED, "usr/lib")
    return os.pathsep.join(each.path for each in os.scandir(folder) if each.is_dir()) if os.path.isdir(folder) else ""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Relay:
    """Between a proxy and airlock-server: counts connections, and may stop to forward anything."""

    def __init__(self, target):
        self.target, self.connections, self.is_mute, self.sockets = target, 0, False, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            server = socket.socket()
            self.sockets += [client, server]
            try:
                server.connect(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self.forward, args=(source, target), daemon=True).start()

    def forward(self, source, target):
        try:
            while data := source.recv(65536):
                if not self.is_mute:
                    target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        for each in (self.listener, *self.sockets):
            each.close()


class Site(http.server.ThreadingHTTPServer):
    """What the proxy guards. Keeps what it was asked."""

    daemon_threads = True

    def __init__(self):
        self.requests = []
        super().__init__(("127.0.0.1", 0), SiteHandler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, *address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # A proxy that ends.
            super().handle_error(*address)

    def close(self):
        self.shutdown()
        self.server_close()


class SiteHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.path, self.headers, body))
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"site\n")

    do_POST = do_GET


class ProxyCase(ServerCase):
    """A site, a proxy before it and airlock-server beside them. `start_proxy` begins one at self.port."""

    def setUp(self):
        super().setUp()
        self.relay, self.site, self.port = Relay(int(self.listens.split("tcp:127.0.0.1:")[1].split(";")[0])), Site(), free_port()
        self.addCleanup(self.relay.close)
        self.addCleanup(self.site.close)
        self.start_proxy()
        self.assertTrue(eventually(self.is_listening))

    def start_server(self, *arguments):
        with open(os.path.join(EXAMPLES, "airlock.toml"), encoding="utf-8") as file:
            config = self.write("airlock.toml", file.read() + TESTER)
        return super().start_server("--config", config, "--listen", "tcp:127.0.0.1:0", *arguments)

    def example(self, name, changes=()):
        """A file of docs/proxies.md with the addresses of this test."""
        with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
            text = file.read()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        text = text.replace("SOCKET", self.socket_path)
        text = text.replace("127.0.0.1:8420", f"127.0.0.1:{self.relay.port}")
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{self.site.server_port}")
        return self.write(name, text)

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_proxy(self, *command):
        environment = {**os.environ, "LD_LIBRARY_PATH": libraries(), "HOME": self.dir}
        with open(os.path.join(self.dir, "proxy.log"), "wb") as log:
            self.proxy = self.start([program(command[0]), *command[1:]], stdout=log, stderr=log, env=environment)

    def is_listening(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        except OSError:
            if self.proxy.poll() is not None:
                with open(os.path.join(self.dir, "proxy.log"), encoding="utf-8") as log:
                    raise AssertionError(log.read()) from None
            return False

    def browse(self, path="/", address="127.0.0.1", body=None, **fields):
        """What a user at this address is answered."""
        with socket.create_connection(("127.0.0.1", self.port), source_address=(address, 0)) as connection:
            connection.settimeout(120)
            client = Client.__new__(Client)
            client.socket, client.unread = connection, b""
            method = "GET" if body is None else "POST"
            text = f"{method} {path} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n"
            text += "".join(f"{name.replace('__', '_') if '__' in name else name.replace('_', '-')}: {value}\r\n"
                            for name, value in fields.items())
            if body is not None:
                text += f"Content-Length: {len(body)}\r\n"
            client.send(text.encode() + b"\r\n" + (body or b""))
            status, head = client.read_head()
            while status == 100:
                status, head = client.read_head()
            while client.read_some():
                pass
            return Answer(status, head, client.unread.decode())

    def expect_site(self, answer):
        self.assertEqual((answer.status, answer.body), (200, "site\n"), answer)

    def expect_page(self, answer, status):
        """A page for the user, which says when to come back. Nothing is shown of what is behind the proxy."""
        self.assertEqual(answer.status, status, answer)
        self.assertGreaterEqual(int(answer.fields["retry-after"]), 1)
        self.assertTrue(answer.body)
        self.assertNotIn("site", answer.body)

    def limit(self, gate, limit):
        self.assertEqual(self.http.ask("PUT", f"/v1/gates/{gate}/limit", {"limit": limit}).status, 204)

    def use_up_logins(self):
        for _ in range(5):
            self.expect_site(self.browse("/login"))


class Promises:
    """What all proxies have to do."""

    def test_who_has_to_wait_sees_its_place_and_is_let_in_later(self):
        self.limit("shop", 1)
        self.expect_site(self.browse())
        self.expect_site(self.browse())
        waiting = self.browse(address="127.0.0.2")
        self.expect_page(waiting, 429)
        self.assertIn("number 1 in line", waiting.body)
        self.assertEqual(waiting.fields["refresh"], waiting.fields["retry-after"])
        self.assertIn("number 2 in line", self.browse(address="127.0.0.3").body)
        self.limit("shop", 2)
        self.expect_site(self.browse(address="127.0.0.2"))
        self.assertEqual(len(self.site.requests), 3)

    def test_who_is_refused_sees_a_page_and_the_site_sees_nothing(self):
        self.use_up_logins()
        refused = self.browse("/login")
        self.expect_page(refused, 429)
        self.assertLessEqual(int(refused.fields["retry-after"]), 60)
        self.assertEqual(len(self.site.requests), 5)
        self.expect_site(self.browse("/login", address="127.0.0.2"))
        self.expect_site(self.browse("/"))

    def test_a_client_cannot_say_who_it_is(self):
        self.use_up_logins()
        for name in ("X_Real_IP", "X_Forwarded_For", "Forwarded", "x_real_ip"):
            self.expect_page(self.browse("/login", **{name: "10.9.8.7"}), 429)
        # Where a proxy passes this field on, with its underscores, airlock refuses it.
        self.assertIn(self.browse("/login", X__Real__IP="10.9.8.7").status, (400, 429))
        self.expect_page(self.browse("/login", Connection="close, X-Real-IP", X_Real_IP="10.9.8.7"), 429)

    def test_other_spellings_of_a_path_are_the_same_gate(self):
        self.use_up_logins()
        for path in ("/%6cogin", "/x/../login", "/./login", "//login", "/login/?a=b", "/x/%2e%2e/login"):
            self.browse(path)
        seen = [os.path.normpath("/" + urllib.parse.unquote(path.split("?")[0]).lstrip("/")) for path, _, _ in self.site.requests]
        self.assertEqual(seen, 5 * ["/login"])

    def test_bodies_go_to_the_site_alone(self):
        self.expect_site(self.browse("/upload", body=300_000 * b"x"))
        self.assertEqual(len(self.site.requests[0][2]), 300_000)
        self.expect_site(self.browse("/upload", body=b"GET /check?gate=login HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        self.assertEqual(self.show("login")["in_use"], 0)

    def test_fields_of_browsers_do_not_disturb(self):
        self.expect_site(self.browse("/login", Authorization="Bearer of-the-site"))
        self.expect_site(self.browse("/login", Origin="https://shop.example", Sec_Fetch_Site="same-origin", Cookie=7950 * "c",
                                     Accept="text/event-stream", Expect="100-continue", body=b""))

    def test_the_check_is_not_for_clients(self):
        for path in ("/airlock-check", "/check?gate=shop"):
            answer = self.browse(path)
            self.assertIn(answer.status, (200, 404), answer)
            self.assertEqual(answer.status == 200, answer.body == "site\n", answer)

    def test_connections_to_airlock_are_used_again(self):
        for _ in range(20):
            self.expect_site(self.browse())
        self.assertLess(self.relay.connections, 20)

    def test_airlock_does_not_run(self):
        self.expect_site(self.browse())
        self.assertEqual(self.stop_server()[0], 0)
        self.expect_page(self.browse(), 503)
        self.expect_page(self.browse("/login"), 503)

    def test_airlock_does_not_answer_in_time(self):
        self.expect_site(self.browse())
        self.relay.is_mute = True
        self.expect_page(self.browse(), 503)


class StoreOutage(RedisServer):
    """The store is a Redis server that is gone."""

    def prepare_store(self):
        super().prepare_store()
        self.store = self.store.replace("timeout=30s", "timeout=1s")

    def test_a_gate_is_open_or_closed_while_its_store_is_gone(self):
        self.expect_site(self.browse())
        self.redis.kill()
        self.redis.wait()
        self.expect_site(self.browse())
        self.expect_page(self.browse("/login"), 503)


class Open:
    """As docs/proxies.md says for sites that stay open while airlock-server does not answer."""

    def test_airlock_does_not_run(self):
        self.stop_server()
        self.expect_site(self.browse())


class Mistake:
    """The proxy asks for a gate that airlock.toml does not have."""

    def test_a_mistake_lets_nobody_in(self):
        self.assertGreaterEqual(self.browse().status, 400)
        self.assertEqual(self.site.requests, [])


class UnixSocket:
    """As docs/proxies.md says for airlock-server at a Unix socket."""

    def test_a_unix_socket(self):
        self.relay.close()
        self.limit("shop", 1)
        self.expect_site(self.browse())
        self.expect_page(self.browse(address="127.0.0.2"), 429)


class NginxCase(ProxyCase):
    CHANGES = ()

    def start_proxy(self):
        self.example("nginx.conf", [("listen 80;", f"listen 127.0.0.1:{self.port};"), *self.CHANGES])
        folders = " ".join(f"{each}_temp_path {self.dir}/{each};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        main = self.write("main.conf", f"daemon off; master_process off; error_log stderr; pid {self.dir}/pid; events {{}}\n"
                          f"http {{ access_log off; {folders} include {self.dir}/nginx.conf; }}\n")
        self.run_proxy("nginx", "-p", self.dir, "-e", "stderr", "-c", main)


class Nginx(Promises, NginxCase):
    pass


class NginxStoreOutage(StoreOutage, NginxCase):
    pass


class NginxOpen(Open, NginxCase):
    CHANGES = [(NGINX_DOWN, "auth_request off; proxy_pass http://site;")]


class NginxUnix(UnixSocket, NginxCase):
    CHANGES = [("server 127.0.0.1:8420;", "server unix:SOCKET;")]


class NginxMistake(Mistake, NginxCase):
    CHANGES = [("set $airlock_gate shop", "set $airlock_gate unknown")]


class CaddyCase(ProxyCase):
    CHANGES = ()

    def start_proxy(self):
        self.example("Caddyfile", [(":80 {", f"http://:{self.port} {{\n\tbind 127.0.0.1"), *self.CHANGES])
        main = self.write("main.caddy", f"{{\n\tadmin off\n}}\nimport {self.dir}/Caddyfile\n")
        self.run_proxy("caddy", "run", "--adapter", "caddyfile", "--config", main)


class Caddy(Promises, CaddyCase):
    pass


class CaddyStoreOutage(StoreOutage, CaddyCase):
    pass


class CaddyOpen(Open, CaddyCase):
    CHANGES = [(CADDY_DOWN, "reverse_proxy 127.0.0.1:8080\n\t}\n}")]


class CaddyUnix(UnixSocket, CaddyCase):
    CHANGES = [("forward_auth 127.0.0.1:8420", "forward_auth unix/SOCKET")]


class CaddyMistake(Mistake, CaddyCase):
    CHANGES = [*CaddyOpen.CHANGES, ("import airlock shop", "import airlock unknown")]


class HaproxyCase(ProxyCase):
    CHANGES = ()

    def start_proxy(self):
        script = self.example("airlock.lua")
        path = self.example("haproxy.cfg", [("/etc/haproxy/airlock.lua", script), ("bind :80", f"bind 127.0.0.1:{self.port}"),
                                            *self.CHANGES])
        self.run_proxy("haproxy", "-db", "-f", path)


class Haproxy(Promises, HaproxyCase):
    pass


class HaproxyStoreOutage(StoreOutage, HaproxyCase):
    pass


class HaproxyOpen(Open, HaproxyCase):
    CHANGES = [("if !{ var(txn.airlock_admits) -m bool }", "if !{ var(txn.airlock_admits) -m bool } !{ var(txn.airlock_status) -m str down }")]


class HaproxyMistake(Mistake, HaproxyCase):
    CHANGES = [*HaproxyOpen.CHANGES, ("lua.airlock_check shop", "lua.airlock_check unknown")]


if __name__ == "__main__":
    unittest.main()
