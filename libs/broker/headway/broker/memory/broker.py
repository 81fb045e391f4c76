"""The memory broker: Headway's protocol in one process, for tests and for a platform without a broker."""

from asyncio import Event
from asyncio import timeout as bounded
from collections.abc import Sequence
from datetime import timedelta
from uuid import uuid4

from headway.broker.counts import BrokerCounts
from headway.broker.dead import dead_letter, revival
from headway.broker.memory.consumer import MemoryConsumer, Names
from headway.broker.memory.node import Node
from headway.broker.memory.queue import MemoryQueue, Parcel
from headway.broker.port import Consumer, DeadLetter, Delivery, Letter, Receipt
from headway.broker.topology import LISTENER_PREFETCH, Queue, Topology
from headway.core.errors import Unavailable
from headway.messages.channels import DEAD_QUEUE


class MemoryBroker:
    """One process's way to a node.  What it holds is gone with the process."""

    volatile = True

    def __init__(self, node: Node, topology: Topology) -> None:
        self.counts = BrokerCounts()
        self._node = node
        self.topology = topology
        self._run_queues: dict[str, None] = {}
        self._consumers: list[MemoryConsumer] = []
        self._opened = Event()

    @property
    def connected(self) -> bool:
        """Whether it is open."""
        return self._opened.is_set()

    async def open(self) -> None:
        """Declare the topology."""
        self._declare()
        self._opened.set()

    async def close(self) -> None:
        """Close consumers and refuse letters."""
        for consumer in tuple(self._consumers):
            await consumer.close()
        self._opened.clear()

    async def ready(self, within: timedelta) -> None:
        """Wait until it is open."""
        try:
            async with bounded(within.total_seconds()):
                await self._opened.wait()
        except TimeoutError as error:
            raise Unavailable("the memory broker was not opened") from error

    async def declare_run_queues(self, queues: Sequence[str]) -> None:
        """Declare and bind the queue of each name."""
        self._run_queues.update(dict.fromkeys(queues))
        if self.connected:
            self._declare()

    async def publish(self, letter: Letter) -> Receipt:
        """Hand the letter to its queues."""
        routed = self.connected and self._node.post(self.topology.full(letter.exchange), letter)
        accepted = routed or (self.connected and not letter.mandatory)
        receipt = Receipt.CONFIRMED if accepted else Receipt.REFUSED
        self.counts.published[letter.exchange, receipt.value] += 1
        return receipt

    async def consume(self, queue: str, *, prefetch: int) -> Consumer:
        """Consume a durable queue."""
        return await self._consume(queue, self.topology.queue(queue), prefetch)

    async def listen(self, exchange: str, routing_key: str = "#") -> Consumer:
        """Consume an exclusive queue of this consumer."""
        return await self._consume(exchange, self.topology.exclusive(f"{exchange}.{uuid4().hex}", exchange, routing_key), LISTENER_PREFETCH)

    async def round_trip(self) -> None:
        """Confirm the topology."""
        self._require_open()
        self._declare()

    async def dead(self, limit: int = 50) -> Sequence[DeadLetter]:
        """Look at the dead queue without taking anything from it."""
        dead = self._dead_queue().look(limit)
        return [dead_letter(_delivery(parcel), message=parcel.id, topology=self.topology) for parcel in dead]

    async def requeue_dead(self, ids: Sequence[str] | None = None) -> int:
        """Send dead messages back to the queues they came from."""
        queue = self._dead_queue()
        wanted = [parcel for parcel in queue.look() if ids is None or parcel.id in ids]
        queue.remove({parcel.sequence for parcel in wanted})
        for parcel in wanted:
            await self.publish(revival(_delivery(parcel), topology=self.topology))
        return len(wanted)

    async def purge_dead(self) -> int:
        """Empty the dead queue and say how many messages it held."""
        queue = self._dead_queue()
        return queue.remove({parcel.sequence for parcel in queue.look()})

    async def depth(self, queue: str) -> int | None:
        """Messages ready in a queue, or None when it does not exist."""
        self._require_open()
        held = self._node.queues.get(self.topology.full(queue))
        return None if held is None else len(held)

    async def _consume(self, name: str, queue: Queue, prefetch: int) -> Consumer:
        held = self._node.declare_queue(queue)
        consumer = MemoryConsumer(
            Names(name, self.topology.short(queue.name)), held, prefetch, self.counts, lambda: self._forget(consumer, queue)
        )
        self._consumers.append(consumer)
        await consumer.resume()
        return consumer

    def _forget(self, consumer: MemoryConsumer, queue: Queue) -> None:
        if consumer in self._consumers:
            self._consumers.remove(consumer)
        if queue.exclusive:
            self._node.delete_queue(queue.name)

    def _declare(self) -> None:
        for exchange in self.topology.exchanges():
            self._node.declare_exchange(exchange)
        for queue in self.topology.queues(self._run_queues):
            self._node.declare_queue(queue)

    def _dead_queue(self) -> MemoryQueue:
        self._require_open()
        return self._node.declare_queue(self.topology.queue(DEAD_QUEUE))

    def _require_open(self) -> None:
        if not self.connected:
            raise Unavailable("the memory broker is not open")


def _delivery(parcel: Parcel) -> Delivery:
    return Delivery(parcel.body, parcel.type, parcel.routing_key, parcel.headers, parcel.sequence, parcel.at)
