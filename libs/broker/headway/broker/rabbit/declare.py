"""Make the broker hold what the topology says; declaring twice changes nothing."""

from collections.abc import Iterable

from aio_pika.abc import AbstractChannel, AbstractConnection
from aio_pika.exceptions import ChannelPreconditionFailed

from headway.broker.rabbit.faults import mismatch
from headway.broker.topology import Exchange, Queue, Topology


async def declare(connection: AbstractConnection, topology: Topology, run_queues: Iterable[str]) -> None:
    """Declare every exchange, queue and binding.  Raises Invalid naming the first that the broker holds otherwise."""
    async with connection.channel() as channel:
        for exchange in topology.exchanges():
            await declare_exchange(channel, exchange)
        for queue in topology.queues(run_queues):
            await declare_queue(channel, queue)


async def declare_exchange(channel: AbstractChannel, exchange: Exchange) -> None:
    """Declare one durable exchange."""
    try:
        await channel.declare_exchange(exchange.name, exchange.kind, durable=True, arguments=dict(exchange.arguments))
    except ChannelPreconditionFailed as error:
        raise mismatch("exchange", exchange.name, error) from error


async def declare_queue(channel: AbstractChannel, queue: Queue) -> None:
    """Declare one queue and bind it."""
    try:
        declared = await channel.declare_queue(
            queue.name,
            durable=not queue.exclusive,
            exclusive=queue.exclusive,
            auto_delete=queue.exclusive,
            arguments=dict(queue.arguments),
        )
    except ChannelPreconditionFailed as error:
        raise mismatch("queue", queue.name, error) from error
    for binding in queue.bindings:
        await declared.bind(binding.exchange, binding.key)
