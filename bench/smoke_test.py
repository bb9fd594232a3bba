#!/usr/bin/env python3
"""Runs a little of every kind of benchmark and reads what was written.

    smoke_test.py AIRLOCK_BENCH FOLDER_OF_PROGRAMS
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import report  # noqa: E402
import visits  # noqa: E402

KEYS = ["name", "value", "reference", "ratio", "spread", "aim", "verdict", "passes"]


def check_rows(program, folder):
    out = folder / "summary.json"
    measure = [sys.executable, HERE / "ratios.py", program, "--quick", "--out", out, "--filter"]
    for name, words in [("memory: rate decision, one", ["held", "missed", "undecided"]),
                        ("growth: memory: 10 holders", [None])]:
        done = subprocess.run([*measure, name], check=True, stdout=subprocess.PIPE, text=True)
        rows = json.loads(out.read_text())
        assert [list(row) for row in rows] == [KEYS], rows
        row = rows[0]
        assert row["value"] > 0 and row["reference"] > 0 and row["spread"] > 0, row
        assert row["verdict"] in words and row["passes"] >= 3, row
        assert " ± " in done.stdout and " undecided\n" in done.stdout, done.stdout

    wrong = subprocess.run([*measure, "no such row"], stderr=subprocess.PIPE, text=True, check=False)
    assert wrong.returncode == 1 and "no such row" in wrong.stderr, wrong


def check_crowd(programs, folder):
    subprocess.run([sys.executable, HERE / "crowd.py", programs, "--tiny", "--only", "^airlock shm:|POSIX", "--out", folder],
                   check=True)
    found = json.loads((folder / "crowds.json").read_text())
    assert [crowd["contestant"] for crowd in found["crowds"]] == ["airlock shm:", "POSIX semaphore"], found
    for crowd in found["crowds"]:
        assert crowd["admissions"] > 0 and crowd["most_inside"] <= crowd["slots"], crowd
        assert 0 < crowd["jain"] <= 1 and crowd["p50_us"] <= crowd["p99_us"] <= crowd["max_us"], crowd
    rows = json.loads((folder / "summary.json").read_text())
    assert all(list(row) == KEYS for row in rows), rows
    assert sum(row["name"].startswith("crowd: ") for row in rows) == 2, rows


def check_report(folder):
    words = [sys.executable, HERE / "report.py", folder]
    subprocess.run(words, check=True)
    page = (folder / "report.html").read_text()
    assert "<svg" in page and "airlock shm:" in page and "POSIX semaphore" in page, page
    assert "src=" not in page and "href=" not in page, "the page needs something else"
    tables = subprocess.run([*words, "--markdown"], check=True, capture_output=True, text=True).stdout
    assert "| airlock shm: |" in tables and "By the number of holders" in tables, tables
    document = folder / "document.md"
    document.write_text(f"before\n{report.BEGIN}\nbygone\n{report.END}\nafter\n")
    subprocess.run([*words, "--update", document], check=True)
    text = document.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "bygone" not in text, text
    assert tables.strip() in text, text


def check_arithmetic():
    """Two clients at one slot: one comes in three times, the other one once."""
    ms = visits.MS
    times = [[(0, 0, 4 * ms), (5 * ms, 5 * ms, 8 * ms), (9 * ms, 9 * ms, 10 * ms)], [(0, 11 * ms, 12 * ms)]]
    felt = visits.felt(times, {"ms": 100, "slots": 1, "hold_us": 1}, (400, 8), None)
    assert felt["admissions"] == 4 and felt["most_inside"] == 1, felt
    assert felt["jain"] == 16 / (2 * 10), felt
    assert felt["max_us"] == 11_000 and felt["p50_us"] == 0, felt
    assert felt["handover_p50_us"] == 1_000 and felt["passed_on"] == 1 / 3 and felt["calls"] == 2 and felt["cpu_us"] == 100, felt
    assert felt["in_use"] == 9 / 12, felt


def main(program, programs):
    check_arithmetic()
    with tempfile.TemporaryDirectory() as folder:
        check_rows(program, pathlib.Path(folder))
        check_crowd(programs, pathlib.Path(folder))
        check_report(pathlib.Path(folder))


main(sys.argv[1], sys.argv[2])
