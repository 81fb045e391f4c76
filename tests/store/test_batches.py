"""Batches: children under a parent that ends by them."""

import asyncio
import time
from functools import partial

import orjson
import pytest

from headway.core.ask import QUIET, Ask
from headway.core.batch import BatchAsk, Mixed
from headway.core.errors import Invalid, NotFound
from headway.core.outcome import Failure, RunOutcome, SafeError, Timeout
from headway.core.run import Cause, State
from headway.store import batch_edits, reactions
from headway.store.reactions import Kind
from tests.store.batching import DOING, Batches
from tests.store.scene import Scene

ERROR = SafeError("ValueError", "no")
ROUNDS = 25


@pytest.fixture
def batches(scene: Scene) -> Batches:
    """The batches of this test's database."""
    return Batches(scene)


async def test_children_and_their_parent_are_made_together(scene: Scene, batches: Batches) -> None:
    """BAT-01: the parent waits for its children, which know it and their index from 0, and owe it their ends without triggers."""
    await scene.define(priority=4)
    parent = await batches.make(3)
    row = await scene.run(parent)
    assert (row["state"], row["cause"], row["attempt"], row["batch_index"]) == (State.HELD, Cause.CHILDREN, 0, None)
    children = await batches.children(parent)
    assert [child["batch_index"] for child in children] == [0, 1, 2]
    assert {(one["parent"], one["state"], one["priority"], one["owes"]) for one in children} == {
        (parent, State.QUEUED, 4, QUIET | 1 << Kind.BATCH)
    }
    assert await batches.said(parent) == (0, "0/3 children complete")
    claimed = await scene.claim(await scene.worker(), await batches.ids(parent))
    assert sorted((one.batch_index, one.batch_total, one.parent) for one in claimed) == [(index, 3, parent) for index in range(3)]


async def test_one_bad_child_refuses_the_whole_batch(scene: Scene, batches: Batches) -> None:
    """BAT-01: every refused child is named by its index, and neither parent nor children nor batch exist."""
    await scene.define()
    await scene.define("off", enabled=False)
    await scene.define("full", max_concurrent_runs=1, over_limit="refuse")
    children = [Ask("job"), Ask("nobody"), Ask("job"), Ask("off"), Ask("full"), Ask("full")]
    with pytest.raises(Invalid) as refused:
        await scene.database.transact(partial(batch_edits.make, wanted=BatchAsk(Ask("job"), children)))
    assert [problem.field for problem in refused.value.problems] == [f"children[{index}].definition" for index in (1, 3, 5)]
    assert await batches.counts() == (0, 0)
    with pytest.raises(NotFound, match="definition: there is no definition 'nobody'"):
        await batches.make(1, name="nobody")
    assert await batches.counts() == (0, 0)


async def test_ten_thousand_children_take_seconds(scene: Scene, batches: Batches) -> None:
    """BAT-01: a batch of 10,000 is made in one transaction, in order of index, within seconds, and one pass looks at all of it."""
    await scene.define()
    began = time.monotonic()
    parent = await batches.make(10_000)
    assert time.monotonic() - began < 10
    ids = await batches.ids(parent)
    assert len(ids) == 10_000
    assert ids == sorted(ids)
    assert parent < ids[0]
    for _ in range(3):
        await batches.end(ids[:100])
        began = time.monotonic()
        assert await batches.react() == 100
        assert time.monotonic() - began < 1
        ids = ids[100:]
    assert await batches.said(parent) == (3, "300/10000 children complete")


async def test_the_parent_ends_with_the_last_child(scene: Scene, batches: Batches) -> None:
    """BAT-03, BAT-04: progress follows the ends, rounded; the parent has the counts as its result and owes what any run owes."""
    await scene.define()
    await scene.sql("UPDATE headway.definition SET owes = $1", 1 << Kind.TRIGGER)
    parent = await batches.make(3)
    first, second, third = await batches.ids(parent)
    await batches.end([first])
    assert await batches.react() == 1
    assert await batches.said(parent) == (33, "1/3 children complete")
    await batches.end([second], Failure(ERROR))
    await batches.react()
    assert (await batches.said(parent), await scene.state(parent)) == ((67, "2/3 children complete"), State.HELD)
    await batches.end([third])
    await batches.react()
    row = await scene.run(parent)
    assert (row["state"], row["outcome"], row["reason"]) == (State.FAILED, RunOutcome.FAILURE, "of 3 children 1 failure")
    assert orjson.loads(row["result"]) == {"total": 3, "outcomes": {"success": 2, "failure": 1}}
    assert await batches.said(parent) == (100, "3/3 children complete")
    owed = await scene.sql("SELECT run FROM headway.reaction WHERE kind = $1", Kind.TRIGGER)
    assert [one["run"] for one in owed] == [parent]
    assert (await batches.row(parent))["ended_at"] is not None


async def test_a_mix_may_be_a_partial_success(scene: Scene, batches: Batches) -> None:
    """BAT-04: by policy successes beside failures make a partial success; a retried child counts when it has ended, once."""
    await scene.define()
    parent = await batches.make(2, mixed=Mixed.PARTIAL)
    first, second = await batches.ids(parent)
    await batches.end([first], Timeout())
    await batches.end([second])
    await batches.react()
    assert (await scene.run(parent))["outcome"] == RunOutcome.PARTIAL_SUCCESS


@pytest.mark.timeout(120)
async def test_concurrent_last_children_end_the_parent_once(scene: Scene, batches: Batches) -> None:
    """BAT-05, invariant 9: with the last children ending at once under three schedulers, hints told twice, each parent ends once."""
    await scene.define()
    other = Batches(scene)
    for _ in range(ROUNDS):
        parent = await batches.make(4)
        ids = await batches.ids(parent)
        await batches.end(ids[:1])
        hinted = [reactions.work_off(scene.database, DOING, runs=[*ids, *ids]) for _ in range(2)]
        await asyncio.gather(other.end(ids[1:3]), batches.end(ids[3:]), batches.react(), other.react(), *hinted)
        while await scene.sql("SELECT 1 FROM headway.reaction WHERE NOT parked LIMIT 1"):
            await asyncio.gather(batches.react(), other.react())
        assert await scene.state(parent) is State.SUCCEEDED
        assert await batches.said(parent) == (100, "4/4 children complete")
    (row,) = await scene.sql("SELECT count(*) AS ended FROM headway.run_done WHERE batch_index IS NULL")
    assert row["ended"] == ROUNDS
    assert await batches.react() == 0


async def test_a_pass_takes_all_that_one_parent_is_owed(scene: Scene, batches: Batches) -> None:
    """Model, "Reactions": whatever a batch is owed is taken at once, what was given up included, and others' stay."""
    await scene.define()
    one, other = await batches.make(5), await batches.make(1)
    await batches.end(await batches.ids(one))
    await batches.end(await batches.ids(other))
    await scene.sql("UPDATE headway.reaction SET parked = true, tries = 10 WHERE run = $1", (await batches.ids(one))[4])
    first = (await batches.ids(one))[0]
    await reactions.work_off(scene.database, DOING, runs=[first])
    assert (await scene.state(one), await scene.state(other)) == (State.SUCCEEDED, State.HELD)
    assert [row["batch"] for row in await scene.sql("SELECT batch FROM headway.reaction")] == [other]


async def test_children_of_their_parents_definition_do_not_count(scene: Scene, batches: Batches) -> None:
    """BAT-02: beside one ordinary run under a limit of 1 all children are queued, and an ordinary one still waits; pauses hold them."""
    await scene.define(max_concurrent_runs=1)
    running, waiting = await scene.enqueue(2)
    children = await batches.ids(await batches.make(3))
    assert await scene.states([running, waiting, *children]) == [State.QUEUED, State.HELD, *[State.QUEUED] * 3]
    await batches.end([running])
    assert await scene.state(waiting) is State.QUEUED
    assert await scene.states(children) == [State.QUEUED] * 3
    counted = await batches.ids(await batches.make(2, counted=True))
    assert await scene.states(counted) == [State.HELD] * 2


async def test_children_of_another_definition_count(scene: Scene, batches: Batches) -> None:
    """BAT-02: a limit of the definition that children run holds for them like for everybody, and they finish all the same."""
    await scene.define()
    await scene.define("one", max_concurrent_runs=1)
    parent = await batches.make(3, child="one")
    ids = await batches.ids(parent)
    assert await scene.states(ids) == [State.QUEUED, State.HELD, State.HELD]
    for id_ in ids:
        await batches.end([id_])
    await batches.react()
    assert await scene.state(parent) is State.SUCCEEDED


async def test_a_limited_batch_lets_children_in_as_others_end(scene: Scene, batches: Batches) -> None:
    """BAT-06: never more than `max_concurrent` children are let in, in order of index, and each end lets the next one in."""
    await scene.define()
    parent = await batches.make(5, max_concurrent=2)
    ids = await batches.ids(parent)
    seen = []
    for id_ in ids:
        states = await scene.states(ids)
        seen.append([states.count(State.QUEUED), states.count(State.HELD)])
        assert states[ids.index(id_)] is State.QUEUED
        await batches.end([id_])
        await batches.react()
    assert seen == [[2, 3], [2, 2], [2, 1], [2, 0], [1, 0]]
    assert await scene.state(parent) is State.SUCCEEDED


async def test_children_that_were_forgotten_are_let_in(scene: Scene, batches: Batches) -> None:
    """Invariant 6: when the news of an end is lost, maintenance finds who could be let in, and who could end."""
    await scene.define()
    parent = await batches.make(3, max_concurrent=1)
    assert await batches.look() == 0
    for id_ in await batches.ids(parent):
        await batches.end([id_])
        await scene.sql("DELETE FROM headway.reaction")
        assert await batches.look() == 1
        assert await batches.look() == 0
    assert await scene.state(parent) is State.SUCCEEDED
