"""How often, and conditions that are decided together."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple, Optional, Union

from . import _airlock
from ._airlock import Gate, Lease, Store
from ._bulkheads import Lock, Seconds, Semaphore
from ._events import enter

if TYPE_CHECKING:
    from types import EllipsisType  # Python 3.10

_TAKE, _PEEK, _AT_MOST, _RESERVE = 0, 1, 2, 3


class RateInfo(NamedTuple):
    """How the tightest rate stands, and what was taken."""

    limit: int
    remaining: int
    retry_after: float
    reset_after: float
    taken: int
    delay: float


class RateLimiter:
    """So much per time: "100/s", "1000/1h", "100/s,burst=20", "5/1h,sliding", "5/1h,fixed"; every rate must pass.

        api = airlock.RateLimiter(store, "api", "100/s", "1000/1h")
        if api.try_acquire(cost=2) is None: ...
        api.acquire(timeout=1.0)
    """

    __slots__ = ("_gate", "_seal")

    def __init__(self, store: Store, name: str, *rates: str, max_wait: Seconds = None) -> None:
        """max_wait: how long acquire() and acquire_async() wait where they are given no timeout."""
        if not rates:
            raise ValueError("rates: at least one is needed, such as '100/s'")
        self._seal = _airlock.rates_seal(store, name, rates, 0)
        self._gate = Gate(store, name, rates=rates, max_wait=max_wait)

    @property
    def name(self) -> str:
        """The name of its gate."""
        return self._gate.name

    def try_acquire(self, cost: int = 1) -> Optional[RateInfo]:
        """Takes all of the cost, or nothing: None. Never waits."""
        taken = self._seal.take(_TAKE, cost, 0.0, False)
        return None if taken is None else RateInfo(*taken)

    def acquire(self, blocking: bool = True, timeout: Union[float, None, EllipsisType] = ..., *, cost: int = 1) -> None:
        """Waits for its turn; Refused where that is not in time. A wait that ends early takes nothing."""
        self._gate.acquire(blocking, timeout, cost=cost)

    async def acquire_async(self, timeout: Union[float, None, EllipsisType] = ..., *, cost: int = 1) -> None:
        """The same for asyncio."""
        await enter(self._gate, timeout, {"cost": cost})

    def peek(self, cost: int = 1) -> Optional[RateInfo]:
        """What try_acquire() would say; takes nothing."""
        state = self._seal.take(_PEEK, cost, 0.0, False)
        return None if state is None else RateInfo(*state)

    def take_at_most(self, cost: int) -> int:
        """Takes as much of the cost as there is; how much that was."""
        state = self._seal.take(_AT_MOST, cost, 0.0, False)
        return 0 if state is None else state[4]

    def reserve(self, cost: int = 1, max_delay: Seconds = None) -> RateInfo:
        """Takes the cost for use after `delay` seconds. Refused where the delay would be above max_delay."""
        state = self._seal.take(_RESERVE, cost, max_delay, True)
        assert state is not None
        return RateInfo(*state)


class Cooldown:
    """Once per period: the next one is refused until it is over."""

    __slots__ = ("_seal",)

    def __init__(self, store: Store, name: str, period: float) -> None:
        self._seal = _airlock.cooldown_seal(store, name, period)

    def try_acquire(self) -> bool:
        """Whether it is time."""
        return self._seal.ask(1, None, False) is not None

    def acquire(self) -> None:
        """Refused where it is not: retry_after says when it will be. Never waits."""
        self._seal.ask(1, None, True)


class Composite:
    """A Lock or Semaphore, and a RateLimiter or Cooldown: both must let in, or nothing is taken.

        both = airlock.Composite(airlock.Semaphore(store, "site", limit=20), airlock.RateLimiter(store, "api", "100/s"))
        with both.acquire() as lease: ...
    """

    __slots__ = ("_store", "_seal", "_ttl")

    def __init__(self, lock: Union[Lock, Semaphore], other: Union[RateLimiter, Cooldown], *, ttl: float = 30.0) -> None:
        """ttl: a crashed holder is out after this."""
        if not isinstance(lock, (Lock, Semaphore)) or not isinstance(other, (RateLimiter, Cooldown)):
            raise TypeError("Composite takes a Lock or Semaphore, and a RateLimiter or Cooldown")
        self._store, self._ttl = lock.store, ttl
        self._seal = _airlock.composite_seal(lock._seal(ttl), other._seal)

    @property
    def is_atomic(self) -> bool:
        """Whether both are decided in one step."""
        return self._seal.is_atomic

    def try_acquire(self, *, cost: int = 1, label: Optional[str] = None) -> Optional[Lease]:
        """A Lease, or None where it is refused. Never waits."""
        return self._lease(self._seal.ask(cost, label, False))

    def acquire(self, *, cost: int = 1, label: Optional[str] = None) -> Lease:
        """A Lease. Refused says why not. Never waits."""
        lease = self._lease(self._seal.ask(cost, label, True))
        assert lease is not None
        return lease

    async def acquire_async(self, *, cost: int = 1, label: Optional[str] = None) -> Lease:
        """The same for asyncio: what asks a server runs in the loop's executor."""
        if self._store.is_local:
            return self.acquire(cost=cost, label=label)
        loop = asyncio.get_running_loop()
        asked = loop.run_in_executor(None, lambda: self.acquire(cost=cost, label=label))
        try:
            return await asyncio.shield(asked)
        except asyncio.CancelledError:
            asked.add_done_callback(_give_back)
            raise

    def _lease(self, granted: Optional[tuple[str, _airlock.RateState]]) -> Optional[Lease]:
        if granted is None:
            return None
        try:
            return self._store.adopt(granted[0], self._ttl)
        except BaseException:
            self._store.release(granted[0])
            raise


def _give_back(asked: asyncio.Future[Lease]) -> None:
    if not asked.cancelled() and asked.exception() is None:
        asked.result().close()
