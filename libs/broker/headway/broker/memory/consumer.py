"""One consumer of a queue in memory, with the same promises as one of RabbitMQ's."""

from asyncio import Event
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from headway.broker.counts import BrokerCounts
from headway.broker.memory.queue import MemoryQueue, Parcel
from headway.broker.port import Delivery


class Names(NamedTuple):
    """What is consumed, and the queue that holds it."""

    queue: str
    address: str


class MemoryConsumer:
    """Takes parcels while it has fewer than `prefetch` unsettled ones."""

    def __init__(self, names: Names, queue: MemoryQueue, prefetch: int, counts: BrokerCounts, closed: Callable[[], None]) -> None:
        self.queue, self._address = names
        self._source = queue
        self._prefetch = prefetch
        self._counts = counts
        self._on_close = closed
        self._arrived = Event()
        self._inbox: deque[Delivery] = deque()
        self._open: dict[int, Parcel] = {}
        self._highest = 0
        self._consuming = False
        self._closed = False

    @property
    def address(self) -> str:
        """The name of the queue."""
        return self._address

    @property
    def alive(self) -> bool:
        """Whether it consumes."""
        return self._consuming

    @property
    def hungry(self) -> bool:
        """Whether it takes another parcel now; a prefetch of 0 knows no limit."""
        return self._prefetch == 0 or len(self._open) < self._prefetch

    def take(self, parcel: Parcel) -> None:
        """Accept a parcel from the queue."""
        self._highest += 1
        self._open[self._highest] = parcel
        self._inbox.append(Delivery(parcel.body, parcel.type, parcel.routing_key, parcel.headers, self._highest, parcel.at))
        self._arrived.set()

    async def receive(self, limit: int = 1_000_000) -> Sequence[Delivery]:
        """Wait for at least one delivery and return all that have arrived, at most `limit`; nothing once it is closed."""
        while not self._closed:
            self._arrived.clear()
            if taken := [self._inbox.popleft() for _ in range(min(limit, len(self._inbox)))]:
                self._counts.delivered[self.queue] += len(taken)
                return taken
            await self._arrived.wait()
        return ()

    async def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Settle these deliveries; those that were given back are ignored."""
        settled = [delivery for delivery in deliveries if self._open.pop(delivery.tag, None) is not None]
        self._counts.stale_settles += len(deliveries) - len(settled)
        self._source.pump()

    async def reject(self, deliveries: Sequence[Delivery]) -> None:
        """Drop these deliveries without requeue."""
        await self.acknowledge(deliveries)

    async def pause(self) -> None:
        """Take no more, and give back everything unsettled."""
        self._consuming = False
        self._source.unsubscribe(self)
        parcels = list(self._open.values())
        self._inbox.clear()
        self._open.clear()
        self._source.give_back(parcels)

    async def resume(self) -> None:
        """Consume again after `pause`."""
        if not self._consuming and not self._closed:
            self._consuming = True
            self._source.subscribe(self)

    async def close(self) -> None:
        """End the subscription for good, giving back what is unsettled."""
        await self.pause()
        self._closed = True
        self._arrived.set()
        self._on_close()
