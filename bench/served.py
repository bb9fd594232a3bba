"""Servers under load, for bench/server.py: airlock-server and nginx, one thread each, on a core of their own."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from visits import Failure  # noqa: E402

HERE = pathlib.Path(__file__).parent
UNPACKED = HERE.parent / "build/proxies"  # By ./dev, which does not install nginx: it would be started.
PATIENCE_S = 60
CONNECTIONS = 32  # That ask at the same time.

CONFIG = """
[[room]]
gate = "room"
limit = 1000
ttl = "1h"

[[room]]
gate = "queue"
limit = 1
ttl = "1h"

[[gate]]
match = "checked"
limit = 1000
ttl = "1h"
[gate.check]
address_header = "X-Real-IP"

[[descriptors]]
domain = "bench"
key = "user"
rate_limit = {unit = "second", requests_per_unit = 1000000000}
"""
NGINX = """
daemon off;
master_process off;
pid FOLDER/pid;
error_log stderr crit;
events { worker_connections 11000; }
http {
    access_log off;
    keepalive_timeout 1h;
    keepalive_requests 1000000000;
    client_body_temp_path FOLDER/body; proxy_temp_path FOLDER/proxy; fastcgi_temp_path FOLDER/fastcgi;
    uwsgi_temp_path FOLDER/uwsgi; scgi_temp_path FOLDER/scgi;
    server {
        listen 127.0.0.1:PORT backlog=1024;
        default_type application/json;
        location / { return 200 '{"status":"live"}\\n'; }
    }
}
"""


# The first core is for clients, the second one for servers.
def on_core(number):
    cores = sorted(os.sched_getaffinity(0))
    return ["taskset", "--cpu-list", str(cores[number % len(cores)])]


def find_nginx():
    return shutil.which("nginx", path=os.pathsep.join([str(UNPACKED / "usr/sbin"), os.environ["PATH"], "/usr/sbin"]))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A process that listens; it ends with the context."""

    def __init__(self, command):
        self.process = subprocess.Popen(command)
        try:
            self.await_port()
        except Failure:
            self.__exit__()
            raise

    def await_port(self):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", self.port)):
                return
            time.sleep(0.01)
        raise Failure(f"{self.name} does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def cpu_ns(self):
        """Of all its threads, also those that have ended."""
        return time.clock_gettime_ns((~self.process.pid << 3) | 2)  # As clock_getcpuclockid(3) makes it.

    def resident_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s*(\d+) kB", status, re.MULTILINE).group(1)) * 1024


class Airlock(Server):
    def __init__(self, program, folder, store, pinned=True):
        self.name, self.port, self.grpc_port = f"airlock-server, {store.partition(':')[0]}", free_port(), free_port()
        config = pathlib.Path(folder) / "airlock.toml"
        config.write_text(CONFIG)
        super().__init__([*(on_core(1) if pinned else []), program, "--config", config, "--store", store, "--threads", "1",
                          "--listen", f"tcp:127.0.0.1:{self.port}", "--listen", f"grpc:127.0.0.1:{self.grpc_port}"])


class Nginx(Server):
    def __init__(self, folder):
        self.name, self.port = "nginx", free_port()
        config = pathlib.Path(folder) / "nginx.conf"
        config.write_text(NGINX.replace("FOLDER", str(folder)).replace("PORT", str(self.port)))
        super().__init__([*on_core(1), find_nginx(), "-p", folder, "-e", "stderr", "-c", config])


class GrpcReference(Server):
    """A callback server of grpc++ that answers every call with OK; built where Debian's packages for it are installed."""

    SOURCES = HERE / "grpc"

    def __init__(self, folder):
        program = self.build(pathlib.Path(folder))
        self.name, self.port = "grpc++", free_port()
        self.grpc_port = self.port
        super().__init__([*on_core(1), program, str(self.port)])

    @staticmethod
    def can_be_built():
        needed = all(shutil.which(name) for name in ["protoc", "grpc_cpp_plugin", "pkg-config", "g++"])
        return needed and subprocess.run(["pkg-config", "--exists", "grpc++", "protobuf"], check=False).returncode == 0

    @classmethod
    def build(cls, folder):
        output(["protoc", f"--proto_path={cls.SOURCES}", f"--cpp_out={folder}", f"--grpc_out={folder}",
                f"--plugin=protoc-gen-grpc={shutil.which('grpc_cpp_plugin')}", "rate_limit.proto"])
        flags = output(["pkg-config", "--cflags", "--libs", "grpc++", "protobuf"]).split()
        output(["g++", "-std=c++20", "-O2", "-I", folder, cls.SOURCES / "main.cpp", folder / "rate_limit.pb.cc",
                folder / "rate_limit.grpc.pb.cc", *flags, "-o", folder / "grpc_reference"])
        return folder / "grpc_reference"


def cpu_of(server, load):
    """What the server used for each request of a load, in microseconds, and what part of the time it was busy."""
    cpu, begin = server.cpu_ns(), time.monotonic_ns()
    count = load()
    spent = server.cpu_ns() - cpu
    return spent / count / 1e3, spent / (time.monotonic_ns() - begin)


def output(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    if done.returncode != 0:
        raise Failure(f"{command[0]}: exit {done.returncode}: {done.stderr or done.stdout}")
    return done.stdout


def run_wrk(server, seconds, *words):
    """Requests that were answered; all of them have to be granted."""
    text = output([*on_core(0), "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "30s", "-s",
                   HERE / "server/visits.lua", server.url, "--", *words])
    found = json.loads(text.splitlines()[-1])
    if found["failed"] or not found["requests"]:
        raise Failure(f"{server.name}, {words[0]}: of {found['requests']} requests failed {found['failed']}")
    return found["requests"]


def message(number, content):
    """A field of a Protocol Buffers message; short ones only."""
    return bytes([number << 3 | 2, len(content)]) + content


def write_rate_limit_request(path):
    descriptor = message(1, message(1, b"user") + message(2, b"alice"))
    request = message(1, b"bench") + message(2, descriptor)
    path.write_bytes(b"\0" + len(request).to_bytes(4, "big") + request)


def run_h2load(server, calls, body):
    text = output([*on_core(0), "h2load", "-n", str(calls), "-c", "4", "-m", "32", "-d", body,
                   "-H", "content-type: application/grpc", "-H", "te: trailers",
                   f"http://127.0.0.1:{server.grpc_port}/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"])
    answered = int(re.search(r"status codes: (\d+) 2xx", text).group(1))
    data = int(re.search(r"\((\d+)\) data", text).group(1))
    if answered != calls or data < 6 * calls:  # A call that fails has no message.
        raise Failure(f"grpc: {answered} answers to {calls} calls, {data} bytes")
    return calls


class Client:
    """A connection that waits for each answer."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # Leaves no port in TIME_WAIT.

    def read_until(self, mark):
        """At least some bytes, up to those with the mark."""
        text = b""
        while not text or mark not in text:
            data = self.socket.recv(65536)
            if not data:
                raise Failure(f"closed before {mark!r}: {text[:300]!r}")
            text += data
        return text

    def send(self, method, path, body="", **fields):
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in fields.items())]
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        self.socket.sendall("\r\n".join([*lines, "", body]).encode())

    def ask(self, *words, **fields):
        self.send(*words, **fields)
        head, _, body = self.read_until(b"\r\n\r\n").partition(b"\r\n\r\n")
        size = re.search(rb"^Content-Length: (\d+)", head, re.MULTILINE)
        while size and len(body) < int(size.group(1)):
            body += self.read_until(b"")
        return (head + b"\n\n" + body).decode()

    def enter_room(self, gate):
        """The cookie of a visitor that has no place yet."""
        return self.cookie_of(self.ask("GET", f"/room/{gate}"))

    def pass_room(self, gate):
        """The cookie of a visitor that is in."""
        return self.cookie_of(self.ask("GET", f"/room/{gate}?back=1", Cookie=self.enter_room(gate)))

    @staticmethod
    def cookie_of(head):
        found = re.search(r"^Set-Cookie: ([^;]*)", head, re.MULTILINE)
        if not found:
            raise Failure(f"no cookie: {head}")
        return found.group(1)

    def close(self):
        self.socket.close()
