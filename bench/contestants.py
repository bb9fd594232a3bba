"""Who takes part in a crowd: what it is called, whether it is there, and how it is started."""

import dataclasses
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import typing

from machine import first_line

PEERS = pathlib.Path(__file__).parent / "peers"
LEAKS = "the slot of a killed holder is lost"


class Redis:
    """A redis-server of its own, on a Unix socket."""

    def __init__(self, folder):
        self.socket = f"{folder}/redis.sock"
        self.process = None
        program = os.environ.get("AIRLOCK_REDIS_SERVER", "redis-server")
        if shutil.which(program) is None:
            return
        self.process = subprocess.Popen(
            [program, "--port", "0", "--unixsocket", self.socket, "--save", "", "--appendonly", "no",
             "--dir", folder, "--logfile", f"{folder}/redis.log"])
        while not os.path.exists(self.socket):
            if self.process.poll() is not None:
                raise RuntimeError("redis-server does not start")
            time.sleep(0.01)

    @property
    def is_there(self):
        return self.process is not None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.kill()
            self.process.wait()

    def forget_all(self):
        if not self.is_there:
            return
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.socket)
            connection.sendall(b"FLUSHALL\r\n")
            assert connection.recv(64).startswith(b"+OK")

    def cpu_us(self):
        if not self.is_there:
            return 0
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1_000_000 // os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Contestant:
    name: str
    family: str  # thread, process, redis or command: those are compared with each other.
    version: typing.Optional[str]  # None: not installed.
    command: typing.Callable  # (place, redis) -> words; place is a folder of this crowd alone.
    ours: bool = False
    note: str = ""
    note_slots: str = ""  # Said where there are several slots.
    needs_redis: bool = False
    is_slow: bool = False  # Programs or interpreters to start: not in a quick run.
    can_be_killed: bool = True
    most_clients: int = 200  # What a small machine carries.
    least_ms: int = 0  # A shorter round says nothing.
    most_rounds: int = 9
    scales: bool = False  # Also measured with fewer and more clients.
    package: str = ""

    def fitted(self, plan):
        clients = plan["clients"] if self.scales else min(plan["clients"], self.most_clients)
        return {**plan, "clients": clients, "ms": max(plan["ms"], self.least_ms)}

    def note_for(self, plan):
        notes = [self.note] if self.note else []
        if self.note_slots and plan["slots"] > 1:
            notes.append(self.note_slots)
        return "; ".join(notes)

    def describe(self):
        return {"name": self.name, "version": self.version, "ours": self.ours, "package": self.package}


def php_version(extension, *options):
    words = ["php", *options, "-d", "apc.enable_cli=1", "-r",
             f"if (!extension_loaded('{extension}') || !extension_loaded('pcntl')) exit(1); "
             f"echo 'PHP ', PHP_VERSION, ', {extension} ', phpversion('{extension}');"]
    return first_line(*words)


def python_with_redis():
    """An interpreter that has redis-py, and what it is: (program, version)."""
    for program in [sys.executable, "/usr/bin/python3"]:
        version = first_line(program, "-c", "import platform, redis; print('redis-py', redis.__version__ + ', Python', "
                             "platform.python_version())")
        if version:
            return program, version
    return None, None


def number_in(line):
    found = re.search(r"\d[\w.]*", line or "")
    return found.group(0) if found else None


def own(programs):
    crowd = str(programs / "airlock_crowd")
    php = ["php", "-d", f"extension={programs.parent / 'bindings/php/airlock.so'}"]
    version = first_line(str(programs.parent / "tools/cli/airlock"), "--version") or "this build"
    return [
        Contestant("airlock memory:", "thread", version, ours=True, can_be_killed=False,
                   command=lambda place, redis: [crowd, "airlock", "--threads", "--at", "memory:"]),
        Contestant("airlock shm:", "process", version, ours=True, scales=True,
                   command=lambda place, redis: [crowd, "airlock", "--at", f"shm:crowd?dir={place}"]),
        Contestant("airlock in PHP, shm:", "process", php_version("airlock", *php[1:]), ours=True, is_slow=True,
                   package="php8.2-cli php8.2-dev",
                   command=lambda place, redis: [*php, str(PEERS / "airlock.php"), "--at", f"shm:crowd?dir={place}"]),
        Contestant("airlock redis, processes", "redis", version, ours=True, needs_redis=True, scales=True,
                   command=lambda place, redis: [crowd, "airlock", "--at", f"redis+unix://{redis.socket}"]),
        Contestant("airlock redis, threads", "redis", version, ours=True, needs_redis=True, can_be_killed=False,
                   command=lambda place, redis: [crowd, "airlock", "--threads", "--at", f"redis+unix://{redis.socket}"]),
        Contestant("airlock run", "command", version, ours=True, can_be_killed=False, is_slow=True,
                   most_clients=50, least_ms=2000,
                   command=lambda place, redis: [crowd, "airlock-command", "--at", place]),
    ]


def of_the_system(programs):
    crowd = str(programs / "airlock_crowd")
    boost = str(programs / "airlock_crowd_boost")
    libc = " ".join(os.confstr("CS_GNU_LIBC_VERSION").split())
    kernel = f"Linux {os.uname().release}"
    boost_version = first_line(boost, "--version")
    return [
        Contestant("std::counting_semaphore", "thread", libc, can_be_killed=False,
                   command=lambda place, redis: [crowd, "counting_semaphore", "--threads"]),
        Contestant("POSIX semaphore", "process", libc, scales=True, note=LEAKS,
                   command=lambda place, redis: [crowd, "posix"]),
        Contestant("SysV semaphore", "process", kernel, note="with SEM_UNDO", scales=True,
                   command=lambda place, redis: [crowd, "sysv"]),
        Contestant("flock(2)", "process", kernel, note_slots="a file for each slot, clients spread over them",
                   command=lambda place, redis: [crowd, "flock", "--at", place]),
        Contestant("Boost named_semaphore", "process", boost_version and "Boost " + boost_version.replace("_", "."),
                   note=LEAKS, package="libboost-dev", command=lambda place, redis: [boost]),
    ]


def of_scripts():
    python, redis_py = python_with_redis()
    return [
        Contestant("PHP, slots in APCu", "process", php_version("apcu"), is_slow=True,
                   note="polls every 50 ms, its lock every 1 ms", package="php-cli php-apcu",
                   command=lambda place, redis: ["php", "-d", "apc.enable_cli=1", str(PEERS / "apcu.php")]),
        Contestant("PHP, sorted set in Redis", "redis", php_version("redis"), is_slow=True, needs_redis=True,
                   note="polls every 50 ms", package="php-cli php-redis",
                   command=lambda place, redis: ["php", str(PEERS / "redis.php"), "--at", redis.socket]),
        Contestant("redis-py Lock", "redis", redis_py, is_slow=True, needs_redis=True, note="polls every 100 ms",
                   note_slots="a lock for each slot, clients spread over them", package="python3-redis",
                   command=lambda place, redis: [python, str(PEERS / "redis_lock.py"), "--at", redis.socket]),
    ]


def of_commands(programs):
    crowd = str(programs / "airlock_crowd")
    flock = first_line("flock", "--version")
    sem = first_line("sem", "--version")
    return [
        Contestant("flock(1)", "command", flock and "util-linux " + (number_in(flock.split()[-1]) or ""),
                   can_be_killed=False, note_slots="a file for each slot, clients spread over them", is_slow=True,
                   most_clients=50, least_ms=2000,
                   command=lambda place, redis: [crowd, "flock-command", "--at", place]),
        Contestant("GNU sem", "command", sem and "parallel " + (number_in(sem) or ""), is_slow=True,
                   can_be_killed=False, package="parallel", most_clients=20, least_ms=6000, most_rounds=1,
                   command=lambda place, redis: [crowd, "sem-command", "--at", place]),
    ]


def all_contestants(programs):
    return own(programs) + of_the_system(programs) + of_scripts() + of_commands(programs)
