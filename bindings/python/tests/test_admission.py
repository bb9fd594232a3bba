"""Bulkheads, locks, semaphores and their leases, on every store."""

from __future__ import annotations

import copy
import math
import pickle
import threading
import time

import pytest

import airlock
from conftest import Started, eventually


def in_use(store: airlock.Store, gate: str) -> int:
    return store.count(gate)["in_use"]


def test_a_block_holds_a_slot_until_its_end(store, gate):
    erp = airlock.Bulkhead(store, gate, limit=2)
    with erp as lease:
        assert lease.valid and lease.guarded and lease.fence > 0 and lease.slot == 0
        assert 0 < lease.remaining <= 30
        assert in_use(store, gate) == 1 and erp.available_slots() == 1
    assert not lease.valid and lease.remaining == 0
    assert store.flush(20) and in_use(store, gate) == 0


def test_a_block_that_raises_releases_and_passes_it_on(store, gate):
    erp = airlock.Bulkhead(store, gate, limit=1)
    with pytest.raises(ZeroDivisionError):
        with erp:
            1 / 0
    with erp:
        pass


def test_a_refusal_says_why(store, gate):
    erp = airlock.Bulkhead(store, gate, limit=1)
    with erp:
        with pytest.raises(airlock.Refused) as refused:
            erp.acquire()
    error = refused.value
    assert isinstance(error, airlock.Error) and gate in str(error)
    assert (error.reason, error.gate, error.limit) == ("full", gate, 1)
    assert 0 < error.retry_after <= 30 and error.waited >= 0
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.reason, copied.retry_after, str(copied)) == (error.reason, error.retry_after, str(error))


def test_try_acquire_gives_none(store, gate):
    erp = airlock.Bulkhead(store, gate, limit=1, max_wait=None)
    lease = erp.try_acquire()
    assert lease is not None and erp.try_acquire() is None
    lease.release()
    lease.release()
    again = erp.try_acquire()
    assert again is not None and again.fence > lease.fence
    with again:
        pass
    assert store.flush(20) and in_use(store, gate) == 0


def test_a_timeout_bounds_the_wait(store, gate):
    erp = airlock.Bulkhead(store, gate, limit=1, max_wait=None)
    with erp:
        begin = time.monotonic()
        with pytest.raises(airlock.Refused) as refused:
            erp.acquire(timeout=0.05)
        assert time.monotonic() - begin >= 0.05
        assert refused.value.waited >= 0.05
        with pytest.raises(airlock.Refused):
            erp.acquire(blocking=False)
        with pytest.raises(airlock.Refused):
            Started(lambda: erp.acquire(timeout=0.05)).join()


@pytest.mark.parametrize("timeout", [None, math.inf, 1e300, 10**400, 3600])
def test_a_waiter_is_let_in_when_a_slot_is_free(store, gate, timeout):
    erp = airlock.Semaphore(store, gate, limit=1)
    held = erp.acquire()
    waiter = Started(lambda: erp.acquire(timeout=timeout))
    eventually(lambda: store.count(gate)["waiting"] == 1)
    held.release()
    lease = waiter.join()
    assert isinstance(lease, airlock.Lease) and lease.fence > held.fence


def test_the_main_thread_waits_too(store, gate):
    erp = airlock.Semaphore(store, gate, limit=1)
    held = erp.acquire()

    def release_when_somebody_waits():
        eventually(lambda: store.count(gate)["waiting"] == 1)
        held.release()

    helper = Started(release_when_somebody_waits)
    with erp as lease:
        assert lease.fence > held.fence
    helper.join()


def test_waiters_come_in_order(store, gate):
    lock = airlock.Lock(store, gate)
    held = lock.acquire()
    order: list[int] = []

    def work(number: int) -> None:
        with lock:
            order.append(number)

    waiters = []
    for number in range(5):
        waiters.append(Started(lambda number=number: work(number)))
        eventually(lambda: store.count(gate)["waiting"] == number + 1)
    held.release()
    for waiter in waiters:
        waiter.join()
    assert order == [0, 1, 2, 3, 4]


def test_never_more_than_the_limit(store, gate):
    erp = airlock.Semaphore(store, gate, limit=3)
    inside, peak, guard = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal inside, peak
        for _ in range(20):
            with erp:
                with guard:
                    inside += 1
                    peak = max(peak, inside)
                with guard:
                    inside -= 1

    for worker in [Started(work) for _ in range(8)]:
        worker.join()
    assert 1 <= peak <= 3


def test_a_lock_is_exclusive_and_not_reentrant(store, gate):
    lock = airlock.Lock(store, gate)
    assert not lock.locked()
    with lock:
        assert lock.locked()
        with pytest.raises(airlock.Refused):
            lock.acquire(timeout=0.01)
    assert store.flush(20) and not lock.locked()


def test_weight_takes_several_slots(store, gate):
    pool = airlock.Semaphore(store, gate, limit=5)
    with pool.acquire(weight=4):
        assert pool.available_slots() == 1
        assert pool.try_acquire(weight=2) is None
        with pool.acquire(weight=1, label="small job"):
            view = store.look(gate)
            assert sorted(holder["weight"] for holder in view["holders"]) == [1, 4]
            assert "small job" in [holder["label"] for holder in view["holders"]]


def test_priority_goes_first(store, gate):
    erp = airlock.Bulkhead(store, gate, limit=1, order="priority", max_wait=None)
    held = erp.acquire()
    order: list[str] = []

    def work(name: str, priority: int) -> None:
        with erp.acquire(priority=priority):
            order.append(name)

    low = Started(lambda: work("low", 1))
    eventually(lambda: store.count(gate)["waiting"] == 1)
    high = Started(lambda: work("high", 9))
    eventually(lambda: store.count(gate)["waiting"] == 2)
    held.release()
    low.join()
    high.join()
    assert order == ["high", "low"]


def test_call_and_decorator(store, gate):
    erp = airlock.Bulkhead(store, gate, limit=1)
    assert erp.call(lambda a, b: (a, b, in_use(store, gate)), 1, b=2) == (1, 2, 1)

    @erp
    def page(number: int) -> int:
        """A page."""
        return number + in_use(store, gate)

    assert page(41) == 42 and page.__name__ == "page" and page.__doc__ == "A page."
    with erp:
        with pytest.raises(airlock.Refused):
            page(1)
    with pytest.raises(TypeError, match="generator"):
        @erp
        def numbers():
            yield 1
    with pytest.raises(TypeError, match="not a function"):
        erp(3)


def test_a_detached_lease_is_adopted(store, gate):
    lock = airlock.Lock(store, gate)
    lease = lock.acquire()
    assert lease.token.count(".") >= 0 and lease.token not in repr(lease)
    token = lease.detach()
    assert isinstance(token, str) and not lease.valid
    lease.release()
    assert lock.locked() and store.holds(token)
    with pytest.raises(airlock.LeaseExpired):
        lease.detach()
    with pytest.raises(airlock.LeaseExpired):
        _ = lease.token
    with airlock.adopt(store, token) as adopted:
        assert adopted.valid and adopted.fence == lease.fence
    assert store.flush(20) and not lock.locked() and not store.holds(token)
    with pytest.raises(airlock.LeaseExpired):
        airlock.adopt(store, token)
    with pytest.raises(airlock.LeaseExpired):
        store.release(token)
    with pytest.raises(airlock.LeaseExpired):
        store.renew(token, 5)


def test_a_revoked_lease_raises_when_it_is_released(store, gate):
    lease = airlock.Bulkhead(store, gate, limit=1).acquire()
    assert store.revoke(gate, now=True) == 1
    with pytest.raises(airlock.LeaseExpired, match="stop the work"):
        lease.release()
    lease.release()
    with airlock.Bulkhead(store, gate, limit=1):  # The end of a block says nothing.
        store.revoke(gate, now=True)


def test_a_lease_that_is_dropped_is_given_back(store, gate):
    erp = airlock.Bulkhead(store, gate, limit=1)
    erp.acquire()
    assert store.flush(20) and in_use(store, gate) == 0


def test_keys_have_gates_of_their_own(store, gate):
    tenants = airlock.KeyedBulkhead(store, gate[:100], limit=1)
    locks = airlock.KeyedLock(store, gate[:100] + "-locks", max_wait=0)
    with tenants["acme"], tenants["zoo"], tenants[b"\xff\x00"]:
        with pytest.raises(airlock.Refused):
            tenants["acme"].acquire()
    with locks["chat:42"], locks["chat:43"]:
        assert locks["chat:42"].try_acquire() is None
    with pytest.raises(ValueError):
        airlock.KeyedBulkhead(store, gate[:100], limit=0)
    with pytest.raises(TypeError):
        locks[3]


def test_event_isolation(store, gate):
    isolation = airlock.EventIsolation(store, ttl=20)
    assert isolation.lock(gate).max_wait == 40
    impatient = airlock.EventIsolation(store, max_wait=0)
    with isolation.lock(gate), impatient.lock(gate + "other"):
        with pytest.raises(airlock.Refused):
            impatient.lock(gate).acquire()
    user = airlock.StorageKey(chat=1, user=2, thread=3)
    with impatient.lock(user):
        assert impatient.lock(airlock.StorageKey(chat=1, user=2)).try_acquire() is not None
        assert impatient.lock(airlock.StorageKey(chat=1, user=2, thread=3)).try_acquire() is None
        assert impatient.lock("fsm:1:t3:2").try_acquire() is None  # What the C++ library makes of it.


def test_a_closed_store_refuses_work(uri, gate):
    with airlock.open(uri) as store:
        erp = airlock.Semaphore(store, gate, limit=1)
        held = erp.acquire()
        waiter = Started(lambda: erp.acquire())
        eventually(lambda: store.count(gate)["waiting"] == 1)
    with pytest.raises(airlock.StoreError) as closed:
        waiter.join()
    assert closed.value.kind == "closed"
    with pytest.raises(airlock.StoreError):
        erp.acquire()
    assert store.drain(0) is False
    held.release()
    assert store.drain(20) is True


def test_nothing_is_copied_or_pickled(store, gate):
    erp = airlock.Bulkhead(store, gate, limit=2)
    with erp as lease:
        for thing in (store, erp, lease):
            with pytest.raises(TypeError, match="cannot be pickled"):
                pickle.dumps(thing)
            with pytest.raises(TypeError):
                copy.copy(thing)


def test_a_store_that_is_down_is_an_error_and_not_a_refusal(tmp_path):
    store = airlock.open(f"redis+unix://{tmp_path}/nobody.sock?timeout=50ms")
    with pytest.raises(airlock.StoreError) as down:
        airlock.Bulkhead(store, "x", limit=1).acquire()
    assert (down.value.kind, down.value.outcome) == ("unavailable", "nothing_happened")
    assert isinstance(pickle.loads(pickle.dumps(down.value)), airlock.StoreError)
    with airlock.Bulkhead(store, "x", limit=1, outage="open") as lease:
        assert not lease.guarded and lease.fence == 0
        with pytest.raises(airlock.Error):
            _ = lease.token
