"""Letters to send, and ways to wait for them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import uuid4

from headway.broker import Consumer, Delivery, Letter, Queued
from headway.broker.hints import completed, created, letter
from headway.broker.topology import Topology
from headway.messages import CompletedRun, DefinitionChanged

AT = datetime(2026, 3, 1, 2, 0, 5, tzinfo=UTC)
HINTS = "run.default"
T = TypeVar("T")
BRIEFLY = timedelta(seconds=0.2)


def hint(priority: int = 0, queue: str = "default") -> Letter:
    """One hint at one new run."""
    return created([Queued(uuid4(), queue, priority)], at=AT, headers={"traceparent": "00-1-2-01"})[0]


def done(*reactions: str) -> Letter:
    """One completion that owes these reactions."""
    run = CompletedRun(id=uuid4(), definition="d", state="failed", outcome="failure", attempt=1, finished_at=AT, reactions=reactions)
    return completed([run], at=AT)[0]


def change() -> Letter:
    """News of one definition."""
    return letter(DefinitionChanged(definition="d", version=1, change="created"), at=AT)


def delayed(sent: Letter, queue: str, topology: Topology) -> Letter:
    """The same letter, sent back to its queue by the first level."""
    return Letter("delayed-retry", topology.retry_key(2, queue), sent.body, sent.type, mandatory=True, headers={"headway-requeues": 1})


async def receive(consumer: Consumer, count: int) -> list[Delivery]:
    """Wait for exactly so many deliveries."""
    got: list[Delivery] = []
    async with asyncio.timeout(20):
        while len(got) < count:
            got += await consumer.receive(count - len(got))
    return got


async def stays_empty(consumer: Consumer) -> bool:
    """Whether nothing arrives for a little while, and the broker has answered meanwhile."""
    try:
        async with asyncio.timeout(BRIEFLY.total_seconds()):
            return not await consumer.receive()
    except TimeoutError:
        return True


async def eventually(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask until there is an answer that is not empty: for what no event tells of."""
    async with asyncio.timeout(30):
        while not (answer := await ask()):
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), 0.01)
    return answer


async def until(true: Callable[[], bool]) -> None:
    """Wait for a condition."""

    async def ask() -> bool:
        return true()

    await eventually(ask)


def bodies(deliveries: Sequence[Delivery | Letter]) -> list[bytes]:
    """What they say."""
    return [delivery.body for delivery in deliveries]
