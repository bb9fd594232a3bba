#!/usr/bin/env python3
"""The command for people: what gates are shown as, messages, help, segments, completion, write errors."""

import json
import os
import re
import resource
import subprocess
import unittest

from command_case import BINARY, SHARE, BashCase, CommandCase, RedisCase, eventually

USAGE, UNAVAILABLE, SYSTEM, CANNOT_WRITE, REFUSED = 64, 69, 71, 74, 75
COMMANDS = ("run acquire release renew take ls show top metrics limit pause resume revoke purge stores store "
            "doctor serve demo").split()


class Gates(CommandCase):
    """Locks and gates that have only rates are shown as what they are."""

    def row(self, gate):
        return next(line.split() for line in self.output("ls").splitlines() if line.startswith(gate + " "))

    def gate(self, name):
        return json.loads(self.output("show", name, "--json"))

    def test_a_lock_is_held_by_one(self):
        holder, _ = self.start_inside("job")
        self.assertEqual(self.row("job")[:6], ["job", "lock", "held", "-", "1", "0"])
        self.assertEqual(" ".join(self.row("job")[6:]), "by " + self.gate("job")["holders"][0]["label"])
        self.assertIn("job: lock, held by 1, 0 waiting", self.output("show", "job"))
        self.assertNotIn("65536", self.output("show", "job") + self.output("ls") + self.output("metrics"))
        gate = self.gate("job")
        self.assertEqual((gate["kind"], gate["lock_state"], gate["in_use"], gate["limit"], gate["holder_count"]),
                         ("lock", "held", 1, 1, 1))
        self.assertIn('airlock_in_use{gate="job"} 1\n', self.output("metrics"))
        holder.terminate()
        holder.wait(10)
        self.assertEqual(self.row("job")[:3], ["job", "lock", "free"])
        self.assertIn("job: lock, free, 0 waiting", self.output("show", "job"))

    def test_a_lock_with_an_operators_limit_is_still_a_lock(self):
        self.start_inside("job")
        self.output("limit", "job", "3")
        self.assertIn("limit set to 3", self.output("ls"))
        self.assertNotIn("65536", self.output("show", "job") + self.output("ls") + self.output("metrics"))
        self.assertIn("job: lock, held by 1", self.output("show", "job"))

    def test_readers_are_counted(self):
        for _ in range(2):
            self.start_inside("-s", "job")
        self.assertIn("job: lock, shared by 2", self.output("show", "job"))
        self.assertEqual(self.output("show", "job").count(" reader "), 2)
        self.assertEqual((self.gate("job")["lock_state"], self.gate("job")["holder_count"]), ("shared", 2))
        self.assertIn('airlock_holders{gate="job"} 2\n', self.output("metrics"))

    def test_a_rate_has_no_limit_to_show(self):
        self.output("take", "feed", "--rate", "10/h", "--rate", "100/d")
        self.assertEqual(self.row("feed")[:6], ["feed", "rate", "0", "-", "0", "0"])
        self.assertIn("  10/h (9 left), 100/d (99 left)\n", self.output("ls"))
        self.assertIn("feed: rate only, 0 waiting", self.output("show", "feed"))
        self.assertEqual((self.gate("feed")["kind"], self.gate("feed")["limit"]), ("rate", None))
        self.assertNotIn('airlock_limit{gate="feed"}', self.output("metrics"))

    def test_a_closed_gate_says_so(self):
        self.output("run", "--slots", "3", "build", "true")
        self.output("limit", "build", "0")
        self.assertEqual(self.row("build")[:4], ["build", "permits", "0", "0"])

    def test_slots_are_permits(self):
        self.start_inside("--slots", "3", "build")
        self.assertEqual(self.row("build")[:6], ["build", "permits", "1", "3", "1", "0"])

    def test_json_has_holders_as_a_list_and_their_number(self):
        self.start_inside("--slots", "3", "build")
        gate = self.gate("build")
        self.assertEqual((len(gate["holders"]), gate["holder_count"], gate["lock_state"]), (1, 1, None))
        summary = json.loads(self.output("ls", "--json"))[0]
        self.assertEqual(summary["holder_count"], 1)
        self.assertNotIn("holders", summary)

    def test_ls_of_some_gates(self):
        for gate in ("api:a", "api:b", "job"):
            self.output("run", gate, "true")
        names = [gate["name"] for gate in json.loads(self.output("ls", "--match", "api:*", "--json"))]
        self.assertEqual(names, ["api:a", "api:b"])

    def test_doctor_leaves_no_gate_behind(self):
        self.output("run", "job", "true")
        self.output("doctor")
        self.assertEqual([gate["name"] for gate in json.loads(self.output("ls", "--json"))], ["job"])


class Arguments(CommandCase):
    def test_several_rates_must_all_allow_it(self):
        self.assertEqual(self.status("take", "x", "--rate", "2/s", "--rate", "1/h"), 0)
        self.assertEqual(self.status("take", "x", "--rate", "2/s", "--rate", "1/h"), REFUSED)
        self.assertEqual(self.status("run", "-n", "--rate", "10/s", "--rate", "1/h", "y", "true"), 0)
        self.assertEqual(self.status("run", "-n", "--rate", "10/s", "--rate", "1/h", "y", "true"), REFUSED)

    def test_dashes_before_the_name(self):
        self.output("run", "x", "true")
        self.assertIn("x: lock", self.output("show", "--", "x"))
        self.output("limit", "--", "x", "3")
        self.assertEqual(self.output("run", "--", "x", "echo", "-n", "a"), "a")
        self.assertEqual(self.output("run", "-w", "5", "--", "x", "sh", "-c", "echo $0", "--", "b"), "--\n")

    def test_the_last_of_an_option_counts(self):
        self.assertEqual(self.status("run", "--ttl", "1h", "--ttl", "10s", "x", "true"), 0)

    def says(self, words, *arguments, status=USAGE):
        done = self.airlock(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertLess(len(done.stderr), 250)
        for foreign in ("::", "GCRA", "FAILED", "->", "subcommand"):
            self.assertNotIn(foreign, done.stderr)

    def test_typos_are_named_and_answered(self):
        self.says('"rnu" is not a command; did you mean run?', "rnu", "x", "true")
        self.says("a command is needed")
        self.says("run: unknown option --solts; did you mean --slots?", "run", "--solts", "3", "x", "true")
        self.says("show: unknown option --jsn; did you mean --json?", "show", "x", "--jsn")
        self.says('ls: unexpected argument "x"', "ls", "x")
        self.says('ls: unexpected argument "x"', "ls", "--", "x")
        self.says("show: NAME is missing", "show")
        self.says("run: the NAME of a gate and a command are needed", "run")
        self.says("--slots: its value is missing", "run", "--slots")

    def test_values_are_named_with_their_rule(self):
        self.says('--slots: "0": a whole number from 1 to 2147483648 is needed', "run", "--slots", "0", "x", "true")
        self.says('--slots: "banana": a whole number', "run", "--slots", "banana", "x", "true")
        self.says('--order: "lifo": one of fifo, priority, lottery, aging is needed',
                  "run", "--order", "lifo", "x", "true")
        self.says("priority 5: needs the order priority", "run", "--priority", "5", "x", "true")
        self.says('--conflict-exit-code: "256": a whole number from 0 to 255', "run", "-E", "256", "x", "true")
        self.says('--while-pid: "abc": a whole number from 1', "acquire", "x", "--while-pid", "abc")
        self.says('--on-outage: "maybe": one of fail, run is needed', "run", "--on-outage", "maybe", "x", "true")
        self.says('--rate: rate "fast"', "take", "x", "--rate", "fast")
        self.says('--ttl: duration "5x"', "run", "--ttl", "5x", "x", "true")
        self.says('LIMIT: "many": a whole number from 0 to 2147483648 is needed, or `clear`', "limit", "x", "many")
        self.says("only rates without a window can be reserved",
                  "take", "x", "--rate", "10/s,sliding", "--wait", "1s")

    def test_an_unknown_gate_is_answered_with_one_like_it(self):
        self.output("run", "backup", "true")
        self.says('gate "bakcup" is not known to this store; did you mean backup?', "show", "bakcup", status=1)

    def test_stores_that_cannot_be(self):
        self.says('option "siez" is not known to shm:, which has timeout, size', "ls", "--store", "shm:?siez=1")
        self.says('option size="banana": 1 to 1099511627776 bytes, as in 64M, is needed', "ls", "--store", "shm:?size=banana")
        self.says('option tls="yes": 0 or 1 is needed', "ls", "--store", "redis://localhost?tls=yes")
        self.says("port: a number from 0 to 65535 is needed", "ls", "--store", "redis://localhost:99999")
        self.says('it has no scheme; use memory:, shm:', "ls", "--store", "batch")

    def test_one_lease_is_not_many(self):
        self.output("acquire", "x", "--ttl", "0.5")
        self.assertTrue(eventually(lambda: "gate x: 1 lease ran out" in self.output("doctor")))

    def test_help_is_the_commands_own(self):
        self.assertIn("AIRLOCK_STORE", self.output("--help"))
        self.assertLessEqual(max(map(len, self.output("--help").splitlines())), 100)
        for name in COMMANDS:
            with self.subTest(name=name):
                text = self.output(name, "--help")
                self.assertIn(f"airlock {name}", text.split("Examples:")[1])
                if name != "run":
                    self.assertNotIn("airlock run", text.split("Examples:")[1])
                for line in text.splitlines():
                    self.assertLessEqual(len(line), 100)
        self.assertIn("NAME [--] CMD...", self.output("run", "--help").splitlines()[1])
        self.assertIn("AIRLOCK_STORE", self.output("ls", "--help"))

    def test_the_examples_use_options_that_exist(self):
        for name in COMMANDS:
            text = self.output(*(["store", "rm"] if name == "store" else [name]), "--help")
            options, examples = text.split("Examples:")
            used = set(re.findall(r" (--[a-z-]+)", examples))
            self.assertLessEqual(used, set(re.findall(r"--[a-z-]+", options)), name)


class Serve(CommandCase):
    def test_starts_the_server_that_is_in_the_path(self):
        server = self.path("airlock-server")
        with open(server, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "$@"\n')
        os.chmod(server, 0o755)
        self.environment["PATH"] = self.dir + ":" + self.environment["PATH"]
        self.assertEqual(self.output("serve", "--listen", "unix:/a", "--listen", "tcp:[::1]:0", "--threads", "2"),
                         f"--store {self.environment['AIRLOCK_STORE']} --listen unix:/a --listen tcp:[::1]:0 --threads 2\n")
        self.assertEqual(self.output("serve", "--store", "memory:"), "--store memory:\n")
        del self.environment["AIRLOCK_STORE"]  # Then it is what the file says.
        self.assertEqual(self.output("serve", "--config", "a.toml"), "--config a.toml\n")

    def test_says_where_the_server_has_to_be(self):
        self.environment["PATH"] = self.dir
        done = self.airlock("serve")
        self.assertEqual(done.returncode, 127)
        self.assertIn("airlock-server", done.stderr)
        self.assertIn("PATH", done.stderr)


class WriteErrors(CommandCase):
    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_are_reported(self):
        self.output("run", "x", "true")
        token = self.output("acquire", "y").strip()
        for arguments in (["ls"], ["ls", "--json"], ["show", "x"], ["show", "x", "--json"], ["metrics"], ["doctor"],
                          ["doctor", "--json"], ["stores"], ["stores", "--json"], ["revoke", "y", "--all"],
                          ["take", "z", "--rate", "1/s", "--json"], ["--help"], ["ls", "--help"], ["--version"]):
            with self.subTest(arguments=arguments), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([BINARY, *arguments], env=self.environment, text=True, stdout=full,
                                      stderr=subprocess.PIPE, timeout=60, check=False)
                self.assertEqual(done.returncode, CANNOT_WRITE, done.stderr)
                self.assertIn("No space left on device", done.stderr)
        self.airlock("release", token)

    def test_a_system_without_room_is_a_message(self):
        def few_descriptors():
            resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))

        done = self.airlock("ls", preexec_fn=few_descriptors)
        self.assertIn(done.returncode, (UNAVAILABLE, SYSTEM), done.stderr)
        self.assertTrue(done.stderr.startswith("airlock: "), done.stderr)

        def little_memory():
            resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))

        done = self.airlock("run", "x", "true", preexec_fn=little_memory)
        self.assertIn(done.returncode, (UNAVAILABLE, SYSTEM), done.stderr)
        self.assertTrue(done.stderr.startswith("airlock: "), done.stderr)


class Segments(CommandCase):
    def segments(self, *arguments):
        return {segment["name"]: segment for segment in json.loads(self.output("stores", "--json", *arguments))}

    def test_looking_and_setting_make_none(self):
        for arguments in (["ls"], ["show", "x"], ["metrics"], ["limit", "x", "3"], ["pause", "x", "--for", "1s"],
                          ["resume", "x"], ["revoke", "x", "--all"], ["purge", "x", "--force"], ["doctor"]):
            with self.subTest(arguments=arguments):
                done = self.airlock(*arguments)
                self.assertEqual(done.returncode, UNAVAILABLE)
                self.assertIn("does not exist", done.stdout + done.stderr)
        self.assertFalse(os.path.exists(self.path("store")))

    def test_a_typo_is_answered_with_those_that_exist(self):
        self.output("run", "x", "true")
        done = self.airlock("ls", "--store", f"shm:tset?dir={self.dir}/store")
        self.assertEqual((done.returncode, done.stdout), (UNAVAILABLE, ""))
        self.assertIn("there are shm:test", done.stderr)
        self.assertEqual(os.listdir(self.path("store")), ["test"])

    def test_are_listed_with_what_is_in_them(self):
        self.assertEqual(self.output("stores"), "")
        self.start_inside("--slots", "3", "a")
        self.start_inside("--slots", "3", "a")
        self.output("run", "b", "true")
        segment = self.segments()["test"]
        self.assertEqual((segment["processes_living"], segment["gate_count"], segment["holder_count"]), (2, 2, 2))
        self.assertEqual((segment["path"], segment["uid"]), (f"{self.dir}/store/test", os.getuid()))
        self.assertGreater(segment["bytes"], 4096)
        self.assertLess(segment["bytes"], 64 << 20, "not the size of the sparse file")
        self.assertIn(segment["path"], self.output("stores"))

    def test_the_dead_are_told_from_the_living(self):
        process, _ = self.start_inside("--slots", "3", "a")
        self.start_inside("--slots", "3", "a")
        process.kill()
        process.wait(10)
        self.assertTrue(eventually(lambda: self.segments()["test"]["processes_living"] == 1))

    def test_what_cannot_be_read_is_shown_as_such(self):
        os.mkdir(self.path("store"), 0o700)
        with open(self.path("store/other"), "w", encoding="utf-8") as file:
            file.write("x" * 8192)
        os.symlink("/dev/null", self.path("store/link"))
        self.assertEqual(self.segments()["other"]["problem"], "not an airlock segment")
        self.assertIsNone(self.segments()["other"]["gate_count"])
        self.assertEqual(self.segments()["link"]["problem"], "not a regular file")

    def test_all_users(self):
        self.environment["AIRLOCK_STORE"] = "shm:" + os.path.basename(self.dir)
        try:
            self.output("run", "x", "true")
            path = f"/dev/shm/airlock-{os.geteuid()}/{os.path.basename(self.dir)}"
            self.assertIn(path, [segment["path"] for segment in json.loads(self.output("stores", "--all", "--json"))])
        finally:
            self.output("store", "rm", os.path.basename(self.dir))
        self.assertFalse(os.path.exists(path))

    def test_one_in_use_is_not_removed(self):
        holder, _ = self.start_inside("x")
        done = self.airlock("store", "rm", "test")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is in use by 1 process;", done.stderr)
        holder.terminate()
        holder.wait(10)
        self.output("store", "rm", "test")
        self.assertEqual(self.segments(), {})

    def test_one_with_a_lease_in_it_is_not_removed(self):
        self.output("acquire", "x", "--ttl", "1h")
        done = self.airlock("store", "rm", "test")
        self.assertEqual(done.returncode, 1)
        self.assertIn("has 1 holder ", done.stderr)
        self.output("store", "rm", "test", "--force")
        self.assertEqual(self.segments(), {})

    def test_one_that_is_not_there(self):
        self.output("run", "x", "true")
        done = self.airlock("store", "rm", "tset")
        self.assertEqual(done.returncode, 1)
        self.assertIn("did you mean test?", done.stderr)
        self.assertEqual(self.status("store", "rm"), USAGE)
        self.assertEqual(self.status("store"), USAGE)


class RedisGates(RedisCase):
    def test_a_lock_is_one_there_too(self):
        self.start_inside("job")
        self.assertIn("job: lock, held by 1", self.output("show", "job"))
        self.assertNotIn("65536", self.output("ls") + self.output("metrics"))

    def test_doctor_leaves_no_gate_behind(self):
        self.output("doctor")
        self.assertEqual(self.output("ls"), "")

    def test_what_cannot_be_read_is_shown_and_hinders_nothing(self):
        self.start_inside("job")
        self.configure("SET", "airlock:{foreign}:gate", "mine")
        self.configure("HSET", "airlock:{newer}:gate", "m", "c who knows")
        listed = self.output("ls").splitlines()
        self.assertRegex(listed[1], "^foreign +unreadable +- +- +- +- .*holds something else")
        self.assertRegex(listed[2], "^job +lock +held")
        self.assertRegex(listed[3], "^newer +unreadable .*schema 99, and this program has")
        gates = json.loads(self.output("ls", "--json"))
        self.assertEqual([gate["kind"] for gate in gates], ["unreadable", "lock", "unreadable"])
        self.assertIn("holds something else", gates[0]["error"])
        self.assertEqual([gates[0]["in_use"], gates[1]["in_use"]], [None, 1])
        metrics = self.output("metrics")
        self.assertIn("\nairlock_unreadable_gates 2\n", metrics)
        self.assertIn('airlock_holders{gate="job"} 1', metrics)
        findings, status = self.findings()
        self.assertEqual(status, 1)
        self.assertIn("gate foreign: ", str(findings))
        self.assertIn("gate newer: ", str(findings))

    def test_a_server_that_is_full(self):
        self.output("run", "x", "true")
        self.configure("CONFIG", "SET", "maxmemory", "1")
        findings, status = self.findings()
        self.assertEqual(status, 1)
        self.assertIn("its memory is full", str(findings))


class BashCompletion(BashCase):
    def test_gates_with_colons(self):
        for gate in ("api:eu:a", "api:eu:b", "job"):
            self.output("run", gate, "true")
        self.assertEqual(self.offers("airlock show "), ["api:eu:a", "api:eu:b", "job"])
        self.assertEqual(self.offers("airlock show api:"), ["eu:a", "eu:b"])
        self.assertEqual(self.offers("airlock limit api:eu:b"), ["b"])

    def test_the_store_is_the_one_on_the_line(self):
        other = f"shm:other?dir={self.dir}/store"
        self.output("run", "here", "true")
        self.output("run", "--store", other, "there", "true")
        self.assertEqual(self.offers("airlock show "), ["here"])
        for line in (f"airlock --store {other} show ", f"airlock --store='{other}' show ", f"airlock show --store {other} "):
            with self.subTest(line=line):
                self.assertEqual(self.offers(line), ["there"])

    def test_commands_options_and_segments(self):
        self.output("run", "x", "true")
        self.assertEqual(self.offers("airlock sto"), ["stores", "store"])
        self.assertEqual(self.offers("airlock ls --ove"), ["--overrides"])
        self.assertEqual(self.offers("airlock store "), ["rm"])
        self.assertEqual(self.offers("airlock store rm "), ["test"])
        self.assertIn("true", self.offers("airlock run x tru"))

    def test_every_command_is_known_to_every_shell(self):
        listed = [line.split()[0] for line in self.output("--help").split("Subcommands:")[1].split("\n\n")[0].splitlines()
                  if line.strip()]
        self.assertEqual(sorted(listed), sorted(COMMANDS))
        for name in ("airlock.bash", "_airlock", "airlock.fish"):
            with open(os.path.join(SHARE, name), encoding="utf-8") as file:
                self.assertIn(" ".join(("run acquire release renew take ls show top metrics limit pause resume revoke purge",
                                        "stores store doctor serve demo")), file.read())


if __name__ == "__main__":
    unittest.main()
