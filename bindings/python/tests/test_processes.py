"""Forks, signals, crashes, exits, and gunicorn."""

from __future__ import annotations

import http.client
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import airlock
from conftest import DEADLINE, Started, eventually, run_python

pytestmark = pytest.mark.process


def in_child(function) -> int:
    """Runs it in a forked child; the exit status."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            function()
            status = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_forked_child_owns_nothing_of_its_parent(shm_uri):
    store = airlock.open(shm_uri)
    erp = airlock.Bulkhead(store, "erp", limit=2)
    with erp as lease:
        def child():
            assert not lease.valid and lease.remaining == 0
            lease.close()
            with erp as mine:
                assert mine.valid and erp.available_slots() == 0
            assert erp.available_slots() == 1

        assert in_child(child) == 0
        assert lease.valid and erp.available_slots() == 1
        pid = os.fork()
        if pid == 0:
            erp.__exit__(None, None, None)
            os._exit(0 if erp.available_slots() == 1 else 1)
        assert os.waitpid(pid, 0)[1] == 0
        assert lease.valid
    assert erp.available_slots() == 2


def test_waits_and_loops_work_on_both_sides_of_a_fork(shm_uri):
    import asyncio
    store = airlock.open(shm_uri)
    lock = airlock.Lock(store, "lock")
    busy = airlock.Lock(store, "busy")

    async def wait():
        async with busy:
            with pytest.raises(airlock.Refused):
                await busy.acquire_async(timeout=0.02)
        async with lock.acquire_async(timeout=DEADLINE):
            pass

    with busy, pytest.raises(airlock.Refused):
        busy.acquire(timeout=0.01)  # Leaves a mailbox to be used again.
    asyncio.run(wait())

    def child():
        asyncio.run(wait())
        with busy, pytest.raises(airlock.Refused):
            busy.acquire(timeout=0.01)

    assert in_child(child) == 0
    child()


def test_a_handler_that_forks_while_its_thread_waits(shm_uri):
    source = """
import airlock, os, signal, sys
store = airlock.open(sys.argv[1])
lock = airlock.Lock(store, "lock")
held = lock.acquire()
parent = os.getpid()
def handler(*_):
    global held
    if os.fork() == 0:
        signal.setitimer(signal.ITIMER_REAL, 0)
    else:
        held.release()
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
with lock: pass
if os.getpid() == parent:
    os.wait()
print("in", flush=True)
"""
    done = run_python(source, shm_uri)
    assert done.stdout == "in\nin\n", done.stderr


def count_up(uri: str, path: str, times: int) -> None:
    lock = airlock.Lock(airlock.open(uri), "counter")
    for _ in range(times):
        with lock:
            value = int(Path(path).read_text())
            Path(path).write_text(str(value + 1))


def refuse(uri: str) -> None:
    airlock.Bulkhead(airlock.open(uri), "full", limit=1).acquire()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(shm_uri, tmp_path, method):
    context = multiprocessing.get_context(method)
    counter = tmp_path / "counter"
    counter.write_text("0")
    with airlock.Lock(airlock.open(shm_uri), "counter"):
        processes = [context.Process(target=count_up, args=(shm_uri, str(counter), 50)) for _ in range(4)]
        for process in processes:
            process.start()
    for process in processes:
        process.join(DEADLINE)
        assert process.exitcode == 0
    assert counter.read_text() == "200"
    with airlock.Bulkhead(airlock.open(shm_uri), "full", limit=1), context.Pool(1) as pool:
        with pytest.raises(airlock.Refused) as refused:
            pool.apply(refuse, (shm_uri,))
        assert refused.value.gate == "full"


def start_python(source: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", source, *arguments], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


HOLD = """
import airlock, sys
store = airlock.open(sys.argv[1])
with airlock.Bulkhead(store, "erp", limit=1, ttl=3600):
    print("in", flush=True)
    sys.stdin.read()
"""


def test_a_killed_holder_frees_its_slot(shm_uri):
    erp = airlock.Semaphore(airlock.open(shm_uri), "erp", limit=1, ttl=3600)
    holder = start_python(HOLD, shm_uri)
    try:
        assert holder.stdout.readline() == "in\n"
        assert erp.try_acquire() is None
        waiter = Started(lambda: erp.acquire(timeout=DEADLINE))
        eventually(lambda: erp.store.count("erp")["waiting"] == 1)
    finally:
        holder.kill()
        holder.communicate()
    assert waiter.join().valid


INTERRUPTED = """
import airlock, asyncio, signal, sys
store = airlock.open(sys.argv[1])
lock = airlock.Lock(store, "lock", ttl=3600)
held = lock.acquire()
def wait():
    with lock: pass
async def wait_async():
    async with lock: pass
def handled(*_):
    print("handled", flush=True)
signal.signal(signal.SIGUSR1, handled)
signal.signal(signal.SIGINT, signal.default_int_handler)
print("waiting", flush=True)
try:
    wait() if sys.argv[2] == "blocking" else asyncio.run(wait_async())
except KeyboardInterrupt:
    print("interrupted", flush=True)
held.release()
print(store.flush(20), store.count("lock")["waiting"], store.count("lock")["in_use"], flush=True)
"""


@pytest.mark.parametrize("how", ["blocking", "asyncio"])
def test_ctrl_c_ends_a_wait_and_other_signals_do_not(shm_uri, how):
    store = airlock.open(shm_uri)
    child = start_python(INTERRUPTED, shm_uri, how)
    try:
        assert child.stdout.readline() == "waiting\n"
        eventually(lambda: store.count("lock")["waiting"] == 1)
        place = store.look("lock")["line"][0]["waited"]
        child.send_signal(signal.SIGUSR1)
        if how == "blocking":
            assert child.stdout.readline() == "handled\n"
            assert store.look("lock")["line"][0]["waited"] >= place  # It did not queue again.
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=DEADLINE)
        assert out.replace("handled\n", "").endswith("interrupted\nTrue 0 0\n"), out + err
    finally:
        child.kill()
        child.communicate()


AT_EXIT = """
import airlock, asyncio, sys, threading
store = airlock.open(sys.argv[1])
erp = airlock.Semaphore(store, "erp", limit=2, ttl=20)
held = erp.acquire()
watched = [held]
lock = airlock.Lock(store, "lock")
block = lock.__enter__()
def wait(gate):
    gate.acquire()
def churn():
    while True:
        with erp: pass
for target in (lambda: wait(lock), lambda: wait(lock), churn, churn):
    threading.Thread(target=target, daemon=True).start()
loop = asyncio.new_event_loop()
task = loop.create_task(lock._open_async(None))
task._log_destroy_pending = False
loop.run_until_complete(asyncio.sleep(0))
def hold():
    with erp:
        yield
generator = hold()
next(generator)
print("end", flush=True)
if sys.argv[2] == "raise":
    raise SystemExit(0)
if sys.argv[2] == "cycle":
    held.__class__, loop.own = held.__class__, [loop, erp, generator]
"""


@pytest.mark.parametrize("how", ["return", "raise", "cycle"])
def test_leases_threads_and_loops_at_exit(shm_uri, how):
    for _ in range(17):
        done = run_python(AT_EXIT, shm_uri, how)
        assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
        assert "Error" not in done.stderr and "Fatal" not in done.stderr, done.stderr
    store = airlock.open(shm_uri)
    with airlock.Lock(store, "lock").acquire(timeout=DEADLINE):
        pass



def get(path: Path, url: str) -> str:
    connection = http.client.HTTPConnection("localhost", timeout=DEADLINE)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(DEADLINE)
    try:
        connection.sock.connect(str(path))
        connection.request("GET", url)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def ready(path: Path) -> bool:
    try:
        get(path, "/")
        return True
    except OSError:
        return False


@pytest.mark.parametrize("options", [["--preload"], []], ids=["preload", "each"])
def test_gunicorn(shm_uri, tmp_path, options):
    path = tmp_path / "gunicorn.sock"
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "--workers", "3", "--bind", f"unix:{path}", "--chdir", os.path.dirname(__file__),
         "--worker-tmp-dir", str(tmp_path), "--graceful-timeout", "5", *options, "gunicorn_app:app"],
        env={**os.environ, "AIRLOCK_STORE": shm_uri}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    store = airlock.open(shm_uri)
    try:
        eventually(lambda: ready(path))
        with ThreadPoolExecutor(8) as pool:
            answers = [answer.split() for answer in pool.map(lambda _: get(path, "/"), range(200))]
        assert all(int(count) in (1, 2) and valid == "True" for _, count, valid in answers), answers
        for _ in range(2):  # A worker that is killed inside: gunicorn starts another.
            with pytest.raises((OSError, http.client.HTTPException)):
                get(path, "/hold")
        eventually(lambda: ready(path))
        eventually(lambda: store.count("erp")["in_use"] == 0)
        with ThreadPoolExecutor(8) as pool:
            answers += [answer.split() for answer in pool.map(lambda _: get(path, "/"), range(50))]
        assert len({pid for pid, _, _ in answers}) >= 2
    finally:
        server.terminate()
        out, _ = server.communicate(timeout=DEADLINE)
    assert "Traceback" not in out, out


@pytest.mark.redis
def test_what_is_released_at_the_end_reaches_the_server(redis_uri):
    source = """
import airlock, ctypes, socket, sys
store = airlock.open(sys.argv[1])
ctypes.pythonapi.Py_IncRef(ctypes.py_object(store))  # As what is in a cycle at exit, it is never freed.
with airlock.Bulkhead(store, "at-exit", limit=1, ttl=3600):
    with socket.socket(socket.AF_UNIX) as client:  # The server answers later, and forgets a client that is gone by then.
        client.connect(sys.argv[2])
        client.sendall(b"CLIENT PAUSE 200 ALL\\r\\n")
        assert client.recv(100) == b"+OK\\r\\n"
"""
    store = airlock.open(redis_uri)
    path = redis_uri.removeprefix("redis+unix://").partition("?")[0]
    done = run_python(source, redis_uri, path)
    assert done.returncode == 0, done.stderr
    assert store.count("at-exit")["in_use"] == 0


@pytest.mark.redis
def test_a_fork_with_a_redis_store(redis_uri):
    store = airlock.open(redis_uri)
    erp = airlock.Bulkhead(store, "forked", limit=2)
    with erp as lease:
        def child():
            assert not lease.valid
            with erp:
                assert erp.available_slots() == 0
            assert store.flush(20)

        assert in_child(child) == 0
        assert lease.valid and erp.available_slots() == 1
