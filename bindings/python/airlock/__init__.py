"""Admission control: bulkheads, locks, semaphores and rate limits with fair waiting lines.

    store = airlock.open("shm:")
    erp = airlock.Bulkhead(store, "legacy-erp", limit=10, max_wait=0.2)
    with erp:
        rows = query()

One engine, three places for its state: `memory:` (threads of a process), `shm:` (processes of a host), `redis:` (hosts).

- `acquire` gives a Lease or raises Refused; `try_acquire` gives None instead and never waits.
- `with`, `async with` and the decorator release at the end.
- Times are seconds as float. None is "no bound".
"""

from ._airlock import Error, Lease, LeaseExpired, Refused, Store, StoreError
from ._airlock import version as __version__
from ._bulkheads import Bulkhead, EventIsolation, KeyedBulkhead, KeyedLock, Lock, Semaphore, StorageKey
from ._events import lost
from ._rates import Composite, Cooldown, RateInfo, RateLimiter
from ._stores import adopt, open
from ._visitors import Admitted, Queued, WaitingRoom

__all__ = [
    "Admitted", "Bulkhead", "Composite", "Cooldown", "Error", "EventIsolation", "KeyedBulkhead", "KeyedLock", "Lease",
    "LeaseExpired", "Lock", "Queued", "RateInfo", "RateLimiter", "Refused", "Semaphore", "StorageKey", "Store", "StoreError",
    "WaitingRoom", "__version__", "adopt", "lost", "open",
]
