"""The harness keeps its own promises."""

import asyncio
from datetime import timedelta

import aio_pika
import asyncpg
import pytest
from aio_pika.abc import AbstractIncomingMessage
from aiormq.exceptions import AMQPError

from tests.harness.plugin import MakeNode
from tests.harness.postgres import PostgresNode
from tests.harness.rabbit import RabbitNode


async def test_a_test_gets_a_migrated_database(database_url: str) -> None:
    """`database_url` names a database with Headway's schema and no runs in it."""
    connection = await asyncpg.connect(database_url)
    assert await connection.fetchval("SELECT count(*) FROM headway.run") == 0
    await connection.close()


async def test_databases_and_virtual_hosts_are_apart(database_url: str, empty_database_url: str, broker_url: str) -> None:
    """No two fixtures hand out the same database, and an empty one has no schema of ours."""
    assert database_url != empty_database_url
    connection = await asyncpg.connect(empty_database_url)
    assert not await connection.fetchval("SELECT count(*) FROM pg_namespace WHERE nspname = 'headway'")
    await connection.close()
    async with await aio_pika.connect(broker_url) as broker:
        channel = await broker.channel()
        with pytest.raises(AMQPError):
            await channel.get_queue("left-behind", ensure=True)


@pytest.mark.system
async def test_a_server_keeps_what_was_committed_over_a_kill(postgres_node: PostgresNode) -> None:
    """`postgres_node` is durable, may be killed, and comes back under the same URL."""
    connection = await asyncpg.connect(postgres_node.url)
    assert await connection.fetchval("SHOW fsync") == "on"
    await connection.execute("CREATE TABLE kept (n int)")
    ended = asyncio.Event()
    connection.add_termination_listener(lambda _: ended.set())
    await postgres_node.kill()
    await ended.wait()
    await postgres_node.start()
    connection = await asyncpg.connect(postgres_node.url)
    assert await connection.fetchval("SELECT count(*) FROM kept") == 0
    await connection.close()


@pytest.mark.system
@pytest.mark.timeout(180)
async def test_a_node_keeps_durable_messages_over_a_kill_and_loses_them_by_a_wipe(rabbit_node: RabbitNode) -> None:
    """`kill` and `start` is a crash; `wipe` and `start` is a new disk; the URL stays the same."""
    await _publish(rabbit_node.url)
    await rabbit_node.kill()
    with pytest.raises((OSError, AMQPError)):
        await aio_pika.connect(rabbit_node.url, timeout=2)
    await rabbit_node.start()
    assert await _messages(rabbit_node.url) == 1
    await rabbit_node.wipe()
    await rabbit_node.start()
    assert await _messages(rabbit_node.url) == 0


@pytest.mark.system
@pytest.mark.timeout(120)
async def test_a_node_can_have_a_short_consumer_timeout(make_rabbit_node: MakeNode) -> None:
    """`consumer_timeout` is what the broker allows between delivery and acknowledgement."""
    node = make_rabbit_node(consumer_timeout=timedelta(seconds=1))
    await node.start()
    await _publish(node.url)
    async with await aio_pika.connect(node.url) as broker:
        channel = await broker.channel()
        closed = asyncio.Event()
        channel.close_callbacks.add(lambda *_: closed.set())
        queue = await channel.get_queue("kept", ensure=False)
        got = asyncio.Event()

        async def receive(_message: AbstractIncomingMessage) -> None:
            got.set()

        await queue.consume(receive)
        await got.wait()
        await asyncio.wait_for(closed.wait(), 20)


async def _publish(url: str) -> None:
    async with await aio_pika.connect(url) as broker:
        channel = await broker.channel()
        await channel.declare_queue("kept", durable=True)
        message = aio_pika.Message(b"hint", delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
        await channel.default_exchange.publish(message, routing_key="kept")


async def _messages(url: str) -> int:
    async with await aio_pika.connect(url) as broker:
        channel = await broker.channel()
        queue = await channel.declare_queue("kept", durable=True)
        return queue.declaration_result.message_count or 0
