#!/usr/bin/env python3
"""Runs a little of each row of the server and reads what was written.

    server_test.py AIRLOCK_SERVER FOLDER_OF_PROGRAMS
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import report  # noqa: E402

# (words in the name, how often, whether it has a reference)
ROWS = [("an empty request", 1, True), ("memory: admit and release", 1, True), ("shm: admit and release", 1, True),
        ("/check of a visitor that is in", 2, True), ("/check with the pass of a room", 2, True),
        ("rate limit service by gRPC", 1, False), ("memory of an idle connection", 1, True), ("kill -9", 2, True),
        ("the connection is closed", 1, True), ("memory of a stream", 1, False), ("CPU while nothing changes", 1, False),
        ("a pause until", 2, False)]


def check_rows(rows):
    for words, count, has_reference in ROWS:
        some = [row for row in rows if words in row["name"]]
        assert len(some) == count, (words, some)
        for row in some:
            assert row["value"] > 0 and row["rounds"] == 1 and row["verdict"] is None, row
            assert bool(row["reference"]) == bool(row["against"]) == has_reference, row
    assert len(rows) == sum(count for _, count, _ in ROWS), rows


def check_report(folder):
    document = folder / "document.md"
    begin, end = report.SERVER
    document.write_text(f"before\n{begin}\nbygone\n{end}\nafter\n")
    subprocess.run([sys.executable, HERE / "report.py", folder, "--update", document], check=True)
    text = document.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "bygone" not in text, text
    assert "| an empty request, GET /live |" in text and "nginx, return 200" in text, text


def main(server, programs):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, HERE / "server.py", server, programs, "--quick", "--out", folder], check=True)
        found = json.loads((pathlib.Path(folder) / "server.json").read_text())
        assert not found["failed"], found
        check_rows(found["rows"])
        check_report(pathlib.Path(folder))


main(sys.argv[1], sys.argv[2])
