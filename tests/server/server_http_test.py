#!/usr/bin/env python3
"""HTTP as strangers speak it: what is refused, what ends a connection, and what waits."""

import socket
import unittest

from server_case import LONG, ServerCase, eventually

GOOD = "GET /live HTTP/1.1\r\nHost: localhost\r\n"
POST = "POST /v1/release HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

# Requests that parsers are known to disagree about, and what each is answered with. All end the connection, so that nothing
# behind them is taken for a request.
REFUSED = {
    "transfer-encoding identity": (POST + "Transfer-Encoding: identity\r\n\r\n", 501),
    "transfer-encoding xchunked": (POST + "Transfer-Encoding: xchunked\r\n\r\n", 501),
    "transfer-encoding gzip": (POST + "Transfer-Encoding: gzip\r\n\r\n", 501),
    "transfer-encoding gzip, chunked": (POST + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
    "transfer-encoding chunked, chunked": (POST + "Transfer-Encoding: chunked, chunked\r\n\r\n", 501),
    "transfer-encoding chunked,": (POST + "Transfer-Encoding: chunked,\r\n\r\n", 501),
    "transfer-encoding in quotes": (POST + "Transfer-Encoding: \"chunked\"\r\n\r\n", 501),
    "transfer-encoding empty": (POST + "Transfer-Encoding:\r\n\r\n", 501),
    "transfer-encoding Chunked": (POST + "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", 501),
    "transfer-encoding with vertical tab": (POST + "Transfer-Encoding: \x0bchunked\r\n\r\n", 400),
    "transfer-encoding twice": (POST + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    "transfer-encoding twice, one identity": (POST + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", 400),
    "transfer-encoding on HTTP/1.0": (POST.replace("1.1", "1.0") + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "transfer-encoding and length": (POST + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400),
    "length and transfer-encoding": (POST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "space before the colon": (POST + "Transfer-Encoding : chunked\r\n\r\n", 400),
    "length twice, the same": (POST + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400),
    "length twice, another": (POST + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", 400),
    "length as a list": (POST + "Content-Length: 2, 2\r\n\r\n{}", 400),
    "length with plus": (POST + "Content-Length: +2\r\n\r\n{}", 400),
    "length with minus": (POST + "Content-Length: -2\r\n\r\n{}", 400),
    "length in hex": (POST + "Content-Length: 0x2\r\n\r\n{}", 400),
    "length with a space": (POST + "Content-Length: 1 2\r\n\r\n{}", 400),
    "length empty": (POST + "Content-Length:\r\n\r\n{}", 400),
    "length above 64 bits": (POST + "Content-Length: 18446744073709551618\r\n\r\n{}", 400),
    "length above the cap": (POST + "Content-Length: 65537\r\n\r\n", 413),
    "no host": ("GET /live HTTP/1.1\r\n\r\n", 400),
    "two hosts": (GOOD + "Host: localhost\r\n\r\n", 400),
    "two hosts on HTTP/1.0": (GOOD.replace("1.1", "1.0") + "Host: localhost\r\n\r\n", 400),
    "host with a space": ("GET /live HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    "host with a path": ("GET /live HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
    "host with a user": ("GET /live HTTP/1.1\r\nHost: a@b\r\n\r\n", 400),
    "host empty": ("GET /live HTTP/1.1\r\nHost:\r\n\r\n", 400),
    "bare LF": ("GET /live HTTP/1.1\nHost: localhost\n\n", 400),
    "bare LF in a field": (GOOD + "A: b\nC: d\r\n\r\n", 400),
    "bare LF at the end": (GOOD + "\n", 400),
    "bare CR": (GOOD + "A: b\rC: d\r\n\r\n", 400),
    "NUL in a field": (GOOD + "A: b\0c\r\n\r\n", 400),
    "DEL in a field": (GOOD + "A: b\x7fc\r\n\r\n", 400),
    "folded field": (GOOD + "A: b\r\n c\r\n\r\n", 400),
    "folded field with a tab": (GOOD + "A: b\r\n\tc\r\n\r\n", 400),
    "folded first field": ("GET /live HTTP/1.1\r\n Host: localhost\r\n\r\n", 400),
    "field without a name": (GOOD + ": b\r\n\r\n", 400),
    "field without a colon": (GOOD + "A\r\n\r\n", 400),
    "field name with a space": (GOOD + "A B: c\r\n\r\n", 400),
    "length with an underscore": (POST + "Content_Length: 2\r\n\r\n{}", 400),
    "transfer-encoding with an underscore": (POST + "TRANSFER_encoding: chunked\r\n\r\n", 400),
    "address of the client with underscores": (GOOD + "X_Forwarded-For: 192.0.2.1\r\n\r\n", 400),
    "field name with a slash": (GOOD + "A/B: c\r\n\r\n", 400),
    "trailer field": (POST + "Trailer: A\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    "empty line first": ("\r\n" + GOOD + "\r\n", 400),
    "absolute target": ("GET http://localhost/live HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "authority target": ("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "asterisk target": ("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "target with a fragment": ("GET /live#a HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "target with a tab": ("GET /li\tve HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "target with a space": ("GET /li ve HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "target beyond ASCII": ("GET /l\xefve HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "no target": ("GET HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "two spaces": ("GET  /live HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "no version": ("GET /live\r\nHost: localhost\r\n\r\n", 400),
    "version 0.9": ("GET /live HTTP/0.9\r\nHost: localhost\r\n\r\n", 505),
    "version 2.0": ("GET /live HTTP/2.0\r\nHost: localhost\r\n\r\n", 505),
    "version 1.2": ("GET /live HTTP/1.2\r\nHost: localhost\r\n\r\n", 505),
    "version in small letters": ("GET /live http/1.1\r\nHost: localhost\r\n\r\n", 400),
    "method with a brace": ("G{T /live HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "TLS": ("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    "other expectation": (POST + "Expect: 200-ok\r\nContent-Length: 2\r\n\r\n{}", 417),
    "huge field": (GOOD + "A: " + 9000 * "b" + "\r\n\r\n", 431),
    "huge target": ("GET /" + 9000 * "a" + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 431),
    "many fields": (GOOD + 2000 * "A: b\r\n" + "\r\n", 431),
}

CHUNKED = POST + "Transfer-Encoding: chunked\r\n\r\n"
REFUSED_CHUNKS = {
    "extension": ("2;a=b\r\n{}\r\n0\r\n\r\n", 400),
    "extension without a name": ("2;\r\n{}\r\n0\r\n\r\n", 400),
    "extension of the last": ("2\r\n{}\r\n0;a\r\n\r\n", 400),
    "trailer": ("2\r\n{}\r\n0\r\nA: b\r\n\r\n", 400),
    "trailer that is a length": ("2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n", 400),
    "size with 0x": ("0x2\r\n{}\r\n0\r\n\r\n", 400),
    "size with minus": ("-2\r\n{}\r\n0\r\n\r\n", 400),
    "size with plus": ("+2\r\n{}\r\n0\r\n\r\n", 400),
    "size with a space before": (" 2\r\n{}\r\n0\r\n\r\n", 400),
    "size with a space behind": ("2 \r\n{}\r\n0\r\n\r\n", 400),
    "size empty": ("\r\n{}\r\n0\r\n\r\n", 400),
    "size that is none": ("zz\r\n{}\r\n0\r\n\r\n", 400),
    "size above 64 bits": ("10000000000000002\r\n{}\r\n0\r\n\r\n", 400),
    "size above the cap": ("10001\r\n", 413),
    "size too small": ("1\r\n{}\r\n0\r\n\r\n", 400),
    "size too large": ("3\r\n{}\r\n0\r\n\r\n", 400),
    "bare LF behind the size": ("2\n{}\r\n0\r\n\r\n", 400),
    "bare LF behind the data": ("2\r\n{}\n0\r\n\r\n", 400),
    "bare LF at the end": ("2\r\n{}\r\n0\n\n", 400),
    "bare LF as the last line": ("2\r\n{}\r\n0\r\n\n", 400),
    "line without an end": (9000 * "0", 400),
}


class Framing(ServerCase):
    def answer_to(self, data, pieces=1, must_close=False):
        client = self.client()
        size = max(1, len(data) // pieces)
        try:
            for at in range(0, len(data), size):
                client.send(data[at:at + size])
        except (BrokenPipeError, ConnectionResetError):
            pass  # It has been answered already.
        answer = client.read_answer()
        if must_close:
            self.assertTrue(client.is_closed())
        return answer

    def expect_refused(self, name, data, status):
        # A request behind it, which nobody may see.
        answer = self.answer_to(data + GOOD + "\r\n", must_close=True)
        self.assertEqual(answer.status, status, f"{name}: {answer}")
        self.assertEqual(answer.fields["content-type"], "application/problem+json", name)
        self.assertEqual(answer.fields["connection"], "close", name)
        # By its own check, before the parser has seen it.
        self.assertNotIn(answer.json["detail"], ("", "this is not a request of HTTP/1.1"), name)

    def test_what_parsers_disagree_about_is_refused(self):
        for name, (data, status) in REFUSED.items():
            self.expect_refused(name, data, status)

    def test_chunks_that_parsers_disagree_about_are_refused(self):
        for name, (data, status) in REFUSED_CHUNKS.items():
            self.expect_refused(name, CHUNKED + data, status)

    def test_it_does_not_matter_where_a_refused_request_is_cut(self):
        for name in ("bare LF in a field", "folded field", "two hosts", "length twice, another"):
            data, status = REFUSED[name]
            self.assertEqual(self.answer_to(data, pieces=len(data)).status, status, name)
        for name in ("extension", "trailer", "bare LF behind the data"):
            data, status = REFUSED_CHUNKS[name]
            self.assertEqual(self.answer_to(CHUNKED + data, pieces=1000).status, status, name)

    def test_good_requests_are_not_refused(self):
        token = '{"token":"x"}'
        self.assertEqual(self.answer_to(CHUNKED + "1\r\n{\r\n000C\r\n\"token\":\"x\"}\r\n0\r\n\r\n").json["field"], "token")
        self.assertEqual(self.answer_to(CHUNKED + "d\r\n" + token + "\r\n00\r\n\r\n").json["field"], "token")
        self.assertEqual(self.answer_to(CHUNKED + "D\r\n" + token + "\r\n0\r\n\r\n", pieces=1000).json["field"], "token")
        semicolons = 9 * '";;;;;;;;;;;;;;"'
        self.assertEqual(self.answer_to(CHUNKED + "90\r\n" + semicolons + "\r\n0\r\n\r\n", pieces=1000).json["detail"],
                         "the body is not a JSON object")
        self.assertEqual(self.answer_to(CHUNKED + "0\r\n\r\n", pieces=1000).json["detail"], "the body is not a JSON object")
        self.assertEqual(self.answer_to(POST + "Content-Length: 0013\r\n\r\n" + token).json["field"], "token")
        for fields in ("\r\n", "A:\r\n\r\n", "A: b \t\r\n\r\n", "A:b\tc\r\n\r\n", "X: \xff\r\n\r\n", "Connection: close\r\n\r\n"):
            self.assertEqual(self.answer_to(GOOD + fields).status, 200, fields)
        for host in ("localhost:80", "[::1]:8080", "a.example", "a_b"):
            self.assertEqual(self.answer_to(f"GET /live HTTP/1.1\r\nHost: {host}\r\n\r\n").status, 200, host)
        self.assertEqual(self.answer_to(GOOD.replace("/live", "/live?") + "\r\n", pieces=1000).status, 200)
        self.assertEqual(self.answer_to(GOOD + "A: " + 8000 * "b" + "\r\n\r\n").status, 200)

    def test_http_1_0_needs_no_host_and_ends_the_connection(self):
        client = self.client()
        client.send("GET /live HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        self.assertEqual(client.read_answer().fields["connection"], "close")
        self.assertTrue(client.is_closed())

    def test_a_body_of_64_kB(self):
        body = '{"token":"' + 65400 * "a" + '"}'
        self.assertEqual(self.http.ask("POST", "/v1/release", body).json["field"], "token")
        many = "".join("1000\r\n" + 4096 * "a" + "\r\n" for _ in range(17))
        self.assertEqual(self.answer_to(CHUNKED + many + "0\r\n\r\n").status, 413)

    def test_expect_continue(self):
        self.http.send(POST + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        self.assertEqual(self.http.read_head(), (100, {}))
        self.http.send("{}")
        self.assertEqual(self.http.read_answer().status, 400)
        # A client that does not wait for it need not be told.
        self.http.send(POST + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}")
        self.assertEqual(self.http.read_answer().status, 400)


class Connections(ServerCase):
    def test_are_kept(self):
        for _ in range(3):
            answer = self.http.ask("GET", "/live")
            self.assertEqual(answer.status, 200)
            self.assertNotIn("connection", answer.fields)
        self.http.send(GOOD + "Connection: close\r\n\r\n")
        self.assertEqual(self.http.read_answer().fields["connection"], "close")
        self.assertTrue(self.http.is_closed())

    def test_pipelined_requests_are_answered_in_order(self):
        self.http.send(500 * (GOOD + "\r\n" + GOOD.replace("/live", "/none") + "\r\n"))
        statuses = [self.http.read_answer().status for _ in range(1000)]
        self.assertEqual(statuses, 500 * [200, 404])

    def test_a_client_that_does_not_read_is_not_read_from(self):
        client = self.client()
        client.socket.settimeout(1)
        with self.assertRaises(TimeoutError):
            for _ in range(200):
                client.send(1000 * (GOOD + "\r\n"))
        self.assertEqual(self.http.ask("GET", "/live").status, 200)
        client.socket.settimeout(LONG)
        self.assertEqual(client.read_answer().status, 200)

    def test_garbage_behind_a_request_is_not_answered_as_one(self):
        self.http.send(GOOD + "\r\n" + "\x00garbage")
        self.assertEqual(self.http.read_answer().status, 200)
        self.assertEqual(self.http.read_answer().status, 400)
        self.assertTrue(self.http.is_closed())

    def test_what_is_pipelined_behind_a_wait_waits_up_to_8_kB(self):
        token = self.admit("g", limit=1).json["token"]
        client = self.client()
        client.write_request("POST", "/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
        client.send(10 * (GOOD + "\r\n"))
        self.await_waiting("g", 1)
        self.http.post("/v1/release", {"token": token})
        self.assertEqual(client.read_answer().json["answer"], "granted")
        for _ in range(10):
            self.assertEqual(client.read_answer().json, {"status": "live"})
        flood = self.client()
        flood.write_request("POST", "/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
        flood.send(1000 * (GOOD + "\r\n"))
        self.assertEqual(flood.read_answer().status, 400)
        self.assertTrue(flood.is_closed())
        self.await_waiting("g", 0)

    def test_half_a_request_and_the_end(self):
        for data in ("", "GET", GOOD, POST + "Content-Length: 5\r\n\r\n{"):
            client = self.client()
            client.send(data)
            client.socket.shutdown(socket.SHUT_WR)
            self.assertTrue(client.is_closed())
            self.assertEqual(client.unread, b"")

    def test_a_request_and_the_end_is_answered(self):
        client = self.client()
        client.send(GOOD + "\r\n")
        client.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(client.read_answer().status, 200)
        self.assertTrue(client.is_closed())

    def test_slow_requests_end_with_408(self):
        slow = {name: self.client() for name in ("head", "body", "chunks")}
        slow["head"].send(GOOD)
        slow["body"].send(POST + "Content-Length: 5\r\n\r\n{")
        slow["chunks"].send(CHUNKED + "1\r\n")
        for name, client in slow.items():
            self.assertEqual(client.read_answer().status, 408, name)
            self.assertTrue(client.is_closed())

    def test_a_head_that_drips_ends_with_408(self):
        client = self.client()
        client.socket.settimeout(0.2)
        client.send(GOOD + "A: ")
        drops = 0
        while b"\r\n\r\n" not in client.unread:
            self.assertLess(drops, 5 * LONG)
            drops += 1
            try:
                client.send("b")
                client.read_some()
            except TimeoutError:
                pass
            except BrokenPipeError:
                break
        client.socket.settimeout(LONG)
        self.assertEqual(client.read_answer().status, 408)

    def test_connections_beyond_the_cap_of_descriptors_do_not_end_the_server(self):
        self.server.kill()
        self.server.wait()
        command = 'ulimit -n 60; exec "$@"'
        server = self.start(["sh", "-c", command, "-", self.server.args[0], "--store", "memory:", "--listen",
                             f"unix:{self.socket_path}"], stdout=-1, text=True)
        self.assertIn("listens", server.stdout.readline())
        many = [self.client() for _ in range(100)]
        for client in many[50:]:
            client.close()
        for client in many[:50]:
            client.close()
        self.assertTrue(eventually(lambda: self.client().ask("GET", "/live").status == 200))


class Browsers(ServerCase):
    def test_may_ask_for_this_machine_by_its_own_names_only(self):
        def status(host, **fields):
            client = self.client()
            lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
            client.send(f"GET /v1/gates HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n")
            return client.read_answer().status

        self.assertEqual(status("evil.example"), 200)  # No browser.
        for host in ("localhost", "LOCALHOST:80", "127.0.0.1:1234", "[::1]:80", "[::1]"):
            self.assertEqual(status(host, Sec_Fetch_Site="none"), 200, host)
            self.assertEqual(status(host, Origin="http://localhost:80"), 200, host)
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:80", "127.0.0.2"):
            self.assertEqual(status(host, Sec_Fetch_Mode="cors"), 421, host)
            self.assertEqual(status(host, Origin="http://evil.example"), 421, host)
        for origin in ("http://evil.example", "null", "https://localhost.evil.example"):
            self.assertEqual(status("localhost", Origin=origin), 403, origin)

    def test_bodies_are_json_by_their_type(self):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"):
            answer = self.http.post("/v1/gates/g/admit", {"limit": 1}, Content_Type=kind)
            self.assertEqual(answer.status, 415, kind)
        self.assertEqual(self.http.ask("POST", "/v1/gates/g/revoke").status, 415)
        for kind in ("application/json", "Application/JSON; charset=utf-8"):
            self.assertEqual(self.http.post("/v1/gates/g/admit", {"limit": 9}, Content_Type=kind).status, 200, kind)


if __name__ == "__main__":
    unittest.main()
