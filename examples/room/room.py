#!/usr/bin/env python3
"""A waiting room to try: a site that falls over above its limit, nginx and airlock-server in front of it, and visitors.

    room.py AIRLOCK_SERVER [--visitors N] [--seconds N] [--port N] [--no-room]

`./dev room` builds the server and runs this. It prints the address for a browser and then a line per second, until Ctrl-C. The
configurations are those that docs/waiting-room.md shows, with smaller numbers. Exit status 1: the site fell over.
"""

import argparse
import asyncio
import base64
import ctypes
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from fragile_site import Site
from visitors import Browser, Visitors

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/proxies"
UNPACKED = ROOT / "build/proxies"  # By ./dev, which does not install nginx.
SITE_BEARS = 25  # Requests at once.
SESSIONS = 20
ROOM = [("limit = 500 ", f"limit = {SESSIONS} "), ("100/1m", "5/1s"), ('ttl = "5m"', 'ttl = "20s"'),
        ("# [/room]", 'patience = "20s"\nrefresh = "3s"\n')]
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


class Failure(Exception):
    """Something that is needed does not run."""


def changed(name, changes):
    """A file of examples/proxies with the numbers and addresses of this run."""
    text = (EXAMPLES / name).read_text()
    for old, new in changes:
        if old not in text:
            raise Failure(f"{EXAMPLES / name} has no {old!r}")
        text = text.replace(old, new)
    return text


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def is_listening(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    except OSError:
        return False


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def nginx_program():
    found = shutil.which("nginx", path=os.pathsep.join([str(UNPACKED / "usr/sbin"), os.environ.get("PATH", ""), "/usr/sbin"]))
    if not found:
        raise Failure("nginx is needed: ./dev room unpacks it into build/proxies, or install it")
    return found


def end_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Demo:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.processes, self.stop = {}, asyncio.Event()
        usual = 8080 if options.port is None and is_free(8080) else 0
        self.port = options.port or usual or free_port()
        self.site = Site(SITE_BEARS)
        self.visitors = Visitors(self.port, options.visitors)

    def run_program(self, name, *command, **streams):
        # In a group of its own, so that Ctrl-C reaches this program alone.
        self.processes[name] = subprocess.Popen(command, start_new_session=True, preexec_fn=end_with_parent, **streams)
        return self.processes[name]

    def start_server(self):
        (self.folder / "room.keys").write_text("demo " + base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=") + "\n")
        (self.folder / "room.toml").write_text(changed("room.toml", [("tcp:127.0.0.1:8420", "tcp:127.0.0.1:0"), *ROOM]))
        server = self.run_program("airlock-server", self.options.server, "--store", "memory:", "--config",
                                  self.folder / "room.toml", stdout=subprocess.PIPE, text=True)
        listens = server.stdout.readline()
        if "tcp:127.0.0.1:" not in listens:
            raise Failure(f"airlock-server does not start: {listens}")
        self.server_port = int(listens.split("tcp:127.0.0.1:")[1].split(";")[0])

    async def start_nginx(self):
        changes = [("127.0.0.1:8420", f"127.0.0.1:{self.server_port}"), ("127.0.0.1:8080", f"127.0.0.1:{self.site.port}"),
                   ("listen 80;", f"listen 127.0.0.1:{self.port} backlog=4096;")]
        if self.options.no_room:
            changes.append(("auth_request /airlock-check;", "auth_request off;"))
        (self.folder / "room.nginx.conf").write_text(changed("room.nginx.conf", changes))
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        (self.folder / "main.conf").write_text(
            f"daemon off; master_process off; error_log stderr; pid {self.folder}/pid;\n"
            "events { worker_connections 16384; }\nhttp { access_log off; "
            + " ".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in kinds) + f" include {self.folder}/room.nginx.conf; }}\n")
        with open(self.folder / "nginx.log", "wb") as log:
            nginx = self.run_program("nginx", nginx_program(), "-p", self.folder, "-e", "stderr", "-c", self.folder / "main.conf",
                                     stdout=log, stderr=log)
        while not is_listening(self.port):
            if nginx.poll() is not None:
                raise Failure(f"nginx does not start:\n{(self.folder / 'nginx.log').read_text()}")
            await asyncio.sleep(0.05)

    async def run(self):
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(each, self.stop.set)
        try:
            await self.site.start()
            self.start_server()
            await self.start_nginx()
            self.visitors.start()
            self.introduce()
            await self.show_progress()
        finally:
            await self.visitors.close()
            self.end_programs()
            await self.site.close()
        self.sum_up()
        return 1 if self.site.errors else 0

    def introduce(self):
        inside = "nothing protects it" if self.options.no_room else f"its waiting room lets {SESSIONS} in"
        print(f"The site bears {SITE_BEARS} requests at once. {self.options.visitors} visitors want to see it; {inside}.\n\n"
              f"    http://localhost:{self.port}/                 the site: join them in a browser")
        if not self.options.no_room:
            print(f"    http://localhost:{self.server_port}/#/gates/shop    the dashboard")
        print("\nCtrl-C ends it." if self.options.seconds is None else f"\nIt ends after {self.options.seconds} s.", flush=True)

    async def show_progress(self):
        clock, second = asyncio.get_running_loop().time, 0
        begin = clock()
        while second != self.options.seconds:
            try:
                await asyncio.wait_for(self.stop.wait(), max(0, begin + second + 1 - clock()))
                return
            except asyncio.TimeoutError:
                second += 1
            self.check_programs()
            await self.show_line(second)

    async def show_line(self, second):
        print(f"{second:5} s   {await self.describe_line()}   site errors {self.site.errors}", flush=True)

    async def describe_line(self):
        if self.options.no_room:
            return f"requests inside {self.site.inside:4}   pages {self.site.pages:5}"
        answer = await Browser(self.server_port).get("/v1/gates/shop", "application/json")
        gate = json.loads(answer.body) if answer.status == 200 else {"in_use": 0, "waiting": 0, "counters": {"granted": 0}}
        return f"inside {gate['in_use']:3}   waiting {gate['waiting']:4}   admitted so far {gate['counters']['granted']:5}"

    def check_programs(self):
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise Failure(f"{name} has ended with status {process.returncode}")

    def end_programs(self):
        for name in reversed(self.processes):
            process = self.processes[name]
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()

    def sum_up(self):
        print(f"\nThe site made {self.site.pages} pages. " + (
            f"It fell over: {self.site.errors} requests were answered 500." if self.site.errors else "It never fell over.") +
            (f" {self.visitors.failures} times a visitor saw an error." if self.visitors.failures else ""), flush=True)


def number(text):
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(text)


def read_options():
    parser = argparse.ArgumentParser(prog="./dev room", description="A site that falls over above its limit, its waiting room, and visitors.")
    parser.add_argument("server", help=argparse.SUPPRESS)
    parser.add_argument("--visitors", type=number, default=200, metavar="N", help="simulated visitors (200)")
    parser.add_argument("--seconds", type=number, metavar="N", help="end after N seconds; exit status 1 if the site fell over")
    parser.add_argument("--port", type=number, metavar="N", help="of the site (8080, or a free one)")
    parser.add_argument("--no-room", action="store_true", help="leave the waiting room out, and see the site fall over")
    return parser.parse_args()


def main():
    options = read_options()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="airlock-room-") as folder:
        try:
            return asyncio.run(Demo(options, folder).run())
        except Failure as failure:
            print(f"error: {failure}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
