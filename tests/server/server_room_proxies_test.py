#!/usr/bin/env python3
"""A waiting room in front of a site, with the nginx and the Caddy of Debian and the files that docs/waiting-room.md shows."""

import base64
import os
import re
import unittest

import server_proxies_test as proxies
from server_case import Client, eventually


class RoomProxy(proxies.ProxyCase):
    CONFIG = (("limit = 500 ", "limit = 1 "), ('inflow = "100/1m"', 'inflow = "100/1s"'))
    TTL = "5m"

    def start_server(self, *arguments):
        path = os.path.join(self.dir, "room.keys")
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as file:
                file.write("2026-05 " + base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=") + "\n")
        with open(os.path.join(proxies.EXAMPLES, "room.toml"), encoding="utf-8") as file:
            text = file.read()
        for old, new in (*self.CONFIG, ('ttl = "5m"', f'ttl = "{self.TTL}"')):
            self.assertIn(old, text)
            text = text.replace(old, new)
        config = self.write("room.toml", text)
        return proxies.ServerCase.start_server(self, "--config", config, "--listen", "tcp:127.0.0.1:0", *arguments)

    def setUp(self):
        super().setUp()
        self.jars = {}

    def visit(self, who, path, follows=True):
        """As a browser does: with the cookies of this visitor, and to where it is sent."""
        jar = self.jars.setdefault(who, {})
        for _ in range(8):
            fields = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())} if jar else {}
            answer = self.browse(path, **fields)
            if "set-cookie" in answer.fields:
                name, value = answer.fields["set-cookie"].split(";")[0].split("=", 1)
                jar[name] = value
            if answer.status != 303 or not follows:
                return answer
            path = answer.fields["location"]
        raise AssertionError(f"sent round and round: {path}")

    def stream(self, who):
        client = Client(("127.0.0.1", self.port))
        self.clients.append(client)
        cookie = "; ".join(f"{name}={value}" for name, value in self.jars[who].items())
        client.send(f"GET /room/shop/stream HTTP/1.1\r\nHost: shop.example\r\nOrigin: https://shop.example\r\n"
                    f"Sec-Fetch-Site: same-origin\r\nAccept: text/event-stream\r\nCookie: {cookie}\r\n\r\n")
        self.assertEqual(client.read_head()[0], 200)
        return client

    def await_state(self, client, state):
        while True:
            lines = client.read_until(b"\n\n").decode()
            if f'"state":"{state}"' in lines:
                return


class Promises:
    def test_a_visitor_comes_in_waits_and_gets_in(self):
        self.expect_site(self.visit("ann", "/cart?a=1&b=2"))
        self.assertEqual(self.site.requests[-1][0], "/cart?a=1&b=2")
        self.expect_site(self.visit("ann", "/"))
        waiting = self.visit("bob", "/cart?a=1&b=2")
        self.assertEqual(waiting.status, 503)
        self.assertIn("<main", waiting.body)
        bob = self.stream("bob")
        self.await_state(bob, "waiting")
        before = self.show("shop")["holders"][0]["fence"]
        self.expect_site(self.visit("ann", "/logout"))
        self.assertNotEqual([before], [each["fence"] for each in self.show("shop")["holders"]])
        self.await_state(bob, "admitted")
        self.expect_site(self.visit("bob", re.search(r'data-next="([^"]+)"', waiting.body).group(1).replace("&amp;", "&")))
        self.assertEqual(self.site.requests[-1][0], "/cart?a=1&b=2")
        self.assertEqual(self.visit("ann", "/", follows=False).status, 303)
        self.assertEqual(len(self.site.requests), 4)

    def test_a_client_reaches_this_room_alone(self):
        self.expect_site(self.visit("ann", "/"))
        for path in ("/room/other", "/v1/gates", "/room/shop/../../v1/gates", "/metrics", "/check?gate=shop"):
            answer = self.browse(path)
            self.assertEqual((answer.status, "airlock_server" in answer.body), (303, False), path)
        self.assertEqual(len(self.site.requests), 1)

    def test_the_server_does_not_answer(self):
        self.expect_site(self.visit("ann", "/"))
        self.stop_server()
        self.expect_page(self.visit("ann", "/"), 503)

    def test_a_page_that_closes_is_seen_behind_the_proxy(self):
        self.expect_site(self.visit("ann", "/"))
        self.visit("bob", "/")
        bob = self.stream("bob")
        self.await_state(bob, "waiting")
        bob.close()
        self.assertTrue(eventually(lambda: not self.show("shop")["line"][0]["present"]))


class NginxRoom(RoomProxy):
    def start_proxy(self):
        self.example("room.nginx.conf", [("listen 80;", f"listen 127.0.0.1:{self.port};")])
        folders = " ".join(f"{each}_temp_path {self.dir}/{each};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        main = self.write("main.conf", f"daemon off; master_process off; error_log stderr; pid {self.dir}/pid; events {{}}\n"
                          f"http {{ access_log off; {folders} include {self.dir}/room.nginx.conf; }}\n")
        self.run_proxy("nginx", "-p", self.dir, "-e", "stderr", "-c", main)


class CaddyRoom(RoomProxy):
    def start_proxy(self):
        path = self.example("room.Caddyfile", [(":80 {", f"{{\n\tadmin off\n\tauto_https off\n}}\n\nhttp://:{self.port} {{\n\tbind 127.0.0.1")])
        self.run_proxy("caddy", "run", "--adapter", "caddyfile", "--config", path)


class ShortSessions:
    TTL = "2s"

    def test_a_session_that_is_used_does_not_end(self):
        self.expect_site(self.visit("ann", "/"))
        first = dict(self.jars["ann"])
        self.assertTrue(eventually(lambda: self.visit("ann", "/").status == 200 and self.is_old(first)))
        self.assertEqual(self.show("shop")["in_use"], 1)

    def is_old(self, jar):
        """Whether the pass that the visitor began with has expired."""
        return self.browse("/", Cookie="; ".join(f"{name}={value}" for name, value in jar.items())).status == 303


class Nginx(Promises, NginxRoom):
    pass


class NginxShortSessions(ShortSessions, NginxRoom):
    pass


class Caddy(Promises, CaddyRoom):
    pass


class CaddyShortSessions(ShortSessions, CaddyRoom):
    pass


if __name__ == "__main__":
    unittest.main()
