#!/usr/bin/env python3
"""The Lock of redis-py as a contestant of a crowd; bench/crowd/crowd.hpp has the protocol.

It has one slot. For several there are as many locks, and client n uses lock n modulo slots. It polls every 100 ms,
its default.
"""

import argparse
import os
import pathlib
import resource
import signal
import sys
import time

import redis
import redis.exceptions

MS = 1_000_000


def sleep_until(moment):
    while (left := moment - time.monotonic_ns()) > 0:
        time.sleep(left / 1e9)


def cpu_us():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return int((use.ru_utime + use.ru_stime) * 1e6)


def await_start():
    while os.read(0, 16):
        pass


class Client:
    def __init__(self, plan, number):
        self.calls = 0
        server = redis.Redis(unix_socket_path=plan.at)
        lock = server.lock(f"crowd:{number % plan.slots}", timeout=30)
        do_acquire, do_release = lock.do_acquire, lock.do_release
        lock.do_acquire = lambda token: self.count() or do_acquire(token)
        lock.do_release = lambda token: self.count() or do_release(token)
        server.ping()
        self.enter, self.leave = lock.acquire, lock.release

    def count(self):
        self.calls += 1


def visit(plan, number, client):
    cpu = cpu_us()
    lines = []
    end = time.monotonic_ns() + plan.ms * MS
    now = 0
    while now < end and len(lines) < 100_000:
        ask = time.monotonic_ns()
        client.enter()
        entered = now = time.monotonic_ns()
        if plan.hold_us > 0:
            sleep_until(entered + plan.hold_us * 1000)
            now = time.monotonic_ns()
        lines.append(f"{ask} {entered} {now}\n")
        client.leave()
    (plan.out / f"{number}.cost").write_text(f"{cpu_us() - cpu} {client.calls}\n")
    (plan.out / f"{number}.times").write_text("".join(lines))


def visit_orphaned(plan, number, client):
    if number > 0:
        sleep_until(time.monotonic_ns() + 250 * MS)
    ask = time.monotonic_ns()
    client.enter()
    entered = time.monotonic_ns()
    if number == 0:
        signal.pause()
    (plan.out / f"{number}.times").write_text(f"{ask} {entered} {entered}\n")


def be_client(plan, number):
    client = Client(plan, number)
    os.write(1, b".")
    await_start()
    (visit_orphaned if plan.orphan else visit)(plan, number, client)


def orphan(plan, pids):
    await_start()
    sleep_until(time.monotonic_ns() + 500 * MS)
    os.kill(pids[0], signal.SIGKILL)
    killed = time.monotonic_ns()
    (plan.out / "killed").write_text(f"{killed}\n")
    sleep_until(killed + 3000 * MS)
    os.kill(pids[1], signal.SIGKILL)


def main():
    parser = argparse.ArgumentParser()
    for name in ["clients", "slots", "hold-us", "ms"]:
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--at", required=True)
    parser.add_argument("--orphan", action="store_true")
    plan = parser.parse_args()
    pids = []
    for number in range(plan.clients):
        pids.append(os.fork())
        if pids[-1] == 0:
            status = 1
            try:
                be_client(plan, number)
                status = 0
            finally:
                os._exit(status)
    if plan.orphan:
        orphan(plan, pids)
    failures = sum(os.waitpid(pid, 0)[1] != 0 for pid in pids)
    sys.exit(failures != 0 and not plan.orphan)


main()
