"""Runs one contestant once and says what its clients felt."""

import os
import pathlib
import select
import signal
import subprocess
import tempfile
import time

MS = 1_000_000
PATIENCE_S = 60


class Failure(Exception):
    """The contestant did not come to its end."""


def words_of(contestant, plan, place, redis):
    words = contestant.command(place, redis)
    for name in ["clients", "slots", "hold_us", "ms"]:
        words += ["--" + name.replace("_", "-"), str(plan[name])]
    return words


def await_dots(process, count):
    deadline = time.monotonic() + PATIENCE_S
    while count > 0:
        ready, _, _ = select.select([process.stdout], [], [], max(0, deadline - time.monotonic()))
        dots = os.read(process.stdout.fileno(), count) if ready else b""
        if not dots:
            raise Failure("its clients do not get ready")
        count -= len(dots)


def start(contestant, plan, place, redis, extra):
    """Runs it to its end; what the Redis server used meanwhile, in microseconds."""
    redis.forget_all()
    process = subprocess.Popen(
        words_of(contestant, plan, place, redis) + ["--out", place] + extra,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    try:
        await_dots(process, plan["clients"])
        server = redis.cpu_us()
        process.stdin.close()
        status = process.wait(timeout=PATIENCE_S)
        if status != 0:
            raise Failure(f"it exits with {status}")
        return redis.cpu_us() - server if contestant.needs_redis else None
    except subprocess.TimeoutExpired as error:
        raise Failure(f"it has not ended after {PATIENCE_S} s") from error
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()


def memory_folder():
    return "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None


def read_times(place, clients):
    """Of every client its [(ask, in, out)]."""
    times = []
    for number in range(clients):
        path = pathlib.Path(place) / f"{number}.times"
        lines = path.read_text().splitlines() if path.exists() else []
        times.append([tuple(map(int, line.split())) for line in lines])
    return times


def read_costs(place):
    """(microseconds of CPU, calls or None), of all clients together."""
    costs = [tuple(map(int, path.read_text().split())) for path in pathlib.Path(place).glob("*.cost")]
    calls = sum(calls for _, calls in costs)
    return sum(cpu for cpu, _ in costs), calls if calls > 0 else None


def quantile(ordered, part):
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)] if ordered else None


# Where the distribution is drawn: its middle coarsely, its end finely.
PARTS = [i / 100 for i in range(100)] + [0.991, 0.993, 0.995, 0.997, 0.998, 0.999, 0.9995, 1.0]


def most_inside(visits):
    """How many were inside at once, at most. A visitor that leaves at the moment at which another enters is out first."""
    events = sorted([(entered, 1) for _, entered, _ in visits] + [(out, -1) for _, _, out in visits])
    inside = most = 0
    for _, change in events:
        inside += change
        most = max(most, inside)
    return most


def handovers(times):
    """How long the only slot was empty between one client and another that waited for it; and the part of all turns that
    went to another: some let who leaves in again before those who wait."""
    turns = sorted((entered, ask, out, number) for number, one in enumerate(times) for ask, entered, out in one)
    gaps = [max(0, later[0] - former[2]) for former, later in zip(turns, turns[1:])
            if later[3] != former[3] and later[1] < former[2]]
    return sorted(gaps), len(gaps) / max(1, len(turns) - 1)


def felt(times, plan, cost, server_cpu):
    starts = [one[0][0] for one in times if one]
    if not starts:
        raise Failure("nobody came in")
    visits = [visit for one in times for visit in one]
    begin, end = max(starts), min(min(starts) + plan["ms"] * MS, max(out for _, _, out in visits))
    inside = [visit for visit in visits if begin <= visit[1] < end]
    if not inside or end <= begin:
        raise Failure("nobody came in after the last one had asked")
    waits = sorted(entered - ask for ask, entered, _ in visits)
    per_client = [sum(begin <= entered < end for _, entered, _ in one) for one in times]
    gaps, passed_on = handovers(times) if plan["hold_us"] and plan["slots"] == 1 else ([], None)
    in_use = sum(min(out, end) - entered for _, entered, out in inside)
    cpu, calls = cost

    def us(value):
        return None if value is None else value / 1000

    return {
        "admissions": len(inside),
        "per_second": len(inside) * 1e9 / (end - begin),
        "p50_us": us(quantile(waits, 0.5)),
        "p90_us": us(quantile(waits, 0.9)),
        "p99_us": us(quantile(waits, 0.99)),
        "max_us": us(waits[-1]),
        "jain": sum(per_client) ** 2 / (len(per_client) * sum(n * n for n in per_client)),
        "cpu_us": cpu / len(visits),
        "server_cpu_us": None if server_cpu is None else server_cpu / len(visits),
        "calls": calls and calls / len(visits),
        "in_use": in_use / (end - begin) / plan["slots"] if plan["hold_us"] else None,
        "handover_p50_us": us(quantile(gaps, 0.5)),
        "handover_p99_us": us(quantile(gaps, 0.99)),
        "passed_on": passed_on,
        "most_inside": most_inside(visits),
        "waits_us": [[part, us(quantile(waits, part))] for part in PARTS],
        "per_client": sorted(per_client),
    }


def run_visits(contestant, plan, redis):
    with tempfile.TemporaryDirectory(dir=memory_folder(), prefix="airlock-crowd-") as place:
        server_cpu = start(contestant, plan, place, redis, [])
        return felt(read_times(place, plan["clients"]), plan, read_costs(place), server_cpu)


def run_orphan(contestant, redis):
    """How many milliseconds after a holder was killed the next one is in. None: not after three seconds."""
    plan = {"clients": 2, "slots": 1, "hold_us": 0, "ms": 0}
    with tempfile.TemporaryDirectory(dir=memory_folder(), prefix="airlock-crowd-") as place:
        start(contestant, plan, place, redis, ["--orphan"])
        killed = int((pathlib.Path(place) / "killed").read_text())
        second = read_times(place, 2)[1]
        return round((second[0][1] - killed) / MS, 3) if second else None
