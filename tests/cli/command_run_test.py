#!/usr/bin/env python3
"""`run` and `acquire` in bad company: signals, descriptors and pipes that were inherited, limits of the host, gates
inside gates, output that cannot be written; and what they say."""

import json
import os
import re
import resource
import signal
import subprocess
import unittest

from command_case import BINARY, QUOTED, CommandCase, eventually

USAGE, SYSTEM, OUTPUT, REFUSED, LOST = 64, 71, 74, 75, 76


def ignoring(*signals):
    """For preexec_fn."""
    def ignore():
        for one in signals:
            signal.signal(one, signal.SIG_IGN)
    return ignore


def with_descriptors(most):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Inherited(CommandCase):
    def test_sigchld_that_is_ignored_hangs_nothing(self):
        self.assertEqual(self.status("run", "x", "sh", "-c", "exit 3", preexec_fn=ignoring(signal.SIGCHLD)), 3)
        self.assertEqual(self.status("run", "-n", "x", "true"), 0)

    def test_the_command_sees_the_signals_that_were_ignored(self):
        def ignored(**options):
            text = self.airlock("run", "x", "grep", "SigIgn", "/proc/self/status", restore_signals=False, **options).stdout
            return {one for one in range(1, 32) if int(text.split()[1], 16) >> (one - 1) & 1}
        several = {signal.SIGCHLD, signal.SIGPIPE, signal.SIGHUP}
        self.assertLessEqual(several, ignored(preexec_fn=ignoring(*several)))
        restored = lambda: [signal.signal(one, signal.SIG_DFL) for one in several]
        self.assertFalse(several & ignored(preexec_fn=restored))

    def test_closed_stdio_does_not_reach_the_segment(self):
        holder = subprocess.Popen(["sh", "-c", 'exec "$0" run x sleep 60 <&- >&- 2>&-', BINARY], env=self.environment)
        self.started.append(holder)
        self.assertTrue(eventually(lambda: self.status("run", "-n", "x", "true") == REFUSED))
        links = [os.readlink(f"/proc/{holder.pid}/fd/{fd}") for fd in range(3)]
        self.assertEqual(links, ["/dev/null"] * 3)
        self.output("revoke", "x", "--all")
        self.assertEqual(holder.wait(20), LOST)
        self.assertEqual(self.status("run", "-n", "x", "true"), 0)

    def test_what_was_closed_is_closed_for_the_command(self):
        done = subprocess.run(["sh", "-c", '"$0" run x sh -c "ls /proc/\\$\\$/fd" <&-', BINARY], env=self.environment,
                              stdout=subprocess.PIPE, text=True, check=True)
        self.assertNotIn("0", done.stdout.split())

    def test_a_broken_stderr_does_not_end_it(self):
        reader, writer = os.pipe()
        os.close(reader)
        self.start_inside("x")
        done = subprocess.run([BINARY, "run", "-n", "x", "true"], env=self.environment, stderr=writer, check=False)
        self.assertEqual(done.returncode, REFUSED)
        done = subprocess.run([BINARY, "run", "-v", "y", "sh", "-c", "exit 4"], env=self.environment, stderr=writer,
                              check=False)
        os.close(writer)
        self.assertEqual(done.returncode, 4)

    def test_too_few_descriptors_are_an_answer_and_no_slot_is_kept(self):
        self.start_inside("x")
        for most in range(5, 14):
            options = {"preexec_fn": with_descriptors(most)}
            waiting = self.airlock("run", "-w", "0.2", "x", "true", **options)
            self.assertIn(waiting.returncode, (69, SYSTEM, REFUSED, 127), waiting.stderr)
            alone = self.airlock("run", "y", "sh", "-c", "exit 0", **options)
            self.assertIn(alone.returncode, (0, 69, SYSTEM, 127), alone.stderr)
            self.assertEqual(self.status("run", "-n", "y", "true"), 0, f"{most} descriptors")
        self.assertEqual(self.waiting("x"), 0)

    def test_a_waiter_with_few_descriptors_ends(self):
        holder, _ = self.start_inside("x")
        for most in (7, 8, 9, 10, 11):
            waiter = self.start("run", "x", "true", preexec_fn=with_descriptors(most))
            eventually(lambda w=waiter: w.poll() is not None or self.waiting("x") == 1)
            waiter.terminate()
            self.assertIn(waiter.wait(20), (69, SYSTEM, 128 + signal.SIGTERM))
        holder.terminate()

    def test_a_script_without_an_interpreter_runs_in_the_shell(self):
        script = self.path("script")
        with open(script, "w", encoding="utf-8") as file:
            file.write('echo "$0" "$1"\n')
        os.chmod(script, 0o755)
        self.assertEqual(self.output("run", "x", script, "a b"), f"{script} a b\n")

    def test_a_program_of_another_kind_is_no_script(self):
        program = self.path("program")
        with open(program, "wb") as file:
            file.write(b"\x7fELF\x02\x01\x01\0\0 broken")
        os.chmod(program, 0o755)
        self.assertEqual(self.status("run", "x", program), 126)


class Keeper(CommandCase):
    def keepers(self):
        return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and self.is_keeper(pid)]

    def is_keeper(self, pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{pid}/environ", "rb") as file:
                return words[1:2] == [b"acquire"] and self.dir.encode() in file.read()
        except OSError:
            return False

    def test_has_no_file_of_its_caller(self):
        sleeper = subprocess.Popen(["sleep", "60"])
        self.started.append(sleeper)
        reader, writer = os.pipe()
        done = self.airlock("acquire", "x", "--while-pid", str(sleeper.pid), pass_fds=[writer])
        self.assertEqual(done.returncode, 0, done.stderr)
        os.close(writer)
        self.assertEqual(os.read(reader, 1), b"", "the keeper does not keep the pipe open")
        os.close(reader)
        keeper = self.keepers()[0]
        self.assertEqual([os.readlink(f"/proc/{keeper}/fd/{fd}") for fd in range(3)], ["/dev/null"] * 3)
        sleeper.kill()
        sleeper.wait()
        self.assertTrue(eventually(lambda: not self.keepers()))

    def test_gives_back_what_it_could_not_hand_out(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([BINARY, "acquire", "x", "--while-pid", str(os.getpid())], env=self.environment,
                                  stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, OUTPUT)
        self.assertEqual(self.status("run", "-n", "x", "true"), 0)
        self.assertTrue(eventually(lambda: not self.keepers()))


class Output(CommandCase):
    def test_a_token_that_cannot_be_written_is_given_back(self):
        for sink in ("/dev/full", "&-"):
            done = subprocess.run(["sh", "-c", f'"$0" acquire x >{sink}', BINARY], env=self.environment, text=True,
                                  stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, OUTPUT, sink)
            self.assertIn("standard output: ", done.stderr)
            self.assertEqual(self.status("run", "-n", "x", "true"), 0, sink)

    def test_a_pipe_that_nobody_reads(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([BINARY, "acquire", "x"], env=self.environment, stdout=writer, stderr=subprocess.PIPE,
                              check=False)
        os.close(writer)
        self.assertEqual(done.returncode, OUTPUT)
        self.assertEqual(self.status("run", "-n", "x", "true"), 0)


class Asking(CommandCase):
    def test_a_rate_alone_cannot_be_acquired_and_is_not_charged(self):
        done = self.airlock("acquire", "--rate", "1/h", "x")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("airlock take", done.stderr)
        self.assertEqual(self.status("take", "--rate", "1/h", "x"), 0)
        self.assertEqual(self.status("acquire", "--slots", "2", "--rate", "1/h", "y"), 0)

    def test_who_waits_is_not_counted_as_refused(self):
        waiters = [self.start_inside("x")[0]]
        for i in range(4):
            waiters.append(self.start("run", "x", "true"))
            self.assertTrue(eventually(lambda i=i: self.waiting("x") == i + 1))
        waiters[0].terminate()
        for waiter in waiters[1:]:
            self.assertEqual(waiter.wait(30), 0)
        text = self.output("metrics")
        self.assertNotRegex(text, r'airlock_refused_total\{.*reason="full".*\} [1-9]')
        self.assertIn('airlock_granted_total{gate="x"} 5', text)

    def test_the_name_may_follow_the_dashes(self):
        self.assertEqual(self.output("run", "--", "x", "echo", "-n", "a"), "a")
        self.assertEqual(self.output("run", "--", "x", "--", "echo", "-n", "a"), "a")
        self.assertEqual(self.output("run", "-w", "5s", "--", "x", "sh", "-c", "echo $1", "--", "b"), "b\n")
        self.assertEqual(self.status("run"), USAGE)
        self.assertEqual(self.status("run", "--", "x"), USAGE)

    def test_memory_guards_nothing_and_is_refused(self):
        for command in (["run", "x", "true"], ["acquire", "x"]):
            done = self.airlock("--store", "memory:", *command)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn("every process has its own", done.stderr)

    def test_the_label_names_the_command(self):
        def label(gate):
            return json.loads(self.output("show", gate, "--json"))["holders"][0]["label"]
        process = self.start("run", "x", "/bin/sleep", "60")
        self.assertTrue(eventually(lambda: self.status("run", "-n", "x", "true") == REFUSED))
        self.assertTrue(label("x").endswith(f":{process.pid} sleep"), label("x"))
        self.start_inside("--label", "nightly backup", "y")
        self.assertEqual(label("y"), "nightly backup")
        self.output("acquire", "--label", "by hand", "z")
        self.assertEqual(label("z"), "by hand")
        self.assertEqual(self.status("run", "--label", "a" * 65, "v", "true"), USAGE)

    def test_help_does_not_promise_a_renewal_to_acquire(self):
        self.assertNotIn("renewed till then", self.output("acquire", "--help"))
        self.assertIn("unless it is renewed", re.sub(r"\s+", " ", self.output("acquire", "--help")))


class Nested(CommandCase):
    def nest(self, *levels):
        """Runs inside one another; the innermost says so."""
        command = []
        for level in levels:
            command += [BINARY, "run", *level.split()]
        return self.airlock(*command[1:], "echo", "in")

    def test_who_would_wait_for_itself_is_refused(self):
        for levels in (["x", "x"], ["x", "-w 60s x"], ["-s x", "-x x"], ["--slots 2 --weight 2 y", "--slots 2 y"],
                       ["--slots 2 y", "z", "--slots 2 y", "--slots 2 y"]):
            done = self.nest(*levels)
            self.assertEqual((done.returncode, done.stdout), (REFUSED, ""), levels)
            self.assertIn("already inside it", done.stderr)
            self.assertEqual(self.waiting("x") + self.waiting("y"), 0)
        self.assertEqual(self.nest("x", "-E 9 x").returncode, 9)

    def test_with_enough_room_it_enters(self):
        for levels in (["x", "y"], ["-s x", "-s x"], ["--slots 2 y", "--slots 2 y"], ["--slots 3 --weight 2 z", "--slots 3 z"]):
            done = self.nest(*levels)
            self.assertEqual((done.returncode, done.stdout), (0, "in\n"), (levels, done.stderr))

    def test_who_waits_for_others_waits(self):
        first, _ = self.start_inside("--slots", "2", "x")
        nested = self.start("run", "--slots", "2", "x", BINARY, "run", "--slots", "2", "x", "echo", "in")
        self.assertTrue(eventually(lambda: self.waiting("x") == 1))
        first.terminate()
        self.assertEqual(nested.wait(20), 0)

    def test_a_writer_ahead_that_waits_for_the_outer_reader(self):
        script = f"read line; exec {QUOTED} run -s x echo in"
        outer = self.start("run", "-s", "x", "sh", "-c", script, stdin=subprocess.PIPE)
        self.assertTrue(eventually(lambda: self.status("run", "-n", "-x", "x", "true") == REFUSED))
        writer = self.start("run", "-x", "x", "true")
        self.assertTrue(eventually(lambda: self.waiting("x") == 1))
        outer.stdin.write("now\n")
        outer.stdin.flush()
        self.assertEqual(outer.wait(20), REFUSED)
        self.assertEqual(writer.wait(20), 0)

    def test_an_outer_admission_that_has_ended_is_none(self):
        self.environment["AIRLOCK_TOKENS"] = "nonsense " + self.output("acquire", "x").strip()
        self.assertEqual(self.status("run", "x", "true"), REFUSED)
        self.environment["AIRLOCK_TOKENS"] = self.environment["AIRLOCK_TOKENS"].split()[1]
        self.output("release", self.environment["AIRLOCK_TOKENS"])
        self.start_inside("x")
        self.assertEqual(self.status("run", "-w", "0.2", "x", "true"), REFUSED)
        self.assertIn("still waiting after 200ms", self.airlock("run", "-w", "0.2", "x", "true").stderr)


class Words(CommandCase):
    def test_why_a_lease_is_lost(self):
        self.assertIn("--max-hold 300ms is over", self.airlock("run", "--max-hold", "0.3", "x", "sleep", "60").stderr)
        process, _ = self.start_inside("x")
        self.output("revoke", "x", "--all")
        self.assertIn("lost: an operator revoked it", process.communicate(timeout=20)[1])
        process, _ = self.start_inside("x")
        self.output("revoke", "x", "--all", "--now")
        self.assertIn("revoked with --now, purged, or", process.communicate(timeout=20)[1])

    def test_why_it_was_refused(self):
        self.start_inside("x")
        words = self.airlock("run", "-n", "x", "true").stderr
        self.assertRegex(words, r"refused, it is full; try again in \d+s\n")
        self.output("pause", "y", "--for", "1h")
        self.assertIn("refused, it is paused; try again in ", self.airlock("run", "-n", "y", "true").stderr)
        self.output("take", "--rate", "1/h", "z")
        self.assertRegex(self.airlock("run", "-n", "--rate", "1/h", "z", "true").stderr,
                         r"refused, its rate is used up; try again in (1h|60m|\d+m)\n")
        self.assertIn("refused for good, cost 5 is more", self.airlock("take", "--rate", "1/h", "--cost", "5", "v").stderr)


if __name__ == "__main__":
    unittest.main()
