"""asyncio: one mailbox per event loop, and no thread per waiter."""

from __future__ import annotations

import asyncio
import itertools
import weakref
from types import TracebackType
from typing import Any, Generator, Optional, Type

from ._airlock import Gate, Lease, Mailbox

_GRANTED, _REFUSED, _FAILED, _CANCELLED, _LOST = 1, 2, 3, 4, 5


class _LoopMailbox:
    """The mailbox of a loop, and the futures that wait for its events.

    The loop keeps it alive, by add_reader, and nothing else may: its futures refer to the loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.mailbox = Mailbox()
        self.futures: dict[int, asyncio.Future[Any]] = {}
        self.tags = itertools.count(1)
        loop.add_reader(self.mailbox.fileno(), self.deliver)

    def deliver(self) -> None:
        while (event := self.mailbox.next()) is not None:
            tag, kind, content = event
            future = self.futures.pop(tag, None)
            if future is None or future.done():
                if kind == _GRANTED:  # For a task that was cancelled.
                    content.close()
            elif kind == _GRANTED or kind == _LOST:
                future.set_result(content)
            elif kind == _REFUSED or kind == _FAILED:
                future.set_exception(content)
            else:
                future.cancel()

    async def enter(self, gate: Gate, timeout: Any, ask: dict[str, Any]) -> Lease:
        tag = next(self.tags)
        future: asyncio.Future[Lease] = asyncio.get_running_loop().create_future()
        self.mailbox.enter(gate, tag, timeout, **ask)
        self.futures[tag] = future
        self.deliver()  # It is decided already where the store is local and has room.
        if future.done():
            return future.result()
        try:
            return await future
        except BaseException:  # Cancelled, or the coroutine is closed; or what the event said.
            if self.futures.pop(tag, None) is not None:
                self.mailbox.cancel(tag)
            elif not future.cancelled() and future.exception() is None:
                future.result().close()
            raise

    async def lost(self, lease: Lease) -> None:
        tag = next(self.tags)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.mailbox.watch(lease, tag)
        self.futures[tag] = future
        try:
            await future
        finally:
            self.futures.pop(tag, None)


_mailboxes: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[_LoopMailbox]] = weakref.WeakKeyDictionary()


def _mailbox() -> _LoopMailbox:
    loop = asyncio.get_running_loop()
    known = _mailboxes.get(loop)
    mailbox = None if known is None else known()
    if mailbox is None:
        mailbox = _LoopMailbox(loop)
        _mailboxes[loop] = weakref.ref(mailbox)
    return mailbox


def forget_loops() -> None:
    """In a forked child: nothing comes from a mailbox of its parent."""
    _mailboxes.clear()


async def enter(gate: Gate, timeout: Any, ask: dict[str, Any]) -> Lease:
    return await _mailbox().enter(gate, timeout, ask)


async def lost(lease: Lease) -> None:
    """Returns when the lease is lost, or can no longer be proven. Work that must not overlap stops then."""
    await _mailbox().lost(lease)


class Entry:
    """What acquire_async() returns: await it for a Lease, or use it with `async with`."""

    __slots__ = ("_gate", "_timeout", "_ask", "_lease")

    def __init__(self, gate: Gate, timeout: Any, ask: dict[str, Any]) -> None:
        self._gate, self._timeout, self._ask = gate, timeout, ask
        self._lease: Optional[Lease] = None

    def __await__(self) -> Generator[Any, None, Lease]:
        return enter(self._gate, self._timeout, self._ask).__await__()

    async def __aenter__(self) -> Lease:
        if self._lease is not None:
            raise RuntimeError("this entry is used already: call acquire_async() again")
        self._lease = await self
        return self._lease

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.close()
