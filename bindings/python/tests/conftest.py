"""What the tests share: stores, a redis-server, ways to wait."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Callable, Iterator

import pytest

import airlock

REDIS_SERVER = os.environ.get("AIRLOCK_REDIS_SERVER", "redis-server")
DEADLINE = 60.0  # For what must happen. Never waited for in full unless something is wrong.


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "process: forks or starts programs")
    config.addinivalue_line("markers", "redis: starts redis-server")


def eventually(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.002)


class Started:
    """A thread whose result or exception is asked for."""

    def __init__(self, function: Callable[[], object]) -> None:
        self.result: object = None
        self.error: BaseException | None = None

        def run() -> None:
            try:
                self.result = function()
            except BaseException as error:
                self.error = error

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def join(self) -> object:
        self.thread.join(DEADLINE)
        assert not self.thread.is_alive(), "the thread hangs"
        if self.error is not None:
            raise self.error
        return self.result


def run_python(source: str, *arguments: str, timeout: float = DEADLINE) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", source, *arguments], text=True, capture_output=True, timeout=timeout)


def answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(100).startswith(b"+PONG")
        except OSError:
            return False


@pytest.fixture(scope="session")
def redis_uri() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="airlock-py-") as folder:
        path = Path(folder) / "redis.sock"
        server = subprocess.Popen([REDIS_SERVER, "--port", "0", "--unixsocket", str(path), "--save", "", "--dir", folder],
                                  stdout=subprocess.DEVNULL)
        try:
            eventually(lambda: answers(path))
            yield f"redis+unix://{path}?timeout=20s"
        finally:
            server.kill()
            server.wait()


@pytest.fixture
def shm_uri(tmp_path: Path) -> str:
    return f"shm:test?dir={tmp_path}/store"


@pytest.fixture(params=["memory", "shm", pytest.param("redis", marks=pytest.mark.redis)])
def uri(request: pytest.FixtureRequest) -> str:
    if request.param == "memory":
        return "memory:"
    return str(request.getfixturevalue(f"{request.param}_uri"))


@pytest.fixture
def gate(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses: tests share the Redis server."""
    return "".join(c if c.isalnum() else "-" for c in request.node.name)[:150]


@pytest.fixture
def store(uri: str) -> Iterator[airlock.Store]:
    opened = airlock.open(uri)
    yield opened
    opened.close()


@pytest.fixture
def memory() -> airlock.Store:
    return airlock.open("memory:")
