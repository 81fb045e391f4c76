"""The dead queue, looked at, sent back and emptied by an operator."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager

from aio_pika.abc import AbstractConnection, AbstractIncomingMessage, AbstractQueue

from headway.broker.dead import dead_letter, plain, revival, whole
from headway.broker.port import DeadLetter, Delivery, Letter, Receipt
from headway.broker.rabbit.declare import declare_queue
from headway.broker.topology import Topology
from headway.messages.channels import DEAD_QUEUE

Publish = Callable[[Letter], Awaitable[Receipt]]


async def look(connection: AbstractConnection, topology: Topology, limit: int) -> Sequence[DeadLetter]:
    """Return the oldest dead messages and leave all of them where they are."""
    async with _dead_queue(connection, topology) as queue:
        return [
            dead_letter(_delivery(message), message=message.message_id or "", topology=topology)
            async for message in _messages(queue, limit)
        ]


async def requeue(connection: AbstractConnection, topology: Topology, ids: Collection[str] | None, publish: Publish) -> int:
    """Send dead messages back to their queues and say how many; one leaves the dead queue once its return is confirmed."""
    returned = 0
    async with _dead_queue(connection, topology) as queue:
        async for message in _messages(queue, _depth(queue)):
            wanted = ids is None or message.message_id in ids
            if wanted and await publish(revival(_delivery(message), topology=topology)) is Receipt.CONFIRMED:
                await message.ack()
                returned += 1
    return returned


async def purge(connection: AbstractConnection, topology: Topology) -> int:
    """Empty the dead queue and say how many messages it held."""
    async with _dead_queue(connection, topology) as queue:
        return (await queue.purge()).message_count or 0


@asynccontextmanager
async def _dead_queue(connection: AbstractConnection, topology: Topology) -> AsyncIterator[AbstractQueue]:
    """Give the dead queue on a channel of its own: what is not acknowledged goes back in order when the channel closes."""
    async with connection.channel() as channel:
        await declare_queue(channel, topology.queue(DEAD_QUEUE))
        yield await channel.declare_queue(topology.full(DEAD_QUEUE), passive=True)


async def _messages(queue: AbstractQueue, limit: int) -> AsyncIterator[AbstractIncomingMessage]:
    for _ in range(limit):
        message = await queue.get(fail=False)
        if message is None:
            return
        yield message


def _depth(queue: AbstractQueue) -> int:
    return queue.declaration_result.message_count or 0


def _delivery(message: AbstractIncomingMessage) -> Delivery:
    return Delivery(
        message.body,
        message.type or "",
        message.routing_key or "",
        plain(message.headers),
        message.delivery_tag or 0,
        whole(message.timestamp),
    )
