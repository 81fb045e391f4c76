"""One consumer's life on one channel: it ends with the channel, and what it held goes back to the queue."""

import asyncio
from asyncio import Event
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from uuid import uuid4

from aio_pika.abc import AbstractConnection
from aiormq.abc import DeliveredMessage

from headway.broker.port import Delivery
from headway.broker.rabbit.declare import declare_queue
from headway.broker.rabbit.faults import answered
from headway.broker.rabbit.intake import Intake, IntakeChannel, open_intake
from headway.broker.settling import frames
from headway.broker.topology import Queue
from headway.core.errors import Unavailable

ANSWER_SECONDS: Final = 5.0
CLOSE_SECONDS: Final = 2.0
EVERYTHING: Final = 0
"""The tag that AMQP reads as "all that is outstanding" in a `multiple` frame."""


class Subscription:
    """Deliveries of one queue over one channel.

    Tags rise from `offset`; `arrived` is set with every delivery; `lost` is set when channel or consumer are gone.
    """

    def __init__(self, queue: Queue, offset: int, arrived: Event) -> None:
        self.lost = Event()
        self.cancelled = False
        self.highest = offset
        self._queue = queue
        self._offset = offset
        self._arrived = arrived
        self._inbox: deque[Delivery] = deque()
        self._open: dict[int, None] = {}
        self._channel: IntakeChannel | None = None
        self._consuming: str | None = None

    @property
    def alive(self) -> bool:
        """Whether the broker has confirmed the consumer and it still stands."""
        return self._consuming is not None and not self.lost.is_set()

    async def open(self, connection: AbstractConnection, prefetch: int) -> None:
        """Declare the queue and make ready to consume it.  Raises Unavailable or Invalid."""
        with answered(f"subscribe to {self._queue.name}"):
            async with asyncio.timeout(ANSWER_SECONDS):
                async with connection.channel() as declaring:
                    await declare_queue(declaring, self._queue)
                self._channel = channel = await open_intake(connection, Intake(self._take, self._offset))
                channel.on_consumer_cancel_callbacks.add(self._on_cancel)
                channel.closing.add_done_callback(lambda _: self.lost.set())
                await channel.basic_qos(prefetch_count=prefetch)

    async def start(self) -> None:
        """Have the broker deliver.  Raises Unavailable."""
        if self._channel is not None and self._consuming is None:
            with answered(f"consume {self._queue.name}"):
                tag = uuid4().hex
                await self._channel.basic_consume(self._queue.name, _unused, consumer_tag=tag, timeout=ANSWER_SECONDS)
                self._consuming = tag

    async def stop(self) -> None:
        """Have the broker deliver no more, and give back everything unsettled.  Raises Unavailable."""
        if self._channel is not None and self._consuming is not None:
            tag, self._consuming = self._consuming, None
            with answered(f"stop consuming {self._queue.name}"):
                await self._channel.basic_cancel(tag, timeout=ANSWER_SECONDS)
                if self._open:
                    await self._channel.basic_nack(EVERYTHING, multiple=True, requeue=True, wait=False)
            self.forget()

    async def close(self) -> None:
        """Close the channel; the broker takes back what is unsettled."""
        self.lost.set()
        self.forget()
        if self._channel is not None:
            with suppress(Unavailable), answered("close the channel"):
                await self._channel.close(timeout=CLOSE_SECONDS)

    def take(self, limit: int) -> Sequence[Delivery]:
        """Return what has arrived, at most `limit`, oldest first."""
        inbox = self._inbox
        if len(inbox) <= limit:
            taken = list(inbox)
            inbox.clear()
            return taken
        return [inbox.popleft() for _ in range(limit)]

    async def acknowledge(self, deliveries: Sequence[Delivery]) -> int:
        """Acknowledge those that are still open here and say how many.  Raises Unavailable."""
        tags, lowest = self._settle(deliveries)
        with answered("acknowledge"):
            for frame in frames(tags, lowest):
                await self._driver.basic_ack(frame.tag - self._offset, multiple=frame.multiple, wait=False)
        return len(tags)

    async def reject(self, deliveries: Sequence[Delivery]) -> int:
        """Drop those that are still open here and say how many.  Raises Unavailable."""
        tags, lowest = self._settle(deliveries)
        with answered("reject"):
            for frame in frames(tags, lowest):
                await self._driver.basic_nack(frame.tag - self._offset, multiple=frame.multiple, requeue=False, wait=False)
        return len(tags)

    def forget(self) -> None:
        """Hold nothing any more: the broker has it back."""
        self._inbox.clear()
        self._open.clear()

    @property
    def _driver(self) -> IntakeChannel:
        assert self._channel is not None
        return self._channel

    def _settle(self, deliveries: Sequence[Delivery]) -> tuple[Sequence[int], int | None]:
        tags = [delivery.tag for delivery in deliveries if delivery.tag in self._open]
        for tag in tags:
            del self._open[tag]
        return tags, next(iter(self._open), None)

    def _take(self, delivery: Delivery) -> None:
        self.highest = delivery.tag
        self._open[delivery.tag] = None
        self._inbox.append(delivery)
        self._arrived.set()

    def _on_cancel(self, _: object) -> None:
        self.cancelled = True
        self.lost.set()


async def _unused(message: DeliveredMessage) -> None:
    """Satisfy the driver, which asks for a callback; the intake takes every delivery before it."""
