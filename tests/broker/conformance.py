"""What every broker promises, whatever stands behind it.  `test_memory` and `test_rabbit` each hold one adapter to it."""

import asyncio
from uuid import uuid4

import pytest

from headway.broker import Broker, Letter, Receipt
from headway.broker.hints import letter
from headway.core.errors import Unavailable
from headway.messages import DefinitionChanged, RunCancel
from headway.messages.channels import ALERT, CONTROL, DEFINITION_CHANGED, ENGINE_COMPLETIONS, RUN_CREATED, SCHEDULER_COMPLETIONS
from tests.broker.conftest import MakeBroker
from tests.broker.letters import AT, BRIEFLY, HINTS, bodies, done, hint, receive, stays_empty


class Conformance:
    """One suite over every adapter; a subclass gives the fixture `make`."""

    @pytest.fixture
    async def broker(self, make: MakeBroker) -> Broker:
        """One open broker."""
        return await make()

    async def test_a_hint_arrives_as_it_was_sent(self, broker: Broker) -> None:
        """MSG-04, OBS-03: body, type, key, trace context and instant arrive unchanged, uncounted."""
        sent = hint()
        consumer = await broker.consume(HINTS, prefetch=10)
        assert await broker.publish(sent) is Receipt.CONFIRMED
        (got,) = await receive(consumer, 1)
        assert (got.body, got.type, got.routing_key, got.headers["traceparent"], got.at) == (
            sent.body, "run.created.v1", "default", "00-1-2-01", AT,
        )  # fmt: skip
        assert got.tries == 0

    @pytest.mark.parametrize("size", [0, 1, 200_000, 300_000])
    async def test_a_body_of_any_size_arrives_whole(self, broker: Broker, size: int) -> None:
        """MSG-04: bodies arrive unchanged whether they take no frame, one or several."""
        consumer = await broker.consume(HINTS, prefetch=10)
        body = bytes(index % 251 for index in range(size))
        await broker.publish(Letter(RUN_CREATED, "default", body, "x"))
        assert bodies(await receive(consumer, 1)) == [body]

    async def test_higher_priorities_come_first(self, broker: Broker) -> None:
        """MSG-05: among hints that wait, a higher priority is delivered first, and equal ones in the order they were sent."""
        sent = [hint(priority) for priority in (0, 9, 5, 9, 0)]
        for one in sent:
            await broker.publish(one)
        consumer = await broker.consume(HINTS, prefetch=10)
        expected = sorted(sent, key=lambda one: -one.priority)
        assert bodies(await receive(consumer, 5)) == bodies(expected)

    async def test_a_hint_that_no_queue_takes_is_refused(self, broker: Broker) -> None:
        """BB-047: a mandatory letter without a route is no success; one that nobody has to take is."""
        assert await broker.publish(hint(queue="nowhere")) is Receipt.REFUSED
        assert await broker.publish(Letter(ALERT, "alert.x", b"{}", "x")) is Receipt.CONFIRMED
        assert broker.counts.published == {(RUN_CREATED, "refused"): 1, (ALERT, "confirmed"): 1}

    async def test_unacknowledged_deliveries_are_bounded_by_prefetch(self, broker: Broker) -> None:
        """MSG-12: a consumer holds at most `prefetch` unsettled messages; the next comes when one is settled."""
        consumer = await broker.consume(HINTS, prefetch=2)
        for _ in range(3):
            await broker.publish(hint())
        first = await receive(consumer, 2)
        assert await stays_empty(consumer)
        await consumer.acknowledge(first[:1])
        assert len(await receive(consumer, 1)) == 1

    async def test_consumers_compete(self, make: MakeBroker) -> None:
        """MSG-10: each message of a queue goes to one of its consumers, and none is left out."""
        one, two = await make(), await make()
        consumers = [await one.consume(HINTS, prefetch=1), await two.consume(HINTS, prefetch=1)]
        sent = [hint(), hint()]
        for message in sent:
            await one.publish(message)
        got = [await receive(consumer, 1) for consumer in consumers]
        assert sorted(bodies(got[0] + got[1])) == sorted(bodies(sent))

    async def test_a_limit_leaves_the_rest_for_the_next_call(self, broker: Broker) -> None:
        """At most `limit` deliveries are returned, in order, and the others stay."""
        consumer = await broker.consume(HINTS, prefetch=10)
        sent = [hint() for _ in range(5)]
        for message in sent:
            await broker.publish(message)
        assert bodies(await receive(consumer, 2) + await receive(consumer, 3)) == bodies(sent)

    async def test_a_cancelled_receive_loses_nothing(self, broker: Broker) -> None:
        """A receive that is cancelled while it waits takes no message with it."""
        consumer = await broker.consume(HINTS, prefetch=10)
        assert await stays_empty(consumer)
        await broker.publish(hint())
        assert len(await receive(consumer, 1)) == 1

    async def test_some_of_several_can_be_acknowledged(self, broker: Broker) -> None:
        """What was acknowledged, in any order and in any part, never returns; the rest does."""
        consumer = await broker.consume(HINTS, prefetch=10)
        for _ in range(5):
            await broker.publish(hint())
        got = await receive(consumer, 5)
        await consumer.acknowledge([got[3], got[0]])
        await consumer.acknowledge(got[1:2])
        await consumer.close()
        again = await broker.consume(HINTS, prefetch=10)
        assert bodies(await receive(again, 2)) == bodies([got[2], got[4]])
        assert await stays_empty(again)

    async def test_a_rejected_delivery_is_gone(self, broker: Broker) -> None:
        """Rejecting drops a message for good."""
        consumer = await broker.consume(HINTS, prefetch=10)
        await broker.publish(hint())
        await consumer.reject(await receive(consumer, 1))
        await consumer.close()
        assert await stays_empty(await broker.consume(HINTS, prefetch=10))

    async def test_a_paused_consumer_holds_nothing(self, make: MakeBroker) -> None:
        """A pause gives back what is unsettled, received or not, at once; another consumer gets it, in the old order."""
        one, two = await make(), await make()
        paused = await one.consume(HINTS, prefetch=10)
        sent = [hint() for _ in range(4)]
        for message in sent:
            await one.publish(message)
        held = await receive(paused, 2)
        await paused.pause()
        assert not paused.alive
        other = await two.consume(HINTS, prefetch=10)
        assert bodies(await receive(other, 4)) == bodies(sent)
        await paused.acknowledge(held)
        assert one.counts.stale_settles == 2

    async def test_a_paused_consumer_resumes(self, broker: Broker) -> None:
        """After a resume the same consumer gets what waited; pausing and resuming twice changes nothing."""
        consumer = await broker.consume(HINTS, prefetch=10)
        await consumer.pause()
        await consumer.pause()
        await broker.publish(hint())
        assert await stays_empty(consumer)
        await consumer.resume()
        await consumer.resume()
        assert consumer.alive
        await consumer.acknowledge(await receive(consumer, 1))
        assert await stays_empty(consumer)

    async def test_a_closed_consumer_returns_nothing(self, broker: Broker) -> None:
        """Closing ends a receive that waits, and gives back what was held."""
        consumer = await broker.consume(HINTS, prefetch=10)
        waiting = asyncio.create_task(consumer.receive())
        await asyncio.wait([waiting], timeout=BRIEFLY.total_seconds())
        await consumer.close()
        assert await waiting == ()

    async def test_listeners_each_get_a_copy(self, make: MakeBroker) -> None:
        """MSG-11: a broadcast reaches every listener whose key matches, once."""
        one, two = await make(), await make()
        cancels = await one.listen(CONTROL, "run.cancel")
        everything = await two.listen(CONTROL)
        changes = await two.listen(DEFINITION_CHANGED)
        wish = letter(RunCancel(runs=(uuid4(),)), at=AT)
        change = letter(DefinitionChanged(definition="d", version=1, change="created"), at=AT)
        assert [await one.publish(wish), await two.publish(change)] == [Receipt.CONFIRMED] * 2
        assert bodies([*await receive(cancels, 1), *await receive(everything, 1)]) == [wish.body] * 2
        assert bodies(await receive(changes, 1)) == [change.body]
        assert await stays_empty(cancels)

    async def test_completions_go_to_whom_they_concern(self, broker: Broker) -> None:
        """MSG-10: the scheduler and the workflow engine each get the completions that owe them something."""
        scheduler = await broker.consume(SCHEDULER_COMPLETIONS, prefetch=10)
        engine = await broker.consume(ENGINE_COMPLETIONS, prefetch=10)
        trigger, workflow, both = done("trigger"), done("workflow"), done("workflow", "alert")
        for message in (trigger, workflow, both):
            await broker.publish(message)
        assert bodies(await receive(scheduler, 2)) == bodies([trigger, both])
        assert bodies(await receive(engine, 2)) == bodies([workflow, both])

    async def test_depth_counts_what_is_ready(self, broker: Broker) -> None:
        """A queue's depth is the number of messages that wait in it; a queue that does not exist has none."""
        await broker.publish(hint())
        assert await broker.depth(HINTS) == 1
        assert await broker.depth("run.nowhere") is None

    async def test_a_round_trip_is_answered(self, broker: Broker) -> None:
        """MSG-13: a broker that is there confirms the topology as often as it is asked."""
        await broker.round_trip()
        await broker.round_trip()
        assert broker.connected

    async def test_a_closed_broker_refuses_at_once(self, broker: Broker) -> None:
        """MSG-07, BB-073: without a connection a publish is refused without waiting, and questions raise Unavailable."""
        await broker.close()
        async with asyncio.timeout(0.5):
            assert await broker.publish(hint()) is Receipt.REFUSED
            with pytest.raises(Unavailable):
                await broker.round_trip()
            with pytest.raises(Unavailable):
                await broker.dead()
