#!/usr/bin/env python3
"""The command end to end: every subcommand, every status, and what happens when processes die."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest

from command_case import BINARY, REDIS_SERVER, CommandCase, RedisCase, eventually, is_alive

USAGE, UNAVAILABLE, REFUSED, LOST = 64, 69, 75, 76
STORES_PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/stores.md")


class Run(CommandCase):
    def test_the_status_is_the_commands(self):
        self.assertEqual(self.status("run", "x", "true"), 0)
        self.assertEqual(self.status("run", "x", "sh", "-c", "exit 7"), 7)
        self.assertEqual(self.status("run", "x", "sh", "-c", "kill -KILL $$"), 128 + 9)

    def test_dashes_are_optional_and_what_follows_the_name_is_the_command(self):
        self.assertEqual(self.output("run", "x", "--", "echo", "-n", "a"), "a")
        self.assertEqual(self.output("run", "x", "echo", "-n", "a"), "a")
        self.assertEqual(self.output("run", "x", "sh", "-c", "--", "echo $0", "b"), "b\n")

    def test_the_command_knows_its_admission(self):
        text = self.output("run", "--slots", "2", "x", "env")
        values = dict(line.split("=", 1) for line in text.splitlines() if line.startswith("AIRLOCK_"))
        self.assertEqual(values["AIRLOCK_GATE"], "x")
        self.assertEqual(values["AIRLOCK_SLOT"], "0")
        self.assertGreater(int(values["AIRLOCK_FENCE"]), 0)
        self.assertTrue(values["AIRLOCK_TOKEN"].startswith("airlock1~"))

    def test_an_admission_inside_another(self):
        command = ["run", "x", BINARY, "run", "--slots", "2", "y", "sh", "-c", "env | grep ^AIRLOCK_ | cut -c1-14 | sort"]
        self.assertEqual(self.output(*command).split(), ["AIRLOCK_FENCE=", "AIRLOCK_GATE=y", "AIRLOCK_SLOT=0",
                                                         "AIRLOCK_STORE=", "AIRLOCK_TOKEN=", "AIRLOCK_TOKENS"])

    def test_fences_grow(self):
        fences = [int(self.output("run", "x", "sh", "-c", "echo $AIRLOCK_FENCE")) for _ in range(5)]
        self.assertEqual(sorted(set(fences)), fences)

    def test_a_command_that_is_not_there_does_not_wait(self):
        self.start_inside("x")
        self.assertEqual(self.status("run", "x", "no-such-command"), 127)
        self.assertEqual(self.status("run", "x", "./none"), 127)
        self.assertEqual(self.status("run", "x", "/etc/passwd"), 126)
        self.assertEqual(self.status("run", "x", "/"), 126)

    def test_a_command_that_does_not_start_gives_its_place_back(self):
        script = self.path("script")
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/no/such/interpreter\n")
        os.chmod(script, 0o755)
        self.assertEqual(self.status("run", "x", script), 127)
        self.assertEqual(self.status("run", "-n", "x", "true"), 0)

    def test_verbose_says_how_long_it_waited(self):
        self.assertIn("airlock: in after ", self.airlock("run", "-v", "x", "true").stderr)
        self.assertEqual(self.airlock("run", "x", "true").stderr, "")

    def test_one_at_a_time(self):
        self.start_inside("x")
        done = self.airlock("run", "-n", "x", "true")
        self.assertEqual(done.returncode, REFUSED)
        self.assertIn("full", done.stderr)
        self.assertEqual(self.status("run", "-w", "0.05", "x", "true"), REFUSED)
        self.assertEqual(self.status("run", "-n", "-E", "9", "x", "true"), 9)
        self.assertEqual(self.status("run", "-n", "y", "true"), 0)

    def test_readers_share_and_writers_do_not(self):
        self.start_inside("-s", "x")
        self.assertEqual(self.status("run", "-n", "-s", "x", "true"), 0)
        self.assertEqual(self.status("run", "-n", "-x", "x", "true"), REFUSED)

    def test_slots_and_weights(self):
        self.start_inside("--slots", "3", "--weight", "2", "x")
        self.assertEqual(self.status("run", "-n", "--slots", "3", "--weight", "2", "x", "true"), REFUSED)
        self.assertEqual(self.status("run", "-n", "--slots", "3", "x", "true"), 0)

    def test_rates(self):
        self.assertEqual(self.status("run", "-n", "--rate", "1/h", "x", "true"), 0)
        done = self.airlock("run", "-n", "--rate", "1/h", "x", "true")
        self.assertEqual(done.returncode, REFUSED)
        self.assertIn("rate", done.stderr)

    def test_fifty_on_three_slots(self):
        script = ('n=$(ls "$0" | wc -l); mkdir "$0/$$"; n=$(ls "$0" | wc -l);'
                  ' echo $n >> "$1"; sleep 0.02; rmdir "$0/$$"')
        os.mkdir(self.path("inside"))
        processes = [self.start("run", "--slots", "3", "x", "sh", "-c", script,
                                self.path("inside"), self.path("seen")) for _ in range(50)]
        for process in processes:
            self.assertEqual(process.wait(60), 0, process.stderr.read())
        with open(self.path("seen"), encoding="utf-8") as seen:
            counts = [int(line) for line in seen]
        self.assertEqual(len(counts), 50)
        self.assertLessEqual(max(counts), 3)

    def test_served_in_order_of_arrival(self):
        holder, _ = self.start_inside("x")
        for i in range(8):
            self.start("run", "x", "sh", "-c", f"echo {i} >> {self.path('order')}")
            self.assertTrue(eventually(lambda i=i: self.waiting("x") == i + 1))
        holder.terminate()
        for process in self.started:
            process.wait(30)
        with open(self.path("order"), encoding="utf-8") as order:
            self.assertEqual(order.read().split(), [str(i) for i in range(8)])

    def test_served_by_priority(self):
        holder, _ = self.start_inside("--order", "priority", "x")
        for i in range(4):
            self.start("run", "--order", "priority", "--priority", str(i), "x",
                       "sh", "-c", f"echo {i} >> {self.path('order')}")
            self.assertTrue(eventually(lambda i=i: self.waiting("x") == i + 1))
        holder.terminate()
        for process in self.started:
            process.wait(30)
        with open(self.path("order"), encoding="utf-8") as order:
            self.assertEqual(order.read().split(), ["3", "2", "1", "0"])

    def test_signals_are_passed_on(self):
        process = self.start("run", "x", "sh", "-c", "trap 'exit 5' TERM; echo in; while :; do sleep 0.01; done")
        self.assertEqual(process.stdout.readline(), "in\n")
        process.terminate()
        self.assertEqual(process.wait(10), 5)
        self.assertEqual(self.status("run", "-n", "x", "true"), 0)

    def test_a_signal_ends_the_wait(self):
        self.start_inside("x")
        waiter = self.start("run", "x", "true")
        self.assertTrue(eventually(lambda: self.waiting("x") == 1))
        waiter.send_signal(signal.SIGINT)
        self.assertEqual(waiter.wait(10), 128 + signal.SIGINT)
        self.assertEqual(self.waiting("x"), 0)

    def test_what_was_ignored_before_stays_so(self):
        holder, _ = self.start_inside("x")
        waiter = self.start("run", "x", "true", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertTrue(eventually(lambda: self.waiting("x") == 1))
        waiter.send_signal(signal.SIGHUP)
        holder.terminate()
        self.assertEqual(waiter.wait(10), 0)

    @unittest.skipUnless(subprocess.run(["unshare", "--pid", "--fork", "true"], stderr=subprocess.DEVNULL,
                                        check=False).returncode == 0, "no new PID namespaces here")
    def test_as_pid_1_it_reaps_orphans(self):
        script = "(sh -c 'sleep 0.1' &); sleep 0.5; cat /proc/[0-9]*/status | grep -c '^State:.Z'"
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", BINARY, "run", "x", "sh", "-c", script],
                              env=self.environment, text=True, stdout=subprocess.PIPE, timeout=30, check=False)
        self.assertEqual(done.stdout, "0\n")

    def test_stop_and_continue(self):
        # A job of its own, as under a shell: a group that nobody could continue cannot be stopped.
        process, pid = self.start_inside("x", process_group=0)
        process.send_signal(signal.SIGTSTP)
        self.assertTrue(eventually(lambda: self.state(process.pid) == "T" and self.state(pid) == "T"))
        process.send_signal(signal.SIGCONT)
        self.assertTrue(eventually(lambda: self.state(process.pid) != "T" and self.state(pid) != "T"))

    def state(self, pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0]

    def test_kill_9_takes_the_command_along_and_frees_the_slot(self):
        process, pid = self.start_inside("x")
        process.kill()
        self.assertTrue(eventually(lambda: not is_alive(pid)))
        self.assertTrue(eventually(lambda: self.status("run", "-n", "x", "true") == 0, 2))

    def test_an_orphan_may_go_on(self):
        process, pid = self.start_inside("--orphan", "x")
        process.kill()
        process.wait(10)
        time.sleep(0.1)
        self.assertTrue(is_alive(pid))
        os.kill(pid, signal.SIGKILL)

    def test_kill_9_of_the_command(self):
        process, pid = self.start_inside("x")
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(process.wait(10), 128 + 9)
        self.assertEqual(self.status("run", "-n", "x", "true"), 0)

    def test_a_revoked_lease_ends_the_command(self):
        process, pid = self.start_inside("x")
        self.assertIn("1 revoked", self.output("revoke", "x", "--all"))
        self.assertEqual(process.wait(10), LOST)
        self.assertFalse(is_alive(pid))

    def test_max_hold(self):
        began = time.monotonic()
        self.assertEqual(self.status("run", "--max-hold", "0.3", "x", "sleep", "30"), LOST)
        self.assertLess(time.monotonic() - began, 10)

    def test_who_does_not_stop_when_told_to_is_killed(self):
        process = self.start("run", "x", "sh", "-c", "trap '' TERM; echo in; while :; do sleep 0.01; done")
        self.assertEqual(process.stdout.readline(), "in\n")
        self.output("revoke", "x", "--all")
        self.assertEqual(process.wait(20), LOST)

    def test_no_descriptor_leaks_into_the_command(self):
        text = self.output("run", "x", "ls", "/proc/self/fd")
        self.assertLessEqual(len(text.split()), 4)


class Tokens(CommandCase):
    def test_a_token_outlives_its_command_and_travels(self):
        token = self.output("acquire", "x", "--ttl", "60").strip()
        self.assertEqual(self.status("run", "-n", "x", "true"), REFUSED)
        self.assertEqual(self.status("renew", token, "--ttl", "30s"), 0)
        self.assertEqual(self.status("release", token), 0)
        self.assertEqual(self.status("release", token), LOST)
        self.assertEqual(self.status("renew", token), LOST)
        self.assertEqual(self.status("run", "-n", "x", "true"), 0)

    def test_kept_while_a_process_lives(self):
        sleeper = subprocess.Popen(["sleep", "60"])
        self.output("acquire", "x", "--ttl", "1", "--while-pid", str(sleeper.pid))
        time.sleep(1.5)
        self.assertEqual(self.status("run", "-n", "x", "true"), REFUSED)
        sleeper.kill()
        sleeper.wait()
        self.assertTrue(eventually(lambda: self.status("run", "-n", "x", "true") == 0))

    def test_a_process_that_is_not_there(self):
        self.assertEqual(self.status("acquire", "x", "--while-pid", "999999999"), USAGE)
        self.assertEqual(self.status("run", "-n", "x", "true"), 0)


class Take(CommandCase):
    def test_takes_until_there_is_nothing_left(self):
        for _ in range(3):
            self.assertEqual(self.status("take", "x", "--rate", "3/h"), 0)
        self.assertEqual(self.status("take", "x", "--rate", "3/h"), REFUSED)

    def test_json(self):
        decision = json.loads(self.output("take", "x", "--rate", "10/s", "--cost", "4", "--json"))
        self.assertEqual((decision["granted"], decision["limit"], decision["remaining"]), (True, 10, 6))
        self.assertIn("retry_after_seconds", decision)

    def test_waits_for_its_turn(self):
        began = time.monotonic()
        for _ in range(3):
            self.assertEqual(self.status("take", "x", "--rate", "10/s,burst=1", "--wait", "5"), 0)
        self.assertGreater(time.monotonic() - began, 0.19)


class Operators(CommandCase):
    def test_ls_and_show(self):
        self.start_inside("--slots", "3", "x")
        self.assertIn("x ", self.output("ls"))
        gate = json.loads(self.output("ls", "--json"))[0]
        self.assertEqual((gate["name"], gate["in_use"], gate["limit"]), ("x", 1, 3))
        shown = json.loads(self.output("show", "x", "--json"))
        self.assertEqual(shown["holders"][0]["slot"], 0)
        self.assertIn("inside:", self.output("show", "x"))
        self.assertEqual(self.status("show", "unknown"), 1)

    def test_limit(self):
        self.start_inside("--slots", "1", "x")
        self.output("limit", "x", "2")
        self.assertIn("limit set", self.output("ls", "--overrides"))
        self.assertEqual(self.status("run", "-n", "--slots", "1", "x", "true"), 0)
        self.output("limit", "x", "clear")
        self.assertEqual(self.status("run", "-n", "--slots", "1", "x", "true"), REFUSED)

    def test_pause_and_resume(self):
        self.output("run", "x", "true")
        self.output("pause", "x", "--for", "1h")
        self.assertEqual(self.status("run", "-n", "x", "true"), REFUSED)
        self.output("resume", "x")
        self.assertEqual(self.status("run", "-n", "x", "true"), 0)
        self.output("pause", "x", "--until-resumed")
        self.assertEqual(self.status("run", "-n", "x", "true"), REFUSED)

    def test_revoke_one(self):
        first, _ = self.start_inside("--slots", "2", "x")
        second, _ = self.start_inside("--slots", "2", "x")
        holders = json.loads(self.output("show", "x", "--json"))["holders"]
        self.output("revoke", "x", holders[0]["visitor"][:6])
        self.assertEqual(first.wait(10), LOST)
        self.assertIsNone(second.poll())
        self.assertEqual(self.status("revoke", "x", "ffffffffff"), LOST)
        self.assertEqual(self.status("revoke", "x"), USAGE)

    def test_purge_asks(self):
        self.output("acquire", "x")
        self.assertEqual(self.status("purge", "x", stdin=subprocess.DEVNULL), USAGE)
        self.output("purge", "x", "--force")
        self.assertEqual(self.status("run", "-n", "x", "true"), 0)

    def test_metrics(self):
        self.output("run", "x", "true")
        self.output("run", "y", "true")
        text = self.output("metrics", "--match", "x*")
        self.assertIn('airlock_granted_total{gate="x"} 1', text)
        self.assertNotIn('gate="y"', text)


class Doctor(CommandCase):
    def test_shared_memory(self):
        self.output("run", "x", "true")
        text = self.output("doctor")
        for words in (f"segment {self.dir}/store/test (mode 0600, uid {os.getuid()}", "in a folder with mode 0700",
                      "tmpfs", "layout version", "may grow to", "fullest pool", "processes that use it: 1 of"):
            self.assertIn(words, text)
        findings, status = self.findings()
        self.assertEqual(status, 0)
        self.assertEqual({tuple(finding) for finding in findings}, {("level", "what", "remedy")})
        self.assertNotIn("problem", {finding["level"] for finding in findings})

    def test_advice_comes_with_what_to_do_and_is_no_failure(self):
        self.output("run", "x", "true")
        self.output("pause", "x", "--for", "1h")
        self.assertIn("warning: gate x: paused", self.output("doctor"))
        self.assertIn("airlock resume x", self.output("doctor"))

    def test_processes_that_died(self):
        for process, _ in [self.start_inside("--slots", "2", "x") for _ in range(2)]:
            process.kill()
            process.wait(10)
        # Their guards keep their places until the commands have ended.
        self.assertTrue(eventually(lambda: "died without leaving" in self.output("doctor")))

    def test_a_place_that_cannot_be(self):
        self.environment["AIRLOCK_STORE"] = "shm:test?dir=/proc/none"
        findings, status = self.findings()
        self.assertEqual((status, findings[-1]["level"]), (UNAVAILABLE, "problem"))
        self.assertTrue(findings[-1]["remedy"])

    def test_memory_has_nothing_to_check(self):
        self.environment["AIRLOCK_STORE"] = "memory:"
        findings, status = self.findings()
        self.assertEqual((status, len(findings)), (0, 1))


class RedisDoctor(RedisCase):
    # The line of docs/stores.md.
    with open(STORES_PAGE, encoding="utf-8") as page:
        ACL = next(line.strip() for line in page if "ACL SETUSER" in line).replace(">PASSWORD", ">pw").split()

    def levels(self):
        """The findings by level, as one text each, and the status."""
        findings, status = self.findings()
        texts = {level: "" for level in ("good", "warning", "problem")}
        for finding in findings:
            texts[finding["level"]] += f"{finding['what']}. {finding['remedy']}\n"
        return texts, status

    def test_a_server_that_is_well(self):
        self.configure("CONFIG", "SET", "appendonly", "yes")
        texts, status = self.levels()
        self.assertEqual((status, texts["warning"], texts["problem"]), (0, "", ""))
        for words in ("no TLS", "answers in", "clock", "Redis ", "primary", "noeviction", "appendfsync everysec",
                      "scripts run", "pub/sub"):
            self.assertIn(words, texts["good"])

    def test_no_persistence_is_a_warning(self):
        texts, status = self.levels()
        self.assertEqual(status, 0)
        self.assertIn("appendonly yes", texts["warning"])

    def test_eviction(self):
        self.configure("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        texts, status = self.levels()
        self.assertEqual(status, 0)
        self.assertIn("maxmemory-policy is allkeys-lru", texts["warning"])
        self.configure("CONFIG", "SET", "maxmemory", "100mb")
        texts, status = self.levels()
        self.assertEqual(status, UNAVAILABLE)
        self.assertIn("noeviction", texts["problem"])
        self.use("&allow_eviction=1")
        texts, status = self.levels()
        self.assertEqual(status, 1)
        self.assertIn("CONFIG SET maxmemory-policy noeviction", texts["problem"])

    def test_rights(self):
        self.configure(*self.ACL)
        self.use(user="airlock:pw@")
        texts, status = self.levels()
        self.assertEqual((status, texts["problem"]), (0, ""))
        self.configure("ACL", "SETUSER", "airlock", "-zpopmin", "-scan", "-subscribe", "-info")
        findings, status = self.findings()
        self.assertEqual(status, UNAVAILABLE, "list needs SCAN")
        problems = [finding["what"] for finding in findings if finding["level"] == "problem"]
        self.assertIn("the user may not run SCAN ZPOPMIN", problems)
        self.assertIn("a subscription is not possible", problems[1])
        self.assertIn("INFO is not allowed", str(findings))

    def test_a_replica(self):
        self.configure("REPLICAOF", "127.0.0.1", "1")
        texts, status = self.levels()
        self.assertEqual(status, 1)
        self.assertIn("it is a replica, which admits nobody. name the primary: 127.0.0.1:1", texts["problem"])

    def test_nobody_there(self):
        self.server.kill()
        self.server.wait()
        texts, status = self.levels()
        self.assertEqual(status, UNAVAILABLE)
        self.assertIn("see that it is there", texts["problem"])


@unittest.skipUnless(shutil.which("openssl") and shutil.which(REDIS_SERVER), f"openssl or {REDIS_SERVER} is missing")
class EncryptedStore(CommandCase):
    def setUp(self):
        super().setUp()
        key, certificate = self.path("key.pem"), self.path("cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=airlock",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                       check=True, stderr=subprocess.DEVNULL)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.started.append(subprocess.Popen(
            [REDIS_SERVER, "--port", "0", "--tls-port", str(port), "--tls-cert-file", certificate, "--tls-key-file", key,
             "--tls-ca-cert-file", certificate, "--tls-auth-clients", "no", "--save", "", "--dir", self.dir],
            stdout=subprocess.DEVNULL))
        self.store = f"rediss://127.0.0.1:{port}"
        self.environment["AIRLOCK_STORE"] = f"{self.store}?ca={certificate}"
        self.assertTrue(eventually(lambda: self.status("ls") == 0))

    def test_tls(self):
        self.assertEqual(self.status("run", "x", "true"), 0)
        self.assertIn("with TLS", self.output("doctor"))

    def test_a_certificate_that_is_not_trusted(self):
        self.environment["AIRLOCK_STORE"] = self.store
        done = self.airlock("run", "-n", "x", "true")
        self.assertEqual(done.returncode, UNAVAILABLE)
        self.assertIn("certificate", done.stderr)


class SilentStore(RedisCase):
    """A server that is there and does not answer: an outage, also for a command that would wait."""

    def setUp(self):
        super().setUp()
        self.output("run", "x", "true")
        self.use(timeout="200ms")
        self.server.send_signal(signal.SIGSTOP)

    def tearDown(self):
        self.server.send_signal(signal.SIGCONT)
        super().tearDown()

    def test_is_unavailable_by_the_deadline(self):
        for how in ["-n"], ["-w", "1m"], []:
            self.assertEqual(self.status("run", *how, "x", "true"), UNAVAILABLE)

    def test_may_be_done_without(self):
        self.assertEqual(self.status("run", "--on-outage", "run", "x", "true"), 0)


class BadInput(CommandCase):
    TABLE = [
        [], ["nonsense"], ["run"], ["run", "x"], ["run", "a b", "true"], ["run", "x/y/z", "true"],
        ["run", "--slots", "0", "x", "true"], ["run", "--slots", "-1", "x", "true"],
        ["run", "--slots", "2", "--weight", "3", "x", "true"], ["run", "--weight", "2", "x", "true"],
        ["run", "--ttl", "0", "x", "true"], ["run", "--ttl", "5x", "x", "true"],
        ["run", "--rate", "0/s", "x", "true"], ["run", "--rate", "fast", "x", "true"],
        ["run", "-w", "1s", "-n", "x", "true"], ["run", "-w", "-1", "x", "true"],
        ["run", "-E", "256", "x", "true"], ["run", "--order", "best", "x", "true"],
        ["run", "--priority", "1", "x", "true"], ["run", "--bogus", "x", "true"],
        ["run", "--slots", "2", "--shared", "x", "true"], ["run", "--on-outage", "pray", "x", "true"],
        ["take", "x"], ["take", "x", "--rate", "1/s", "--cost", "0"],
        ["release", "garbage"], ["release"], ["renew", "airlock1~x"],
        ["limit", "x", "many"], ["limit", "x", "-1"], ["pause", "x"], ["pause", "x", "--for", "0"],
        ["ls", "--", "x"], ["--store", "nosuch:", "ls"], ["ls", "--store", "shm:?size=banana"],
    ]

    def test_is_refused_and_explained(self):
        for arguments in self.TABLE:
            with self.subTest(arguments=arguments):
                done = self.airlock(*arguments)
                self.assertEqual(done.returncode, USAGE, done.stderr)
                self.assertTrue(done.stderr.strip())
        self.assertEqual(self.output("stores"), "", "none of them made a segment")

    def test_the_store_may_stand_behind_the_command(self):
        other = f"shm:other?dir={self.dir}/store"
        self.assertEqual(self.output("run", "--store", other, "x", "echo", "--store", "mine"), "--store mine\n")
        self.assertIn("x", self.output("ls", "--store", other))
        self.assertEqual(self.status("ls"), UNAVAILABLE, "nothing has used that one")

    def test_help_and_version(self):
        self.assertIn("Usage", self.output("--help"))
        self.assertTrue(self.output("--version").startswith("airlock "))
        for name in ("run acquire release renew take ls show top metrics limit pause resume revoke "
                     "purge doctor demo").split():
            for line in self.output(name, "--help").splitlines():
                self.assertLessEqual(len(line), 100)

    def test_an_unavailable_store(self):
        self.environment["AIRLOCK_STORE"] = "shm:test?dir=/proc/none"
        self.assertEqual(self.status("run", "x", "true"), UNAVAILABLE)
        self.assertEqual(self.status("run", "--on-outage", "run", "x", "true"), 0)


if __name__ == "__main__":
    unittest.main()
