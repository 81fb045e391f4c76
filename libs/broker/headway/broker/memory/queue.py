"""One queue in memory: ordered by priority, then age; shared in turn by whoever consumes it."""

import asyncio
from collections import deque
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import heapify, heappop, heappush
from typing import Protocol

from headway.broker.topology import Queue


@dataclass(frozen=True, slots=True, order=True)
class Parcel:
    """One message inside of a node.  Its order is the order of delivery."""

    rank: int
    sequence: int
    id: str = field(compare=False)
    body: bytes = field(compare=False)
    type: str = field(compare=False)
    routing_key: str = field(compare=False)
    headers: Mapping[str, str | int] = field(compare=False)
    at: datetime | None = field(compare=False)


class Taker(Protocol):
    """Whoever consumes a queue."""

    @property
    def hungry(self) -> bool:
        """Whether it takes another parcel now."""

    def take(self, parcel: Parcel) -> None:
        """Accept a parcel."""


class MemoryQueue:
    """Holds parcels until a taker takes them, the queue is full, or their time is up."""

    def __init__(self, declared: Queue, expired: Callable[[Parcel], None]) -> None:
        self.declared = declared
        self._expired = expired
        self._longest = declared.arguments.get("x-max-length")
        self._lifetime = declared.arguments.get("x-message-ttl")
        self._ready: list[Parcel] = []
        self._takers: deque[Taker] = deque()

    def __len__(self) -> int:
        return len(self._ready)

    def push(self, parcel: Parcel) -> None:
        """Add a parcel; over the longest length the first in line is dropped."""
        heappush(self._ready, parcel)
        if isinstance(self._lifetime, int):
            asyncio.get_running_loop().call_later(self._lifetime / 1000, self._expire, parcel)
        self.pump()
        if isinstance(self._longest, int) and len(self._ready) > self._longest:
            heappop(self._ready)

    def pump(self) -> None:
        """Hand out what is ready, one parcel to each hungry taker in turn."""
        while self._ready and (taker := self._next_taker()) is not None:
            taker.take(heappop(self._ready))

    def give_back(self, parcels: Sequence[Parcel]) -> None:
        """Take parcels back to where they stood in the line."""
        for parcel in parcels:
            heappush(self._ready, parcel)
        self.pump()

    def subscribe(self, taker: Taker) -> None:
        """Hand parcels to this taker, too."""
        self._takers.append(taker)
        self.pump()

    def unsubscribe(self, taker: Taker) -> None:
        """Hand no more parcels to this taker."""
        if taker in self._takers:
            self._takers.remove(taker)

    def look(self, limit: int | None = None) -> Sequence[Parcel]:
        """Return the first in line, and leave them there."""
        return sorted(self._ready)[:limit]

    def remove(self, sequences: Container[int]) -> int:
        """Remove these parcels and say how many there were."""
        before = len(self._ready)
        self._ready = [parcel for parcel in self._ready if parcel.sequence not in sequences]
        heapify(self._ready)
        return before - len(self._ready)

    def _next_taker(self) -> Taker | None:
        for _ in range(len(self._takers)):
            self._takers.rotate(-1)
            if self._takers[-1].hungry:
                return self._takers[-1]
        return None

    def _expire(self, parcel: Parcel) -> None:
        if self.remove({parcel.sequence}):
            self._expired(parcel)
