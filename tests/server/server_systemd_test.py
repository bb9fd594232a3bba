#!/usr/bin/env python3
"""airlock-server as a service of systemd: what it tells it, the sockets that it is passed, and its units."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from server_case import BINARY, LONG, Client, ServerCase, eventually

UNITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../server/systemd")
ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
ALL_CHILDREN = 0x40000000


class StoppedThread:
    """A thread of another process that does not run meanwhile, while the others do."""

    def __init__(self, thread):
        self.thread = thread

    def ask(self, what):
        if ptrace(what, self.thread, None, None) != 0:
            raise OSError(ctypes.get_errno(), f"ptrace {what}")

    def __enter__(self):
        self.ask(SEIZE)
        self.ask(INTERRUPT)
        os.waitpid(self.thread, ALL_CHILDREN)

    def __exit__(self, *_):
        self.ask(DETACH)


class Notified(ServerCase):
    """A server whose service manager is the test."""
    CONFIG = '[[gate]]\nmatch = "g"\nlimit = 1\n'
    ENVIRONMENT = {}

    def start_server(self, *arguments):
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.manager.close)
        self.manager.settimeout(LONG)
        self.manager.bind(self.manager_address())
        self.config = os.path.join(self.dir, "airlock.toml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(self.CONFIG)
        environment = {**os.environ, **self.ENVIRONMENT, "NOTIFY_SOCKET": self.manager_address().replace("\0", "@")}
        command = [BINARY, "--store", "memory:", "--listen", f"unix:{self.socket_path}", "--config", self.config, "--threads", "2"]
        server = self.start(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.assertIn("listens at", server.stdout.readline())
        return server

    def manager_address(self):
        return os.path.join(self.dir, "notify")

    def told(self):
        """The next message, as a table."""
        return dict(line.split("=", 1) for line in self.manager.recv(4096).decode().split("\n"))

    def told_next(self, *kinds):
        """The next message that has one of these fields."""
        while True:
            message = self.told()
            if any(kind in message for kind in kinds):
                return message


class States(Notified):
    def test_ready_reloading_stopping(self):
        ready = self.told()
        self.assertEqual(ready, {"READY": "1", "STATUS": f"configuration 1; listens at unix:{self.socket_path}"})
        self.server.send_signal(signal.SIGHUP)
        reloading = self.told()
        self.assertEqual(reloading["RELOADING"], "1")
        self.assertLess(abs(int(reloading["MONOTONIC_USEC"]) / 1e6 - time.monotonic()), LONG)
        self.assertTrue(self.told()["STATUS"].startswith("configuration 2;"))
        with open(self.config, "w", encoding="utf-8") as file:
            file.write("wrong")
        self.server.send_signal(signal.SIGHUP)
        self.assertIn("RELOADING", self.told())
        ready = self.told()
        self.assertEqual(ready["READY"], "1")
        self.assertTrue(ready["STATUS"].startswith("configuration 2, the last reload failed;"))
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.told()["STOPPING"], "1")
        self.assertEqual(self.server.wait(LONG), 0)
        self.manager.setblocking(False)
        with self.assertRaises(BlockingIOError):  # There is no watchdog.
            self.manager.recv(1)


class Abstract(Notified):
    def manager_address(self):
        return "\0" + os.path.join(self.dir, "notify")

    def test_a_manager_without_a_path(self):
        self.assertEqual(self.told()["READY"], "1")


class Watchdog(Notified):
    ENVIRONMENT = {"WATCHDOG_USEC": "2000000"}

    def loops(self):
        found = []
        for task in os.listdir(f"/proc/{self.server.pid}/task"):
            with open(f"/proc/{self.server.pid}/task/{task}/comm", encoding="ascii") as file:
                if file.read() == "airlock-loop\n":
                    found.append(int(task))
        return found

    def expect_silence(self):
        """It is told for a while, until the loop counts as hanging, and then no longer."""
        begin = time.monotonic()
        self.manager.settimeout(2)
        try:
            while time.monotonic() < begin + LONG:
                self.told_next("WATCHDOG")
        except TimeoutError:
            return
        finally:
            self.manager.settimeout(LONG)
        self.fail("the watchdog is told that all is well")

    def test_is_told_while_every_loop_runs(self):
        for _ in range(3):
            self.told_next("WATCHDOG")
        self.assertTrue(eventually(lambda: len(self.loops()) == 2))
        for loop in self.loops():
            with StoppedThread(loop):
                self.expect_silence()
            self.told_next("WATCHDOG")
        self.assertEqual(self.stop_server()[0], 0)


class OtherWatchdog(Notified):
    ENVIRONMENT = {"WATCHDOG_USEC": "100000", "WATCHDOG_PID": "1"}

    def test_of_another_process_is_not_told(self):
        self.told_next("READY")
        self.manager.settimeout(1.5)
        with self.assertRaises(TimeoutError):
            self.manager.recv(1)


class PassedSockets(ServerCase):
    def start_server(self, *arguments):
        return None

    def setUp(self):
        super().setUp()
        self.passed = []

    def client(self):
        return None

    def bind(self, address, kind=socket.SOCK_STREAM, listens=True):
        self.passed.append(socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET, kind))
        self.addCleanup(self.passed[-1].close)
        self.passed[-1].bind(address)
        if kind == socket.SOCK_STREAM and listens:
            self.passed[-1].listen()
        return self.passed[-1].getsockname()

    def start_with(self, *arguments, pid="$$", names="x"):
        numbers = [each.fileno() for each in self.passed]
        moves = " ".join(f"{90 + index}<&{number}" for index, number in enumerate(numbers))
        moves += "".join(f" {3 + index}<&{90 + index}" for index in range(len(numbers)))
        script = f'exec {moves}; LISTEN_PID={pid} LISTEN_FDS={len(numbers)} LISTEN_FDNAMES={names} exec "$@"'
        environment = {name: value for name, value in os.environ.items() if name not in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR")}
        command = ["bash", "-c", script, "bash", BINARY, "--store", "memory:", *arguments]
        return self.start(command, pass_fds=numbers, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ask(self, where):
        with Client(where) as client:
            return client.ask("GET", "/live").status

    def test_are_listened_at(self):
        path, other = os.path.join(self.dir, "passed.sock"), os.path.join(self.dir, "other.sock")
        self.bind(path)
        where = self.bind(("127.0.0.1", 0))
        server = self.start_with("--listen", "systemd:", "--listen", f"unix:{other}")
        self.assertIn(f"listens at unix:{path} tcp:127.0.0.1:{where[1]} unix:{other};", server.stdout.readline())
        self.assertEqual([self.ask(path), self.ask(where), self.ask(other)], 3 * [200])

    def test_outlive_the_server(self):
        """Who connects while no server runs is answered by the next one."""
        path = os.path.join(self.dir, "passed.sock")
        self.bind(path)
        for end in (signal.SIGTERM, signal.SIGKILL):
            with Client(path) as client:
                client.write_request("GET", "/live")
                server = self.start_with()
                self.assertEqual(client.read_answer().status, 200)
                server.send_signal(end)
                server.wait(LONG)
                self.assertTrue(os.path.exists(path))

    def expect_refused(self, rule, *arguments, **options):
        server = self.start_with(*arguments, **options)
        self.assertEqual(server.wait(LONG), 64)
        self.assertIn(rule, server.stderr.read())

    def test_of_another_process_are_not_used(self):
        self.bind(os.path.join(self.dir, "passed.sock"))
        self.expect_refused("--listen systemd: needs a socket unit", "--listen", "systemd:", pid="1")

    def test_beyond_this_machine_are_refused(self):
        self.bind(("0.0.0.0", 0))
        self.expect_refused("descriptor 3 of systemd: tcp:0.0.0.0:")

    def test_tls_needs_a_certificate_there_too(self):
        self.bind(os.path.join(self.dir, "passed.sock"))
        self.bind(("0.0.0.0", 0))
        self.expect_refused("needs certificate and key in [tls]", names="x:tls")

    def test_of_other_kinds_are_refused(self):
        rule = "descriptor 3 of systemd: has to be a socket of ListenStream= with Accept=no"
        self.bind(os.path.join(self.dir, "passed.sock"), socket.SOCK_DGRAM)
        self.expect_refused(rule)
        self.passed.clear()
        self.bind(os.path.join(self.dir, "silent.sock"), listens=False)
        self.expect_refused(rule)


class Units(unittest.TestCase):
    def read(self, name):
        """Sections, each a table of lists."""
        sections, section = {}, None
        with open(os.path.join(UNITS, name), encoding="utf-8") as file:
            for line in file.read().splitlines():
                if line.startswith("["):
                    section = sections.setdefault(line, {})
                elif line and not line.startswith("#"):
                    key, value = line.split("=", 1)
                    section.setdefault(key, []).append(value)
        return sections

    def test_they_say_what_the_server_does(self):
        service = self.read("airlock-server.service")["[Service]"]
        self.assertEqual((service["Type"], service["ExecReload"]), (["notify"], ["/bin/kill -HUP $MAINPID"]))
        self.assertGreater(int(service["TimeoutStopSec"][0]), 10)  # TERM ends within 10 s.
        self.assertGreater(int(service["LimitNOFILE"][0]), 10_000)
        self.assertEqual((service["NoNewPrivileges"], service["ProtectSystem"], service["CapabilityBoundingSet"]),
                         (["yes"], ["strict"], [""]))
        self.assertNotIn("PrivateUsers", service)
        sockets = self.read("airlock-server.socket")["[Socket]"]
        self.assertEqual(sockets["ListenStream"], [f"/run/{service['RuntimeDirectory'][0]}/airlock.sock"])
        self.assertEqual((service["RuntimeDirectoryPreserve"], sockets["SocketMode"]), (["yes"], ["0660"]))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_systemd_finds_nothing_wrong(self):
        for name in ("airlock-server.service", "airlock-server.socket"):
            self.verify(name)

    def verify(self, name):
        with tempfile.TemporaryDirectory() as folder:
            for each in os.listdir(UNITS):
                with open(os.path.join(UNITS, each), encoding="utf-8") as file:
                    text = file.read().replace("/usr/bin/airlock-server", BINARY)
                with open(os.path.join(folder, each), "w", encoding="utf-8") as file:
                    file.write(text)
            path = os.path.join(folder, name)
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True,
                                  timeout=LONG, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            if name.endswith(".service"):
                done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--threshold=15", path],
                                      capture_output=True, text=True, timeout=LONG, check=False)
                self.assertEqual(done.returncode, 0, done.stdout[-200:])


if __name__ == "__main__":
    unittest.main()
