"""Opening stores, and what happens to them at fork and exit."""

from __future__ import annotations

import atexit
import os
import weakref

from . import _airlock, _events
from ._airlock import Error, Lease, Store

_opened: weakref.WeakSet[Store] = weakref.WeakSet()
_FLUSH_SECONDS = 1.0


def open(uri: str) -> Store:
    """The store of a URI: "memory:", "shm:[name]", "redis://...". Only parses; it is reached on first use."""
    store = Store(uri)
    _opened.add(store)
    return store


def adopt(store: Store, token: str, ttl: float = 30.0) -> Lease:
    """Take up a detached token as a Lease, renewed from now on. LeaseExpired if it had ended."""
    return store.adopt(token, ttl)


def _flush() -> None:
    """What is given back in the background has one second to reach a server before the process ends."""
    for store in list(_opened):
        if not store.is_local:
            try:
                store.flush(_FLUSH_SECONDS)
            except Error:
                pass


def _after_fork() -> None:
    _airlock._after_fork()
    _events.forget_loops()


atexit.register(_flush)
os.register_at_fork(after_in_child=_after_fork)
