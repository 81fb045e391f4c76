"""Brokers for tests: each test has a prefix of its own, and what it declared is deleted afterwards."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from secrets import token_hex

import aio_pika
import pytest

from headway.broker import Broker, connect
from headway.broker.topology import LEVELS, Topology

SOON = timedelta(seconds=20)
SHORT_LEVELS = {level: timedelta(milliseconds=20 * level) for level in LEVELS}
RUN_QUEUES = ("default", "other")

MakeBroker = Callable[[], Awaitable[Broker]]


@pytest.fixture
def topology() -> Topology:
    """The names of this test alone, with levels that hold messages for milliseconds."""
    return Topology(f"test-{token_hex(6)}.", SHORT_LEVELS)


@pytest.fixture
async def make_memory(topology: Topology) -> AsyncIterator[MakeBroker]:
    """Makes brokers of one memory node, open and ready."""
    made: list[Broker] = []
    yield lambda: _make(f"memory://{topology.prefix}", topology, made)
    for broker in made:
        await broker.close()


@pytest.fixture
async def make_rabbit(broker_url: str, topology: Topology) -> AsyncIterator[MakeBroker]:
    """Makes brokers of one RabbitMQ, open and ready; afterwards the topology is deleted."""
    made: list[Broker] = []
    yield lambda: _make(broker_url, topology, made)
    for broker in made:
        await broker.close()
    await delete(broker_url, topology)


async def _make(url: str, topology: Topology, made: list[Broker]) -> Broker:
    broker = connect(url, prefix=topology.prefix, levels=topology.levels)
    made.append(broker)
    await broker.open()
    await broker.ready(SOON)
    await broker.declare_run_queues(RUN_QUEUES)
    return broker


async def delete(url: str, topology: Topology) -> None:
    """Delete everything durable that this topology declared."""
    async with await aio_pika.connect(url) as connection, connection.channel() as channel:
        for queue in topology.queues(RUN_QUEUES):
            await channel.queue_delete(queue.name)
        for exchange in topology.exchanges():
            await channel.exchange_delete(exchange.name)
