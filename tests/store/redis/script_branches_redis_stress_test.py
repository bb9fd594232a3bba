#!/usr/bin/env python3
"""Every branch of every Redis script is taken by some test of the rules.

    script_branches_redis_stress_test.py DIR

DIR: where the tests were built. Runs those of them that step the time, with scripts that log their branches, and names
the branches that none has taken.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = ["*_contract_test", "rules_random_redis_test", "redis_scripts_redis_test", "redis_connection_redis_test",
         "redis_refusals_redis_test", "redis_reads_redis_test"]
FILTER = ("*/redis*:ScriptsAtRandom.*:RedisScripts.*:ScriptsAfterAFailover.*:ServersClock.*:ForeignKeys.*:*OtherSchema.*:"
          "RedisReads.*")


def run_tests(folder, logs):
    server = os.environ.get("AIRLOCK_REDIS_SERVER", "redis-server")
    logging = logs / "server"
    logging.write_text(f'#!/bin/sh\nexec {server} "$@" --logfile {logs}/$$.log\n')
    logging.chmod(0o755)
    environment = dict(os.environ, AIRLOCK_COUNT_BRANCHES="1", AIRLOCK_REDIS_SERVER=str(logging), AIRLOCK_SEED="1")
    programs = [path for pattern in TESTS for path in sorted(folder.glob(pattern)) if os.access(path, os.X_OK)]
    for program in programs:
        done = subprocess.run([program, f"--gtest_filter={FILTER}", "--gtest_brief=1"], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{program.name} fails with scripts that are counted:\n{done.stdout}")
    return len(programs)


def branches_taken(logs):
    taken = set()
    for log in logs.glob("*.log"):
        with open(log, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                _, found, numbers = line.partition(" branches ")
                if found:
                    taken.update(numbers.split())
    return taken


def main():
    folder = pathlib.Path(sys.argv[1])
    known = [line.split(" ", 1) for line in (folder / "counted_lua" / "branches").read_text().splitlines()]
    with tempfile.TemporaryDirectory() as name:
        count = run_tests(folder, pathlib.Path(name))
        taken = branches_taken(pathlib.Path(name))
    missing = [what for number, what in known if number not in taken]
    print(f"{count} tests took {len(known) - len(missing)} of {len(known)} branches", *missing, sep="\n")
    return 1 if missing or not known else 0


if __name__ == "__main__":
    sys.exit(main())
