"""RabbitMQ behind Headway's protocol: one connection to publish, one to consume, everything declared again after every loss."""

import asyncio
from asyncio import Event
from asyncio import timeout as bounded
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final
from uuid import uuid4

from aio_pika.abc import AbstractConnection
from aio_pika.exceptions import ChannelNotFoundEntity

from headway.broker.counts import BrokerCounts
from headway.broker.port import Consumer, DeadLetter, Letter, Receipt
from headway.broker.rabbit import graves
from headway.broker.rabbit.consumer import RabbitConsumer, Source
from headway.broker.rabbit.declare import declare
from headway.broker.rabbit.faults import answered
from headway.broker.rabbit.link import Link
from headway.broker.rabbit.publish import Publisher
from headway.broker.topology import LISTENER_PREFETCH, Queue, Topology
from headway.core.errors import Unavailable

ANSWER_SECONDS: Final = 10.0
ATTACH_SECONDS: Final = 5.0


class RabbitBroker:
    """A RabbitMQ node or cluster at one URL."""

    volatile = False

    def __init__(self, url: str, topology: Topology) -> None:
        self.counts = BrokerCounts()
        self.topology = topology
        self._run_queues: dict[str, None] = {}
        self._consumers: list[RabbitConsumer] = []
        self._publisher = Publisher(topology, self.counts)
        self._publishing = Link(url, "publish", self._furnish_publishing, self.counts)
        self._consuming = Link(url, "consume", self._furnish_consuming, self.counts)

    @property
    def connected(self) -> bool:
        """Whether both connections stand at this moment."""
        return self._publishing.up and self._consuming.up

    async def open(self) -> None:
        """Start connecting, in the background and for ever."""
        self._publishing.start()
        self._consuming.start()

    async def close(self) -> None:
        """Close consumers, then connections, within a bounded time."""
        await asyncio.gather(*(consumer.close() for consumer in self._consumers))
        self._consumers.clear()
        await asyncio.gather(self._publishing.stop(), self._consuming.stop())

    async def ready(self, within: timedelta) -> None:
        """Wait until connected and the topology is declared.  Raises Unavailable or Invalid."""
        try:
            async with bounded(within.total_seconds()):
                await self._publishing.ready()
                await self._consuming.ready()
        except TimeoutError as error:
            trouble = self._publishing.trouble or self._consuming.trouble or "no answer"
            raise Unavailable(f"the broker was not ready within {within.total_seconds():g} s: {trouble}") from error

    async def declare_run_queues(self, queues: Sequence[str]) -> None:
        """Declare and bind the queue of each name, now if connected and after every reconnect."""
        new = [queue for queue in queues if queue not in self._run_queues]
        self._run_queues.update(dict.fromkeys(new))
        if new and self._publishing.up:
            with suppress(Unavailable):
                await self.round_trip()

    async def publish(self, letter: Letter) -> Receipt:
        """Publish with confirm and say what is known of the letter."""
        return await self._publisher.publish(letter)

    async def consume(self, queue: str, *, prefetch: int) -> Consumer:
        """Consume a durable queue."""
        return await self._consumer(queue, lambda: (queue, self.topology.queue(queue)), prefetch)

    async def listen(self, exchange: str, routing_key: str = "#") -> Consumer:
        """Consume an exclusive queue of this process, with a fresh name for each connection."""

        def fresh() -> tuple[str, Queue]:
            name = f"{exchange}.{uuid4().hex}"
            return name, self.topology.exclusive(name, exchange, routing_key)

        return await self._consumer(exchange, fresh, LISTENER_PREFETCH)

    async def round_trip(self) -> None:
        """Have the broker confirm the whole topology over one connection, and answer over the other."""
        with answered("confirm the topology"):
            async with bounded(ANSWER_SECONDS):
                await self._declare(self._publishing.connection)
                async with self._consuming.connection.channel():
                    pass

    async def dead(self, limit: int = 50) -> Sequence[DeadLetter]:
        """Look at the dead queue without taking anything from it."""
        with answered("look at the dead queue"):
            return await graves.look(self._consuming.connection, self.topology, limit)

    async def requeue_dead(self, ids: Sequence[str] | None = None) -> int:
        """Send dead messages back to the queues they came from."""
        wanted = None if ids is None else frozenset(ids)
        with answered("requeue dead messages"):
            return await graves.requeue(self._consuming.connection, self.topology, wanted, self.publish)

    async def purge_dead(self) -> int:
        """Empty the dead queue and say how many messages it held."""
        with answered("purge the dead queue"):
            return await graves.purge(self._consuming.connection, self.topology)

    async def depth(self, queue: str) -> int | None:
        """Messages ready in a queue, or None when it does not exist."""
        with answered(f"count {queue}"):
            try:
                async with bounded(ANSWER_SECONDS), self._publishing.connection.channel() as channel:
                    found = await channel.declare_queue(self.topology.full(queue), passive=True)
            except ChannelNotFoundEntity:
                return None
        return found.declaration_result.message_count

    async def _consumer(self, name: str, source: Source, prefetch: int) -> Consumer:
        consumer = RabbitConsumer(name, source, prefetch, self._consuming, self.counts)
        self._consumers = [*(one for one in self._consumers if not one.closed), consumer]
        if self._consuming.up:
            with suppress(TimeoutError):
                async with bounded(ATTACH_SECONDS):
                    await consumer.attached()
        return consumer

    async def _declare(self, connection: AbstractConnection) -> None:
        await declare(connection, self.topology, tuple(self._run_queues))

    async def _furnish_consuming(self, connection: AbstractConnection, _: Event) -> None:
        await self._declare(connection)

    async def _furnish_publishing(self, connection: AbstractConnection, lost: Event) -> None:
        await self._declare(connection)
        channel = await self._publisher.open(connection)
        channel.closing.add_done_callback(lambda _: lost.set())
