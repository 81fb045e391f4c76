"""What the RabbitMQ adapter does when the broker goes, comes back, or takes something away."""

import asyncio
from asyncio import Event
from collections.abc import AsyncIterator
from datetime import timedelta
from secrets import token_hex
from time import monotonic

import aio_pika
import pytest
from aio_pika.abc import AbstractConnection
from aio_pika.exceptions import AMQPError

from headway.broker import Broker, Receipt, connect
from headway.broker.counts import BrokerCounts
from headway.broker.rabbit.link import Link
from headway.broker.topology import Topology
from headway.core.errors import Invalid, Unavailable
from headway.messages.channels import DEFINITION_CHANGED
from tests.broker.conftest import RUN_QUEUES, SOON, MakeBroker, delete
from tests.broker.letters import HINTS, bodies, change, delayed, done, hint, receive, until
from tests.broker.proxy import Proxy
from tests.harness.rabbit import RabbitNode


@pytest.fixture
async def proxy(broker_url: str) -> AsyncIterator[Proxy]:
    """A proxy in front of the broker."""
    async with Proxy(broker_url) as proxy:
        yield proxy


@pytest.fixture
async def proxied(proxy: Proxy, broker_url: str, topology: Topology) -> AsyncIterator[Broker]:
    """A broker behind the proxy, opened, not waited for."""
    broker = connect(proxy.url, prefix=topology.prefix, levels=topology.levels)
    await broker.declare_run_queues(RUN_QUEUES)
    await broker.open()
    yield broker
    await broker.close()
    await delete(broker_url, topology)


async def test_a_broker_that_is_away_at_first_is_found_later(proxy: Proxy, proxied: Broker) -> None:
    """MSG-07, MSG-13: without a broker nothing waits and nothing raises; when it comes, everything is declared and consumed."""
    await proxy.stop()
    consumer = await proxied.consume(HINTS, prefetch=10)
    began = monotonic()
    assert await proxied.publish(hint()) is Receipt.REFUSED
    assert monotonic() - began < 0.1
    with pytest.raises(Unavailable):
        await proxied.ready(timedelta(seconds=0.1))
    assert not consumer.alive
    await proxy.start()
    await proxied.ready(SOON)
    await until(lambda: consumer.alive)
    assert await proxied.publish(hint()) is Receipt.CONFIRMED
    assert len(await receive(consumer, 1)) == 1


async def test_consumers_survive_cut_connections(proxy: Proxy, proxied: Broker) -> None:
    """BB-071, BB-075: after each of several cuts the consumers stand again, unsettled hints come back, late settling is ignored."""
    await proxied.ready(SOON)
    consumer = await proxied.consume(HINTS, prefetch=10)
    listener = await proxied.listen(DEFINITION_CHANGED)
    sent = hint()
    assert await proxied.publish(sent) is Receipt.CONFIRMED
    held = await receive(consumer, 1)
    for _ in range(5):
        proxy.cut()
        await until(lambda: not consumer.alive)
        await until(lambda: consumer.alive and listener.alive and proxied.connected)
    await consumer.acknowledge(held)
    again = await receive(consumer, 1)
    assert bodies(again) == [sent.body]
    assert again[0].tag > held[0].tag
    assert proxied.counts.stale_settles == 1
    assert proxied.counts.reconnects >= 10
    assert await proxied.publish(change()) is Receipt.CONFIRMED
    assert len(await receive(listener, 1)) == 1


async def test_a_silent_broker_is_unknown_after_the_timeout(proxy: Proxy, proxied: Broker) -> None:
    """BB-073: a broker that takes bytes and answers nothing makes a publish end as unknown, within 5 s; from then on one letter
    at a time waits for it, and a close ends soon."""
    await proxied.ready(SOON)
    proxy.swallow()
    began = monotonic()
    assert await proxied.publish(hint()) is Receipt.UNKNOWN
    assert 4.9 < monotonic() - began < 6
    assert proxied.counts.published["run-created", "unknown"] == 1
    probing = asyncio.create_task(proxied.publish(hint()))
    await asyncio.wait([probing], timeout=0.05)
    assert await proxied.publish(hint()) is Receipt.REFUSED
    assert not probing.done()
    began = monotonic()
    await proxied.close()
    assert monotonic() - began < 6


async def test_a_publish_under_way_when_the_connection_goes_is_unknown(proxy: Proxy, proxied: Broker) -> None:
    """MSG-07: a letter whose confirm is lost with the connection may or may not have arrived: the answer says so at once."""
    await proxied.ready(SOON)
    proxy.swallow()
    publish = asyncio.create_task(proxied.publish(hint()))
    await asyncio.wait([publish], timeout=0.1)
    proxy.cut()
    proxy.flow()
    async with asyncio.timeout(2):
        assert await publish is Receipt.UNKNOWN


async def test_a_deleted_queue_is_consumed_again(make_rabbit: MakeBroker, broker_url: str) -> None:
    """BB-072: when the broker cancels a consumer because its queue is gone, the queue is declared and consumed again, counted."""
    broker = await make_rabbit()
    consumer = await broker.consume(HINTS, prefetch=10)
    async with await aio_pika.connect(broker_url) as connection, connection.channel() as channel:
        await channel.queue_delete(broker.topology.full(HINTS))
    await until(lambda: broker.counts.consumer_cancelled == 1)
    await until(lambda: consumer.alive)
    assert broker.counts.reconsumed == 1
    assert await broker.publish(hint()) is Receipt.CONFIRMED
    assert len(await receive(consumer, 1)) == 1


async def test_a_deleted_exchange_is_declared_again(make_rabbit: MakeBroker, broker_url: str) -> None:
    """MSG-13: a publish to an exchange that is gone ends unknown; the adapter connects anew and declares it."""
    broker = await make_rabbit()
    async with await aio_pika.connect(broker_url) as connection, connection.channel() as channel:
        await channel.exchange_delete(broker.topology.full("run-created"))
    assert await broker.publish(hint()) is Receipt.UNKNOWN
    await until(lambda: broker.counts.reconnects == 1 and broker.connected)
    assert await broker.publish(hint()) is Receipt.CONFIRMED


async def test_a_round_trip_repairs_a_removed_binding(make_rabbit: MakeBroker, broker_url: str) -> None:
    """MSG-13, BB-047: without its binding a queue's hints are refused; the next round trip binds it again."""
    broker = await make_rabbit()
    full = broker.topology.full
    async with await aio_pika.connect(broker_url) as connection, connection.channel() as channel:
        queue = await channel.get_queue(full(HINTS), ensure=False)
        await queue.unbind(full("run-created"), "default")
    assert await broker.publish(hint()) is Receipt.REFUSED
    await broker.round_trip()
    assert await broker.publish(hint()) is Receipt.CONFIRMED


async def test_a_mismatch_names_queue_and_setting(broker_url: str, topology: Topology) -> None:
    """MSG-13: a queue that the broker holds with other settings is one clear error for the operator, and no endless wait."""
    async with await aio_pika.connect(broker_url) as connection, connection.channel() as channel:
        await channel.declare_queue(topology.full("run.default"), durable=True, arguments={"x-max-length": 5})
    broker = connect(broker_url, prefix=topology.prefix)
    await broker.declare_run_queues(["default"])
    await broker.open()
    with pytest.raises(Invalid, match=rf"{topology.prefix}run\.default, x-max-(length|priority).*received") as caught:
        await broker.ready(SOON)
    assert caught.value.code == "declaration_mismatch"
    assert await broker.publish(hint()) is Receipt.REFUSED
    await broker.close()
    await delete(broker_url, topology)


async def test_a_mismatch_that_is_removed_is_forgiven(broker_url: str, topology: Topology) -> None:
    """MSG-13: once the operator has deleted what stood in the way, the adapter connects by itself."""
    async with await aio_pika.connect(broker_url) as connection, connection.channel() as channel:
        await channel.declare_queue(topology.full("dead"), durable=True)
        broker = connect(broker_url, prefix=topology.prefix)
        await broker.open()
        with pytest.raises(Invalid, match="dead, x-"):
            await broker.ready(SOON)
        await channel.queue_delete(topology.full("dead"))
    await until(lambda: broker.connected)
    await broker.ready(SOON)
    await broker.close()
    await delete(broker_url, topology)


async def test_levels_hold_a_message_for_their_time(broker_url: str) -> None:
    """MSG-06, MSG-08: the first level brings a message back to its queue after 2 s, never early."""
    topology = Topology(f"test-{token_hex(6)}.")
    broker = connect(broker_url, prefix=topology.prefix)
    await broker.open()
    await broker.ready(SOON)
    consumer = await broker.consume("scheduler.run-complete", prefetch=1)
    began = monotonic()
    letter = done("trigger")
    await broker.publish(delayed(letter, "scheduler.run-complete", topology))
    (back,) = await receive(consumer, 1)
    assert 2.0 <= monotonic() - began < 3.0
    assert back.body == letter.body
    await broker.close()
    await delete(broker_url, topology)


async def test_everything_comes_back_on_an_empty_broker(rabbit_node: RabbitNode, topology: Topology) -> None:
    """MSG-13, BB-071: a broker that is killed and loses its data directory gets everything declared and consumed again."""
    broker = connect(rabbit_node.url, prefix=topology.prefix)
    await broker.declare_run_queues(RUN_QUEUES)
    await broker.open()
    await broker.ready(timedelta(seconds=30))
    consumer = await broker.consume(HINTS, prefetch=10)
    await rabbit_node.wipe()
    await until(lambda: not consumer.alive and not broker.connected)
    assert await broker.publish(hint()) is Receipt.REFUSED
    await rabbit_node.start()
    await until(lambda: consumer.alive and broker.connected)
    sent = hint()
    assert await broker.publish(sent) is Receipt.CONFIRMED
    assert bodies(await receive(consumer, 1)) == [sent.body]
    await broker.close()


async def test_a_link_that_is_stopped_amid_a_question_stops(broker_url: str) -> None:
    """A driver that answers its own cancellation with an error of the broker is not taken for an outage: nothing connects again."""
    entered = Event()

    async def furnish(connection: AbstractConnection, lost: Event) -> None:
        entered.set()
        try:
            await Event().wait()
        except asyncio.CancelledError as error:
            raise AMQPError("the call was cancelled") from error

    link = Link(broker_url, "stopped", furnish, BrokerCounts())
    link.start()
    await entered.wait()
    async with asyncio.timeout(5):
        await link.stop()
    assert not link.up
