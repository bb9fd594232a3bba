"""Runs the long tests one after the other and sums up what they report.

usage: run.py [--long] [--seed N] PROGRAM...

A program writes a line of JSON for each of its scenarios to the file that AIRLOCK_CHAOS_REPORT names
(tests/support/chaos.hpp). It gets the seed as AIRLOCK_SEED, and with --long AIRLOCK_LONG=1. One that does not end in
time hangs. Fails unless every program passes and nothing was wrong; the last line is the sum.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

MUST_BE_ZERO = ["over_admissions", "leaks", "hangs", "order_violations", "late_returns"]
COLUMNS = ["faults", "operations"] + MUST_BE_ZERO
MINUTES, MINUTES_LONG = 30, 240  # For one program, on a machine that has others to run, too.


def run(program, seed, long, report, minutes):
    """The rows of one program, whether it passed, and what it printed."""
    environment = dict(os.environ, AIRLOCK_SEED=str(seed), AIRLOCK_CHAOS_REPORT=str(report))
    environment.pop("AIRLOCK_LONG", None)
    if long:
        environment["AIRLOCK_LONG"] = "1"
    # In a session of its own, so that what it leaves behind can be ended with it.
    process = subprocess.Popen([program], env=environment, start_new_session=True, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        output, _ = process.communicate(timeout=60 * minutes)
        hangs = 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        hangs = 1
    rows = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    if hangs or not rows:
        rows.append({"scenario": pathlib.Path(program).name, "hangs": hangs})
    for row in rows:
        row["hangs"] = row.get("hangs") or 0  # It ended in time: nothing in it hung for ever.
    return rows, process.returncode == 0, output


def number(count):
    return "-" if count is None else f"{count:,}".replace(",", " ")


def in_words(column):
    return column.replace("over_admissions", "over-admissions").replace("_", " ")


def table(rows):
    lines = [["scenario"] + [in_words(column) for column in COLUMNS]]
    lines += [[row["scenario"]] + [number(row.get(column)) for column in COLUMNS] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        yield "  ".join([line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])])


def total(rows):
    return {column: sum(row.get(column) or 0 for row in rows) for column in COLUMNS}


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--minutes", type=float, default=None)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args(arguments)
    seed = options.seed if options.seed is not None else random.randrange(1, 2**31)
    minutes = options.minutes or (MINUTES_LONG if options.long else MINUTES)
    print(f"chaos: seed {seed}", flush=True)
    start, rows, failed = time.monotonic(), [], []
    with tempfile.TemporaryDirectory() as folder:
        for index, program in enumerate(options.programs, 1):
            began = time.monotonic()
            name = pathlib.Path(program).name
            report = pathlib.Path(folder) / f"{index}.json"
            own_rows, passed, output = run(program, seed, options.long, report, minutes)
            rows += own_rows
            if not passed:
                failed.append(name)
                print(output[-20000:])
            print(f"{index}/{len(options.programs)} {name}: {'passed' if passed else 'FAILED'} "
                  f"({time.monotonic() - began:.0f} s)", flush=True)
    sums = total(rows)
    print("", *table(rows), "", sep="\n")
    print(f"took {time.monotonic() - start:.0f} s" + ("; failed: " + ", ".join(failed) if failed else ""))
    print(f"chaos: seed {seed}: " + ", ".join(f"{number(sums[column])} {in_words(column)}" for column in COLUMNS))
    return 1 if failed or any(sums[column] for column in MUST_BE_ZERO) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
