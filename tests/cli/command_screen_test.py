#!/usr/bin/env python3
"""What people see: the waiting line, top and the demo, on a real terminal (tmux)."""

import shutil
import subprocess
import time
import unittest

from command_case import QUOTED, CommandCase, RedisCase, eventually


class Terminal:
    """A terminal for a case of the command."""

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


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class Screen(Terminal, CommandCase):
    def test_who_waits_sees_its_place(self):
        holder, _ = self.start_inside("x")
        self.open(f"{QUOTED} run x echo done")
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
        self.open(f"{QUOTED} run x echo done")
        self.shows(", position 1, about 2s")
        second.terminate()

    def test_the_waiting_line_fits_a_narrow_terminal(self):
        gate = "a-gate-with-a-rather-long-name"
        self.start_inside(gate)
        self.open(f"{QUOTED} run -w 1 {gate} true", columns=20)
        self.shows("waiting at a-gate")
        self.shows("status 75")
        self.assertNotIn("waiting at a-gate", self.screen())

    def test_top(self):
        self.start_inside("--slots", "4", "builds")
        self.open(f"{QUOTED} top --interval 0.1")
        self.shows("airlock top")
        self.shows("builds")
        self.shows("1 / 4")
        for key, order in (("w", "waiting"), ("r", "refused"), ("n", "name"), ("u", "use")):
            self.shows(f"{key} {order}")
            self.tmux("send-keys", "-t", "0", key)
            self.shows(f"1 gate by {order}  shm:test\n")
        self.tmux("send-keys", "-t", "0", "q")
        self.shows("status 0")

    def test_top_shows_locks_and_rates_as_what_they_are(self):
        self.start_inside("ledger")
        self.output("take", "feed", "--rate", "10/h")
        self.output("limit", "ledger", "3")
        self.output("pause", "feed", "--for", "1h")
        self.open(f"{QUOTED} top --interval 0.1")
        self.shows("limit set to 3")
        rows = {line.split()[0 if line[0] == " " else 1]: line for line in self.screen().splitlines()
                if "ledger" in line or "feed" in line}
        self.assertIn(" held ", rows["ledger"])
        self.assertNotIn("65536", self.screen())
        self.assertIn(" rate ", rows["feed"])
        self.assertNotIn("0 / 0", rows["feed"])
        self.assertIn("  paused", rows["feed"])

    def test_top_sorts_by_what_is_nearest_to_its_end(self):
        self.output("take", "used-up", "--rate", "2/h", "--cost", "2")
        self.output("run", "free", "true")
        for _ in range(3):
            self.status("run", "-n", "--slots", "1", "closed", "true")
            self.output("limit", "closed", "0")
        self.open(f"{QUOTED} top --interval 0.1")
        order = lambda: [line.split()[-len(line.split()) + (line[0] == ">")] for line in self.screen().splitlines()
                         if any(name in line for name in ("used-up", "free", "closed"))]
        self.assertTrue(eventually(lambda: order() == ["used-up", "closed", "free"]), self.screen())
        self.tmux("send-keys", "-t", "0", "r")
        self.assertTrue(eventually(lambda: order() == ["closed", "free", "used-up"]), self.screen())

    def test_top_says_when_an_opened_gate_is_gone(self):
        self.output("run", "job", "true")
        self.open(f"{QUOTED} top --interval 0.1")
        self.shows("> job")
        self.tmux("send-keys", "-t", "0", "Enter")
        self.shows("job: lock, free")
        self.output("store", "rm", "test", "--force")
        self.shows("unavailable for")
        self.output("run", "other", "true")
        self.shows("this gate is not known any more")
        self.tmux("send-keys", "-t", "0", "Escape")
        self.shows("> other")

    def test_top_shows_who_is_inside_and_who_waits(self):
        _, pid = self.start_inside("backup")
        self.start("run", "backup", "true")
        self.assertTrue(eventually(lambda: self.waiting("backup") == 1))
        self.output("take", "other", "--rate", "10/h")
        self.open(f"{QUOTED} top --interval 0.1", columns=120)
        self.shows("> backup")
        self.tmux("send-keys", "-t", "0", "Down")
        self.shows("> other")
        self.tmux("send-keys", "-t", "0", "Up")
        self.shows("> backup")
        self.tmux("send-keys", "-t", "0", "Enter")
        self.shows("backup: lock, held by 1, 1 waiting")
        self.shows("inside:")
        self.shows("in line:")
        self.assertNotIn("other", self.screen())
        self.tmux("send-keys", "-t", "0", "Escape")
        self.shows("other")
        self.tmux("send-keys", "-t", "0", "q")
        self.shows("status 0")

    def test_demo(self):
        self.environment["AIRLOCK_STORE"] = "shm:"
        self.open(f"{QUOTED} demo", columns=100)
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


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class RedisScreen(Terminal, RedisCase):
    def test_top_survives_a_server_that_goes_away(self):
        self.use(timeout="300ms")
        self.output("take", "feed", "--rate", "10/h")
        self.open(f"{QUOTED} top --interval 0.1", columns=120)
        self.shows("feed")
        self.server.kill()
        self.server.wait()
        self.shows("unavailable for")
        self.assertIn("feed", self.screen(), "the last picture stays")
        self.start_server()
        self.assertTrue(eventually(lambda: "unavailable" not in self.screen(), 30), self.screen())
        self.shows("nothing is in use")
        self.tmux("send-keys", "-t", "0", "q")
        self.shows("status 0")


if __name__ == "__main__":
    unittest.main()
