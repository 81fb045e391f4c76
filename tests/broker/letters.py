"""Letters to send, and ways to wait for them."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from headway.broker import Consumer, Delivery, Letter, Queued
from headway.broker.hints import completed, created
from headway.messages import CompletedRun

AT = datetime(2026, 3, 1, 2, 0, 5, tzinfo=UTC)
HINTS = "run.default"
BRIEFLY = timedelta(seconds=0.2)


def hint(priority: int = 0, queue: str = "default") -> Letter:
    """One hint at one new run."""
    return created([Queued(uuid4(), queue, priority)], at=AT, headers={"traceparent": "00-1-2-01"})[0]


def done(*reactions: str) -> Letter:
    """One completion that owes these reactions."""
    run = CompletedRun(id=uuid4(), definition="d", state="failed", outcome="failure", attempt=1, finished_at=AT, reactions=reactions)
    return completed([run], at=AT)[0]


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


def bodies(deliveries: Sequence[Delivery | Letter]) -> list[bytes]:
    """What they say."""
    return [delivery.body for delivery in deliveries]
