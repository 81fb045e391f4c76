"""What counted requeue and the dead queue promise over every broker."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from headway.broker import Broker, Consumer, Letter
from headway.broker.consume import CountedConsumer, Patience
from headway.broker.hints import letter
from headway.core.errors import NotFound, Unavailable
from headway.messages import DefinitionChanged, RunCompleted, RunCreated, encode, parse
from headway.messages.channels import DEAD_QUEUE, DEFINITION_CHANGED, SCHEDULER_COMPLETIONS
from tests.broker.conftest import MakeBroker
from tests.broker.letters import AT, BRIEFLY, HINTS, done, eventually, receive, stays_empty


class Completions:
    """A counted consumer of completions whose handler fails as often as it is told to."""

    def __init__(self, broker: Broker, consumer: Consumer, *errors: Exception, tries: int = 2) -> None:
        self.errors = list(errors)
        self.handled: list[RunCompleted] = []
        self.counted = CountedConsumer(broker, consumer, (RunCompleted,), self.handle, Patience(tries))

    async def handle(self, message: RunCompleted) -> None:
        self.handled.append(message)
        if self.errors:
            raise self.errors.pop(0)

    async def steps(self, count: int) -> None:
        """Step until so many messages were handled or refused."""
        while count > 0:
            count -= await self.counted.step()


class CountedConformance:
    """Counted requeue and the dead queue, over every adapter."""

    @pytest.fixture
    async def broker(self, make: MakeBroker) -> Broker:
        """One open broker."""
        return await make()

    @pytest.fixture
    async def consumer(self, broker: Broker) -> AsyncIterator[Consumer]:
        """A consumer of the scheduler's completions."""
        consumer = await broker.consume(SCHEDULER_COMPLETIONS, prefetch=10)
        yield consumer
        await consumer.close()

    async def test_what_is_handled_is_acknowledged(self, broker: Broker, consumer: Consumer) -> None:
        """MSG-08: a message that was handled is settled, and so is one about a run that no longer exists."""
        completions = Completions(broker, consumer, NotFound("no such run"))
        await broker.publish(done("trigger"))
        await broker.publish(done("trigger"))
        await completions.steps(2)
        await consumer.close()
        assert await broker.depth(SCHEDULER_COMPLETIONS) == 0
        assert await broker.depth(DEAD_QUEUE) == 0

    async def test_an_error_sends_a_message_back_with_a_count(self, broker: Broker, consumer: Consumer) -> None:
        """MSG-08: a message whose handling fails comes back later, unchanged, until it succeeds."""
        completions = Completions(broker, consumer, KeyError("a"), ValueError("b"))
        sent = done("trigger")
        await broker.publish(sent)
        await completions.steps(3)
        assert completions.handled == [parse(sent.body)] * 3
        assert broker.counts.requeued == {SCHEDULER_COMPLETIONS: 2}
        assert await broker.dead() == []

    async def test_a_message_that_always_fails_ends_dead(self, broker: Broker, consumer: Consumer) -> None:
        """MSG-08, MSG-17: when patience ends the original bytes lie in the dead queue with reason, origin and tries."""
        completions = Completions(broker, consumer, *[KeyError("always")] * 3)
        sent = done("trigger")
        await broker.publish(sent)
        await completions.steps(3)
        (dead,) = await broker.dead()
        assert (dead.body, dead.type, dead.origin, dead.tries) == (sent.body, "run.completed.v1", SCHEDULER_COMPLETIONS, 2)
        assert dead.reason == "KeyError: 'always'"
        assert broker.counts.buried == {SCHEDULER_COMPLETIONS: 1}

    @pytest.mark.parametrize(
        "body", [b"\xff\x00 not json", b'{"type": "run.completed.v9"}', encode(RunCreated(queue="q", runs=(uuid4(),)))], ids=range(3)
    )
    async def test_poison_is_buried_at_once(self, broker: Broker, consumer: Consumer, body: bytes) -> None:
        """MSG-08: bytes that do not parse, unknown major versions and types that do not belong here go to the dead queue unchanged."""
        completions = Completions(broker, consumer)
        await broker.publish(Letter("run-complete", "scheduler", body, "whatever"))
        await completions.steps(1)
        (dead,) = await broker.dead()
        assert (dead.body, dead.tries, completions.handled) == (body, 0, [])

    async def test_unavailable_never_counts(self, broker: Broker, consumer: Consumer) -> None:
        """MSG-08: with the database away the consumer stops and gives everything back uncounted; it goes on when a probe answers."""
        completions = Completions(broker, consumer, Unavailable("database"))
        away = [Unavailable("still away")]

        async def probe() -> None:
            if away:
                raise away.pop()

        completions.counted.probe = probe
        await broker.publish(done("trigger"))
        with pytest.raises(Unavailable):
            await completions.steps(1)
        assert not consumer.alive
        with pytest.raises(Unavailable, match="still away"):
            await completions.steps(1)
        await completions.steps(1)
        assert len(completions.handled) == 2
        assert broker.counts.requeued == {}

    async def test_a_cancelled_step_gives_back_what_it_holds(self, broker: Broker, consumer: Consumer) -> None:
        """A step that is cancelled in the middle leaves no message unsettled: the next step gets it again."""
        entered = asyncio.Event()
        completions = Completions(broker, consumer)

        async def hang(message: RunCompleted) -> None:
            entered.set()
            await asyncio.Event().wait()

        completions.counted.handle = hang
        await broker.publish(done("trigger"))
        step = asyncio.create_task(completions.steps(1))
        await entered.wait()
        step.cancel()
        await asyncio.wait([step])
        completions.counted.handle = completions.handle
        await completions.steps(1)
        assert len(completions.handled) == 1

    async def test_a_quiet_queue_makes_a_step_find_nothing(self, broker: Broker, consumer: Consumer) -> None:
        """A step on an empty queue says that it found nothing, within its wait."""
        assert await Completions(broker, consumer).counted.step(BRIEFLY) == 0

    async def test_a_listener_retries_too(self, broker: Broker) -> None:
        """MSG-08: a broadcast that one listener cannot handle comes back to this listener alone."""
        listener, other = await broker.listen(DEFINITION_CHANGED), await broker.listen(DEFINITION_CHANGED)
        errors = [ValueError("once")]

        async def handle(message: DefinitionChanged) -> None:
            if errors:
                raise errors.pop()

        counted = CountedConsumer(broker, listener, (DefinitionChanged,), handle)
        await broker.publish(letter(DefinitionChanged(definition="d", version=1, change="created"), at=AT))
        assert len(await receive(other, 1)) == 1
        handled = 0
        while handled < 2:
            handled += await counted.step()
        assert await stays_empty(other)

    async def test_looking_at_the_dead_leaves_them(self, broker: Broker) -> None:
        """MSG-17: looking changes nothing, and shows the oldest first, at most as many as asked for.

        Looked at once more and not counted: RabbitMQ answers a count ahead of a message that is just coming back.
        """
        for body in (b"a", b"b", b"c"):
            await broker.publish(Letter("dead", "", body, "x", headers={"headway-origin": HINTS}))
        seen = [[dead.body for dead in await broker.dead(limit)] for limit in (2, 50, 50)]
        assert seen == [[b"a", b"b"], [b"a", b"b", b"c"], [b"a", b"b", b"c"]]

    async def test_the_dead_can_return(self, broker: Broker) -> None:
        """MSG-17: requeue sends the named messages back to their queue, count reset; the others stay."""
        for body in (b"a", b"b"):
            headers: dict[str, str | int] = {"headway-origin": HINTS, "headway-reason": "r", "headway-requeues": 5, "traceparent": "t"}
            await broker.publish(Letter("dead", "", body, "x", headers=headers))
        first, second = await broker.dead()
        assert await broker.requeue_dead([second.id]) == 1
        (back,) = await receive(await broker.consume(HINTS, prefetch=10), 1)
        assert (back.body, back.type, back.tries, back.headers) == (b"b", "x", 0, {"traceparent": "t"})
        assert [dead.id for dead in await broker.dead()] == [first.id]
        assert await broker.requeue_dead() == 1
        assert await broker.dead() == []

    async def test_the_dead_can_be_purged(self, broker: Broker) -> None:
        """MSG-17: purge empties the dead queue and says how many messages that were."""
        await broker.publish(Letter("dead", "", b"a", "x"))
        assert await broker.purge_dead() == 1
        assert await broker.dead() == []

    async def test_a_message_whose_queue_is_gone_ends_dead(self, broker: Broker) -> None:
        """MSG-17: a counted requeue into a queue that no longer exists ends in the dead queue and blocks no other."""
        lost = Letter("delayed-retry", f"2.{broker.topology.full('run.gone')}", b"lost", "x", headers={"headway-requeues": 1})
        await broker.publish(lost)
        found = await eventually(broker.dead)
        assert (found[0].body, found[0].origin, found[0].tries) == (b"lost", "run.gone", 1)
