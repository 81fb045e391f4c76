"""A consumer that outlives whatever happens to its channel, its queue and its connection."""

import asyncio
import logging
from asyncio import Event, Lock, Task
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from headway.broker.counts import BrokerCounts
from headway.broker.port import Delivery
from headway.broker.rabbit.faults import for_ever
from headway.broker.rabbit.link import Link
from headway.broker.rabbit.subscription import Subscription
from headway.broker.topology import Queue
from headway.core.errors import Unavailable

log = logging.getLogger(__name__)

Source = Callable[[], tuple[str, Queue]]
Settle = Callable[[Subscription, Sequence[Delivery]], Awaitable[int]]


class RabbitConsumer:
    """Consumes what `source` names; it is asked again for each new channel, since an exclusive queue needs a fresh name."""

    def __init__(self, queue: str, source: Source, prefetch: int, link: Link, counts: BrokerCounts) -> None:
        self.queue = queue
        self.address = queue
        self._source = source
        self._prefetch = prefetch
        self._link = link
        self._counts = counts
        self._arrived = Event()
        self._attached = Event()
        self._turn = Lock()
        self._wanted = True
        self._closed = False
        self._highest = 0
        self._current: Subscription | None = None
        self._keeper: Task[None] = asyncio.create_task(self._keep(), name=f"broker consumer {queue}")

    @property
    def alive(self) -> bool:
        """Whether the broker has confirmed a consumer tag and it still stands."""
        return self._current is not None and self._current.alive

    @property
    def closed(self) -> bool:
        """Whether it was closed for good."""
        return self._closed

    async def attached(self) -> None:
        """Wait until the subscription stands."""
        await self._attached.wait()

    async def receive(self, limit: int = 1_000_000) -> Sequence[Delivery]:
        """Wait for at least one delivery and return all that have arrived, at most `limit`; nothing once it is closed."""
        while not self._closed:
            self._arrived.clear()
            if self._current is not None and (taken := self._current.take(limit)):
                self._counts.delivered[self.queue] += len(taken)
                return taken
            await self._arrived.wait()
        return ()

    async def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Settle these deliveries; those of a closed channel are ignored."""
        await self._settle(deliveries, Subscription.acknowledge)

    async def reject(self, deliveries: Sequence[Delivery]) -> None:
        """Drop these deliveries without requeue."""
        await self._settle(deliveries, Subscription.reject)

    async def pause(self) -> None:
        """Cancel the subscription and give back everything unsettled."""
        self._wanted = False
        async with self._turn:
            if self._current is not None:
                await self._or_lose(self._current, self._current.stop)

    async def resume(self) -> None:
        """Consume again after `pause`."""
        self._wanted = True
        async with self._turn:
            if self._current is not None:
                await self._or_lose(self._current, self._current.start)

    async def close(self) -> None:
        """End the subscription for good, giving back what is unsettled."""
        self._closed = True
        self._arrived.set()
        self._keeper.cancel()
        await asyncio.wait([self._keeper])

    async def _settle(self, deliveries: Sequence[Delivery], verb: Settle) -> None:
        settled = 0
        if self._current is not None:
            with suppress(Unavailable):
                settled = await verb(self._current, deliveries)
        if stale := len(deliveries) - settled:
            self._counts.stale_settles += stale
            log.debug("settling came too late", extra={"queue": self.queue, "deliveries": stale})

    async def _or_lose(self, subscription: Subscription, change: Callable[[], Awaitable[None]]) -> None:
        """Start or stop; where the broker does not answer, a new channel does as `_wanted` says."""
        try:
            await change()
        except Unavailable:
            subscription.lost.set()
        except asyncio.CancelledError:
            subscription.lost.set()
            raise

    async def _keep(self) -> None:
        while True:
            await for_ever(self._heed)(self._consume)
            self._counts.reconsumed += 1

    async def _consume(self) -> None:
        """Subscribe and stay until the subscription is lost."""
        connection = await self._link.ready()
        self.address, queue = self._source()
        subscription = Subscription(queue, self._highest, self._arrived)
        try:
            await subscription.open(connection, self._prefetch)
            async with self._turn:
                if self._wanted:
                    await subscription.start()
                self._current = subscription
            self._arrived.set()  # what came before `_current` was known has woken nobody
            self._attached.set()
            await subscription.lost.wait()
        finally:
            self._attached.clear()
            self._current = None
            self._highest = subscription.highest
            await subscription.close()
        if subscription.cancelled:
            self._counts.consumer_cancelled += 1
            log.warning("broker cancelled a consumer", extra={"queue": self.queue})

    def _heed(self, tries: int, error: BaseException) -> None:
        log.warning("consumer was not attached", extra={"queue": self.queue, "tries": tries, "error": str(error)})
