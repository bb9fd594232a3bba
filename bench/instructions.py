#!/usr/bin/env python3
"""Counts the instructions of the hot paths with callgrind and compares them with a table.

    instructions.py PROGRAM TABLE [--update]

Fails if a path takes over 3 % more than in the table, or if the two do not have the same paths. --update stores what was
counted. PROGRAM is airlock_instructions of a release build. Counts depend on the compiler: with another one than that of
the table nothing is checked, which is a failure in CI. They do not depend on what else the machine does: the C library is kept from
choosing by the processor, time stands still in PROGRAM, and only the thread that runs the path counts.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

TIMES = 1000
SECONDS = 300  # On an idle machine it takes one.
GROWTH = 1.03
COMPILER = "# compiler: "
HEAD = """# Instructions of one operation on the hot paths. ./dev instructions counts and compares them, with --update it writes
# this file. After a growth of over 3 % that is meant, update it in the same commit and say there why.
"""
# The variants of memcpy and others for the oldest processors.
OLD_PROCESSOR = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM,-BMI2,-SSE4_1,-SSE4_2,-SSSE3,-RTM"


class Failure(Exception):
    pass


def compiler_of(program):
    """As compilers note it in the program, without the revision of the package."""
    done = subprocess.run(["readelf", "-p", ".comment", program], capture_output=True, text=True, check=False)
    notes = re.findall(r"^ *\[ *\w+\]  (.*)", done.stdout, re.MULTILINE)
    return ", ".join(sorted({re.sub(r"\(.*\) ", "", note) for note in notes})) or "unknown"


def paths_of(program):
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def count(program, path):
    words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=airlock_counted",
             program, path, str(TIMES)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=SECONDS,
                              env={**os.environ, "GLIBC_TUNABLES": OLD_PROCESSOR})
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{path}: not counted within {SECONDS} s; do the threads of the library come to rest?") from error
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        raise Failure(f"{path}: valgrind exits with {done.returncode}\n{done.stderr.strip()}")
    return round(int(found.group(1)) / TIMES, 1)


def least(counted, expected):
    """The least of three; the first that is as expected ends it. Now and then a thread of the library is not asleep yet when
    counting begins, and waking it again adds a few instructions to the first operations."""
    counts = [counted()]
    while len(counts) < 3 and counts[-1] != expected:
        counts.append(counted())
    return min(counts)


def count_all(program, paths, expected):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(paths, pool.map(lambda path: least(lambda: count(program, path), expected.get(path)), paths)))


def read_table(text):
    """(compiler, {path: count})"""
    compiler = ""
    counts = {}
    for line in text.splitlines():
        if line.startswith(COMPILER):
            compiler = line.removeprefix(COMPILER)
        elif line and not line.startswith("#"):
            path, _, number = line.rpartition(" ")
            counts[path.strip()] = float(number)
    return compiler, counts


def write_table(compiler, counts):
    width = max(map(len, counts))
    return f"{HEAD}{COMPILER}{compiler}\n" + "".join(f"{path:{width}}  {number:.1f}\n" for path, number in counts.items())


def problems(before, now):
    """What must be mended before the change goes in; empty: nothing."""
    for path in before.keys() | now.keys():
        if path not in now:
            yield f"{path}: in the table, but there is no such path"
        elif path not in before:
            yield f"{path}: not in the table"
        elif now[path] > before[path] * GROWTH:
            yield (f"{path}: {now[path]:.1f} instructions, {now[path] - before[path]:.1f} more than the {before[path]:.1f} "
                   f"in the table ({now[path] / before[path] - 1:+.1%})")


def report(before, now):
    width = max(map(len, now))
    for path, number in now.items():
        old = before.get(path)
        print(f"{path:{width}} {number:9.1f}" + (f"  {number / old - 1:+.1%}" if old and old != number else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    compiler, before = read_table(arguments.table.read_text()) if arguments.table.exists() else ("", {})
    here = compiler_of(arguments.program)
    if not arguments.update and compiler != here:
        print(f"nothing is checked: the table is of {compiler or 'no compiler'}, the program of {here}")
        sys.exit("error: this is CI: use that compiler, or ./dev instructions --update" if os.environ.get("CI") else 0)
    try:
        program = arguments.program.resolve()
        now = count_all(program, paths_of(program), {} if arguments.update else before)
    except Failure as failure:
        sys.exit(f"error: {failure}")
    report(before, now)
    if arguments.update:
        arguments.table.write_text(write_table(here, now))
        return
    wrong = sorted(problems(before, now))
    if wrong:
        sys.exit("\n".join([f"error: {one}" for one in wrong] + ["If this is meant: ./dev instructions --update"]))


if __name__ == "__main__":
    main()
