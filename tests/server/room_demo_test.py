#!/usr/bin/env python3
"""`./dev room` without its build: the waiting room keeps the site from falling over, a client that joins gets in, and nothing is
left when it ends."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

from server_case import BINARY, LONG, eventually

ROOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/room")
sys.path.insert(0, ROOM)

from visitors import Browser, wait_by_stream  # noqa: E402

LINE = re.compile(r" *\d+ s   inside +(\d+)   waiting +(\d+)   admitted so far +(\d+)   site errors (\d+)\n")


def command_line(process):
    try:
        with open(f"/proc/{process}/cmdline", encoding="latin-1") as file:
            return file.read()
    except OSError:
        return ""


class RoomDemo(unittest.TestCase):
    def start(self, *options):
        self.demo = subprocess.Popen([sys.executable, os.path.join(ROOM, "room.py"), BINARY, *options], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        self.port = int(self.read_until(r" http://localhost:(\d+)/ ").group(1))
        self.programs = self.children()

    def end(self):
        if self.demo.poll() is None:
            self.demo.kill()
        self.demo.wait()
        self.demo.stdout.close()

    def read_until(self, pattern, condition=lambda match: True):
        for line in self.demo.stdout:
            match = re.search(pattern, line)
            if match and condition(match):
                return match
        raise AssertionError(f"ended with {self.demo.wait()} before {pattern}")

    def read_line(self, condition):
        """The next line of numbers for which the condition holds: inside, waiting, admitted, errors."""
        return [int(each) for each in self.read_until(LINE, lambda match: condition(*map(int, match.groups()))).groups()]

    def children(self):
        """Process ids of airlock-server and nginx, and the folder that their configuration is in."""
        with open(f"/proc/{self.demo.pid}/task/{self.demo.pid}/children", encoding="ascii") as file:
            found = file.read().split()
        self.folder = re.search(r"/[^\0]*/airlock-room-[^/\0]+", command_line(found[0])).group()
        self.assertEqual(len(found), 2)
        return found

    def expect_nothing_left(self):
        self.assertTrue(eventually(lambda: not any(self.folder in command_line(each) for each in self.programs)))

    def expect_end(self, status):
        rest = self.demo.stdout.read()
        self.assertEqual(self.demo.wait(LONG), status, rest)
        self.expect_nothing_left()
        self.assertFalse(os.path.exists(self.folder))
        return rest

    def test_the_site_does_not_fall_over_and_ctrl_c_leaves_nothing(self):
        self.start("--visitors", "40", "--port", "0")
        numbers = self.read_line(lambda inside, waiting, admitted, errors: waiting and admitted > 10 or errors)
        self.assertEqual((numbers[0] <= 20, numbers[3]), (True, 0), numbers)
        asyncio.run(self.join_and_get_in())
        self.demo.send_signal(signal.SIGINT)
        self.assertIn("never fell over", self.expect_end(0))

    async def join_and_get_in(self):
        browser = Browser(self.port)
        page = await browser.get("/")
        while page.is_room:
            page = await wait_by_stream(browser, page)
        self.assertEqual(page.status, 200)
        self.assertIn("You are in", page.body)

    def test_without_its_room_the_site_falls_over(self):
        self.start("--visitors", "100", "--port", "0", "--no-room")
        self.read_until(r"site errors [1-9]")
        self.demo.send_signal(signal.SIGTERM)
        self.assertIn("It fell over", self.expect_end(1))

    def test_it_ends_by_itself(self):
        self.start("--visitors", "1", "--port", "0", "--seconds", "1")
        self.assertIn("never fell over", self.expect_end(0))

    def test_a_killed_demo_leaves_no_processes(self):
        self.start("--visitors", "1", "--port", "0")
        self.demo.kill()
        self.demo.wait()
        self.expect_nothing_left()
        shutil.rmtree(self.folder)


if __name__ == "__main__":
    unittest.main()
