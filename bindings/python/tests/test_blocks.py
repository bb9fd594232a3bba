"""Which lease belongs to which block."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc

import pytest

import airlock
from conftest import Started


@pytest.fixture
def erp(memory):
    return airlock.Bulkhead(memory, "erp", limit=10)


def test_recursion_takes_another_slot(erp):
    with erp as outer:
        with erp as inner:
            assert inner.fence > outer.fence and erp.available_slots() == 8
        assert outer.valid and not inner.valid
    assert not outer.valid and erp.available_slots() == 10


def test_generators_that_end_in_any_order_release_their_own(erp):
    def hold():
        with erp as lease:
            yield lease

    generators = [hold() for _ in range(3)]
    leases = [next(generator) for generator in generators]
    generators[0].close()
    assert [lease.valid for lease in leases] == [False, True, True]
    generators[1].close()
    assert [lease.valid for lease in leases] == [False, False, True]
    del generators
    gc.collect()
    assert not leases[2].valid


def test_a_generator_closed_by_another_thread_releases_its_own(erp):
    """As the dependencies of web frameworks are, and fixtures."""
    def hold():
        with erp as lease:
            yield lease

    one, other = hold(), hold()
    held = Started(lambda: next(one)).join()
    kept = next(other)
    contextvars.copy_context().run(Started(one.close).join)
    assert not held.valid and kept.valid
    other.close()


def test_tasks_that_interleave_release_their_own(erp):
    async def main():
        leases: dict[str, airlock.Lease] = {}
        entered = {name: asyncio.Event() for name in "ab"}
        leave = {name: asyncio.Event() for name in "ab"}

        async def work(name):
            async with erp as lease:
                leases[name] = lease
                entered[name].set()
                await leave[name].wait()

        async def work_blocking(name):
            with erp as lease:
                leases[name] = lease
                entered[name].set()
                await leave[name].wait()

        for kind in (work, work_blocking):
            tasks = {name: asyncio.ensure_future(kind(name)) for name in "ab"}
            for event in entered.values():
                await event.wait()
            leave["a"].set()
            await tasks["a"]
            assert not leases["a"].valid and leases["b"].valid
            leave["b"].set()
            await tasks["b"]
            assert not leases["b"].valid
            for event in (*entered.values(), *leave.values()):
                event.clear()

    asyncio.run(main())


def test_an_async_generator_closed_by_another_task_releases_its_own(erp):
    async def hold():
        async with erp as lease:
            yield lease

    async def main():
        one, other = hold(), hold()
        held = await asyncio.ensure_future(one.__anext__())
        kept = await other.__anext__()
        await asyncio.ensure_future(one.aclose())
        assert not held.valid and kept.valid
        await other.aclose()

    asyncio.run(main())


def test_exit_stacks(erp):
    with erp as mine:
        with contextlib.ExitStack() as stack:
            leases = [stack.enter_context(erp) for _ in range(3)]
            with erp as inner:
                assert all(lease.valid for lease in [*leases, inner])
            assert not inner.valid and all(lease.valid for lease in leases)
        assert mine.valid and not any(lease.valid for lease in leases)
    assert erp.available_slots() == 10

    async def main():
        async with contextlib.AsyncExitStack() as stack:
            first = await stack.enter_async_context(erp)
            second = await stack.enter_async_context(erp)
            async with erp as mine:
                pass
            assert first.valid and second.valid and not mine.valid
        assert not first.valid and not second.valid

    asyncio.run(main())
    assert erp.available_slots() == 10


def test_a_block_that_was_not_opened_cannot_be_closed(erp):
    with pytest.raises(RuntimeError, match="no `with` block"):
        erp.__exit__(None, None, None)
    with erp as lease:
        Started(lambda: pytest.raises(RuntimeError, erp.__exit__, None, None, None)).join()
        assert lease.valid


def test_an_object_in_a_cycle_is_collected_with_its_leases(memory):
    erp = airlock.Bulkhead(memory, "cycle", limit=1)

    def hold(self):
        with self:
            yield self

    class Own(airlock.Bulkhead):
        pass

    own = Own(memory, "cycle", limit=1)
    own.generator = hold(own)
    next(own.generator)
    assert erp.available_slots() == 0
    del own
    gc.collect()
    assert erp.available_slots() == 1
