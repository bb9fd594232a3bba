"""What the tests of the command share: the binary, a store of their own, ways to run and to wait."""

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BINARY = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "airlock"
QUOTED = shlex.quote(BINARY)  # For a shell.
SHARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/cli/share")
REDIS_SERVER = os.environ.get("AIRLOCK_REDIS_SERVER", "redis-server")


def eventually(condition, seconds=10):
    """Whether it becomes true, asked again and again."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class CommandCase(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="airlock-test-")
        self.environment = {**os.environ, "AIRLOCK_STORE": f"shm:test?dir={self.dir}/store"}
        self.started = []

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        shutil.rmtree(self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def airlock(self, *arguments, **options):
        """Runs it to its end."""
        return subprocess.run([BINARY, *arguments], env=self.environment, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **options)

    def start(self, *arguments, **options):
        """Runs it beside the test."""
        process = subprocess.Popen([BINARY, *arguments], env=self.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.started.append(process)
        return process

    def start_inside(self, *arguments, **options):
        """Runs `airlock run ...` with a command that says its pid and stays until it is ended."""
        process = self.start("run", *arguments, "sh", "-c", "echo $$; exec sleep 60", **options)
        return process, int(process.stdout.readline())

    def status(self, *arguments, **options):
        return self.airlock(*arguments, **options).returncode

    def output(self, *arguments):
        done = self.airlock(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def findings(self):
        """What doctor says, and its status."""
        done = self.airlock("doctor", "--json")
        return json.loads(done.stdout), done.returncode

    def waiting(self, gate):
        done = self.airlock("show", gate, "--json")
        return json.loads(done.stdout)["waiting"] if done.returncode == 0 else 0


@unittest.skipUnless(shutil.which(REDIS_SERVER), f"{REDIS_SERVER} is not installed")
class RedisCase(CommandCase):
    """With a server of its own in the place of shared memory."""

    def setUp(self):
        super().setUp()
        self.redis_socket = self.path("redis.sock")
        self.start_server()
        self.use()

    def start_server(self):
        self.server = subprocess.Popen([REDIS_SERVER, "--port", "0", "--unixsocket", self.redis_socket,
                                        "--save", "", "--dir", self.dir], stdout=subprocess.DEVNULL)
        self.started.append(self.server)
        self.assertTrue(eventually(self.answers))

    def use(self, options="", user="", timeout="5s"):
        self.environment["AIRLOCK_STORE"] = f"redis+unix://{user}{self.redis_socket}?timeout={timeout}{options}"

    def answers(self):
        """Its socket is there before anybody listens at it."""
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(self.redis_socket)
                client.sendall(b"PING\r\n")
                return client.recv(100).startswith(b"+PONG")
            except OSError:
                return False

    def configure(self, *command):
        subprocess.run(["redis-cli", "-s", self.redis_socket, *command], check=True, stdout=subprocess.DEVNULL)


@unittest.skipUnless(shutil.which("bash"), "bash is not installed")
class BashCase(CommandCase):
    """Completion, as readline calls it: it takes ':' and '=' for the ends of words."""

    SCRIPT = r"""
        source "$1"; COMP_LINE=$2; COMP_POINT=${#COMP_LINE}; COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
        COMP_WORDS=($COMP_LINE); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _airlock; printf '%s\n' "${COMPREPLY[@]}"
    """

    def setUp(self):
        super().setUp()
        os.symlink(BINARY, self.path("airlock"))
        self.environment["PATH"] = self.dir + ":" + os.environ["PATH"]

    def offers(self, line):
        done = subprocess.run(["bash", "-c", self.SCRIPT, "bash", os.path.join(SHARE, "airlock.bash"), line],
                              env=self.environment, text=True, stdout=subprocess.PIPE, timeout=60, check=True)
        return done.stdout.split()
