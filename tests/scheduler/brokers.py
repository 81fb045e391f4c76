"""A RabbitMQ for tests of the scheduler: names of the test's own, and counted requeues that wait for milliseconds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from secrets import token_hex

from headway.broker.connect import connect
from headway.broker.port import Broker
from headway.broker.topology import Topology
from tests.broker.conftest import SHORT_LEVELS, SOON, delete


@asynccontextmanager
async def brief_broker(url: str) -> AsyncIterator[Broker]:
    """An open broker whose topology is deleted afterwards."""
    topology = Topology(f"test-{token_hex(6)}.", SHORT_LEVELS)
    broker = connect(url, prefix=topology.prefix, levels=topology.levels)
    await broker.open()
    try:
        await broker.ready(SOON)
        yield broker
    finally:
        await broker.close()
        await delete(url, topology)
