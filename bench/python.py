#!/usr/bin/env python3
"""The Python module against what Python has: `with`, and asyncio.

    PYTHONPATH=build/release/bindings/python bench/python.py [--quick]

Both sides take turns in one run. Printed are medians, and the smallest and largest of all rounds. The exit status is 1 if
`with` of a bulkhead in shm: takes more than 0.6 of threading.Semaphore, or asyncio reaches less than 0.9 of
asyncio.Semaphore, or uses more than three threads of the library. --quick only tries that it runs.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import threading
import time

import airlock

QUICK = "--quick" in sys.argv[1:]
ROUNDS, PASSES, TASKS = (3, 200, 100) if QUICK else (21, 20000, 2000)
LIMIT, INSIDE = 10, 0.005


def nanoseconds_of_with(gate):
    begin = time.perf_counter_ns()
    for _ in range(PASSES):
        with gate:
            pass
    return (time.perf_counter_ns() - begin) / PASSES


def tasks_per_second(make_gate):
    async def main():
        gate = make_gate()
        inside = peak = 0

        async def work():
            nonlocal inside, peak
            async with gate:
                inside += 1
                peak = max(peak, inside)
                await asyncio.sleep(INSIDE)
                inside -= 1

        begin = time.perf_counter()
        await asyncio.gather(*[work() for _ in range(TASKS)])
        seconds = time.perf_counter() - begin
        assert peak == LIMIT, f"{peak} at once, not {LIMIT}"
        return TASKS / seconds

    return asyncio.run(main())


def measured(subjects, rounds, measure):
    """All results of every subject, measured in turns."""
    results = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, subject in subjects.items():
            results[name].append(measure(subject))
    return results


def print_table(title, unit, results, baseline):
    print(f"{title} ({unit})")
    base = statistics.median(results[baseline])
    for name, values in results.items():
        median = statistics.median(values)
        print(f"  {name:44} {median:9.0f}   {min(values):9.0f} to {max(values):9.0f}   {median / base:5.2f} x")


def compare_with(folder):
    shm, memory = airlock.open(f"shm:bench?dir={folder}/store"), airlock.open("memory:")
    subjects = {
        "threading.Semaphore": threading.Semaphore(LIMIT),
        "airlock.Bulkhead, shm:": airlock.Bulkhead(shm, "bulkhead", limit=LIMIT),
        "airlock.Bulkhead, memory:": airlock.Bulkhead(memory, "bulkhead", limit=LIMIT),
        "airlock.Semaphore (max_wait=None), shm:": airlock.Semaphore(shm, "semaphore", limit=LIMIT),
    }
    for subject in subjects.values():
        nanoseconds_of_with(subject)  # Warm.
    results = measured(subjects, ROUNDS, nanoseconds_of_with)
    print_table("with, acquire and release", "ns", results, "threading.Semaphore")
    return statistics.median(results["airlock.Bulkhead, shm:"]) / statistics.median(results["threading.Semaphore"])


def compare_asyncio(folder):
    store = airlock.open(f"shm:bench?dir={folder}/store")
    subjects = {
        "asyncio.Semaphore": lambda: asyncio.Semaphore(LIMIT),
        "airlock.Semaphore, shm:": lambda: airlock.Semaphore(store, "tasks", limit=LIMIT),
    }
    results = measured(subjects, 2 if QUICK else 7, tasks_per_second)
    print_table(f"asyncio, {TASKS} tasks, {LIMIT} slots, {INSIDE * 1000:.0f} ms inside", "tasks/s", results, "asyncio.Semaphore")
    threads = len(os.listdir("/proc/self/task")) - threading.active_count()
    print(f"  threads of the library: {threads}")
    return statistics.median(results["airlock.Semaphore, shm:"]) / statistics.median(results["asyncio.Semaphore"]), threads


def main():
    with tempfile.TemporaryDirectory() as folder:
        block = compare_with(folder)
        tasks, threads = compare_asyncio(folder)
    if QUICK:
        return 0
    good = block <= 0.6 and tasks >= 0.9 and threads <= 3
    print("as promised" if good else "not as promised")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
