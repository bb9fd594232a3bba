#!/usr/bin/env python3
"""Runs the tests of the C interface over a Redis server.

    redis_test.py PROGRAM
"""

import os
import subprocess
import sys
import tempfile
import time

SERVER = os.environ.get("AIRLOCK_REDIS_SERVER", "redis-server")


def main():
    with tempfile.TemporaryDirectory() as folder:
        socket = f"{folder}/redis.sock"
        server = subprocess.Popen(
            [SERVER, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", folder],
            stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 120
            while not os.path.exists(socket):
                if server.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"{SERVER} does not start")
                time.sleep(0.01)
            environment = dict(os.environ, AIRLOCK_C_TEST_STORE=f"redis+unix://{socket}")
            # What forks is tried without Redis; the misuse has a store of its own.
            return subprocess.run([sys.argv[1], "--gtest_filter=*redis*-*CProcess*"], env=environment).returncode
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
