"""Publish after the commit, off the path of whoever committed: letters are handed over and forgotten.

A letter that is refused, unknown or dropped costs time only: fill finds what it would have named.
"""

import asyncio
from asyncio import Event, Lock
from collections import deque
from collections.abc import Iterable
from typing import Final

from headway.broker.port import Broker, Letter

MOST_WAITING: Final = 10_000
AT_ONCE: Final = 64


class Announcer:
    """Holds letters until `run` publishes them, at most 10,000; while the broker is slower than that the newest are dropped."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.dropped = 0
        self._waiting: deque[Letter] = deque()
        self._some = Event()
        self._turn = Lock()

    def put(self, letters: Iterable[Letter]) -> None:
        """Hand letters over; returns at once."""
        for letter in letters:
            if len(self._waiting) >= MOST_WAITING:
                self.dropped += 1
            else:
                self._waiting.append(letter)
        if self._waiting:
            self._some.set()

    @property
    def waiting(self) -> int:
        """How many letters wait to be published."""
        return len(self._waiting)

    async def run(self) -> None:
        """Publish what was handed over, in order, until cancelled."""
        while True:
            await self._some.wait()
            self._some.clear()
            await self.flush()

    async def flush(self) -> None:
        """Publish everything that waits now, and wait for what is being published already."""
        async with self._turn:
            while len(self._waiting) == 1:  # somebody waits for this one: it gets no task of its own
                await self.broker.publish(self._waiting.popleft())
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
                await asyncio.gather(*(self.broker.publish(letter) for letter in batch))
