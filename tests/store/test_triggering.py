"""The reaction to an end: runs of the targets, once."""

import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from headway.core.ask import Ask
from headway.core.condition import Condition, Operator, read_condition
from headway.core.errors import Conflict
from headway.core.outcome import Cancelled, Failure, Outcome, PartialSuccess, SafeError, Skipped, Success, Timeout
from headway.core.run import State
from headway.core.trigger import DEEPEST_CHAIN, TriggerDraft
from headway.store import reactions, trigger_edits
from headway.store.cancel import cancel
from headway.store.gates import Placed
from headway.store.reactions import Kind, Owed
from headway.store.triggering import Fired, fire, triggering
from headway.store.tx import Row, Tx
from tests.store.batching import Batches
from tests.store.scene import Scene

ERROR = SafeError("ValueError", "no")


async def chain(scene: Scene, *names: str, **fields: Any) -> None:
    """Definitions of which each triggers the next."""
    for name in names:
        await scene.define(name)
    for source, target in pairwise(names):
        await add(scene, source, TriggerDraft("next", target, **fields))


async def add(scene: Scene, source: str, draft: TriggerDraft) -> UUID:
    """Save a trigger of a definition."""
    edited = await scene.database.transact(lambda tx: trigger_edits.save(tx, {"": (source, draft)}, tenant="", actor="ann"))
    return edited.saved[0].id


async def end(scene: Scene, outcome: Outcome | None = None, name: str = "a", **fields: Any) -> UUID:
    """Let a run start and end so."""
    (id_,) = await scene.ask(Ask(name, **fields))
    session = await scene.worker()
    (claimed,) = await scene.claim(session, [id_])
    await scene.settle(session, claimed, outcome)
    return id_


async def react(scene: Scene) -> list[Fired]:
    """Do what is owed, and return what was fired."""
    fired: list[Fired] = []
    await reactions.work_off(scene.database, {Kind.TRIGGER: triggering(fired.append)})
    return fired


async def triggered(scene: Scene) -> list[Row]:
    """The runs that triggers made, open or not."""
    return await scene.sql("SELECT * FROM headway.run WHERE origin = 6 ORDER BY id")


async def refusals(scene: Scene) -> list[tuple[str, str]]:
    """What the trail has of triggers that fired in vain."""
    return [
        (row["subject"], row["reason"])
        for row in await scene.sql("SELECT subject, reason FROM headway.audit WHERE action = 'trigger.refused' ORDER BY id")
    ]


async def test_an_end_fires_a_run_of_the_target(scene: Scene) -> None:
    """TRG-01, TRG-02, TRG-04: the run has its key, its parent, one trigger more behind it, and what it inherits."""
    await chain(scene, "a", "b")
    (trigger,) = [row["id"] for row in await scene.sql("SELECT id FROM headway.trigger")]
    source = await end(scene, correlation="order-7", depth=4)
    (fired,) = await react(scene)
    (run,) = await triggered(scene)
    assert [one.id for one in fired.runs] == [run["id"]]
    assert (run["definition"], run["state"], run["key"]) == ("b", State.QUEUED, f"trigger:{trigger}:{source}")
    assert (run["parent"], run["depth"], run["correlation"], run["created_by"]) == (source, 5, "order-7", "trigger:next")
    assert await scene.sql("SELECT 1 FROM headway.reaction") == []


@pytest.mark.parametrize(
    ("condition", "outcome", "expected"),
    [
        (None, Success(), True),
        (None, PartialSuccess({"rows": 1}), True),
        (None, Failure(ERROR), False),
        (None, Cancelled("no"), False),
        ({"key": "rows", "operator": "greater", "value": 5}, Success({"rows": 6}), True),
        ({"key": "rows", "operator": "greater", "value": 5}, Success({"rows": 5}), False),
        ({"key": "rows", "operator": "not_equals", "value": 5}, Timeout(), False),
        ({"key": "Result", "value": "Timeout"}, Timeout(), True),
        ({"key": "Result", "value": "Timeout"}, Success(), False),
        ({"key": "Result", "operator": "in", "value": ["cancelled", "skipped"]}, Cancelled("no"), True),
        ({"key": "Result", "operator": "in", "value": ["cancelled", "skipped"]}, Skipped("no"), True),
        ({"key": "Result", "operator": "not_equals", "value": "Success"}, Failure(ERROR), True),
    ],
)
async def test_a_condition_decides(scene: Scene, condition: dict[str, Any] | None, outcome: Outcome, expected: bool) -> None:
    """TRG-01, TRG-06: values of the result, and by the key Result every outcome, timed out and cancelled ones included."""
    await chain(scene, "a", "b", condition=None if condition is None else read_condition(condition))
    await end(scene, outcome)
    await react(scene)
    assert len(await triggered(scene)) == expected


async def test_a_run_that_was_cancelled_before_it_began_fires_too(scene: Scene) -> None:
    """TRG-06: every way into a final state is an end."""
    await chain(scene, "a", "b", condition=Condition("Result", Operator.EQUALS, "Cancelled"))
    (id_,) = await scene.enqueue(1, "a")
    await scene.database.transact(lambda tx: cancel(tx, [id_], actor="ann"))
    await react(scene)
    assert len(await triggered(scene)) == 1


async def test_the_same_end_told_twice_fires_once(scene: Scene) -> None:
    """TRG-02: a reaction that stands again after it was done, as after a restore, finds the run that is there."""
    await chain(scene, "a", "b", parameters={"at": "{DateTime.UtcNow:%f}"})
    source = await end(scene)
    await react(scene)
    await scene.sql("INSERT INTO headway.reaction (run, kind, next_look_at) VALUES ($1, 0, headway.headway_now())", source)
    (again,) = await react(scene)
    assert (again.runs, again.refused, len(await triggered(scene))) == ([], {}, 1)


async def test_two_schedulers_fire_once(scene: Scene) -> None:
    """TRG-02, MSG-10: twelve ends that two schedulers see at once fire twelve runs."""
    await chain(scene, "a", "b")
    sources = [await end(scene) for _ in range(12)]
    fired = await asyncio.gather(react(scene), react(scene), react(scene))
    await react(scene)
    assert sorted(row["parent"] for row in await triggered(scene)) == sources
    assert sorted(one.run for each in fired for one in each) == sources


async def test_a_commit_that_is_lost_fires_once(scene: Scene) -> None:
    """TRG-02: what a transaction that did not commit had asked for is not there, no worker is told of it, and the next look does it."""
    await chain(scene, "a", "b")
    source = await end(scene)
    told: list[Sequence[Placed]] = []
    reaction = triggering(lambda fired: None)

    async def lost(tx: Tx, owed: Owed) -> list[Placed]:
        assert len(await reaction(tx, owed)) == 1
        raise Conflict("reaction: lost before its commit")

    await reactions.work_off(scene.database, {Kind.TRIGGER: lost}, after=told.append)
    assert (told, await triggered(scene)) == ([], [])
    await scene.sql("UPDATE headway.reaction SET next_look_at = headway.headway_now()")
    assert [one.run for one in await react(scene)] == [source]
    assert len(await triggered(scene)) == 1


async def test_a_chain_ends_at_depth_32(scene: Scene) -> None:
    """TRG-04: a run with 31 triggers behind it fires one more, that one none; the trail and the answer say so."""
    await chain(scene, "a", "b")
    await end(scene, depth=DEEPEST_CHAIN - 1)
    await react(scene)
    assert [row["depth"] for row in await triggered(scene)] == [DEEPEST_CHAIN]
    await end(scene, depth=DEEPEST_CHAIN)
    (fired,) = await react(scene)
    assert fired.refused == {"next": "depth: there are 32 triggers behind its run already"}
    assert len(await triggered(scene)) == 1
    assert [why for _, why in await refusals(scene)] == list(fired.refused.values())


@pytest.mark.parametrize(
    "switched_off",
    [
        "UPDATE headway.definition SET enabled = false WHERE name = 'a'",
        "UPDATE headway.definition SET allow_triggers = false WHERE name = 'a'",
        "UPDATE headway.trigger SET enabled = false",
    ],
)
async def test_what_is_switched_off_fires_nothing(scene: Scene, switched_off: str) -> None:
    """TRG-01: a source, or a trigger, that is off when the end is looked at fires nothing."""
    await chain(scene, "a", "b")
    await end(scene)
    await scene.sql(switched_off)
    assert (await react(scene), await triggered(scene), await refusals(scene)) == ([], [], [])


async def test_a_target_that_refuses_blocks_no_other(scene: Scene) -> None:
    """TRG-01: a target that is disabled or full is named on the trail, and the other triggers of that end fire."""
    await scene.define("a")
    await scene.define("off", enabled=False)
    await scene.define("full", max_concurrent_runs=1, over_limit="refuse")
    await scene.define("b")
    await scene.enqueue(1, "full")
    ids = {name: await add(scene, "a", TriggerDraft(name, name)) for name in ("off", "full", "b")}
    await end(scene)
    (fired,) = await react(scene)
    assert [row["definition"] for row in await triggered(scene)] == ["b"]
    assert sorted(fired.refused) == ["full", "off"]
    assert sorted(subject for subject, _ in await refusals(scene)) == sorted(f"trigger:{ids[name]}" for name in ("full", "off"))


async def test_parameters_of_a_trigger_win_and_know_the_run_that_fired_it(scene: Scene) -> None:
    """TRG-03, TPL-02, TPL-03: the target's defaults, then the trigger's, whatever their case; templates name the run that ended."""
    await scene.define("a")
    await scene.define("b", parameters={"Day": "all", "pages": 1})
    own = {
        "day": "{TriggeredBy.Parameters.day}",
        "file": "{TriggeredByRun.Result.files.0}",
        "why": "{TriggeredBy.Definition} {triggeredby.outcome} {TriggeredByRun} {TriggeredBy.Id}",
        "to": "{Definition.Name}/{Trigger.Name}",
        "later": "{Shard.Number}",
        "bad": "{TriggeredBy.FinishedAt:%9d}",
    }
    await add(scene, "a", TriggerDraft("next", "b", parameters=own))
    source = await end(scene, Success({"files": ["x.csv"]}, warnings=("late",)), params=json.dumps({"day": "monday", "x": "y" * 3000}))
    (fired,) = await react(scene)
    (run,) = await triggered(scene)
    assert json.loads(run["params"]) == {
        "Day": "monday",
        "pages": 1,
        "file": "x.csv",
        "why": f"a SuccessWithWarnings {source} {source}",
        "to": "b/next",
        "later": "{Shard.Number}",
        "bad": "{TriggeredBy.FinishedAt:%9d}",
    }
    assert list(fired.faults) == ["next"]


@pytest.mark.parametrize(("opted_in", "expected"), [(False, 1), (True, 4)])
async def test_children_of_a_batch_fire_only_if_asked_to_and_their_parent_does(scene: Scene, opted_in: bool, expected: int) -> None:
    """TRG-05: three children that end fire nothing of their own, unless the batch says so; the end of their parent fires once."""
    await scene.define("job")
    await scene.define("b")
    await add(scene, "job", TriggerDraft("next", "b"))
    batches = Batches(scene)
    parent = await batches.make(3, triggers=opted_in)
    await batches.end(await batches.ids(parent))
    await batches.react()
    await react(scene)
    made = await triggered(scene)
    assert len(made) == expected
    assert parent in {row["parent"] for row in made}


async def test_an_end_of_what_nobody_keeps_fires_nothing(scene: Scene) -> None:
    """A run that was dropped meanwhile, or has not ended, fires nothing and fails nothing."""
    await chain(scene, "a", "b")
    (open_,) = await scene.enqueue(1, "a")
    for run in (open_, UUID(int=1)):
        assert await scene.database.transact(lambda tx, run=run: fire(tx, run)) is None  # type: ignore[misc]  # a lambda's default
