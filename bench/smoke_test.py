#!/usr/bin/env python3
"""Runs one row of the benchmarks and reads what it wrote.

    smoke_test.py AIRLOCK_BENCH
"""

import json
import pathlib
import subprocess
import sys
import tempfile

KEYS = ["name", "value", "reference", "ratio", "spread", "aim", "holds"]


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "summary.json"
        subprocess.run([program, "--quick", "--filter", "memory: rate decision", "--out", out], check=True)
        rows = json.loads(out.read_text())
    assert [list(row) for row in rows] == [KEYS], rows
    row = rows[0]
    assert row["value"] > 0 and row["reference"] > 0, row
    assert row["holds"] == (row["ratio"] <= row["aim"]), row

    wrong = subprocess.run([program, "--filter", "no such row"], stderr=subprocess.DEVNULL, check=False)
    assert wrong.returncode == 2, wrong


main(sys.argv[1])
