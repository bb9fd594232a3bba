#!/usr/bin/env python3
"""The PHP extension in a real php-fpm: whatever ends a request gives its slots back, and nobody is let in beyond the limit.

    fpm_test.py EXTENSION.so [--requests N] [NAME...]
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import queue
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

PATIENCE = 120  # For what must happen.
APP = pathlib.Path(__file__).resolve().parent / "fpm/app.php"


class Cut(Exception):
    """The worker went away before it had answered."""


def record(kind, content):
    return struct.pack("!BBHHBx", 1, kind, 1, len(content), 0) + content


def parameter(name, value):
    name, value = name.encode(), value.encode()
    return struct.pack("!II", len(name) | 1 << 31, len(value) | 1 << 31) + name + value


def request(path, **query):
    """One FastCGI request: (worker, status, body)."""
    parameters = {"SCRIPT_FILENAME": str(APP), "REQUEST_METHOD": "GET", "QUERY_STRING": urllib.parse.urlencode(query)}
    words = b"".join(parameter(name, value) for name, value in parameters.items())
    begin = record(1, struct.pack("!HB5x", 1, 0))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE)
        connection.connect(str(path))
        output, ended = b"", False
        try:
            connection.sendall(begin + record(4, words) + record(4, b"") + record(5, b""))
            with connection.makefile("rb") as stream:
                while header := stream.read(8):
                    _, kind, _, length, padding = struct.unpack("!BBHHBx", header)
                    content = stream.read(length + padding)[:length]
                    output += content if kind == 6 else b""
                    ended |= kind == 3
        except (BrokenPipeError, ConnectionResetError):
            pass
    if not ended:
        raise Cut
    head, _, body = output.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
    return int(headers["X-Worker"]), headers.get("Status", "200")[:3], body.decode()


class Fpm:
    """A php-fpm with three pools: `one` worker, one that `stops` requests after a second, and a `crowd` of 50."""

    def __init__(self, extension):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="airlock-fpm-"))
        self.store = f"shm:fpm?dir={self.folder}/store"
        self.log = self.folder / "log"
        pools = {"one": (1, ""), "stops": (1, "request_terminate_timeout = 1s\n"), "crowd": (50, "")}
        (self.folder / "fpm.conf").write_text(
            f"[global]\ndaemonize = no\nerror_log = {self.log}\npid = {self.folder}/pid\n"
            f"process_control_timeout = {PATIENCE}s\n" +
            "".join(self.pool(name, *rest) for name, rest in pools.items()))
        program = shutil.which("php-fpm8.2") or "/usr/sbin/php-fpm8.2"
        words = [program, "-n", "-F", "-O", "-y", f"{self.folder}/fpm.conf", "-d", f"extension={extension}",
                 "-d", "extension=posix", "-d", "html_errors=0", "-d", "memory_limit=32M", "-d", "log_errors=0"]
        self.output = (self.folder / "output").open("wb")
        self.process = subprocess.Popen(words + (["-R"] if os.geteuid() == 0 else []),
                                        stdout=self.output, stderr=self.output)
        self.wait_until_ready()

    def pool(self, name, children, more):
        user = "user = root\ngroup = root\n" if os.geteuid() == 0 else ""
        return (f"[{name}]\n{user}listen = {self.folder}/{name}.sock\nlisten.backlog = 511\npm = static\n"
                f"pm.max_children = {children}\ncatch_workers_output = yes\n{more}"
                f"env[AIRLOCK_TEST_STORE] = \"{self.store}\"\nenv[AIRLOCK_TEST_FOLDER] = {self.folder}\n")

    def wait_until_ready(self):
        end = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError, Cut):
                return self.look("none")
            if self.process.poll() is not None or time.monotonic() > end:
                said = self.logged()
                self.__exit__()
                raise RuntimeError(f"php-fpm does not start: {said}")
            time.sleep(0.01)

    def logged(self):
        return "".join(file.read_text() for file in [self.log, self.folder / "output"] if file.exists())

    def ask(self, pool, **query):
        return request(self.folder / f"{pool}.sock", **query)

    def look(self, gate, pool="one"):
        worker, _, body = self.ask(pool, do="look", gate=gate)
        return worker, json.loads(body)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.output.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder)


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


SURVIVED = {  # The ending, and what the request's answer begins with or has in it.
    "return": "done", "exit": "", "throw": "uncaught", "error": "fatal", "undefined": "no_such_function",
    "memory": "Allowed memory size", "timeout": "Maximum execution time", "compile": "Cannot declare class Twice",
    "nested-error": "fatal", "output": "", "shutdown": "fatal",
}
KEPT = {"static": "done", "cycle": "done", "destructor": "in a destructor", "fiber": "done", "generator": "done"}


def test_endings(fpm):
    """However a request ends, the next one of the same worker finds the slot free."""
    worker, _ = fpm.look("ends")
    cases = [(do, "call", text) for do, text in SURVIVED.items()]
    cases += [(do, "acquire", text) for do, text in {**SURVIVED, **KEPT}.items()]
    for do, how, text in cases:
        same, _, body = fpm.ask("one", do=do, how=how)
        check(text in body, f"{how}, {do}: answers {body!r}")
        after, counts = fpm.look("ends")
        check(worker == same == after, f"{how}, {do}: another worker answers")
        check(counts["inUse"] == 0, f"{how}, {do}: the slot stays taken")
        check(counts["threads"] == 1, f"{how}, {do}: {counts['threads']} threads")


def test_stopped(fpm):
    """request_terminate_timeout and kill -9 end the worker, and the slot is free."""
    for pool, do in [("stops", "sleep"), ("one", "kill")]:
        for how in ["call", "acquire"]:
            worker, _ = fpm.look("ends", pool)
            try:
                _, _, body = fpm.ask(pool, do=do, how=how)
                raise AssertionError(f"{how}, {do}: answers {body!r}")
            except Cut:
                pass
            after, counts = fpm.look("ends", pool)
            check(after != worker, f"{how}, {do}: the worker is still there")
            check(counts["inUse"] == 0, f"{how}, {do}: the slot stays taken")


def test_leaks(fpm):
    """A worker that has served thousands of requests, a third of them fatal, is no larger than after some."""
    def serve(count):
        for turn in range(count):
            fpm.ask("one", do=["return", "error", "cycle"][turn % 3], how="acquire" if turn % 2 else "call"
                    if turn % 3 < 2 else "acquire")
        return fpm.look("ends")
    worker, before = serve(300)
    same, after = serve(3000)
    check(worker == same, "another worker answers")
    check(after["rss"] - before["rss"] < 1024, f"memory grew from {before['rss']} to {after['rss']} kB")
    check(after["files"] == before["files"], f"descriptors: {before['files']}, then {after['files']}")
    check(after["inUse"] == 0, "slots stay taken")


class Crowd:
    """Requests of 50 clients, while workers are killed and php-fpm is reloaded."""

    def __init__(self, fpm, requests):
        self.fpm = fpm
        self.left = iter(range(requests))
        self.mutex = threading.Lock()
        self.done, self.fatal, self.cut = 0, 0, 0
        self.workers, self.killed, self.overlaps, self.wrong = set(), set(), [], []

    def next(self):
        with self.mutex:
            return next(self.left, None)

    def client(self):
        while (number := self.next()) is not None:
            end = "error" if number % 10 == 0 else "return"
            try:
                worker, _, body = self.fpm.ask("crowd", do="crowd", end=end)
            except Cut:
                with self.mutex:
                    self.cut += 1
                continue
            with self.mutex:
                self.workers.add(worker)
                self.note(end, body)

    def note(self, end, body):
        for line in body.splitlines():
            if line.startswith("overlap with "):
                self.overlaps.append(line.split()[-1])
        if "overlap" in body:
            return
        if "lost" in body or not (body == "done" if end == "return" else "fatal" in body):
            self.wrong.append(body)
        self.done += end == "return"
        self.fatal += end == "error"

    def kill_some(self, count):
        for _ in range(count):
            with self.mutex:
                alive = sorted(self.workers - self.killed)
                if not alive:
                    continue
                victim = random.choice(alive)
                self.killed.add(victim)
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)

    def progress(self):
        with self.mutex:
            return self.done + self.fatal + self.cut + len(self.overlaps)


def run_crowd(fpm, requests):
    crowd = Crowd(fpm, requests)
    with concurrent.futures.ThreadPoolExecutor(50) as clients:
        running = [clients.submit(crowd.client) for _ in range(50)]
        for part in range(1, 10):
            end = time.monotonic() + PATIENCE
            while crowd.progress() < part * requests // 10 and time.monotonic() < end:
                time.sleep(0.005)
            crowd.kill_some(5)
            if part == 5:
                fpm.process.send_signal(signal.SIGUSR2)
        for one in running:
            one.result()
    return crowd


def test_crowd(fpm, requests=10_000):
    """50 workers, 5 slots: never over the limit, nothing lost, through kill -9, fatal errors and a reload."""
    crowd = run_crowd(fpm, requests)
    told = f"{crowd.done} done, {crowd.fatal} fatal, {crowd.cut} cut, {len(crowd.killed)} killed, {len(crowd.workers)} workers"
    # A killed process has a file locked for a moment longer than it has its slot.
    overlaps = [pid for pid in crowd.overlaps if not pid.isdigit() or int(pid) not in crowd.killed]
    check(not overlaps, f"over the limit, beside {overlaps}: {told}")
    check(not crowd.wrong, f"wrong answers: {crowd.wrong[:5]}: {told}")
    check(crowd.done > requests * 0.8 and crowd.fatal > requests * 0.08, told)
    check(crowd.cut <= len(crowd.killed), f"more requests cut off than workers killed: {told}")
    check(len(crowd.workers) > 60, f"no reload, no new workers: {told}")
    _, counts = fpm.look("crowd", "crowd")
    check(counts["inUse"] == 0 and counts["waiting"] == 0 and counts["limit"] == 5, f"left behind: {counts}: {told}")
    print(f"crowd: {told}")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("extension", type=pathlib.Path)
    words.add_argument("--requests", type=int, default=10_000)
    words.add_argument("names", nargs="*")
    words = words.parse_args()
    tests = [("endings", test_endings), ("stopped", test_stopped), ("leaks", test_leaks),
             ("crowd", lambda fpm: test_crowd(fpm, words.requests))]
    failures = 0
    with Fpm(words.extension.resolve()) as fpm:
        for name, test in tests:
            if words.names and name not in words.names:
                continue
            start = time.monotonic()
            try:
                test(fpm)
                print(f"ok: {name} ({time.monotonic() - start:.1f} s)")
            except (AssertionError, Cut, TimeoutError) as error:
                failures += 1
                print(f"FAILED: {name}: {error or type(error).__name__}\n{fpm.logged()[-2000:]}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
