#!/usr/bin/env python3
"""The rate limit service over gRPC: a real client, and clients that abuse HTTP/2. Needs python3-grpcio and protoc."""

import hashlib
import importlib
import os
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

import grpc

import http2_client as http2
from http2_client import Http2Client
from server_case import LONG, ServerCase

FOLDER = os.path.dirname(os.path.abspath(__file__))
CONFIG = """
[[domain]]
name = "edge"
headers = "split"

[[descriptors]]
domain = "edge"
key = "user"
rate_limit = {unit = "hour", requests_per_unit = 100, name = "per_user"}

[[descriptors]]
domain = "edge"
key = "tenant"
concurrency = {limit = 1, ttl = "1h"}
"""
UNKNOWN, OK, OVER_LIMIT = 0, 1, 2
HOUR = 3
SERVICE = "envoy.service.ratelimit.v3.RateLimitService"


def load_messages():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["protoc", f"-I{FOLDER}", f"--python_out={folder}", "rate_limit.proto"], check=True)
        sys.path.insert(0, folder)
        try:
            return importlib.import_module("rate_limit_pb2")
        finally:
            sys.path.remove(folder)


pb = load_messages()


class GrpcCase(ServerCase):
    CONFIG = CONFIG

    def start_server(self, *arguments):
        path = os.path.join(self.dir, "airlock.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.CONFIG)
        self.grpc_path = os.path.join(self.dir, "grpc.sock")
        return super().start_server("--config", path, "--listen", f"grpc+unix:{self.grpc_path}", "--listen",
                                    "grpc:127.0.0.1:0", *arguments)

    def setUp(self):
        super().setUp()
        self.channel = grpc.insecure_channel(f"unix:{self.grpc_path}")
        self.addCleanup(self.channel.close)
        self.should_rate_limit = self.method(SERVICE + "/ShouldRateLimit", pb.RateLimitResponse)
        self.check = self.method("grpc.health.v1.Health/Check", pb.HealthCheckResponse)

    def method(self, path, answer, channel=None):
        return (channel or self.channel).unary_unary(
            "/" + path, request_serializer=lambda message: message.SerializeToString(), response_deserializer=answer.FromString)

    def request(self, *pairs, domain="edge", hits=0, **fields):
        descriptor = pb.Descriptor(entries=[pb.Pair(key=key, value=value) for key, value in pairs], **fields)
        return pb.RateLimitRequest(domain=domain, descriptors=[descriptor], hits_addend=hits)

    def ask(self, *pairs, **options):
        return self.should_rate_limit(self.request(*pairs, **options), timeout=LONG)

    def fails(self, code, call, *arguments):
        with self.assertRaises(grpc.RpcError) as raised:
            call(*arguments, timeout=LONG)
        self.assertEqual(raised.exception.code(), code, raised.exception)
        return raised.exception.details()

    def raw(self):
        client = Http2Client(self.grpc_path)
        self.clients.append(client)
        return client


class Calls(GrpcCase):
    def test_a_decision_has_all_its_fields(self):
        answer = self.ask(("user", "ann"), hits=40)
        status, = answer.statuses
        self.assertEqual((answer.overall_code, status.code, status.limit_remaining), (OK, OK, 60))
        self.assertEqual(status.current_limit, pb.Limit(requests_per_unit=100, unit=HOUR, name="per_user"))
        self.assertEqual(status.duration_until_reset.seconds, 1440)
        self.assertEqual([(each.key, each.value) for each in answer.response_headers_to_add],
                         [("RateLimit-Limit", "100"), ("RateLimit-Remaining", "60"), ("RateLimit-Reset", "1440")])
        refused = self.ask(("user", "ann"), hits=61)
        self.assertEqual((refused.overall_code, refused.statuses[0].code), (OVER_LIMIT, OVER_LIMIT))
        self.assertEqual(self.ask(("user", "ann"), hits=60).overall_code, OK)

    def test_what_a_descriptor_may_say(self):
        self.ask(("user", "ann"), hits_addend=pb.Number64(value=30), hits=5)
        self.assertEqual(self.ask(("user", "ann"), hits_addend=pb.Number64(value=0)).statuses[0].limit_remaining, 70)
        back = self.ask(("user", "ann"), hits_addend=pb.Number64(value=10), is_negative_hits=True)
        self.assertEqual(back.statuses[0].limit_remaining, 80)
        limit = pb.Limit(requests_per_unit=1, unit=HOUR)
        self.assertEqual([self.ask(("x", "y"), limit=limit).overall_code for _ in range(2)], [OK, OVER_LIMIT])
        holds = [self.ask(("tenant", "acme"), ("airlock_visitor", name)).overall_code for name in ("r1", "r2")]
        self.assertEqual(holds, [OK, OVER_LIMIT])
        self.ask(("tenant", "acme"), ("airlock_visitor", "r1"), is_negative_hits=True)
        self.assertEqual(self.ask(("tenant", "acme"), ("airlock_visitor", "r2")).overall_code, OK)

    def test_over_tcp(self):
        where = next(each for each in self.listens.split() if each.startswith("grpc:"))
        with grpc.insecure_channel(where.removeprefix("grpc:").rstrip(";")) as channel:
            ask = self.method(SERVICE + "/ShouldRateLimit", pb.RateLimitResponse, channel)
            self.assertEqual(ask(self.request(("user", "ann")), timeout=LONG).overall_code, OK)

    def test_calls_at_the_same_time_share_a_limit_exactly(self):
        channels = [grpc.insecure_channel(f"unix:{self.grpc_path}", [("channel", i)]) for i in range(3)]
        calls = []
        for i in range(300):  # More at once than a connection may have.
            ask = self.method(SERVICE + "/ShouldRateLimit", pb.RateLimitResponse, channels[i % 3])
            calls.append(ask.future(self.request(("user", "ann")), timeout=LONG))
        codes = [call.result().overall_code for call in calls]
        self.assertEqual((codes.count(OK), codes.count(OVER_LIMIT)), (100, 200))
        for channel in channels:
            channel.close()

    def test_bad_calls_are_told_why(self):
        details = self.fails(grpc.StatusCode.INVALID_ARGUMENT, self.should_rate_limit, pb.RateLimitRequest(domain="edge"))
        self.assertIn("descriptors: has to be a list", details)
        details = self.fails(grpc.StatusCode.INVALID_ARGUMENT, self.should_rate_limit, self.request(("tenant", "\u00e4")))
        self.assertIn("descriptors[0].entries: a concurrency limit needs an entry airlock_visitor", details)
        garbage = self.channel.unary_unary("/" + SERVICE + "/ShouldRateLimit")
        self.fails(grpc.StatusCode.INVALID_ARGUMENT, garbage, b"\x0a\xff")
        self.fails(grpc.StatusCode.RESOURCE_EXHAUSTED, garbage, b"\0" * 65537)
        self.fails(grpc.StatusCode.RESOURCE_EXHAUSTED, garbage, b"\0" * 4_000_000)
        for path in ("/envoy.service.ratelimit.v2.RateLimitService/ShouldRateLimit", "/" + SERVICE + "/Other", "/"):
            self.fails(grpc.StatusCode.UNIMPLEMENTED, self.channel.unary_unary(path), b"")
        compressed = grpc.insecure_channel(f"unix:{self.grpc_path}", compression=grpc.Compression.Gzip)
        self.fails(grpc.StatusCode.UNIMPLEMENTED, compressed.unary_unary("/" + SERVICE + "/ShouldRateLimit"), b"x" * 1000)
        compressed.close()
        self.assertEqual(self.ask(("user", "ann")).statuses[0].limit_remaining, 99)

    def test_a_call_that_is_late_takes_nothing(self):
        body = http2.message(self.request(("user", "ann")).SerializeToString())
        heads, answer = self.raw().call(body, http2.RATE_LIMIT, ("grpc-timeout", "0m"))
        self.assertEqual(answer, b"")
        self.assertEqual(len(heads), 1)
        self.assertEqual(self.ask(("user", "ann")).statuses[0].limit_remaining, 99)


class Rights(GrpcCase):
    TOKEN = "airlock_proxy_secret"
    CONFIG = CONFIG + f"""
[[principal]]
name = "proxy"
tokens = "sha256:{hashlib.sha256(TOKEN.encode()).hexdigest()}"
admit = "rls:edge:user:*"

[tls]
certificate = "certificate.pem"
key = "key.pem"
"""

    def start_server(self, *arguments):
        self.certificate = os.path.join(self.dir, "certificate.pem")
        key = os.path.join(self.dir, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate],
                       check=True, capture_output=True)
        os.chmod(key, 0o600)
        self.CONFIG = self.CONFIG.replace("certificate.pem", self.certificate).replace("key.pem", key)
        return super().start_server("--listen", "grpc+tls:127.0.0.1:0", *arguments)

    def code(self, ask, request, token=None):
        try:
            ask(request, timeout=LONG, metadata=[("authorization", f"Bearer {token}")] if token else None)
        except grpc.RpcError as error:
            return error.code()
        return grpc.StatusCode.OK

    def test_a_caller_needs_the_role(self):
        limit = pb.Limit(requests_per_unit=1, unit=HOUR)
        user = self.request(("user", "ann"))
        table = [(user, None, grpc.StatusCode.UNAUTHENTICATED), (user, "wrong", grpc.StatusCode.UNAUTHENTICATED),
                 (user, self.TOKEN, grpc.StatusCode.OK),
                 (self.request(("user", "ann"), limit=limit), self.TOKEN, grpc.StatusCode.PERMISSION_DENIED),
                 (self.request(("tenant", "a"), ("airlock_visitor", "r")), self.TOKEN, grpc.StatusCode.PERMISSION_DENIED)]
        for request, token, code in table:
            self.assertEqual(self.code(self.should_rate_limit, request, token), code)
        self.assertEqual(self.check(pb.HealthCheckRequest(), timeout=LONG).status, 1)  # A probe needs nothing.

    def test_over_tls(self):
        where = next(each for each in self.listens.split() if each.startswith("grpc+tls:"))
        with open(self.certificate, "rb") as file:
            credentials = grpc.ssl_channel_credentials(file.read())
        with grpc.secure_channel(where.removeprefix("grpc+tls:").rstrip(";"), credentials) as channel:
            ask = self.method(SERVICE + "/ShouldRateLimit", pb.RateLimitResponse, channel)
            codes = {self.code(ask, self.request(("user", f"u{i}")), self.TOKEN) for i in range(200)}
            self.assertEqual(codes, {grpc.StatusCode.OK})


class Health(GrpcCase):
    def test_check(self):
        for service in ("", SERVICE):
            self.assertEqual(self.check(pb.HealthCheckRequest(service=service), timeout=LONG).status, 1)
        self.fails(grpc.StatusCode.NOT_FOUND, self.check, pb.HealthCheckRequest(service="other"))

    def test_a_server_that_stops_says_so_and_answers_what_it_has(self):
        watch = self.channel.unary_stream("/grpc.health.v1.Health/Watch", pb.HealthCheckRequest.SerializeToString,
                                          pb.HealthCheckResponse.FromString)
        stream = watch(pb.HealthCheckRequest(service=SERVICE), timeout=LONG)
        self.assertEqual(next(stream).status, 1)
        other = watch(pb.HealthCheckRequest(service="other"), timeout=LONG)
        self.assertEqual(next(other).status, 3)
        other.cancel()
        client = self.raw()
        self.assertEqual(self.stop_server()[0], 0)
        self.assertEqual(next(stream).status, 2)
        with self.assertRaises(grpc.RpcError) as raised:
            next(stream)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAVAILABLE)
        self.assertEqual(client.read_to_the_end(), 0)  # GOAWAY, without error.


class Abuse(GrpcCase):
    """A client that floods is closed; meanwhile others are answered."""

    def flood(self, write, error=http2.ENHANCE_YOUR_CALM):
        client = self.raw()
        closed = threading.Event()
        answered = []

        def ask_meanwhile():
            while not closed.is_set() or not answered:
                answered.append(self.ask(("user", f"u{len(answered) % 1000}")).overall_code)

        asking = threading.Thread(target=ask_meanwhile)
        asking.start()
        try:
            for _ in range(200):
                write(client)
        except (BrokenPipeError, ConnectionResetError):
            pass
        found = client.read_to_the_end()
        closed.set()
        asking.join()
        # Where bytes of the client are left unread, the close may overtake the GOAWAY.
        self.assertIn(found, (error, None))
        self.assertEqual(set(answered), {OK})
        self.assertIsNone(self.server.poll())

    def test_calls_that_are_taken_back_at_once(self):
        def write(client):
            text = b""
            for _ in range(500):
                stream, client.next_stream = client.next_stream, client.next_stream + 2
                text += http2.frame(http2.HEADERS, http2.END_HEADERS, stream, http2.head())
                text += http2.frame(http2.RST_STREAM, 0, stream, struct.pack(">I", 8))
            client.send(text)

        self.flood(write)

    def test_10000_streams(self):
        def write(client):
            text = b""
            for _ in range(50):
                stream, client.next_stream = client.next_stream, client.next_stream + 2
                text += http2.frame(http2.HEADERS, http2.END_HEADERS, stream, http2.head())
            client.send(text)

        self.flood(write)

    def test_pings(self):
        self.flood(lambda client: client.send(http2.frame(http2.PING, 0, 0, b"12345678") * 500))

    def test_settings(self):
        self.flood(lambda client: client.send(http2.frame(http2.SETTINGS, 0, 0, struct.pack(">HI", 4, 70000)) * 500))

    def test_window_updates(self):
        self.flood(lambda client: client.send(http2.frame(http2.WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)) * 500))

    def test_empty_data(self):
        def write(client):
            if client.next_stream == 1:
                client.begin()
            client.send(http2.frame(http2.DATA, 0, 1) * 500)

        self.flood(write)

    def test_headers_without_end(self):
        def write(client):
            if client.next_stream == 1:
                client.begin(http2.head(), flags=0)
            client.send(http2.frame(http2.CONTINUATION, 0, 1, http2.headers(("x", "y" * 1000))) * 50)

        self.flood(write, error=http2.PROTOCOL_ERROR)

    def test_what_is_not_http2_is_closed(self):
        for text in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\0" * 100):
            with http2.Client(self.grpc_path) as client:
                client.send(text)
                self.assertTrue(client.is_closed())

    def test_a_client_that_does_not_read_is_not_written_for(self):
        client = self.raw()
        body = http2.message(self.request(("user", "ann")).SerializeToString())
        try:
            client.socket.settimeout(1)
            for _ in range(3000):
                client.send(http2.frame(http2.HEADERS, http2.END_HEADERS, client.next_stream, http2.head()) +
                            http2.frame(http2.DATA, http2.END_STREAM, client.next_stream, body))
                client.next_stream += 2
        except (TimeoutError, BrokenPipeError, ConnectionResetError):
            pass
        self.assertEqual(self.ask(("user", "bob")).overall_code, OK)


class Caps(GrpcCase):
    def call(self, *fields, **options):
        heads, _ = self.raw().call(http2.message(b""), *fields, **options)
        return heads[-1]

    def test_large_headers(self):
        refused = self.call(http2.RATE_LIMIT, ("x-large", "y" * 9000))
        self.assertEqual(refused, self.call(http2.RATE_LIMIT, ("x-large", "y" * 8192)))
        self.assertNotEqual(refused, self.call(http2.RATE_LIMIT, ("x-large", "y" * 7000)))

    def test_what_is_no_grpc(self):
        statuses = {(method, kind): self.call(method=method, content_type=kind)
                    for method, kind in (("GET", "application/grpc"), ("POST", "text/plain"), ("POST", "application/grpc+proto"))}
        self.assertEqual(len(set(statuses.values())), 3, statuses)

    def test_a_body_is_one_message(self):
        good = http2.message(self.request(("user", "ann")).SerializeToString())
        for body in (b"", good + good, good[:-1], good + b"x", b"\0\0\0\0"):
            heads, answer = self.raw().call(body)
            self.assertEqual((len(heads), answer), (1, b""), body)
        self.assertEqual(self.ask(("user", "ann")).statuses[0].limit_remaining, 99)


if __name__ == "__main__":
    unittest.main()
