#!/usr/bin/env python3
"""TLS: which handshakes end well, who a client certificate is, and HTTP over it as without it."""

import hashlib
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import warnings

from server_case import BINARY, LONG, Client, ServerCase, eventually

TOKEN = "airlock_" + 64 * "7"
ROLES = 'admit = "*"\ndefine = "*"\nobserve = "*"\noperate = "*"\n'
WITH_TOKEN = f'[[principal]]\nname = "teller"\ntokens = "sha256:{hashlib.sha256(TOKEN.encode()).hexdigest()}"\n{ROLES}'
BEARER = {"Authorization": f"Bearer {TOKEN}"}
CERTIFIED = ('[[principal]]\nname = "shop"\ncertificates = ["CN=shop", "DNS:shop.example", "URI:spiffe://example/shop", '
             f'"EMAIL:shop@example.com"]\n{ROLES}')


class Authority:
    """A CA and what it has signed, made with openssl."""

    def __init__(self, folder, name):
        self.folder, self.name, self.count = folder, name, 0
        self.path = self.file("ca.pem")
        self.key = self.new_key("ca.key")
        self.run("req", "-x509", "-new", "-key", self.key, "-subj", f"/CN={name}", "-days", "30", "-out", self.path)

    def file(self, name):
        return os.path.join(self.folder, f"{self.name}-{name}")

    @staticmethod
    def run(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=LONG)

    def new_key(self, name):
        path = self.file(name)
        self.run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)
        os.chmod(path, 0o600)
        return path

    def sign(self, subject, *extensions, expired=False):
        """The paths of a certificate and its key."""
        self.count += 1
        key, request, certificate = self.new_key(f"{self.count}.key"), self.file("csr"), self.file(f"{self.count}.pem")
        with open(self.file("database"), "w", encoding="utf-8"):
            pass
        with open(self.file("conf"), "w", encoding="utf-8") as file:
            file.write(f"[ca]\ndefault_ca = c\n[c]\ndatabase = {self.file('database')}\nnew_certs_dir = {self.folder}\n"
                       "default_md = sha256\npolicy = p\nrand_serial = yes\nunique_subject = no\n[p]\ncommonName = optional\n"
                       "[e]\nbasicConstraints = CA:FALSE\n" + "".join(f"{each}\n" for each in extensions))
        self.run("req", "-new", "-key", key, "-subj", subject, "-out", request)
        ends = time.time() + (-3600 if expired else 86400)
        stamps = [time.strftime("%Y%m%d%H%M%SZ", time.gmtime(each)) for each in (ends - 172800, ends)]
        self.run("ca", "-batch", "-notext", "-config", self.file("conf"), "-cert", self.path, "-keyfile", self.key, "-extensions",
                 "e", "-in", request, "-out", certificate, "-startdate", stamps[0], "-enddate", stamps[1])
        return certificate, key


def setUpModule():
    folder = tempfile.mkdtemp(prefix="airlock-test-")
    unittest.addModuleCleanup(shutil.rmtree, folder)
    ours, other = Authority(folder, "ours"), Authority(folder, "other")
    names = "subjectAltName = DNS:localhost, IP:127.0.0.1"
    globals().update(
        CA=ours.path, SERVER=ours.sign("/CN=localhost", names), RENEWED=ours.sign("/CN=renewed", names),
        CLIENTS={
            "shop": ours.sign("/CN=shop"),
            "dns": ours.sign("/CN=x", "subjectAltName = DNS:other.example, DNS:SHOP.Example"),
            "uri": ours.sign("/", "subjectAltName = URI:spiffe://example/shop"),
            "email": ours.sign("/CN=x", "subjectAltName = email:shop@example.com"),
            "unknown": ours.sign("/CN=shopper", "subjectAltName = DNS:a.shop.example, URI:shop"),
            "kind": ours.sign("/CN=DNS:shop.example", "subjectAltName = URI:DNS:shop.example"),
            "wildcard": ours.sign("/CN=x", "subjectAltName = DNS:*.example"),
            "expired": ours.sign("/CN=shop", expired=True),
            "for servers": ours.sign("/CN=shop", "extendedKeyUsage = serverAuth"),
            "other": other.sign("/CN=shop"),
        })


def set_version(context, version):
    with warnings.catch_warnings():  # Of old versions.
        warnings.simplefilter("ignore")
        context.minimum_version = context.maximum_version = version


class TlsClient(Client):
    def __init__(self, where, context):
        self.socket = socket.create_connection(where, LONG)
        self.unread = b""
        try:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost", suppress_ragged_eofs=False)
        except BaseException:
            self.socket.close()
            raise

    def read_some(self):
        try:
            return super().read_some()
        except ssl.SSLEOFError:
            return False


class TlsCase(ServerCase):
    TLS = ""
    RIGHTS = ""
    LISTEN = "tls:127.0.0.1:0"

    def start_server(self, *arguments):
        path = os.path.join(self.dir, "airlock.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'[tls]\ncertificate = "{SERVER[0]}"\nkey = "{SERVER[1]}"\n{self.TLS.replace("CA", CA)}\n{self.RIGHTS}')
        server = super().start_server("--config", path, "--listen", self.LISTEN, *arguments)
        self.port = int(re.search(r"tls:[^ ;]+:(\d+)", self.listens)[1])
        return server

    def context(self, certificate=None):
        context = ssl.create_default_context(cafile=CA)
        if certificate:
            context.load_cert_chain(*CLIENTS[certificate])
        return context

    def tls_client(self, context=None, host="127.0.0.1"):
        client = TlsClient((host, self.port), context or self.context())
        self.clients.append(client)
        return client

    def tcp_client(self):
        client = Client(("127.0.0.1", self.port))
        self.clients.append(client)
        return client

    def connections(self):
        return int(re.search(r"airlock_server_connections (\d+)", self.http.ask("GET", "/metrics").body)[1])


class Handshakes(TlsCase):
    def test_versions(self):
        for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.context()
            context.set_ciphers("ALL:@SECLEVEL=0")
            set_version(context, version)
            if version < ssl.TLSVersion.TLSv1_2:
                with self.assertRaisesRegex(ssl.SSLError, "alert protocol version"):
                    self.tls_client(context)
                continue
            client = self.tls_client(context)
            self.assertEqual(client.socket.version(), version.name.replace("_", "."))
            self.assertEqual(client.ask("GET", "/live").status, 200)

    def test_weak_ciphers_are_refused(self):
        for cipher in ("NULL-SHA256", "AECDH-NULL-SHA", "ADH-AES128-SHA256"):
            context = self.context()
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            context.set_ciphers(f"{cipher}:@SECLEVEL=0")
            with self.assertRaises((ssl.SSLError, ConnectionResetError), msg=cipher):
                self.tls_client(context)

    def test_alpn(self):
        for offered, chosen in ((["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"), (None, None)):
            context = self.context()
            if offered:
                context.set_alpn_protocols(offered)
            client = self.tls_client(context)
            self.assertEqual(client.socket.selected_alpn_protocol(), chosen)
            self.assertEqual(client.ask("GET", "/live").status, 200)
        context = self.context()
        context.set_alpn_protocols(["h2", "smtp"])
        with self.assertRaisesRegex(ssl.SSLError, "no application protocol"):
            self.tls_client(context)

    def test_sessions_are_resumed(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.context()
            set_version(context, version)
            first = self.tls_client(context)
            first.ask("GET", "/live")  # The tickets of 1.3 come with it.
            with socket.create_connection(("127.0.0.1", self.port), LONG) as plain:
                with context.wrap_socket(plain, server_hostname="localhost", session=first.socket.session) as second:
                    self.assertTrue(second.session_reused)

    def test_renegotiation_is_refused(self):
        client = self.start(["openssl", "s_client", "-connect", f"127.0.0.1:{self.port}", "-tls1_2", "-CAfile", CA],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in client.stdout:
            if "Verify return code" in line:
                break
        client.stdin.write("R\n")
        client.stdin.flush()
        self.assertIn("no renegotiation", client.stdout.read())
        client.stdin.close()

    def test_plain_http_is_told_so(self):
        for request in ("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n", "POST /v1/release HTTP/1.1\r\nHost: x\r\n\r\n" + 900 * "x"):
            client = self.tcp_client()
            client.send(request)
            answer = client.read_answer()
            self.assertEqual((answer.status, answer.json["status"]), (400, 400))
            self.assertIn("HTTPS", answer.json["detail"])
            self.assertTrue(client.is_closed())
        client = self.tcp_client()
        client.send(b"\x16\x03\x01\xff\xff" + bytes(range(256)) * 40)
        self.assertTrue(client.is_closed())
        self.assertTrue(eventually(lambda: self.connections() == 1))

    def test_a_handshake_has_10_seconds_and_counts_as_a_connection(self):
        begin = time.monotonic()
        slow = [self.tcp_client() for _ in range(3)]
        slow[1].send(b"\x16\x03\x01")
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self.context().wrap_bio(incoming, outgoing, server_hostname="localhost")
        with self.assertRaises(ssl.SSLWantReadError):
            tls.do_handshake()
        slow[2].send(outgoing.read())  # It never says that it is finished.
        self.assertTrue(eventually(lambda: self.connections() == 4))
        self.assertEqual(self.tls_client().ask("GET", "/live").status, 200)
        for client in slow:
            self.assertTrue(client.is_closed())
        self.assertGreater(time.monotonic() - begin, 9)
        self.assertTrue(eventually(lambda: self.connections() == 2))

    def test_a_server_that_stops_does_not_wait_for_handshakes(self):
        client = self.tcp_client()
        self.assertTrue(eventually(lambda: self.connections() == 2))
        status, seconds = self.stop_server()
        self.assertEqual(status, 0)
        self.assertTrue(client.is_closed())
        if LONG < 200:  # Without a sanitizer.
            self.assertLess(seconds, 5)


class Http(TlsCase):
    def setUp(self):
        super().setUp()
        self.http = self.tls_client()

    def test_admit_renew_release(self):
        token = self.admit("g", limit=1).json["token"]
        self.assertEqual(self.admit("g", limit=1).status, 429)
        self.assertEqual(self.http.post("/v1/renew", {"token": token}).status, 200)
        self.assertEqual(self.http.post("/v1/release", {"token": token}).status, 200)

    def test_bytes_that_come_one_by_one(self):
        client = self.tls_client()
        for byte in b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n":
            client.send(bytes([byte]))
        self.assertEqual(client.read_answer().status, 200)

    def test_big_bodies(self):
        for size in (16_000, 16_384, 16_385, 65_000):
            body = '{"limit": 1000' + size * " " + "}"
            self.assertEqual(self.http.post("/v1/gates/g/admit", body).status, 200, size)
        self.assertEqual(self.http.post("/v1/gates/g/admit", '{"limit": 1000' + 65_536 * " " + "}").status, 413)

    def test_a_client_that_reads_late_gets_everything(self):
        for number in range(100):
            self.admit(f"a-gate-with-a-long-name-{number:03}", limit=number + 1)
        self.admit("h", limit=1)
        whole = self.http.ask("GET", "/v1/gates?match=a-*").json
        self.assertEqual(len(whole), 100)
        client = self.tls_client()
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        count = 0
        while count < 5_000:  # Until sockets are full, and then some more that is added behind what had to wait.
            count += 1
            client.write_request("GET", "/v1/gates?match=a-*")
            client.write_request("PUT", "/v1/gates/h/limit", {"limit": count})
            if not eventually(lambda: self.show("h").get("limit") == count, seconds=2):
                break
        self.assertLess(count, 5_000)
        for _ in range(count):
            self.assertEqual([gate["name"] for gate in client.read_answer().json], [gate["name"] for gate in whole])
            self.assertEqual(client.read_answer().status, 204)
        self.assertEqual(client.ask("GET", "/live").status, 200)

    def test_the_last_answer_and_the_end_arrive(self):
        client = self.tls_client()
        client.write_request("GET", "/live", Connection="close")
        self.assertEqual(client.read_answer().status, 200)
        self.assertEqual(client.socket.recv(1), b"")  # A proper end: SSLEOFError would be none.

    def test_clients_that_go_away_while_they_wait(self):
        token = self.admit("g", limit=1).json["token"]
        ends = [lambda client: client.close(), lambda client: client.socket.unwrap(),
                lambda client: socket.socket.shutdown(client.socket, socket.SHUT_WR)]
        for end in ends:
            waiter = self.tls_client()
            waiter.write_request("POST", "/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
            self.await_waiting("g", 1)
            try:
                end(waiter)
            except (OSError, ssl.SSLError):  # unwrap() reads what was written for it.
                pass
            self.await_waiting("g", 0)
        self.assertEqual(self.http.post("/v1/release", {"token": token}).status, 200)

    def test_streams(self):
        token = self.admit("g", limit=1).json["token"]
        stream = self.tls_client()
        stream.begin_stream("/v1/gates/g/admit", {"limit": 1, "wait": "1h"})
        self.assertEqual(stream.read_event()[0], "queued")
        self.http.post("/v1/release", {"token": token})
        self.assertEqual(stream.read_event()[0], "granted")
        self.await_in_use("g", 1)
        stream.close()
        self.await_in_use("g", 0)

    def test_a_stream_ends_in_order_when_the_server_stops(self):
        stream = self.tls_client()
        stream.begin_stream("/v1/gates/g/admit", {"limit": 1})
        self.assertEqual(stream.read_event()[0], "granted")
        self.assertEqual(self.stop_server()[0], 0)
        self.assertEqual(stream.read_event()[1], {"reason": "draining"})
        self.assertEqual(stream.socket.recv(1), b"")

    def test_without_rights_loopback_may_do_everything(self):
        self.assertIn("everybody who can connect", self.listens)
        first = self.admit("g", limit=2, visitor="ann").json
        self.assertEqual(self.admit("g", self.tls_client(), limit=2, visitor="ann").json["token"], first["token"])


class OptionalCertificates(TlsCase):
    TLS = 'client_ca = "CA"'
    RIGHTS = CERTIFIED + WITH_TOKEN + '[[principal]]\nname = "here"\nloopback = true\nadmit = "nothing"\n'

    def status(self, certificate, **fields):
        return self.tls_client(self.context(certificate)).ask("GET", "/v1/gates", **fields).status

    def test_names_that_are_listed(self):
        for certificate in ("shop", "dns", "uri", "email"):
            self.assertEqual(self.status(certificate), 200, certificate)

    def test_other_names(self):
        for certificate in ("unknown", "kind", "wildcard", None):
            self.assertEqual(self.status(certificate), 403, certificate)  # As from this machine.
            self.assertEqual(self.status(certificate, **BEARER), 200, certificate)
        self.assertEqual(self.status("shop", Authorization="Bearer x"), 401)

    def test_certificates_that_are_not_good(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            for certificate, alert in (("expired", "certificate expired"), ("other", "unknown ca"),
                                       ("for servers", "unsupported certificate")):
                context = self.context(certificate)
                set_version(context, version)
                with self.assertRaisesRegex((ssl.SSLError, EOFError, ConnectionError), alert, msg=certificate):
                    self.tls_client(context).ask("GET", "/v1/gates")

    def test_sessions_are_not_resumed(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.context("shop")
            set_version(context, version)
            first = self.tls_client(context)
            self.assertEqual(first.ask("GET", "/live").status, 200)
            session = first.socket.session
            if session and session.has_ticket:
                self.fail("there is a ticket")
            with socket.create_connection(("127.0.0.1", self.port), LONG) as plain:
                with context.wrap_socket(plain, server_hostname="localhost", session=session) as second:
                    self.assertFalse(second.session_reused)

    def test_visitors_belong_to_the_principal_of_the_certificate(self):
        def token(certificate, **fields):
            client = self.tls_client(self.context(certificate))
            return client.post("/v1/gates/g/admit", {"limit": 9, "visitor": "ann"}, **fields).json["token"]

        self.assertEqual(token("shop"), token("dns"))
        self.assertNotEqual(token("shop"), token("shop", **BEARER))


class RequiredCertificates(TlsCase):
    TLS = 'client_ca = "CA"\nclient_certificate_required = true'
    RIGHTS = CERTIFIED

    def test_one_is_needed(self):
        self.assertEqual(self.tls_client(self.context("shop")).ask("GET", "/v1/gates").status, 200)
        self.assertEqual(self.tls_client(self.context("unknown")).ask("GET", "/v1/gates").status, 401)
        with self.assertRaisesRegex(ssl.SSLError, "certificate required"):
            self.tls_client().ask("GET", "/live")


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


class BeyondLoopback(TlsCase):
    LISTEN = "tls:0.0.0.0:0"
    RIGHTS = WITH_TOKEN + f'[[principal]]\nname = "here"\nloopback = true\n{ROLES}'

    @staticmethod
    def own_address():
        """An address of this machine that others use; None: it has none. Nothing is sent."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))
            except OSError:
                return None
            address = probe.getsockname()[0]
        return None if address.startswith("127.") else address

    def test_a_token_is_needed(self):
        self.assertEqual(self.tls_client().ask("GET", "/v1/gates").status, 200)
        address = self.own_address()
        if address is None:
            self.skipTest("this machine has loopback addresses only")
        far = self.tls_client(host=address)
        self.assertEqual(far.ask("GET", "/v1/gates").status, 401)
        self.assertEqual(far.ask("GET", "/v1/gates", **BEARER).status, 200)
        self.assertEqual(far.ask("GET", "/live").status, 200)


@unittest.skipUnless(has_ipv6(), "this machine has no IPv6")
class BothFamilies(TlsCase):
    LISTEN = "tls:[::]:0"
    RIGHTS = BeyondLoopback.RIGHTS

    def test_this_machine_is_known_by_either_address(self):
        for host in ("127.0.0.1", "::1"):
            self.assertEqual(self.tls_client(host=host).ask("GET", "/v1/gates").status, 200, host)


class Starts(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="airlock-test-")
        self.addCleanup(shutil.rmtree, self.dir)

    def refuses(self, text, rule, *arguments):
        done = subprocess.run([BINARY, "--store", "memory:", "--config", "/dev/stdin", "--check", *arguments],
                              input=text.replace("CERT", SERVER[0]).replace("KEY", SERVER[1]).replace("AUTHORITY", CA),
                              capture_output=True, text=True, timeout=LONG, check=False)
        self.assertEqual(done.returncode, 0 if rule is None else 64, f"{text}\n{done.stderr}")
        self.assertRegex(done.stderr, rule or "^$")
        self.assertNotIn("PRIVATE KEY", done.stderr)

    def copy(self, source, mode):
        path = os.path.join(self.dir, "copy")
        shutil.copyfile(source, path)
        os.chmod(path, mode)
        return path

    def test_what_is_missing(self):
        tls = '[tls]\ncertificate = "CERT"\nkey = "KEY"\n'
        self.refuses(tls, None)
        self.refuses('[tls]\nkey = "KEY"\n', "tls.certificate: is needed")
        self.refuses('[tls]\ncertificate = "CERT"\n', "tls.key: is needed")
        self.refuses('[tls]\ncertificate = "/nowhere"\nkey = "KEY"\n', "2: tls.certificate: /nowhere is no chain")
        self.refuses('[tls]\ncertificate = "CERT"\nkey = "/nowhere"\n', "3: tls.key: /nowhere cannot be read: No such file")
        self.refuses('[tls]\ncertificate = "CERT"\nkey = "/"\n', "tls.key: / is no file")
        self.refuses(tls + 'client_ca = "/nowhere"\n', "4: tls.client_ca: /nowhere has no certificates")
        self.refuses(tls + 'client_ca = "KEY"\n', "4: tls.client_ca: ")
        self.refuses(tls + "client_certificate_required = true\n", "4: tls.client_certificate_required: needs client_ca")
        self.refuses(tls + CERTIFIED, "principal: certificates need client_ca")
        self.refuses(tls + f'client_ca = "AUTHORITY"\n{CERTIFIED}', None)
        self.refuses(tls + 'ca = "AUTHORITY"\n', "tls.ca: is not a key")

    def test_keys_that_are_not_private_or_not_right(self):
        def check(path, rule):
            self.refuses(f'[tls]\ncertificate = "CERT"\nkey = "{path}"\n', rule)

        for mode, rule in ((0o600, None), (0o400, None), (0o640, None), (0o644, "chmod 0600"), (0o604, "chmod 0600"),
                           (0o660, "chmod 0600"), (0o602, "chmod 0600")):
            check(self.copy(SERVER[1], mode), rule and f"tls.key: .*/copy may be read or changed by others; {rule}")
        check(self.copy(RENEWED[1], 0o600), "tls.key: .*/copy does not belong to the certificate")
        check(self.copy(SERVER[0], 0o600), "tls.key: .*/copy is no private key")
        encrypted = os.path.join(self.dir, "encrypted")
        Authority.run("pkey", "-in", SERVER[1], "-aes128", "-passout", "pass:hunter2", "-out", encrypted)
        os.chmod(encrypted, 0o600)
        check(encrypted, "tls.key: .*/encrypted is no private key as PEM without a password")

    def test_addresses_beyond_loopback_need_tls_and_a_credential(self):
        tls = '[tls]\ncertificate = "CERT"\nkey = "KEY"\n'
        loopback = f'[[principal]]\nname = "here"\nloopback = true\nusers = "*"\n{ROLES}'
        for listen, text, rule in (
                ("tls:127.0.0.1:0", "", r"needs certificate and key in \[tls\]"), ("tls:127.0.0.1:0", tls, None),
                ("tls:[::1]:0", tls, None), ("tls:0.0.0.0:0", tls, r"is refused.*\[\[principal\]\] with tokens"),
                ("tls:[::]:0", tls + loopback, "is refused"), ("tls:[::]:0", tls + WITH_TOKEN, None),
                ("tls:192.0.2.1:0", tls + f'client_ca = "AUTHORITY"\n{CERTIFIED}', None),
                ("tcp:0.0.0.0:0", tls + WITH_TOKEN, "is refused.*tls:HOST:PORT"), ("tls:example:1", tls, "has to be an address"),
                ("tls:127.0.0.1", tls, "tls:HOST:PORT"), ("tls:127.0.0.1:70000", tls, "the port")):
            self.refuses(text, rule and f"{re.escape(listen.rsplit(':', 1)[0])}.*{rule}", "--listen", listen)
        self.refuses(f'[server]\nlisten = "tls:[::]:0"\n{tls}', "is refused")


if __name__ == "__main__":
    unittest.main()
