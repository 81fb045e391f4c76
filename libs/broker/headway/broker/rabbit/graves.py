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
        found = [message async for message in _messages(queue, limit)]
        await _put_back(found)
        return [dead_letter(_delivery(message), message=message.message_id or "", topology=topology) for message in found]


async def requeue(connection: AbstractConnection, topology: Topology, ids: Collection[str] | None, publish: Publish) -> int:
    """Send dead messages back to their queues and say how many; one leaves the dead queue once its return is confirmed."""
    async with _dead_queue(connection, topology) as queue:
        # All are taken before the first returns: one that dies again meanwhile is not met twice.
        found = [message async for message in _messages(queue)]
        staying = []
        for message in found:
            wanted = ids is None or message.message_id in ids
            if wanted and await publish(revival(_delivery(message), topology=topology)) is Receipt.CONFIRMED:
                await message.ack()
            else:
                staying.append(message)
        await _put_back(staying)
    return len(found) - len(staying)


async def purge(connection: AbstractConnection, topology: Topology) -> int:
    """Empty the dead queue and say how many messages it held."""
    async with _dead_queue(connection, topology) as queue:
        return (await queue.purge()).message_count or 0


@asynccontextmanager
async def _dead_queue(connection: AbstractConnection, topology: Topology) -> AsyncIterator[AbstractQueue]:
    """Give the dead queue on a channel of its own: whatever happens, what is not acknowledged goes back when the channel closes."""
    async with connection.channel() as channel:
        await declare_queue(channel, topology.queue(DEAD_QUEUE))
        yield await channel.declare_queue(topology.full(DEAD_QUEUE), passive=True)


async def _messages(queue: AbstractQueue, limit: int | None = None) -> AsyncIterator[AbstractIncomingMessage]:
    taken = 0
    while limit is None or taken < limit:
        message = await queue.get(fail=False)
        if message is None:
            return
        taken += 1
        yield message


async def _put_back(messages: Sequence[AbstractIncomingMessage]) -> None:
    """Return messages in their order before the channel closes: whoever looks next finds them, which a closing channel leaves to time."""
    for message in messages:
        await message.reject(requeue=True)


def _delivery(message: AbstractIncomingMessage) -> Delivery:
    return Delivery(
        message.body,
        message.type or "",
        message.routing_key or "",
        plain(message.headers),
        message.delivery_tag or 0,
        whole(message.timestamp),
    )
