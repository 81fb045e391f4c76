"""Reactions that die between any two of their statements are done once all the same (LSE-12)."""

from datetime import timedelta
from functools import partial
from uuid import UUID

from headway.core.definition import Watch
from headway.core.outcome import Failure, SafeError, Success
from headway.core.run import State
from headway.core.trigger import TriggerDraft
from headway.store import breakers, tallying
from headway.store.alerting import alert
from headway.store.chaining import chaining
from headway.store.reactions import Doing, Kind, work_off
from headway.store.triggering import triggering
from headway.store.tx import Database
from tests.store.batching import Batches
from tests.store.kill_points import at_every_point
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene
from tests.store.test_triggering import add, chain, end

ERROR = SafeError("ValueError", "no rows")


async def react(database: Database, kind: Kind, doing: Doing) -> None:
    """Do what is owed."""
    await work_off(database, {kind: doing})


async def failed(scene: Scene, watch: Watch) -> UUID:
    """A run whose only attempt failed."""
    await scene.define(watch=watch)
    (run,) = await scene.enqueue()
    session = await scene.worker()
    (claimed,) = await scene.claim(session, [run])
    await scene.settle(session, claimed, Failure(ERROR))
    return run


async def owed(scene: Scene) -> int:
    """How many reactions are owed."""
    return len(await scene.sql("SELECT run FROM headway.reaction"))


async def test_one_alert_however_often_its_reaction_died(scene: Scene) -> None:
    """LSE-12, MSG-10: nothing is told before the commit, and nothing twice after it."""
    await failed(scene, Watch())
    deaths = await at_every_point(scene.database, partial(react, kind=Kind.ALERT, doing=alert))
    assert deaths >= 4
    assert (await owed(scene), len(await scene.sql("SELECT id FROM headway.alert"))) == (0, 1)


async def test_a_breaker_opens_once_however_often_its_reaction_died(scene: Scene) -> None:
    """LSE-12, RTY-10: the trip, its alert, its audit and the hold commit together."""
    await failed(scene, Watch(breaker_threshold=1, alert_after=0))
    await scene.enqueue()
    deaths = await at_every_point(scene.database, partial(react, kind=Kind.BREAKER, doing=breakers.react))
    assert deaths >= 8
    assert (await owed(scene), len(await scene.sql("SELECT id FROM headway.alert"))) == (0, 1)
    assert len(await scene.sql("SELECT 1 FROM headway.audit WHERE action = 'breaker.open'")) == 1
    assert [row["state"] for row in await scene.sql("SELECT state FROM headway.run")] == [0]


async def test_one_triggered_run_however_often_its_reaction_died(scene: Scene) -> None:
    """LSE-12, TRG-02: the runs, their keys, what the trail has of refusals and the end of owing them commit together."""
    await scene.define("off", enabled=False)
    await chain(scene, "a", "b")
    await add(scene, "a", TriggerDraft("off", "off"))
    source = await end(scene)
    deaths = await at_every_point(scene.database, partial(react, kind=Kind.TRIGGER, doing=triggering(lambda fired: None)))
    assert deaths >= 8
    assert await owed(scene) == 0
    assert [row["parent"] for row in await scene.sql("SELECT parent FROM headway.run")] == [source]
    assert len(await scene.sql("SELECT 1 FROM headway.audit WHERE action = 'trigger.refused'")) == 1
    assert len(await scene.sql("SELECT 1 FROM headway.idempotency_key")) == 1


async def test_one_next_slot_however_often_its_reaction_died(scene: Scene) -> None:
    """LSE-12: the end of a run of an after-completion schedule brings forth one slot."""
    ledger = await Ledger(scene).begin({"after_completion": "5m"})
    await ledger.decide(START + timedelta(seconds=1))
    (run,) = await ledger.runs()
    session = await scene.worker(timedelta(days=400))
    (claimed,) = await scene.claim(session, [run["id"]])
    await scene.settle(session, claimed, Success())
    deaths = await at_every_point(scene.database, partial(react, kind=Kind.SCHEDULE, doing=chaining(lambda schedule: None)))
    assert deaths >= 4
    assert await owed(scene) == 0
    assert (await ledger.row())["chained_at"] is not None


async def test_a_batch_moves_once_however_often_its_reaction_died(scene: Scene) -> None:
    """LSE-12, BAT-05: progress, the next child and the end of the parent commit with the reaction that owed them."""
    await scene.define()
    batches = Batches(scene)
    parent = await batches.make(2, max_concurrent=1)
    for id_ in await batches.ids(parent):
        await batches.end([id_])
        assert await at_every_point(scene.database, partial(react, kind=Kind.BATCH, doing=tallying.react)) >= 8
    assert await owed(scene) == 0
    assert (await scene.state(parent), await batches.said(parent)) == (State.SUCCEEDED, (100, "2/2 children complete"))
