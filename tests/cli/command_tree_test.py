#!/usr/bin/env python3
"""A lost lease, --max-hold and kill -9 of `airlock` end all processes of the command."""

import os
import signal
import subprocess
import sys
import unittest

from command_case import BINARY, CommandCase, eventually, is_alive
from process_trees import CENSUS, TREE, WITHOUT_DEATH_SIGNAL, Terminal, alive, await_tree, read_pids

LOST = 76


class TreeCase(CommandCase):
    def setUp(self):
        super().setUp()
        self.pids = self.path("pids")
        self.script = self.path("tree.sh")
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(TREE)
        self.terminal = Terminal()

    def tearDown(self):
        for pid in alive(self.pids):
            os.kill(pid, signal.SIGKILL)
        super().tearDown()
        self.terminal.close()

    def start_tree(self, *arguments, how="", before=(), on_terminal=False, **options):
        """The process that was started, and the pid of airlock."""
        words = ["run", *arguments, "x", *before, "sh", self.script, "2", "2", self.pids, how]
        process = self.start_on_terminal(*words) if on_terminal else self.start(*words, **options)
        self.assertTrue(await_tree(self.pids, 2, 2))
        return process, self.children(process.pid)[0] if on_terminal else process.pid

    def start_on_terminal(self, *arguments):
        process = subprocess.Popen([*Terminal.LEADER, BINARY, *arguments], env=self.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **self.terminal.options)
        self.started.append(process)
        return process

    def next_holder_sees(self):
        """Those alive when the next one is in, as that one sees them."""
        done = self.airlock("run", "-w", "50s", "x", "sh", "-c", CENSUS, self.pids)
        self.assertTrue(done.stdout.endswith("end\n"), done.stderr)
        return done.stdout.split()[:-1]

    def children(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(child) for child in file.read().split()]

    def guard(self, pid):
        for child in self.children(pid):
            with open(f"/proc/{child}/comm", encoding="utf-8") as file:
                if file.read() == "airlock-guard\n":
                    return child
        return None

    def await_guard(self, pid, seconds=10):
        eventually(lambda: self.guard(pid) is not None, seconds)
        return self.guard(pid)


class Loss(TreeCase):
    def check(self, *arguments, revoked=True, **options):
        process, _ = self.start_tree(*arguments, **options)
        if revoked:
            self.output("revoke", "x", "--all")
        self.assertEqual(self.next_holder_sees(), [])
        self.assertEqual(process.wait(30), LOST)
        self.assertEqual(alive(self.pids), [])

    def test_a_revoked_lease_ends_all(self):
        self.check()

    def test_max_hold_ends_all(self):
        self.check("--max-hold", "2s", revoked=False)

    def test_on_a_terminal_too(self):
        self.check(on_terminal=True)

    def test_what_ignores_term_is_killed(self):
        self.check("--ttl", "10s", how="stubborn")

    def test_sessions_of_their_own_do_not_escape(self):
        self.check(how="sessions")

    def test_an_orphan_does_not_escape(self):
        script = f"(setsid sh {self.script} 0 0 {self.pids} &); exec sleep 300"
        process = self.start("run", "x", "sh", "-c", script)
        self.assertTrue(await_tree(self.pids, 0, 0))
        self.output("revoke", "x", "--all")
        self.assertEqual(process.wait(30), LOST)
        self.assertEqual(alive(self.pids), [])


class Killed(TreeCase):
    def check(self, **options):
        _, pid = self.start_tree(**options)
        self.await_guard(pid)
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.next_holder_sees(), [])
        self.assertEqual(alive(self.pids), [])

    def test_all_end(self):
        self.check()

    def test_on_a_terminal_too(self):
        self.check(on_terminal=True)

    def test_what_ignores_term_ends(self):
        self.check(how="stubborn")

    def test_sessions_of_their_own_do_not_escape(self):
        self.check(how="sessions")

    def test_sessions_of_their_own_on_a_terminal(self):
        self.check(how="sessions", on_terminal=True)

    def test_a_command_without_a_death_signal(self):
        self.check(before=[sys.executable, "-c", WITHOUT_DEATH_SIGNAL])

    def test_a_command_without_a_death_signal_on_a_terminal(self):
        self.check(before=[sys.executable, "-c", WITHOUT_DEATH_SIGNAL], on_terminal=True)

    def test_the_whole_group_of_airlock_is_killed(self):
        _, pid = self.start_tree(process_group=0)
        self.await_guard(pid)
        os.killpg(pid, signal.SIGKILL)
        self.assertEqual(self.next_holder_sees(), [])

    def test_orphans_may_stay(self):
        process, _ = self.start_tree("--orphan")
        process.kill()
        process.wait()
        self.assertEqual(self.next_holder_sees(), [str(pid) for pid in read_pids(self.pids)])


class Guard(TreeCase):
    def test_has_nothing_of_its_caller(self):
        _, pid = self.start_tree(on_terminal=True)
        guard = self.await_guard(pid)
        files = lambda: [os.readlink(f"/proc/{guard}/fd/{fd}") for fd in os.listdir(f"/proc/{guard}/fd")]
        self.assertTrue(eventually(lambda: "/dev/null" in files()))
        callers = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in range(3)}
        self.assertTrue(eventually(lambda: not callers & set(files())), files())
        with open(f"/proc/{guard}/stat", encoding="utf-8") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        self.assertEqual((int(fields[3]), fields[4]), (guard, "0"), "a session without a terminal")

    def test_ends_with_the_command(self):
        process = self.start("run", "x", "sh", "-c", "read line; exit 5", stdin=subprocess.PIPE)
        guard = self.await_guard(process.pid)
        self.assertIsNotNone(guard)
        process.stdin.write("\n")
        process.stdin.close()
        process.stdin = None
        self.assertEqual(process.wait(20), 5)
        self.assertTrue(eventually(lambda: not is_alive(guard)))

    def test_what_a_command_leaves_behind_stays(self):
        self.output("run", "x", "sh", "-c", f"setsid sh {self.script} 0 0 {self.pids} >/dev/null 2>&1 & "
                                            f"while ! [ -s {self.pids} ]; do sleep 0.01; done")
        self.assertEqual(len(alive(self.pids)), 1)

    def test_is_no_child_of_the_command(self):
        process = self.start("run", "x", "sh", "-c", "echo $$; read line; wait; echo waited", stdin=subprocess.PIPE)
        command = int(process.stdout.readline())
        self.assertIsNotNone(self.await_guard(process.pid))
        self.assertEqual(self.children(command), [])
        process.communicate("\n", timeout=20)


class Signals(TreeCase):
    def test_without_a_terminal_a_signal_reaches_the_whole_group(self):
        process, _ = self.start_tree()
        process.terminate()
        self.assertEqual(process.wait(20), 128 + signal.SIGTERM)
        self.assertTrue(eventually(lambda: alive(self.pids) == []))

    def test_on_a_terminal_the_command_stays_in_the_job_and_reads(self):
        process = self.start("run", "x", "sh", "-c", "read line </dev/tty; echo got $line", **self.terminal.options)
        os.write(self.terminal.master, b"it\n")
        self.assertEqual(process.stdout.readline(), "got it\n")

    def test_an_interrupt_from_the_terminal_comes_once(self):
        script = "trap 'echo int' INT; echo in; while :; do sleep 0.05; done"
        process = self.start("run", "x", "sh", "-c", script, **self.terminal.options)  # Itself the leader.
        self.assertEqual(process.stdout.readline(), "in\n")
        os.write(self.terminal.master, b"\x03")
        self.assertEqual(process.stdout.readline(), "int\n")
        process.terminate()
        self.assertEqual(process.communicate(timeout=20)[0], "")


if __name__ == "__main__":
    unittest.main()
