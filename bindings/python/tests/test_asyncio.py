"""asyncio, on every store."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import threading

import pytest

import airlock
from conftest import DEADLINE, eventually


def run(main):
    return asyncio.run(asyncio.wait_for(main, DEADLINE))


async def until(condition):
    while not condition():
        await asyncio.sleep(0.002)


def test_a_block(store, gate):
    erp = airlock.Bulkhead(store, gate, limit=1)

    async def main():
        async with erp as lease:
            assert lease.valid and erp.available_slots() == 0
            with pytest.raises(airlock.Refused) as refused:
                await erp.acquire_async()
            assert (refused.value.gate, refused.value.limit, refused.value.reason) == (gate, 1, "full")
        assert not lease.valid
        with pytest.raises(ZeroDivisionError):
            async with erp:
                1 / 0
        async with erp.acquire_async(timeout=20, label="x") as other:
            assert other.valid
        assert not other.valid
        lease = await erp.acquire_async()
        lease.release()
        assert await erp.call_async(asyncio.sleep, 0, "done") == "done"

        @erp
        async def page(number):
            return number + erp.available_slots()
        assert asyncio.iscoroutinefunction(page) and await page(1) == 1

    run(main())


def test_waiters_come_in_order_and_one_at_a_time(store, gate):
    lock = airlock.Lock(store, gate)

    async def main():
        order = []
        inside = 0

        async def work(number):
            nonlocal inside
            async with lock:
                inside += 1
                assert inside == 1
                order.append(number)
                await asyncio.sleep(0)
                inside -= 1

        async with lock:
            tasks = []
            for number in range(20):
                tasks.append(asyncio.ensure_future(work(number)))
                await until(lambda: store.count(gate)["waiting"] == number + 1)
        await asyncio.gather(*tasks)
        assert order == list(range(20))

    run(main())


def test_a_timeout_and_a_cancelled_wait_leave_the_line(store, gate):
    erp = airlock.Semaphore(store, gate, limit=1)

    async def main():
        async with erp:
            with pytest.raises(airlock.Refused) as refused:
                await erp.acquire_async(timeout=0.02)
            assert refused.value.waited >= 0.02
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(erp.acquire_async(), 0.02)
            await until(lambda: store.count(gate)["waiting"] == 0)
        async with erp:
            pass

    run(main())


def test_thousands_of_tasks_with_random_cancels_lose_nothing(store, gate):
    erp = airlock.Semaphore(store, gate, limit=10)
    random.seed(7)

    async def main():
        inside = peak = done = 0

        async def work():
            nonlocal inside, peak, done
            async with erp:
                inside += 1
                peak = max(peak, inside)
                try:
                    await asyncio.sleep(random.random() / 1000)
                    done += 1
                finally:
                    inside -= 1

        tasks = [asyncio.ensure_future(work()) for _ in range(600)]

        async def cancel_some():
            for task in random.sample(tasks, 300):
                if random.random() < 0.5:
                    await asyncio.sleep(0)
                task.cancel()

        await asyncio.gather(cancel_some(), *tasks, return_exceptions=True)
        assert peak <= 10 and done >= 300 and inside == 0
        store.flush(20)
        await until(lambda: store.count(gate)["in_use"] == 0 and store.count(gate)["waiting"] == 0)

    run(main())


def test_no_thread_per_waiter(store, gate):
    erp = airlock.Semaphore(store, gate, limit=1)
    before = len(os.listdir("/proc/self/task"))

    async def main():
        async with erp:
            tasks = [asyncio.ensure_future(erp.acquire_async()) for _ in range(200)]
            await until(lambda: store.count(gate)["waiting"] == 200)
            assert threading.active_count() == 1
            assert len(os.listdir("/proc/self/task")) <= before + 5
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())


def test_tasks_threads_and_loops_share_a_gate(store, gate):
    erp = airlock.Semaphore(store, gate, limit=2)
    count = 0

    async def main():
        nonlocal count
        for _ in range(10):
            async with erp:
                count += 1
                await asyncio.sleep(0)

    def blocking():
        nonlocal count
        for _ in range(10):
            with erp:
                count += 1

    threads = [threading.Thread(target=target) for target in (lambda: asyncio.run(main()), lambda: asyncio.run(main()), blocking)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
        assert not thread.is_alive()
    assert count == 30


def test_a_lost_lease_is_noticed(store, gate):
    erp = airlock.Bulkhead(store, gate, limit=1)

    async def main():
        async with erp as lease:
            watch = asyncio.ensure_future(airlock.lost(lease))
            await asyncio.sleep(0)
            assert not watch.done()
            store.revoke(gate, now=True)
            await watch
            assert not lease.valid
        async with erp as lease:
            watch = asyncio.ensure_future(airlock.lost(lease))
            await asyncio.sleep(0)
            watch.cancel()
            with pytest.raises(asyncio.CancelledError):
                await watch
        with pytest.raises(airlock.LeaseExpired):
            await airlock.lost(lease)

    run(main())


def test_a_closed_store_ends_waits(uri, gate):
    store = airlock.open(uri)
    erp = airlock.Semaphore(store, gate, limit=1)

    async def main():
        held = await erp.acquire_async()
        wait = asyncio.ensure_future(erp.acquire_async())
        await until(lambda: store.count(gate)["waiting"] == 1)
        store.close()
        with pytest.raises(airlock.StoreError) as closed:
            await wait
        assert closed.value.kind == "closed"
        held.release()

    run(main())


def test_a_loop_that_ends_leaves_its_lines(memory):
    erp = airlock.Semaphore(memory, "loops", limit=1)
    descriptors = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        with erp:
            loop = asyncio.new_event_loop()
            task = loop.create_task(erp._open_async(None))  # Left without being cancelled.
            loop.run_until_complete(asyncio.sleep(0))
            assert memory.count("loops")["waiting"] == 1
            loop.close()
            task._log_destroy_pending = False
            del loop, task
            gc.collect()
            eventually(lambda: memory.count("loops")["waiting"] == 0)
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 3
