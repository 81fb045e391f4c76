"""A clock in which no time is spent."""

import asyncio
from asyncio import Event
from collections.abc import Callable

from headway.runtime.loops import Clock


class FakeClock(Clock):
    """Every wait ends at once and is written down; `then`, if given, is called after each."""

    def __init__(self, then: Callable[[int], None] = lambda _: None) -> None:
        self.time = 1000.0
        self.waits: list[float] = []
        self.then = then

    def now(self) -> float:
        return self.time

    async def wait(self, event: Event, seconds: float) -> bool:
        woken = event.is_set()
        self.waits.append(seconds)
        self.time += 0.0 if woken else seconds
        self.then(len(self.waits))
        await super().wait(event, 0)
        return woken

    def jitter(self, seconds: float) -> float:
        return seconds


class Ending:
    """Sets an event at the n-th wait, so that a loop under test comes to an end."""

    def __init__(self, after: int) -> None:
        self.stopping = asyncio.Event()
        self.clock = FakeClock(lambda waits: self.stopping.set() if waits >= after else None)
