"""Waiting rooms, for visitors that come and go, as browsers do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from ._airlock import Gate, Store
from ._bulkheads import Seconds

if TYPE_CHECKING:
    from ._airlock import Visit


class Admitted(NamedTuple):
    """It is in. The token ends with expires_in unless it is renewed; keep it out of logs."""

    token: str
    fence: int
    expires_in: float

    def __repr__(self) -> str:
        return f"Admitted(fence={self.fence}, expires_in={self.expires_in})"


class Queued(NamedTuple):
    """It has a place in the line. position 1 is next; eta 0: not known. Ask again after next_check at the latest."""

    position: int
    waiting: int
    next_check: float
    eta: float


class WaitingRoom:
    """At most `limit` visitors inside; the others have a place in a line and need no thread and no connection.

        room = airlock.WaitingRoom(store, "shop", limit=500, ttl=120.0)
        state = room.admit(session_id)      # On every request of the visitor.
    """

    __slots__ = ("_gate",)

    def __init__(self, store: Store, name: str, limit: int, *, ttl: float = 30.0, order: str = "fifo", max_waiting: int = 0,
                 rates: Any = (), patience: Seconds = None, claim_window: Seconds = None) -> None:
        """patience: a visitor that stopped asking is out of the line after this (None: 10 s). claim_window: one whose turn it
        is has to claim it within this (None: 10 s)."""
        if limit == 0:
            raise ValueError("limit must be at least 1")
        self._gate = Gate(store, name, limit=limit, ttl=ttl, order=order, max_waiting=max_waiting, rates=rates,
                          patience=patience, claim_window=claim_window)

    def admit(self, visitor: Union[str, bytes], *, weight: int = 1, priority: int = 0,
              label: Optional[str] = None) -> Union[Admitted, Queued]:
        """Lets the visitor in, or gives it a place in the line. Refused where neither is possible."""
        state = _state(self._gate._admit(visitor, weight=weight, priority=priority, label=label))
        assert state is not None
        return state

    def claim(self, visitor: Union[str, bytes]) -> Union[Admitted, Queued, None]:
        """The same for one that has a place already; None: it has none."""
        return _state(self._gate._claim(visitor))

    def leave(self, visitor: Union[str, bytes]) -> bool:
        """Gives up the place, or a turn that was not claimed. False: it had neither."""
        return self._gate._leave(visitor)

    def mark_absent(self, visitor: Union[str, bytes]) -> bool:
        """The visitor does not listen at the moment: passed over until it asks again; its place is kept. False if it has none."""
        return self._gate._mark_absent(visitor)

    def release(self, token: str) -> None:
        """The visitor is done. LeaseExpired if it had been out already."""
        self._gate.store.release(token)

    def renew(self, token: str, ttl: float) -> None:
        """It stays for `ttl` seconds from now. LeaseExpired if it had been out already."""
        self._gate.store.renew(token, ttl)


def _state(visit: Optional[Visit]) -> Union[Admitted, Queued, None]:
    if visit is None:
        return None
    queued, token, fence, expires_in, position, waiting, next_check, eta = visit
    if queued:
        return Queued(position, waiting, next_check, eta)
    return Admitted(token, fence, expires_in)
