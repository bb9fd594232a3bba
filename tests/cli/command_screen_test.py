#!/usr/bin/env python3
"""What people see: the waiting line, top and the demo, on a real terminal (tmux)."""

import shutil
import subprocess
import time
import unittest

from command_case import BINARY, CommandCase, eventually


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class Screen(CommandCase):
    def setUp(self):
        super().setUp()
        self.socket = self.path("tmux")

    def tearDown(self):
        self.tmux("kill-server")
        super().tearDown()

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *arguments],
                              env=self.environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout

    def open(self, command, columns=80):
        self.tmux("new-session", "-d", "-x", str(columns), "-y", "24", command + "; echo status $?; cat")

    def screen(self):
        return self.tmux("capture-pane", "-p", "-t", "0")

    def shows(self, text, seconds=10):
        self.assertTrue(eventually(lambda: text in self.screen(), seconds), self.screen())

    def test_who_waits_sees_its_place(self):
        holder, _ = self.start_inside("x")
        self.open(f"{BINARY} run x echo done")
        self.shows("waiting at x for")
        self.shows(", position 1")
        self.assertNotIn("about", self.screen(), "nothing is known yet")
        holder.terminate()
        self.shows("done")
        self.shows("status 0")
        self.assertNotIn("waiting", self.screen())

    def test_who_waits_sees_how_long_it_may_take(self):
        first, _ = self.start_inside("x")
        second = self.start("run", "x", "sleep", "60")
        self.assertTrue(eventually(lambda: self.waiting("x") == 1))
        time.sleep(1.2)
        first.terminate()
        self.assertTrue(eventually(lambda: self.waiting("x") == 0))
        self.open(f"{BINARY} run x echo done")
        self.shows(", position 1, about 2s")
        second.terminate()

    def test_the_waiting_line_fits_a_narrow_terminal(self):
        gate = "a-gate-with-a-rather-long-name"
        self.start_inside(gate)
        self.open(f"{BINARY} run -w 1 {gate} true", columns=20)
        self.shows("waiting at a-gate")
        self.shows("status 75")
        self.assertNotIn("waiting at a-gate", self.screen())

    def test_top(self):
        self.start_inside("--slots", "4", "builds")
        self.open(f"{BINARY} top --interval 0.1")
        self.shows("airlock top")
        self.shows("builds")
        self.shows("1 /     4")
        self.tmux("send-keys", "-t", "0", "w")
        self.shows("(w)")
        self.tmux("send-keys", "-t", "0", "q")
        self.shows("status 0")

    def test_demo(self):
        self.environment["AIRLOCK_STORE"] = "shm:"
        self.open(f"{BINARY} demo", columns=100)
        self.shows("Without airlock", 20)
        self.shows("with airlock", 40)
        self.shows("status 0", 10)

    def test_demo_without_a_terminal(self):
        del self.environment["AIRLOCK_STORE"]
        text = self.output("demo")
        rows = {line.split("  ")[1].strip(): line.split() for line in text.splitlines() if "airlock  " in line}
        self.assertNotIn("\x1b", text)
        self.assertIn("slot was free again", text)
        without, behind = rows["without airlock"], rows["with airlock"]
        self.assertGreater(int(without[-1]), 0, text)
        self.assertEqual((int(behind[-2]), int(behind[-1])), (0, 0), text)


if __name__ == "__main__":
    unittest.main()
