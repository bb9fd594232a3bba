"""What the tests of the server share: a server with a store of its own, and clients that write raw bytes."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BINARY = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "airlock-server"
REDIS_SERVER = os.environ.get("AIRLOCK_REDIS_SERVER", "redis-server")
LONG = float(os.environ.get("AIRLOCK_TEST_LONG", 120))  # For what must happen, on a machine that does much else.


def eventually(condition, seconds=LONG):
    """Whether it becomes true, asked again and again."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.fields} {self.body!r}"


class Client:
    """A connection. What it writes is up to the test."""

    def __init__(self, where):
        """`where`: the path of a Unix socket, or (host, port)."""
        self.socket = socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET)
        self.socket.settimeout(LONG)
        try:
            self.socket.connect(where)
        except OSError:
            self.socket.close()
            raise
        self.unread = b""

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.socket.sendall(data.encode("latin-1") if isinstance(data, str) else data)

    def read_some(self):
        """More bytes; False at the end."""
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.unread += data
        return bool(data)

    def read_until(self, mark):
        while mark not in self.unread:
            if not self.read_some():
                raise EOFError(f"closed before {mark!r}: {self.unread[:200]!r}")
        before, self.unread = self.unread.split(mark, 1)
        return before

    def read_head(self):
        status_line, *lines = self.read_until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        fields = {}
        for line in lines:
            name, value = line.split(": ", 1)
            fields[name.lower()] = value
        return int(status_line.split(" ")[1]), fields

    def read_answer(self, has_body=True):
        status, fields = self.read_head()
        size = int(fields.get("content-length", 0)) if has_body else 0
        while len(self.unread) < size:
            if not self.read_some():
                raise EOFError("closed inside a body")
        body, self.unread = self.unread[:size], self.unread[size:]
        return Answer(status, fields, body.decode())

    def write_request(self, method, path, body=None, **fields):
        text = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
        for name, value in fields.items():
            text += f"{name.replace('_', '-')}: {value}\r\n"
        if body is not None:
            data = body if isinstance(body, str) else json.dumps(body)
            if "Content_Type" not in fields:
                text += "Content-Type: application/json\r\n"
            text += f"Content-Length: {len(data.encode())}\r\n\r\n{data}"
        else:
            text += "\r\n"
        self.send(text.encode())

    def ask(self, method, path, body=None, **fields):
        self.write_request(method, path, body, **fields)
        return self.read_answer(has_body=method != "HEAD")

    def post(self, path, body, **fields):
        return self.ask("POST", path, body, **fields)

    def read_event(self):
        """The next event of a stream: its name and its data."""
        while True:
            lines = self.read_until(b"\n\n").decode().split("\n")
            if lines[0].startswith("event: "):
                return lines[0][7:], json.loads(lines[1][6:])

    def begin_stream(self, path, body):
        """Returns once the head of the stream has come."""
        self.write_request("POST", path, body, Accept="text/event-stream")
        status, fields = self.read_head()
        if status != 200 or fields["content-type"] != "text/event-stream":
            raise AssertionError(f"no stream: {status} {fields}")

    def is_closed(self):
        """Whether the server ends the connection; what comes before is read away."""
        while self.read_some():
            pass
        return True


class ServerCase(unittest.TestCase):
    STORE = "memory:"

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="airlock-test-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.socket_path = os.path.join(self.dir, "server.sock")
        self.prepare_store()
        self.server = self.start_server()
        self.clients = []
        self.addCleanup(self.close_clients)
        self.http = self.client()

    def prepare_store(self):
        self.store = self.STORE.replace("DIR", self.dir)

    def close_clients(self):
        for client in self.clients:
            client.close()

    def start(self, command, **options):
        """Runs something that ends with the test at the latest."""
        process = subprocess.Popen(command, **options)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()

        self.addCleanup(end)
        return process

    def start_server(self, *arguments):
        server = self.start([BINARY, "--store", self.store, "--listen", f"unix:{self.socket_path}", *arguments],
                            stdout=subprocess.PIPE, text=True)
        self.listens = server.stdout.readline()
        self.assertIn("listens at", self.listens)
        return server

    def stop_server(self):
        """Its exit status after TERM, and how long that took."""
        begin = time.monotonic()
        self.server.send_signal(signal.SIGTERM)
        return self.server.wait(LONG), time.monotonic() - begin

    def client(self):
        client = Client(self.socket_path)
        self.clients.append(client)
        return client

    def admit(self, gate, client=None, **fields):
        return (client or self.http).post(f"/v1/gates/{gate}/admit", fields)

    def show(self, gate):
        answer = self.http.ask("GET", f"/v1/gates/{gate}")
        return answer.json if answer.status == 200 else {"waiting": 0, "in_use": 0, "holders": [], "line": []}

    def await_waiting(self, gate, count):
        self.assertTrue(eventually(lambda: self.show(gate)["waiting"] == count), self.show(gate))

    def await_in_use(self, gate, count):
        self.assertTrue(eventually(lambda: self.show(gate)["in_use"] == count), self.show(gate))


class RedisServer:
    """For a ServerCase: a redis-server of its own behind the store."""

    def prepare_store(self):
        path = os.path.join(self.dir, "redis.sock")
        self.redis = self.start([REDIS_SERVER, "--port", "0", "--unixsocket", path, "--save", "", "--dir", self.dir],
                                stdout=subprocess.DEVNULL)

        def answers():
            with socket.socket(socket.AF_UNIX) as client:
                try:
                    client.connect(path)
                    client.sendall(b"PING\r\n")
                    return client.recv(100).startswith(b"+PONG")
                except OSError:
                    return False

        self.assertTrue(eventually(answers))
        self.store = f"redis+unix://{path}?timeout=30s"
