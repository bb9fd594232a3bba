#!/usr/bin/env python3
"""airlock-server against nginx, and its calls against its own empty ones.

    server.py AIRLOCK_SERVER FOLDER_OF_PROGRAMS [--quick] --out FOLDER

CPU is that of the server's process, which has one thread for requests and a core of its own; wrk and h2load have another one. Both
sides of a row take turns, round after round; a ratio is the median of the rounds' ratios. FOLDER/server.json has all rows;
bench/report.py makes a table of them. --quick only tries that everything runs. Exit status: 1 if a row could not be measured.
"""

import argparse
import contextlib
import json
import pathlib
import resource
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import served  # noqa: E402
import verdict  # noqa: E402
from contestants import all_contestants, Redis  # noqa: E402
from machine import describe_machine  # noqa: E402
from served import Airlock, Client, Failure, GrpcReference, Nginx  # noqa: E402
from tables import number  # noqa: E402
from visits import run_orphan, run_visits  # noqa: E402

FULL = {"rounds": 9, "seconds": 1, "connections": 10_000, "memory_rounds": 3, "calls": 50_000, "kills": 10,
        "kill_rounds": 5, "handover_ms": 500, "still_s": 5, "has_grpc_reference": True}
QUICK = {"rounds": 1, "seconds": 1, "connections": 200, "memory_rounds": 1, "calls": 2_000, "kills": 2,
         "kill_rounds": 1, "handover_ms": 100, "still_s": 0.5, "has_grpc_reference": False}


HANDOVER = "/v1/gates/handover/admit"


def progress(text):
    print(f"  {text}", file=sys.stderr, flush=True)


def row(name, unit, values, against="", references=(), aim=None, **more):
    """What is measured in each round, and what it is compared with. `unit`: us, bytes, or part (of a core)."""
    low, high = verdict.interval(values)
    found = {"name": name, "against": against, "unit": unit, "value": statistics.median(values), "low": low, "high": high,
             "reference": None, "ratio": None, "spread": None, "aim": aim, "verdict": None, "rounds": len(values), **more}
    if references:
        ratio = verdict.estimate([value / other for value, other in zip(values, references)])
        found |= {"reference": statistics.median(references), "ratio": round(ratio.ratio, 4),
                  "spread": round(ratio.spread, 4), "verdict": verdict.verdict(ratio, aim) if len(values) > 2 else None}
    return found


class Bench:
    def __init__(self, program, programs, plan, folder):
        self.program, self.programs, self.plan, self.folder = program, programs, plan, pathlib.Path(folder)
        self.connections = min(plan["connections"], most_files() - 100)

    def airlock(self, store, **options):
        return Airlock(self.program, self.folder, store, **options)

    def store(self, kind):
        return "memory:" if kind == "memory" else f"shm:bench?dir={self.folder}/store"

    def in_turns(self, subjects):
        """{name: [(CPU per request, part of the time that the server was busy)]}, after one that does not count."""
        found = {name: [] for name in subjects}
        for turn in range(self.plan["rounds"] + (self.plan["rounds"] > 1)):
            progress(f"requests, round {turn}")
            for name, (server, load) in subjects.items():
                found[name].append(served.cpu_of(server, load))
        return {name: some[self.plan["rounds"] > 1:] for name, some in found.items()}

    def requests(self):
        """Empty requests of both servers, and what each call costs more."""
        def wrk(server, *words):
            return server, lambda: served.run_wrk(server, self.plan["seconds"], *words)

        body = self.folder / "request"
        served.write_rate_limit_request(body)
        with contextlib.ExitStack() as stack:
            nginx = stack.enter_context(Nginx(self.folder))
            memory, shm = (stack.enter_context(self.airlock(self.store(kind))) for kind in ["memory", "shm"])
            subjects = {"nginx": wrk(nginx, "empty"), "empty": wrk(memory, "empty")}
            for name, server in {"memory": memory, "shm": shm}.items():
                client = Client(server)
                subjects |= {f"{name} {mode}": wrk(server, mode) for mode in ["live", "admit", "check"]}
                subjects[f"{name} room"] = wrk(server, "room", client.pass_room("room"))
                client.close()
            subjects["grpc"] = memory, lambda: served.run_h2load(memory, self.plan["calls"], body)
            if self.plan["has_grpc_reference"] and GrpcReference.can_be_built():
                reference = stack.enter_context(GrpcReference(self.folder))
                subjects["grpc++"] = reference, lambda: served.run_h2load(reference, self.plan["calls"], body)
            found = self.in_turns(subjects)
        return self.request_rows(found)

    @staticmethod
    def request_rows(found):
        def cpu(name):
            return [cpu for cpu, _ in found[name]]

        def against(title, name, other, against, aim):
            return row(title, "us", cpu(name), against, cpu(other), aim,
                       busy=[round(min(busy for _, busy in found[each]), 2) for each in [name, other]])

        yield against("an empty request, GET /live", "empty", "nginx", "nginx, return 200", 1.2)
        for store in ["memory", "shm"]:
            for name, mode in [("admit and release, each", "admit"), ("/check of a visitor that is in", "check"),
                               ("/check with the pass of a room", "room")]:
                yield against(f"{store}: {name}", f"{store} {mode}", f"{store} live", "GET /live", 1.3)
        title = "rate limit service by gRPC, 4 connections x 32 calls"
        if "grpc++" in found:
            yield against(title, "grpc", "grpc++", "an empty callback server of grpc++", 0.4)
        else:
            yield row(title, "us", cpu("grpc"))

    def idle_bytes(self, server):
        """Resident memory for each connection that has been answered once and stays open."""
        client = Client(server)
        client.ask("GET", "/live")
        before = server.resident_bytes()
        clients = [client]
        with contextlib.ExitStack() as stack:
            for _ in range(self.connections - 1):
                clients.append(Client(server))
                stack.callback(clients[-1].close)
                clients[-1].ask("GET", "/live")
            used = server.resident_bytes() - before
            for each in clients[:3] + clients[-3:]:
                each.ask("GET", "/live")  # All of them are still there.
        client.close()
        return used / (self.connections - 1)

    def idle(self):
        ours, theirs = [], []
        for turn in range(self.plan["memory_rounds"]):
            progress(f"idle connections, round {turn + 1}")
            with Nginx(self.folder) as nginx:
                theirs.append(self.idle_bytes(nginx))
            with self.airlock("memory:") as airlock:
                ours.append(self.idle_bytes(airlock))
        yield row(f"memory of an idle connection, {number(self.connections)} of them", "bytes", ours, "nginx", theirs, 3)

    def told_after(self, server, end_holder):
        """Microseconds from the end of a client that holds by its connection until the next one is told."""
        waiter = Client(server)
        waiter.send("POST", HANDOVER, '{"limit":1,"wait":"1m"}', Accept="text/event-stream")
        waiter.read_until(b"event: queued")
        time.sleep(0.005)  # Both wait, as they would in practice.
        begin = time.monotonic_ns()
        end_holder()
        waiter.read_until(b"event: granted")
        took = (time.monotonic_ns() - begin) / 1e3
        waiter.close()
        self.await_nobody(server)
        return took

    def killed(self, server):
        with subprocess.Popen(["curl", "-sN", "-H", "Accept: text/event-stream", "--json", '{"limit":1}', server.url + HANDOVER],
                              stdout=subprocess.PIPE) as holder:
            try:
                text = b""
                while b"event: granted" not in text:
                    data = holder.stdout.read1()
                    if not data:
                        raise Failure(f"curl ends: {text!r}")
                    text += data
                return self.told_after(server, holder.kill)
            finally:
                holder.kill()

    def closed(self, server):
        holder = Client(server)
        holder.send("POST", HANDOVER, '{"limit":1}', Accept="text/event-stream")
        holder.read_until(b"event: granted")
        return self.told_after(server, holder.close)

    @staticmethod
    def await_nobody(server):
        client = Client(server)
        end = time.monotonic() + served.PATIENCE_S
        while '"in_use":0' not in client.ask("GET", "/v1/gates/handover").replace(" ", ""):
            if time.monotonic() > end:
                raise Failure("a client that has gone still holds")
        client.close()

    def handover(self):
        contestant = next(one for one in all_contestants(self.programs) if one.name == "airlock shm:")
        plan = {"clients": 2, "slots": 1, "hold_us": 5000, "ms": self.plan["handover_ms"]}
        killed, closed, theirs, orphans = [], [], [], []
        with self.airlock(self.store("shm"), pinned=False) as server, Redis(self.folder) as redis:
            for turn in range(self.plan["kill_rounds"]):
                progress(f"clients killed, round {turn + 1}")
                killed.append(statistics.median(self.killed(server) for _ in range(self.plan["kills"])))
                closed.append(statistics.median(self.closed(server) for _ in range(self.plan["kills"])))
                theirs.append(run_visits(contestant, plan, redis)["handover_p50_us"])
                back_ms = run_orphan(contestant, redis)
                if not theirs[-1] or not back_ms:
                    raise Failure("the processes of airlock_crowd hand nothing over")
                orphans.append(back_ms * 1e3)
        name = "kill -9 of a client that holds by its connection, until the next one is told, shm"
        handover = "hand-over between two C++ processes, shm"
        yield row(name, "us", killed, handover, theirs, 5)
        yield row("the same, but the connection is closed", "us", closed, handover, theirs)
        yield row(name, "us", killed, "kill -9 of a C++ process that holds, until the next one is in, shm", orphans)

    def streams(self):
        """Visitors with an open page, all of them in line; what they cost, and how fast they hear of a change."""
        count = self.connections - 1
        with self.airlock("memory:") as server, contextlib.ExitStack() as stack:
            control = Client(server)
            control.pass_room("queue")  # The only place inside is taken.
            before = server.resident_bytes()
            pages = []
            progress("room streams")
            for _ in range(count):
                pages.append(Client(server))
                stack.callback(pages[-1].close)
                cookie = pages[-1].enter_room("queue")
                pages[-1].send("GET", "/room/queue/stream", Cookie=cookie, Accept="text/event-stream")
                pages[-1].read_until(b'"state":"waiting"')
            used = server.resident_bytes() - before
            time.sleep(1)
            cpu, begin = server.cpu_ns(), time.monotonic_ns()
            time.sleep(self.plan["still_s"])
            part = (server.cpu_ns() - cpu) / (time.monotonic_ns() - begin)
            times = self.push_times(control, pages)
            control.close()
        streams = f"{number(count)} streams of a room"
        yield row(f"memory of a stream, {streams}", "bytes", [used / count])
        yield row(f"CPU while nothing changes, {streams}", "part", [part])
        for part, name in [(0.5, "half of them have"), (1, "all have")]:
            yield row(f"a pause until {name} been told, {streams}", "us", [times[max(0, int(part * count) - 1)]])

    @staticmethod
    def push_times(control, pages):
        """When each page hears that the gate is paused, sorted, in microseconds."""
        poll = select.epoll()
        by_number = {page.socket.fileno(): page.socket for page in pages}
        seen = dict.fromkeys(by_number, b"")
        for descriptor in by_number:
            poll.register(descriptor, select.EPOLLIN)
        times = []
        begin = time.monotonic_ns()
        if " 204 " not in control.ask("PUT", "/v1/gates/queue/pause", '{"for":"1h"}'):
            raise Failure("the gate cannot be paused")
        while len(times) < len(pages):
            ready = poll.poll(served.PATIENCE_S)
            if not ready:
                raise Failure(f"only {len(times)} of {len(pages)} pages were told")
            for descriptor, _ in ready:
                text = by_number[descriptor].recv(65536)
                seen[descriptor] += text
                if not text:
                    raise Failure("the stream of a page has ended")
                if b'"state":"paused"' in seen[descriptor]:
                    times.append((time.monotonic_ns() - begin) / 1e3)
                    poll.unregister(descriptor)
        return times


def most_files():
    """As many as may be open, from now on."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 12_000 if most == resource.RLIM_INFINITY else most
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return wanted


def missing():
    needed = {"wrk": "wrk", "h2load": "nghttp2-client", "curl": "curl", "taskset": "util-linux"}
    names = [package for program, package in needed.items() if not shutil.which(program)]
    return names + ([] if served.find_nginx() else ["nginx"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("server", type=pathlib.Path)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="only whether it runs")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    if missing():
        sys.exit(f"error: not installed: {' '.join(missing())}; ./dev bench installs them")
    begin = time.monotonic()
    found = {"machine": describe_machine(), "rows": [], "failed": []}
    with tempfile.TemporaryDirectory(prefix="airlock-server-") as folder:
        bench = Bench(arguments.server.resolve(), arguments.programs.resolve(), QUICK if arguments.quick else FULL, folder)
        for part in [bench.requests, bench.idle, bench.handover, bench.streams]:
            try:
                found["rows"] += part()
            except Failure as failure:
                progress(f"error: {failure}")
                found["failed"].append([part.__name__, str(failure)])
    found["seconds"] = round(time.monotonic() - begin)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "server.json").write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(1 if found["failed"] else 0)


if __name__ == "__main__":
    main()
