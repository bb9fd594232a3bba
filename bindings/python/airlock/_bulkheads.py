"""Gates that hold: bulkheads, locks, semaphores, one or one for each of many keys."""

from __future__ import annotations

import functools
import inspect
import sys
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Optional, Sequence, Type, TypeVar, Union, cast

from . import _airlock
from ._airlock import Gate, Lease, Seal, Store
from ._events import Entry, enter

if TYPE_CHECKING:
    from types import EllipsisType  # Python 3.10

_Result = TypeVar("_Result")
_Function = TypeVar("_Function", bound=Callable[..., Any])
Seconds = Union[float, None]


class Holding(Gate):
    """What Bulkhead, Lock and Semaphore have in common.

    `with` and `async with` take a slot and release it at the end of the block, also when the block is left by an exception.
    They wait for max_wait. One object serves any number of threads and tasks at once; inside itself it takes another slot.
    The end of a block neither waits for the network nor raises: call release() of its lease where the answer matters.
    """

    __slots__ = ("__weakref__",)

    def acquire_async(self, timeout: Union[float, None, EllipsisType] = ..., *, weight: int = 1, priority: int = 0,
                      cost: int = 1, label: Optional[str] = None) -> Entry:
        """As acquire(), for asyncio: `lease = await x.acquire_async()`, or `async with x.acquire_async() as lease:`."""
        return Entry(self, timeout, {"weight": weight, "priority": priority, "cost": cost, "label": label})

    def __aenter__(self) -> Awaitable[Lease]:
        return self._open_async(sys._getframe(1))

    async def _open_async(self, frame: FrameType) -> Lease:
        lease = await enter(self, ..., {})
        self._open_block(frame, lease)
        return lease

    def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                  traceback: Optional[TracebackType]) -> Awaitable[None]:
        self._close_block(sys._getframe(1)).close()
        return _nothing()

    def call(self, work: Callable[..., _Result], *args: Any, **keywords: Any) -> _Result:
        """The result of work(*args, **keywords), called inside. Refused where it is not admitted."""
        with self:
            return work(*args, **keywords)

    async def call_async(self, work: Callable[..., Awaitable[_Result]], *args: Any, **keywords: Any) -> _Result:
        """The same for a coroutine function."""
        async with self:
            return await work(*args, **keywords)

    def __call__(self, function: _Function) -> _Function:
        """A decorator of functions and coroutine functions: every call runs inside."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function!r} is a generator function: use `with` inside it")
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def inside_async(*args: Any, **keywords: Any) -> Any:
                async with self:
                    return await function(*args, **keywords)
            return cast(_Function, inside_async)
        if not callable(function):
            raise TypeError(f"{function!r} is not a function: to enter, use `with` or acquire()")

        @functools.wraps(function)
        def inside(*args: Any, **keywords: Any) -> Any:
            with self:
                return function(*args, **keywords)
        return cast(_Function, inside)

    def available_slots(self) -> int:
        """How much more may come in. It may differ a moment later."""
        counts = self.store.count(self.name)
        limit = counts["limit"] or self.limit
        return max(limit - counts["in_use"], 0)


async def _nothing() -> None:
    pass


class Bulkhead(Holding):
    """At most `limit` at once, all processes together; by default it refuses at once instead of waiting.

        erp = airlock.Bulkhead(store, "legacy-erp", limit=10, ttl=5.0, max_wait=0.2)
        with erp: ...
        async with erp: ...
        rows = erp.call(query)

        @erp
        def page(): ...
    """

    __slots__ = ()

    def __init__(self, store: Store, name: str, limit: int, *, ttl: float = 30.0, max_wait: Seconds = 0.0,
                 max_hold: Seconds = None, rates: Union[str, Sequence[str]] = (), max_waiting: int = 0,
                 order: str = "fifo", aging: Optional[tuple[int, int, int]] = None, barging: bool = False,
                 refuse_late: bool = False, patience: Seconds = None, outage: str = "closed", local_limit: int = 1) -> None:
        """limit: what the dependency tolerates. ttl: a crashed holder's slot is free after this. max_wait: how long `with` and
        acquire() wait. max_hold: renewal ends after this. rates: every one must pass, too. max_waiting: a longer line refuses.
        order: "fifo", "priority", "lottery" or "aging_lottery". outage: "closed", "open" or "local" (local_limit) while the
        store is unreachable."""
        if limit == 0:
            raise ValueError("limit must be at least 1")
        super().__init__(store, name, limit=limit, ttl=ttl, max_wait=max_wait, max_hold=max_hold, rates=rates,
                         max_waiting=max_waiting, order=order, aging=aging, barging=barging, refuse_late=refuse_late,
                         patience=patience, outage=outage, local_limit=local_limit)


class Semaphore(Bulkhead):
    """A Bulkhead that waits: max_wait is without bound by default."""

    __slots__ = ()

    def __init__(self, store: Store, name: str, limit: int, *, ttl: float = 30.0, max_wait: Seconds = None,
                 **options: Any) -> None:
        super().__init__(store, name, limit, ttl=ttl, max_wait=max_wait, **options)

    def _seal(self, ttl: float) -> Seal:
        return _airlock.semaphore_seal(self.store, self.name, self.limit, 1, ttl)


class Lock(Holding):
    """One holder at a time, in order of arrival. Waits without bound by default. Not reentrant, as threading.Lock."""

    __slots__ = ()

    def __init__(self, store: Store, name: str, *, ttl: float = 30.0, max_wait: Seconds = None, max_hold: Seconds = None,
                 max_waiting: int = 0, outage: str = "closed") -> None:
        super().__init__(store, name, limit=1, exclusive=True, ttl=ttl, max_wait=max_wait, max_hold=max_hold,
                         max_waiting=max_waiting, outage=outage)

    def locked(self) -> bool:
        """Whether somebody holds it, in any process."""
        return self.store.count(self.name)["in_use"] > 0

    def _seal(self, ttl: float) -> Seal:
        return _airlock.lock_seal(self.store, self.name, ttl)


class KeyedBulkhead:
    """A Bulkhead for each of many keys, such as tenants: `with tenants["acme"]: ...`. Any str or bytes is a key."""

    __slots__ = ("_store", "_prefix", "_limit", "_options")

    def __init__(self, store: Store, prefix: str, limit: int, **options: Any) -> None:
        """The options of Bulkhead."""
        self._store, self._prefix, self._limit, self._options = store, prefix, limit, options
        self[""]  # What is wrong with the options shows when the program starts.

    def __getitem__(self, key: Union[str, bytes]) -> Bulkhead:
        return Bulkhead(self._store, _airlock.gate_name(self._prefix, key), self._limit, **self._options)


class KeyedLock:
    """A Lock for each of many keys: `with locks["chat:42"]: ...`. Any str or bytes is a key."""

    __slots__ = ("_store", "_prefix", "_options")

    def __init__(self, store: Store, prefix: str, **options: Any) -> None:
        """The options of Lock."""
        self._store, self._prefix, self._options = store, prefix, options
        self[""]

    def __getitem__(self, key: Union[str, bytes]) -> Lock:
        return Lock(self._store, _airlock.gate_name(self._prefix, key), **self._options)


@dataclass(frozen=True)
class StorageKey:
    """Whose events must not be handled at the same time."""

    bot: int = 0
    chat: int = 0
    user: int = 0
    thread: Optional[int] = None
    business_connection: Optional[str] = None
    destiny: str = "default"


class EventIsolation:
    """One handler per key at a time, in order of arrival.

        isolation = airlock.EventIsolation(store)
        async with isolation.lock("chat:42"): ...
    """

    __slots__ = ("_locks",)

    def __init__(self, store: Store, *, ttl: float = 60.0, max_wait: Union[float, None, EllipsisType] = ...,
                 max_hold: Seconds = None) -> None:
        """max_wait: twice the ttl where it is not given; Refused after it."""
        wait = 2 * ttl if max_wait is ... else max_wait
        self._locks = KeyedLock(store, "events", ttl=ttl, max_wait=wait, max_hold=max_hold)

    def lock(self, key: Union[str, bytes, StorageKey]) -> Lock:
        """The Lock of a key, for `with`, `async with` or acquire()."""
        return self._locks[_airlock.storage_key_text(key) if isinstance(key, StorageKey) else key]
