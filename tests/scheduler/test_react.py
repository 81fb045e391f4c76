"""What schedulers make of completions: duplicated, poisonous, or lost."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import pytest

from headway.broker.consume import SCHEDULERS, CountedConsumer
from headway.broker.hints import completed
from headway.broker.port import Broker, Consumer
from headway.core.definition import Watch
from headway.core.outcome import Failure, SafeError
from headway.core.trigger import TriggerDraft
from headway.messages import CompletedRun, RunCompleted
from headway.messages.channels import DEAD_QUEUE, SCHEDULER_COMPLETIONS
from headway.runtime.settings.groups import ReactionGroup
from headway.scheduler.react import Reactions
from headway.store import breakers, tallying, trigger_edits
from headway.store.alerting import alert
from headway.store.gates import Placed
from headway.store.reactions import Doing, Kind, Owed
from headway.store.triggering import triggering
from headway.store.tx import Tx
from tests.scheduler.brokers import brief_broker
from tests.store.batching import Batches
from tests.store.scene import Scene

AT = datetime(2026, 3, 1, tzinfo=UTC)
DUPLICATES = 100
AFTER = TriggerDraft("next", "after")
DOING: Mapping[int, Doing] = {
    Kind.TRIGGER: triggering(lambda fired: None),
    Kind.BATCH: tallying.react,
    Kind.BREAKER: breakers.react,
    Kind.ALERT: alert,
}


@pytest.fixture
async def broker(broker_url: str) -> AsyncIterator[Broker]:
    """A RabbitMQ of this test alone."""
    async with brief_broker(broker_url) as broker:
        yield broker


class Consuming:
    """A scheduler's way through completions, without its loops."""

    def __init__(self, scene: Scene, broker: Broker, consumer: Consumer, doing: Mapping[int, Doing]) -> None:
        self.queued: list[Placed] = []
        self.reactions = Reactions(ReactionGroup(), scene.database, broker, doing, self.queued.extend)
        self.counted = CountedConsumer(broker, consumer, (RunCompleted,), self.reactions.handle, SCHEDULERS, self.reactions.probe)

    async def until_quiet(self) -> int:
        """Handle what arrives until nothing does, and say how many messages that were."""
        handled = 0
        while found := await self.counted.step():
            handled += found
        return handled


async def consuming(scene: Scene, broker: Broker, doing: Mapping[int, Doing]) -> Consuming:
    """One of the schedulers."""
    return Consuming(scene, broker, await broker.consume(SCHEDULER_COMPLETIONS, prefetch=10), doing)


async def tell(broker: Broker, runs: Sequence[UUID], times: int = 1) -> None:
    """Publish the completion of these runs, so many times."""
    ended = [
        CompletedRun(id=run, definition="job", state="failed", outcome="failure", attempt=1, finished_at=AT, reactions=("alert",))
        for run in runs
    ]
    for _ in range(times):
        for letter in completed(ended, at=AT):
            await broker.publish(letter)


async def failed(scene: Scene, watch: Watch, name: str = "job", attempts: int = 1) -> UUID:
    """A run whose first attempt failed."""
    await scene.define(name, watch=watch, attempts=attempts)
    (run,) = await scene.enqueue(name=name)
    session = await scene.worker()
    (claimed,) = await scene.claim(session, [run])
    await scene.settle(session, claimed, Failure(SafeError("ValueError", "no rows")))
    return run


async def test_a_hundred_duplicates_at_two_schedulers_are_one_event(scene: Scene, broker: Broker) -> None:
    """MSG-10, RTY-04: completions delivered a hundred times to two schedulers make one retry, one run of a trigger's target, one step of a
    parent's progress, one alert for each failed attempt and one trip of a breaker."""
    run = await failed(scene, Watch(breaker_threshold=1))
    retried = await failed(scene, Watch(), name="retried", attempts=5)
    batches = Batches(scene)
    for name in ("child", "after"):
        await scene.define(name)
    await scene.database.transact(partial(trigger_edits.save, drafts={"": ("child", AFTER)}, tenant="", actor="ann"))
    parent = await batches.make(2, name="job", child="child", triggers=True)
    child, _ = await batches.ids(parent)
    await batches.end([child])
    both = [await consuming(scene, broker, DOING) for _ in range(2)]
    await tell(broker, [run, retried, child], DUPLICATES)
    handled = await asyncio.gather(*[one.until_quiet() for one in both])
    assert sum(handled) == DUPLICATES
    assert min(handled) > 0
    told = await scene.sql("SELECT kind, run FROM headway.alert ORDER BY kind, run")
    assert [tuple(row.values()) for row in told] == [("breaker_tripped", None), ("failure", run), ("failure", retried)]
    assert [(row["attempt"], row["failures"]) for row in await scene.sql("SELECT * FROM headway.run WHERE id = $1", retried)] == [(1, 1)]
    assert [row["parent"] for row in await scene.sql("SELECT parent FROM headway.run WHERE definition = 'after'")] == [child]
    assert await batches.said(parent) == (50, "1/2 children complete")
    assert await scene.sql("SELECT run FROM headway.reaction") == []


async def test_poison_ends_in_the_dead_queue_and_its_reaction_is_done_later(scene: Scene, broker: Broker) -> None:
    """MSG-08, MSG-09, MSG-17: a completion that cannot be handled is sent back three times and then dead, with its reaction still owed
    and done by the look; requeued from the dead queue it is handled like any other."""
    run = await failed(scene, Watch())
    healed = asyncio.Event()

    async def poisoned(tx: Tx, owed: Owed) -> Sequence[Placed]:
        if not healed.is_set():
            raise RuntimeError("a fault in the code, and nothing that a reaction may raise")
        return await alert(tx, owed)

    scheduler = await consuming(scene, broker, {Kind.ALERT: poisoned})
    await tell(broker, [run])
    while not await broker.dead():
        await scheduler.counted.step()
    (dead,) = await broker.dead()
    assert (dead.origin, dead.tries) == (SCHEDULER_COMPLETIONS, SCHEDULERS.tries)
    assert [tuple(row.values()) for row in await scene.sql("SELECT run, kind, tries, parked FROM headway.reaction")] == [
        (run, Kind.ALERT, 0, False)
    ]
    healed.set()
    assert await scheduler.reactions.look() == 1
    assert [row["run"] for row in await scene.sql("SELECT run FROM headway.alert")] == [run]
    assert await broker.requeue_dead() == 1
    assert await scheduler.until_quiet() == 1
    assert (await broker.dead(), await broker.depth(DEAD_QUEUE)) == ([], 0)
