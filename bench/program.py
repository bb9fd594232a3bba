"""Runs airlock_bench, one row at a time."""

import json
import pathlib
import subprocess
import tempfile


class Failure(Exception):
    pass


def run(program, *options):
    done = subprocess.run([program, *options], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2):
        raise Failure(f"{program} {' '.join(map(str, options))}: exit {done.returncode}\n{done.stderr.strip()}")
    return done


def titles(program, wanted="", unwanted=""):
    """The names of the rows, as their results have them."""
    done = run(program, "--list", "--filter", wanted, "--without", unwanted)
    if done.returncode:
        raise Failure(done.stderr.strip().split("\n")[0].removeprefix("error: "))
    return done.stdout.splitlines()


def measure(program, title, quick):
    """One result of that row; None if the program has no such row."""
    with tempfile.TemporaryDirectory(prefix="airlock-bench-") as folder:
        out = pathlib.Path(folder) / "out.json"
        done = run(program, *(["--quick"] if quick else []), "--filter", title, "--out", out)
        rows = json.loads(out.read_text()) if done.returncode == 0 else []
    return next((row for row in rows if row["name"] == title), None)
