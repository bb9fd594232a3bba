#!/usr/bin/env python3
"""Storms on process trees: `airlock` is killed, loses its lease or has held it for long enough, with trees of all shapes
under it, and SIGCHLD may be ignored. Nobody of a tree lives when the next one is in.

    command_tree_stress_test.py AIRLOCK

Reports as tests/support/chaos.hpp says.
"""

import json
import os
import random
import signal
import subprocess
import sys
import unittest

from command_case import BINARY, CommandCase, eventually, is_alive
from process_trees import CENSUS, TREE, WITHOUT_DEATH_SIGNAL, Terminal, alive, await_tree

SEED = int(os.environ.get("AIRLOCK_SEED", random.randrange(1, 2**31)))
ROUNDS = 400 if os.environ.get("AIRLOCK_LONG") else 40


class Storm(CommandCase):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.script = self.path("tree.sh")
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(TREE)
        self.row = {"faults": 0, "operations": 0, "over_admissions": 0, "leaks": 0, "hangs": 0,
                    "order_violations": None, "late_returns": None}

    def report(self, scenario):
        line = json.dumps({"scenario": scenario, **self.row})
        print(f"seed {SEED}: {line}")
        if "AIRLOCK_CHAOS_REPORT" in os.environ:
            with open(os.environ["AIRLOCK_CHAOS_REPORT"], "a", encoding="utf-8") as file:
                file.write(line + "\n")
        for column in ("over_admissions", "leaks", "hangs"):
            self.assertEqual(self.row[column], 0, f"{scenario}: {column}")

    def plan(self):
        """One tree: how deep and wide, of what kind, on a terminal or not."""
        depth, width = self.random.choice([(0, 0), (1, 1), (1, 8), (3, 2), (6, 1), (2, 3)])
        return {"depth": depth, "width": width, "how": self.random.choice(["", "stubborn", "sessions"]),
                "before": self.random.choice([[], [sys.executable, "-c", WITHOUT_DEATH_SIGNAL]]),
                "on_terminal": self.random.random() < 0.5, "ignores_sigchld": self.random.random() < 0.3}

    def start_tree(self, plan, pids, *arguments):
        words = [BINARY, "run", *arguments, "x", *plan["before"], "sh", self.script, str(plan["depth"]),
                 str(plan["width"]), pids, plan["how"]]
        terminal = Terminal() if plan["on_terminal"] else None
        options = terminal.options if terminal else {"stdin": subprocess.DEVNULL, "preexec_fn": lambda: None}
        prepare = options.pop("preexec_fn")

        def before_exec():
            prepare()
            if plan["ignores_sigchld"]:
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        process = subprocess.Popen([*Terminal.LEADER, *words], env=self.environment, preexec_fn=before_exec,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        self.started.append(process)
        self.assertTrue(await_tree(pids, plan["depth"], plan["width"]), plan)
        return process, self.child(process.pid), terminal

    @staticmethod
    def child(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return int(file.read().split()[0])

    @staticmethod
    def has_guard(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            children = file.read().split()
        for child in children:
            with open(f"/proc/{child}/comm", encoding="utf-8") as name:
                if name.read() == "airlock-guard\n":
                    return True
        return False

    def round(self, number, fault, *arguments):
        plan, pids = self.plan(), self.path(f"pids{number}")
        process, airlock, terminal = self.start_tree(plan, pids, "--ttl", "12s", *arguments)
        self.assertTrue(eventually(lambda: self.has_guard(airlock)))
        next_one = self.start("run", "-w", "100s", "x", "sh", "-c", CENSUS, pids)
        self.assertTrue(eventually(lambda: self.waiting("x") >= 1 or next_one.poll() is not None, 30))
        fault(airlock)
        self.row["faults"] += 1
        try:
            seen = next_one.communicate(timeout=110)[0].split()
            self.row["operations"] += 1
            self.row["over_admissions"] += len(seen) - 1 if seen[-1:] == ["end"] else 0
            self.row["hangs"] += seen[-1:] != ["end"]
            process.wait(60)
        except subprocess.TimeoutExpired:
            self.row["hangs"] += 1
        self.row["leaks"] += len(alive(pids)) + is_alive(airlock)
        for pid in alive(pids):
            os.kill(pid, signal.SIGKILL)
        if self.row["over_admissions"] + self.row["leaks"] + self.row["hangs"] > 0:
            print(f"round {number}: {plan} {self.row}")
        self.started.remove(next_one)
        self.started.remove(process)
        if terminal:
            terminal.close()

    def test_airlock_is_killed(self):
        for number in range(ROUNDS):
            self.round(number, lambda airlock: os.kill(airlock, signal.SIGKILL))
        self.report("process trees, airlock killed")

    def test_leases_are_lost(self):
        for number in range(ROUNDS // 2):
            self.round(number, lambda airlock: self.output("revoke", "x", "--all"))
        for number in range(ROUNDS // 2, ROUNDS // 2 + ROUNDS // 4):
            self.round(number, lambda airlock: None, "--max-hold", "3s")
        self.report("process trees, leases lost")

    def test_sigchld_is_ignored(self):
        ignore = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for number in range(10 * ROUNDS):
            status = number % 7
            self.row["faults"] += 1
            self.row["operations"] += 1
            try:
                done = subprocess.run([BINARY, "run", "y", "sh", "-c", f"exit {status}"], env=self.environment,
                                      preexec_fn=ignore, timeout=60, check=False)
                self.assertEqual(done.returncode, status)
            except subprocess.TimeoutExpired:
                self.row["hangs"] += 1
        self.row["leaks"] += self.status("run", "-n", "y", "true") != 0
        self.report("SIGCHLD ignored")


if __name__ == "__main__":
    unittest.main()
