"""Rates, cooldowns, composites and waiting rooms, on every store."""

from __future__ import annotations

import asyncio
import time

import pytest

import airlock
from conftest import DEADLINE, Started


def test_a_rate_takes_and_refuses(store, gate):
    api = airlock.RateLimiter(store, gate, "5/1h", "100/2h")
    state = api.try_acquire(cost=2)
    assert state is not None and (state.limit, state.remaining, state.taken) == (5, 3, 2)
    assert api.peek(cost=3) is not None and api.peek(cost=4) is None
    assert api.try_acquire(cost=4) is None
    assert api.take_at_most(10) == 3 and api.take_at_most(1) == 0
    with pytest.raises(airlock.Refused) as refused:
        api.acquire(blocking=False)
    assert (refused.value.reason, refused.value.gate) == ("rate", gate) and 0 < refused.value.retry_after <= 3600
    with pytest.raises(airlock.Refused):
        api.reserve(max_delay=1)
    assert 0 < api.reserve().delay <= 3600


def test_a_cost_above_the_burst_is_never_let_in(store, gate):
    with pytest.raises(airlock.Refused) as refused:
        airlock.RateLimiter(store, gate, "5/1h").acquire(cost=6)
    assert refused.value.reason == "never" and refused.value.retry_after == float("inf")


def test_a_rate_is_waited_for(store, gate):
    api = airlock.RateLimiter(store, gate, "1/50ms")
    begin = time.monotonic()
    for _ in range(3):
        api.acquire(timeout=DEADLINE)
    assert time.monotonic() - begin >= 0.09

    async def main():
        for _ in range(3):
            await api.acquire_async(timeout=DEADLINE)

    begin = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - begin >= 0.09


def test_a_cooldown(store, gate):
    cooldown = airlock.Cooldown(store, gate, period=3600)
    assert cooldown.try_acquire() and not cooldown.try_acquire()
    with pytest.raises(airlock.Refused) as refused:
        cooldown.acquire()
    assert 3000 < refused.value.retry_after <= 3600


def test_a_composite_takes_both_or_nothing(store, gate):
    pool = airlock.Semaphore(store, gate + "-pool", limit=1)
    api = airlock.RateLimiter(store, gate + "-api", "2/1h")
    both = airlock.Composite(pool, api)
    with both.acquire() as lease:
        assert lease.valid and pool.available_slots() == 0
        assert both.try_acquire() is None
        assert api.peek().remaining == 1
    assert store.flush(20) and pool.available_slots() == 1

    async def main():
        with await both.acquire_async():
            assert pool.available_slots() == 0

    asyncio.run(main())
    with pytest.raises(airlock.Refused) as refused:
        both.acquire()
    assert refused.value.reason == "rate"
    assert store.flush(20) and pool.available_slots() == 1
    lock = airlock.Composite(airlock.Lock(store, gate + "-lock"), airlock.Cooldown(store, gate + "-cool", 3600))
    with lock.acquire():
        assert lock.try_acquire() is None
    assert isinstance(both.is_atomic, bool)
    with pytest.raises(TypeError):
        airlock.Composite(api, pool)


def test_a_waiting_room(store, gate):
    room = airlock.WaitingRoom(store, gate, limit=1)
    first = room.admit("ann")
    assert isinstance(first, airlock.Admitted) and 0 < first.expires_in <= 30
    assert first.token not in repr(first)
    assert room.admit("ann") == first or room.admit("ann").fence == first.fence
    bob, eve = room.admit("bob"), room.admit(b"eve")
    assert isinstance(bob, airlock.Queued) and (bob.position, eve.position) == (1, 2) and bob.next_check > 0
    assert room.claim("nobody") is None and room.leave("nobody") is False
    assert room.mark_absent("nobody") is False and room.mark_absent("eve") is True
    assert room.leave("eve") is True
    room.renew(first.token, 60)
    room.release(first.token)
    with pytest.raises(airlock.LeaseExpired):
        room.release(first.token)
    assert isinstance(room.claim("bob"), airlock.Admitted)
    with pytest.raises(airlock.Refused):
        airlock.WaitingRoom(store, gate, limit=1, max_waiting=1).admit("x")
        airlock.WaitingRoom(store, gate, limit=1, max_waiting=1).admit("y")


def test_operators(store, gate):
    erp = airlock.Bulkhead(store, gate, limit=3, rates="100/s")
    with erp.acquire(label="me"):
        view = store.look(gate)
        assert view is not None and view["limit"] == 3 and view["granted"] == 1
        assert view["holders"][0]["label"] == "me" and view["rates"][0]["count"] == 100
        assert gate in store.gates() and gate in store.metrics()
        assert isinstance(store.doctor(), list)
        store.set_limit(gate, 1)
        assert store.count(gate)["overridden"] and erp.try_acquire() is None
        assert store.look(gate)["override_limit"] == 1
        store.set_limit(gate, None)
        store.pause(gate, 3600, "vendor")
        with pytest.raises(airlock.Refused) as refused:
            erp.acquire()
        assert refused.value.reason == "paused"
        assert store.look(gate)["pauses"][0]["reporter"] == "vendor"
        assert store.resume(gate) is False and store.resume(gate, "vendor") is True
        assert store.revoke(gate) == 1
    assert store.flush(20)
    assert store.look(gate)["refused"]["paused"] == 1
    assert store.purge(gate) is True and store.look(gate + "-none") is None


def test_a_rate_that_is_waited_for_in_a_thread(store, gate):
    api = airlock.RateLimiter(store, gate, "1/50ms")
    for waiter in [Started(api.acquire) for _ in range(3)]:
        waiter.join()
