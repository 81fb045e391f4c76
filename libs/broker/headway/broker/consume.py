"""Handle messages with counted requeue: each delivery ends acknowledged, requeued with a count, or dead."""

import asyncio
import logging
from asyncio import timeout as bounded
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Generic, TypeVar

from headway.broker.dead import burial, requeued
from headway.broker.port import Broker, Consumer, Delivery, Letter, Receipt
from headway.core.errors import NotFound, Unavailable
from headway.messages import Message, Unparseable, parse

log = logging.getLogger(__name__)

M = TypeVar("M", bound=Message)
Handler = Callable[[M], Awaitable[None]]
Probe = Callable[[], Awaitable[None]]
Within = Callable[[Delivery], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a message is sent back before it is dead."""

    tries: int

    def lasts(self, tries: int) -> bool:
        """Whether a message that was sent back so often is sent back once more."""
        return tries < self.tries


SCHEDULERS: Final = Patience(3)
ENGINES: Final = Patience(5)
OTHERS: Final = Patience(5)


async def _answers() -> None:
    """Probe nothing: the broker alone is needed."""


def _plainly(_: Delivery) -> AbstractContextManager[object]:
    return nullcontext()


@dataclass(eq=False)
class CountedConsumer(Generic[M]):
    """Takes messages of one kind from a consumer and gives each to a handler.

    `probe` raises Unavailable while what the handler needs is away.  `within` wraps each handling, such as in a span made from the
    delivery's trace context.
    """

    broker: Broker
    consumer: Consumer
    kinds: tuple[type[M], ...]
    handle: Handler[M]
    patience: Patience = OTHERS
    probe: Probe = _answers
    within: Within = _plainly
    _stopped: bool = field(default=False, init=False)

    async def step(self, wait: timedelta = timedelta(seconds=1)) -> int:
        """Handle what arrives within `wait` and say how many deliveries that were.

        When the database or the broker is away, or the step is cancelled, the consumer is stopped and what it holds goes back
        uncounted; the next step consumes again once the probe answers.  Raises Unavailable until then.
        """
        if self._stopped:
            await self._restart()
        deliveries = await self._arrivals(wait)
        try:
            for delivery in deliveries:
                await self._settle(delivery)
        except (Unavailable, asyncio.CancelledError):
            self._stopped = True
            await self.consumer.pause()
            raise
        return len(deliveries)

    async def _arrivals(self, wait: timedelta) -> Sequence[Delivery]:
        try:
            async with bounded(wait.total_seconds()):
                return await self.consumer.receive()
        except TimeoutError:
            return ()

    async def _restart(self) -> None:
        await self.broker.round_trip()
        await self.probe()
        await self.consumer.resume()
        self._stopped = False
        log.info("consumer was resumed", extra={"queue": self.consumer.queue})

    async def _settle(self, delivery: Delivery) -> None:
        try:
            message = self._read(delivery)
        except Unparseable as error:
            return await self._bury(delivery, error)
        try:
            with self.within(delivery):
                await self.handle(message)
        except Unavailable:
            raise  # ours, not the message's: the consumer stops and waits for the store
        except NotFound:
            log.debug("message was about nothing that exists", extra={"queue": self.consumer.queue, "type": message.type})
        except Exception as error:
            log.exception("handling failed", extra={"queue": self.consumer.queue, "type": message.type, "tries": delivery.tries})
            return await (self._requeue(delivery) if self.patience.lasts(delivery.tries) else self._bury(delivery, error))
        return await self.consumer.acknowledge([delivery])

    def _read(self, delivery: Delivery) -> M:
        message = parse(delivery.body)
        if not isinstance(message, self.kinds):
            raise Unparseable(f"{message.type} does not belong here")
        return message

    async def _requeue(self, delivery: Delivery) -> None:
        await self._send(requeued(delivery, queue=self.consumer.address, topology=self.broker.topology), delivery)
        self.broker.counts.requeued[self.consumer.queue] += 1

    async def _bury(self, delivery: Delivery, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}"
        await self._send(burial(delivery, queue=self.consumer.address, reason=reason), delivery)
        self.broker.counts.buried[self.consumer.queue] += 1
        log.error(
            "message was buried", extra={"queue": self.consumer.queue, "type": delivery.type, "tries": delivery.tries, "reason": reason}
        )

    async def _send(self, letter: Letter, delivery: Delivery) -> None:
        """Send the letter, then let go of the delivery: a message is doubled rather than lost."""
        if await self.broker.publish(letter) is not Receipt.CONFIRMED:
            raise Unavailable(f"the broker did not take a letter for {letter.exchange}")
        await self.consumer.acknowledge([delivery])
