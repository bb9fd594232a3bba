"""Wrong calls get the exception of the language, with a clear text, and change nothing."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import random

import pytest

import airlock
from airlock import _airlock
from conftest import Started


class Hostile:
    """Raises wherever it is asked for something."""

    def __index__(self):
        raise KeyError("index")

    def __float__(self):
        raise KeyError("float")

    def __iter__(self):
        raise KeyError("iter")


@pytest.mark.parametrize("uri, error", [
    (None, TypeError), (b"shm:", TypeError), (3, TypeError), ("", ValueError), ("nothing:", ValueError), ("shm:\0x", ValueError),
    ("shm:\udc80", UnicodeEncodeError), ("redis://", ValueError), ("memory:?shards=0", ValueError), ("x" * 100000, ValueError),
])
def test_stores(uri, error):
    with pytest.raises(error) as raised:
        airlock.open(uri)
    assert str(raised.value)


def test_passwords_are_not_shown():
    with pytest.raises(ValueError) as raised:
        airlock.open("redis://me:hunter2@host:port")
    store = airlock.open("redis://me:hunter2@127.0.0.1:1?timeout=1s")
    assert "hunter2" not in str(raised.value) + repr(store)
    with pytest.raises(airlock.StoreError) as down:
        airlock.Bulkhead(store, "x", limit=1).acquire()
    assert "hunter2" not in str(down.value)


@pytest.mark.parametrize("options, error", [
    ({"name": ""}, ValueError), ({"name": None}, TypeError), ({"name": b"x"}, TypeError), ({"name": "a\0b"}, ValueError),
    ({"name": "a b"}, ValueError), ({"name": "x" * 201}, ValueError), ({"name": "\ud800"}, UnicodeEncodeError),
    ({"store": "memory:"}, TypeError), ({"store": None}, TypeError),
    ({"limit": 0}, ValueError), ({"limit": -1}, ValueError), ({"limit": 2**32}, ValueError), ({"limit": 10**100}, ValueError),
    ({"limit": -(10**100)}, ValueError), ({"limit": 1.5}, TypeError), ({"limit": "1"}, TypeError), ({"limit": None}, TypeError),
    ({"limit": Hostile()}, KeyError),
    ({"ttl": 0}, ValueError), ({"ttl": -1}, ValueError), ({"ttl": math.nan}, ValueError), ({"ttl": 1e300}, ValueError),
    ({"ttl": "5s"}, TypeError), ({"ttl": Hostile()}, TypeError), ({"ttl": -(10**400)}, ValueError),
    ({"max_wait": -0.1}, ValueError), ({"max_wait": math.nan}, ValueError), ({"max_wait": -math.inf}, ValueError),
    ({"max_hold": 0}, ValueError), ({"rates": ["100"]}, ValueError), ({"rates": 3}, TypeError), ({"rates": [3]}, TypeError),
    ({"rates": ["1/s"] * 9}, ValueError), ({"rates": Hostile()}, KeyError), ({"rates": "1/s\0"}, ValueError),
    ({"order": "lifo"}, ValueError), ({"order": 1}, TypeError), ({"outage": "maybe"}, ValueError),
    ({"aging": 3}, TypeError), ({"aging": (1, 2)}, TypeError), ({"aging": (1, 2, "x")}, TypeError), ({"max_waiting": -1}, ValueError),
    ({"patience": 0}, ValueError), ({"unknown": 1}, TypeError),
])
def test_options(memory, options, error):
    with pytest.raises(error) as raised:
        airlock.Bulkhead(**{"store": memory, "name": "x", "limit": 1, **options})
    assert str(raised.value)
    assert memory.gates() == []


@pytest.mark.parametrize("arguments, error", [
    ({"timeout": -1}, ValueError), ({"timeout": math.nan}, ValueError), ({"timeout": "1"}, TypeError),
    ({"blocking": False, "timeout": 1}, ValueError), ({"weight": 0}, ValueError), ({"weight": -1}, ValueError),
    ({"weight": 2**32}, ValueError), ({"weight": 3}, ValueError), ({"cost": 0}, ValueError), ({"cost": 1.0}, TypeError),
    ({"priority": 5000}, ValueError), ({"priority": -1}, ValueError), ({"label": b"x"}, TypeError),
    ({"label": "\udcff"}, UnicodeEncodeError), ({"nothing": 1}, TypeError), ({"blocking": Hostile(), "weight": Hostile()}, KeyError),
])
def test_acquire(memory, arguments, error):
    erp = airlock.Bulkhead(memory, "x", limit=2, order="priority")
    with pytest.raises(error) as raised:
        erp.acquire(**arguments)
    assert str(raised.value)
    assert memory.count("x")["in_use"] == 0
    if "blocking" not in arguments:
        with pytest.raises(error):
            asyncio.run(_await(erp.acquire_async(**arguments)))
    assert memory.count("x")["in_use"] == 0 and memory.count("x")["waiting"] == 0


async def _await(entry):
    return await entry


def test_objects_that_were_not_initialised(memory):
    for kind in (airlock.Bulkhead, airlock.Lock, airlock.Semaphore, _airlock.Gate):
        bare = kind.__new__(kind)
        for use in (lambda: bare.acquire(), lambda: bare.try_acquire(), lambda: bare.__enter__(), lambda: bare._admit("x"),
                    lambda: bare._claim("x"), lambda: bare._leave("x"), lambda: bare._mark_absent("x"), lambda: _airlock.Mailbox().enter(bare, 1)):
            with pytest.raises(ValueError, match="not initialised"):
                use()
        assert "not initialised" in repr(bare) and bare.name is None and bare.store is None and bare.limit == 0
    erp = airlock.Bulkhead(memory, "x", limit=1)
    with pytest.raises(ValueError, match="before"):
        erp.__init__(memory, "y", limit=5)
    assert (erp.name, erp.limit) == ("x", 1)


@pytest.mark.parametrize("kind", [airlock.Lease, _airlock.Seal])
def test_types_that_are_not_called(kind):
    for make in (lambda: kind(), lambda: kind.__new__(kind), lambda: object.__new__(kind)):
        with pytest.raises(TypeError):
            make()


def test_tokens(memory):
    for token, error in ((None, TypeError), (b"x", TypeError), ("", ValueError), ("x", ValueError), ("\0", ValueError), ("x" * 9999, ValueError)):
        for use in (lambda: memory.adopt(token), lambda: memory.renew(token, 5), lambda: memory.release(token), lambda: memory.holds(token)):
            with pytest.raises(error):
                use()
    token = airlock.Lock(memory, "x").acquire().detach()
    with pytest.raises((ValueError, airlock.Error)) as raised:
        airlock.open("memory:").release(token)
    assert token not in str(raised.value)


def test_internal_methods_do_not_crash(memory):
    erp = airlock.Bulkhead(memory, "x", limit=1)
    with pytest.raises(TypeError):
        erp._open_block(None, 3)
    with pytest.raises(RuntimeError):
        erp._close_block(None)
    box = _airlock.Mailbox()
    for wrong in (-1, 2**64, "x", None):
        with pytest.raises((TypeError, OverflowError)):
            box.enter(erp, wrong)
    with pytest.raises(TypeError):
        box.enter(3, 1)
    with pytest.raises(TypeError):
        box.watch(3, 1)
    assert box.cancel(77) is False and box.next() is None


def test_callbacks_that_raise_pass_it_on(memory):
    erp = airlock.Bulkhead(memory, "x", limit=1)

    class Oops(Exception):
        pass

    def work():
        raise Oops

    for _ in range(3):
        with pytest.raises(Oops):
            erp.call(work)
    assert memory.count("x")["in_use"] == 0


def test_one_lease_used_by_many_threads(memory):
    for _ in range(50):
        lease = airlock.Bulkhead(memory, "x", limit=4).acquire()
        calls = [lease.release, lease.close, lambda: lease.valid, lambda: lease.remaining, lambda: lease.fence]
        for started in [Started(call) for call in calls]:
            started.join()
    assert memory.count("x")["in_use"] == 0


def values(rng, things):
    numbers = [0, 1, 2, -1, 3.5, 2**31, 2**32, 2**64, -(2**70), math.nan, math.inf, -math.inf, 1e-9, 1e300, True]
    texts = ["", "x", "y", "g/x", "a b", "\0", "\udc80", "x" * 300, "fifo", "100/s", "5/1h,sliding", b"", b"\xff", "é"]
    others = [None, ..., (), [], {}, object(), Hostile(), int, len, ("1/s", "2/s"), (1, 2, 3)]
    return rng.choice(rng.choice([numbers, texts, others, things]))


# What waits until a lease ends, which may be never.
NEVER = {"drain", "flush"}


def members(thing):
    special = ("__enter__", "__exit__", "__init__", "__repr__", "__getitem__")
    return [name for name in dir(type(thing)) if (not name.startswith("__") or name in special) and name not in NEVER]


def test_a_million_random_calls_do_not_crash():
    """In one process, so that a crash is one of this program."""
    calls = int(os.environ.get("AIRLOCK_PYTHON_CALLS", "200000"))
    rng = random.Random(11)
    kinds = [airlock.Bulkhead, airlock.Lock, airlock.Semaphore, airlock.RateLimiter, airlock.Cooldown, airlock.WaitingRoom,
             airlock.KeyedLock, airlock.KeyedBulkhead, airlock.Composite, airlock.EventIsolation, _airlock.Gate, _airlock.Mailbox,
             _airlock.rates_seal, _airlock.lock_seal, _airlock.semaphore_seal, _airlock.cooldown_seal, _airlock.composite_seal,
             _airlock.gate_name, _airlock.storage_key_text, airlock.adopt, airlock.lost]
    keywords = ["limit", "ttl", "max_wait", "max_hold", "rates", "order", "outage", "timeout", "weight", "priority", "cost", "label",
                "blocking", "name", "store", "aging", "max_waiting"]
    stores = [airlock.open("memory:")]
    things: list[object] = list(stores)
    done = 0
    for number in range(calls):
        if number % 5000 == 0:
            stores = [airlock.open("memory:") for _ in range(2)]
            if rng.random() < 0.3:
                stores[1].close()
            things = [*stores, *(airlock.Bulkhead(store, "x", limit=2) for store in stores),
                      airlock.RateLimiter(stores[0], "r", "1000/s"), _airlock.Mailbox()]
        thing = rng.choice(things)
        name = rng.choice(members(thing))
        arguments = [rng.choice(stores) if rng.random() < 0.3 else values(rng, things) for _ in range(rng.randrange(4))]
        named = {rng.choice(keywords): values(rng, things) for _ in range(rng.randrange(3))}
        try:
            call = rng.choice(kinds) if rng.random() < 0.2 else getattr(thing, name)
            result = bounded(call, arguments, named) if callable(call) else None
        except Exception:
            continue
        done += 1
        if asyncio.iscoroutine(result):
            result.close()
        elif type(result).__module__.startswith("airlock") and len(things) < 60:
            things.append(result)
    gc.collect()
    assert done > calls / 50


def bounded(call, arguments, named):
    """Calls it; a wait without bound would be one for ever, so timeouts are short."""
    name = getattr(call, "__name__", "")
    if name in ("acquire", "acquire_async"):
        arguments, named = arguments[:1], {**named, "timeout": 0.0001}
        if arguments and not isinstance(arguments[0], bool):
            arguments = [True]
    elif name in ("__enter__", "call", "_open_async", "call_async"):
        if getattr(call.__self__, "max_wait", 0) != 0:
            return None
    return call(*arguments, **named)
