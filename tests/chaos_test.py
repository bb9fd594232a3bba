"""Whether ./dev chaos would fail: on a program that reports something wrong, fails, dies or hangs.

usage: chaos_test.py SOURCE
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

GOOD = '{"scenario": "a storm", "faults": 3, "operations": 4, "over_admissions": 0, "leaks": 0, "hangs": null, ' \
       '"order_violations": null, "late_returns": 0}'


class Chaos(unittest.TestCase):
    def run_on(self, *scripts, options=("--seed", "7")):
        with tempfile.TemporaryDirectory() as folder:
            programs = []
            for index, script in enumerate(scripts):
                program = pathlib.Path(folder) / f"program{index}"
                program.write_text("#!/bin/sh\n" + script)
                program.chmod(0o755)
                programs.append(program)
            done = subprocess.run([sys.executable, pathlib.Path(SOURCE) / "tests/chaos/run.py", *options, *programs],
                                  stdout=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stdout.splitlines()

    @staticmethod
    def reporting(line):
        return f"echo '{line}' >>$AIRLOCK_CHAOS_REPORT\n"

    def test_it_sums_up_and_passes(self):
        status, lines = self.run_on(self.reporting(GOOD), self.reporting(GOOD.replace("4", "2000")), "exit 0")
        self.assertEqual(status, 0)
        self.assertEqual(lines[0], "chaos: seed 7")
        self.assertEqual(lines[-1], "chaos: seed 7: 6 faults, 2 004 operations, 0 over-admissions, 0 leaks, 0 hangs, "
                                    "0 order violations, 0 late returns")
        rows = [line.split() for line in lines if line.startswith(("a storm", "program2"))]
        self.assertEqual(rows, [["a", "storm", "3", "4", "0", "0", "0", "-", "0"],
                                ["a", "storm", "3", "2", "000", "0", "0", "0", "-", "0"],
                                ["program2", "-", "-", "-", "-", "0", "-", "-"]])

    def test_it_passes_the_seed_and_the_time_on(self):
        says = self.reporting('{"scenario": "\'$AIRLOCK_SEED$AIRLOCK_LONG\'"}')
        self.assertTrue(any(line.startswith("71 ") for line in self.run_on(says, options=["--seed", "7", "--long"])[1]))
        self.assertTrue(any(line.startswith("7 ") for line in self.run_on(says)[1]))

    def test_it_fails_when_something_was_wrong(self):
        for column in ["over_admissions", "leaks", "late_returns"]:
            self.assertEqual(self.run_on(self.reporting(GOOD.replace(f'"{column}": 0', f'"{column}": 1')))[0], 1, column)
        for column in ["hangs", "order_violations"]:
            self.assertEqual(self.run_on(self.reporting(GOOD.replace(f'"{column}": null', f'"{column}": 1')))[0], 1)

    def test_it_fails_when_a_program_does(self):
        for end in ["exit 1", "kill -9 $$"]:
            status, lines = self.run_on(self.reporting(GOOD) + "echo the reason\n" + end, self.reporting(GOOD))
            self.assertEqual(status, 1)
            self.assertIn("the reason", lines)
            self.assertTrue(lines[-2].endswith("; failed: program0"), lines[-2])
            self.assertTrue(lines[-1].startswith("chaos: seed 7: 6 faults"), lines[-1])

    def test_a_program_that_does_not_end_hangs(self):
        status, lines = self.run_on("sleep 100", options=["--seed", "7", "--minutes", "0.01"])
        self.assertEqual(status, 1)
        self.assertIn(" 1 hangs,", lines[-1])


if __name__ == "__main__":
    SOURCE = sys.argv.pop(1)
    unittest.main()
