"""A WSGI application that is loaded before gunicorn forks its workers. test_processes.py runs it."""

import os
import time

import airlock

store = airlock.open(os.environ["AIRLOCK_STORE"])
erp = airlock.Semaphore(store, "erp", limit=2)
with erp:  # Used before the fork, too.
    pass


def app(environ, start_response):
    if environ["PATH_INFO"] == "/hold":
        erp.acquire().__enter__()
        os.kill(os.getpid(), 9)
    with erp as lease:
        counts = store.count("erp")
        time.sleep(0.002)  # So that requests overlap.
        answer = f"{os.getpid()} {counts['in_use']} {lease.valid}"
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(answer)))])
    return [answer.encode()]
