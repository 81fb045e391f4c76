"""Batches that people change on their way: cancelled, lengthened, closed, run again."""

import asyncio
from datetime import timedelta
from functools import partial
from uuid import UUID

import orjson
import pytest

from headway.core.ask import QUIET, Ask
from headway.core.batch import BatchAsk
from headway.core.errors import Conflict, Invalid, NotFound
from headway.core.outcome import Cancelled, Failure, SafeError
from headway.core.run import Cause, State
from headway.runtime.settings import Secret
from headway.runtime.vault import Keyring, new_key
from headway.store import batch_edits, catalogue, gates, partitions
from headway.store.reactions import Kind
from headway.store.replay import replay
from headway.store.rerun import Again, rerun
from headway.store.tx import Database
from tests.store.batching import Batches
from tests.store.scene import Scene

ERROR = SafeError("ValueError", "no")
ROUNDS = 25


@pytest.fixture
def batches(scene: Scene) -> Batches:
    """The batches of this test's database."""
    return Batches(scene)


async def test_a_cancelled_parent_ends_by_its_children(scene: Scene, batches: Batches) -> None:
    """BAT-06: what waits is cancelled at once, what runs gets the wish, and the parent is cancelled by the reaction to the last end."""
    await scene.define()
    parent = await batches.make(4, max_concurrent=2)
    ids = await batches.ids(parent)
    session = await scene.worker()
    (running,) = await scene.claim(session, ids[:1])
    done = await batches.cancel(parent)
    assert ({one.id for one in done.ended}, set(done.wished), done.parents, done.left) == (set(ids[1:]), {running.id}, (parent,), ())
    assert (await scene.state(parent), await batches.said(parent)) == (State.HELD, (75, "3/4 children complete"))
    await scene.settle(session, running, Cancelled())
    await batches.react()
    row = await scene.run(parent)
    assert (row["state"], row["cancel_by"], row["reason"]) == (State.CANCELLED, "ann", "cancelled by ann; of 4 children 4 cancelled")
    assert await batches.cancel(parent) == ([], {}, [], (), ())


async def test_a_large_batch_is_cancelled_in_parts(scene: Scene, batches: Batches) -> None:
    """BAT-06: 500 children at a time; whoever dies in between leaves the rest to maintenance, and the parent ends as cancelled."""
    await scene.define()
    parent = await batches.make(1100)
    done = await batches.cancel(parent)
    assert (len(done.ended), done.left) == (500, (parent,))
    assert await batches.look() == 1
    assert (await batches.said(parent))[1] == "1000/1100 children complete"
    assert await batches.look() == 1
    assert await scene.state(parent) is State.CANCELLED
    assert await batches.look() == 0


async def test_a_cancel_after_everything_is_done_changes_nothing(scene: Scene, batches: Batches) -> None:
    """Model, "Cancel": a parent all of whose children have succeeded stays succeeded."""
    await scene.define()
    parent = await batches.make(1)
    await batches.end(await batches.ids(parent))
    done = await batches.cancel(parent)
    assert [one.id for one in done.ended] == [parent]
    row = await scene.run(parent)
    assert (row["state"], row["reason"]) == (State.SUCCEEDED, "finished before cancel")


async def test_an_open_batch_takes_more_until_it_is_closed(scene: Scene, batches: Batches) -> None:
    """BAT-06: an open batch goes on when all its children have ended; percent never falls; closed or cancelled it takes no more."""
    await scene.define()
    parent = await batches.make(1, closed=False)
    await batches.end(await batches.ids(parent))
    await batches.react()
    assert (await scene.state(parent), await batches.said(parent)) == (State.HELD, (100, "1/1 children complete"))
    more = await batches.append(parent, 2)
    assert (more.first, more.added, more.total) == (1, 2, 3)
    assert await batches.said(parent) == (100, "1/3 children complete")
    assert [row["batch_index"] for row in await batches.children(parent)] == [0, 1, 2]
    await batches.close(parent)
    with pytest.raises(Conflict, match="takes no more children"):
        await batches.append(parent)
    await batches.end((await batches.ids(parent))[1:])
    await batches.react()
    assert await scene.state(parent) is State.SUCCEEDED
    await batches.close(parent)
    with pytest.raises(NotFound):
        await batches.append(UUID(int=5))


async def test_a_close_ends_what_has_nothing_left(scene: Scene, batches: Batches) -> None:
    """Model, "Reactions": a close is an event like a child's end: it evaluates the children as they stand, none of them included."""
    await scene.define()
    empty, full = await batches.make(0, closed=False), await batches.make(1, closed=False)
    await batches.end(await batches.ids(full))
    await batches.close(empty)
    await batches.close(full)
    assert await scene.states([empty, full]) == [State.SUCCEEDED, State.SUCCEEDED]
    open_one = await batches.make(0, closed=False)
    assert [one.id for one in (await batches.cancel(open_one)).ended] == [open_one]


async def test_an_append_and_a_close_at_once_leave_no_child_behind(scene: Scene, batches: Batches) -> None:
    """BAT-05: whichever comes first, a child that was taken is waited for, and one that was not does not exist."""
    await scene.define()
    for _ in range(ROUNDS):
        parent = await batches.make(0, closed=False)
        added, _ = await asyncio.gather(batches.append(parent), batches.close(parent), return_exceptions=True)
        ids = await batches.ids(parent)
        if isinstance(added, Conflict):
            assert not ids
        else:
            assert await scene.state(parent) is State.HELD
            await batches.end(ids)
            await batches.react()
        assert await scene.state(parent) is State.SUCCEEDED


async def test_a_key_makes_one_batch_and_one_append(scene: Scene, batches: Batches) -> None:
    """API-03: the same request under a key is the same batch, and the same children; another request under it is refused."""
    await scene.define()
    wanted = BatchAsk(Ask("job", key="k"), [Ask("job", params='{"n": 1}')], closed=False)
    made = await asyncio.gather(*[scene.database.transact(partial(batch_edits.make, wanted=wanted)) for _ in range(4)])
    assert sorted(one.existing for one in made) == [False, True, True, True]
    (parent,) = {one.parent for one in made}
    other = BatchAsk(Ask("job", key="k"), [Ask("job", params='{"n": 2}')], closed=False)
    with pytest.raises(Conflict, match="was used with other parameters"):
        await scene.database.transact(partial(batch_edits.make, wanted=other))
    twice = [await batches.append(parent, 2, key="a") for _ in range(2)]
    assert [(one.first, one.added, one.total, one.existing) for one in twice] == [(1, 2, 3, False), (1, 2, 3, True)]
    with pytest.raises(Conflict, match="was used with other parameters"):
        await batches.append(parent, 3, key="a")
    assert len(await batches.ids(parent)) == 3


async def test_a_disabled_definition_skips_the_children_and_ends_the_parent_by_them(scene: Scene, batches: Batches) -> None:
    """Invariant 9: what waits is skipped with its definition, and the parent, which waits for no worker, ends by its reaction."""
    definition = await scene.define()
    parent = await batches.make(2)
    await scene.database.transact(partial(catalogue.skip_pending, definition_id=definition, why="definition disabled"))
    assert await scene.state(parent) is State.HELD
    await batches.react()
    row = await scene.run(parent)
    assert (row["state"], row["reason"]) == (State.SKIPPED, "of 2 children 2 skipped")


async def test_a_gate_never_lets_a_parent_in(scene: Scene, batches: Batches) -> None:
    """A parent never runs and a child waits for its turn: neither the admission of a limited definition nor a second chance let them in."""
    definition = await scene.define(max_concurrent_runs=5)
    parent = await batches.make(3, max_concurrent=1)
    await scene.database.transact(partial(gates.promote, definitions=[definition]))
    assert (await scene.run(parent))["cause"] == Cause.CHILDREN
    children = await batches.children(parent)
    assert [(one["state"], one["cause"]) for one in children] == [(State.QUEUED, Cause.NONE), *[(State.HELD, Cause.BATCH)] * 2]


async def test_counts_outlive_the_rows_of_children(scene: Scene, batches: Batches) -> None:
    """RET-01, BAT-04: a batch that stays open for longer than its children are kept counts them all; its row leaves with its parent's."""
    await scene.define(retention_days=2)
    parent = await batches.make(3, closed=False)
    first, second, third = await batches.ids(parent)
    await batches.end([first], Failure(ERROR))
    await batches.react()
    await scene.later(timedelta(days=1))
    await batches.end([second])
    await batches.react()
    for _ in range(4):
        await scene.later(timedelta(days=1))
        await scene.database.transact(partitions.drop_partitions)
    assert await batches.ids(parent) == [third]
    await batches.end([third])
    await batches.close(parent)
    row = await scene.run(parent)
    assert orjson.loads(row["result"]) == {"total": 3, "outcomes": {"success": 2, "failure": 1}}
    await scene.later(timedelta(days=9))
    await scene.database.transact(partitions.drop_partitions)
    assert await batches.counts() == (0, 0)


async def test_two_batches_under_two_schedulers_wait_for_nobody_for_long(database: Database, scene: Scene, batches: Batches) -> None:
    """Model, "Lock order": whoever waits for a batch that somebody looks at goes on when that look has ended, and finds the rest."""
    await scene.define()
    parent = await batches.make(2)
    first, second = await batches.ids(parent)
    await batches.end([first])
    async with database.begin() as tx:
        await tx.connection.execute("SELECT 1 FROM headway.batch FOR UPDATE")
        waiting = asyncio.create_task(batches.react())
        await scene.somebody_waits()
        await batches.end([second])
    assert await waiting == 1
    assert await scene.state(parent) is State.SUCCEEDED
    assert await batches.react() == 0


async def test_a_replay_takes_the_place_of_a_child_while_its_batch_goes_on(scene: Scene, batches: Batches) -> None:
    """RUN-13, BAT-05: the replay has the original's index and counts in its place; percent never falls; the parent waits for it."""
    await scene.define(max_concurrent_runs=1)
    parent = await batches.make(2, max_concurrent=1)
    first, second = await batches.ids(parent)
    await batches.end([first], Failure(ERROR))
    await batches.react()
    made = await scene.database.transact(partial(replay, wanted=Again(first, "ann")))
    row = await scene.run(made.id)
    assert (row["parent"], row["batch_index"], row["cause"], row["owes"]) == (parent, 0, Cause.BATCH, QUIET | 1 << Kind.BATCH)
    assert await batches.said(parent) == (50, "0/2 children complete")
    for id_ in (second, made.id):
        await batches.end([id_])
        await batches.react()
    row = await scene.run(parent)
    assert orjson.loads(row["result"]) == {"total": 2, "outcomes": {"success": 2}}
    assert await batches.look() == 0


async def test_a_replay_after_the_end_of_the_batch_stands_apart(scene: Scene, batches: Batches) -> None:
    """RUN-13: a batch that has ended stays as it ended; and a parent, which ran nothing, is neither replayed nor run again."""
    await scene.define()
    parent = await batches.make(1)
    (child,) = await batches.ids(parent)
    await batches.end([child], Failure(ERROR))
    await batches.react()
    made = await scene.database.transact(partial(replay, wanted=Again(child, "ann")))
    row = await scene.run(made.id)
    assert (row["parent"], row["batch_index"], row["state"]) == (child, None, State.QUEUED)
    await batches.end([made.id])
    assert await batches.react() == 0
    for again in (replay, rerun):
        with pytest.raises(Conflict, match="ran nothing itself"):
            await scene.database.transact(partial(again, wanted=Again(parent, "ann")))


async def test_a_parent_keeps_no_secrets_of_others(scene: Scene, batches: Batches) -> None:
    """TPL-07: what only the children's definition calls secret is refused as a parameter of the parent, where it would stand bare."""
    spec = {"type": "object", "properties": {"token": {"type": "string", "writeOnly": True}}}
    scene.database.vault = Keyring([Secret(new_key())])
    await scene.define()
    await scene.define("sealed", parameter_spec=spec)
    given = '{"token": "s3cret-s3cret", "n": 1}'
    bare, kept = [BatchAsk(Ask(head, params=given, key="k"), [Ask("sealed", params=given)]) for head in ("job", "sealed")]
    with pytest.raises(Invalid, match="is secret for 'sealed' and not for 'job'") as refused:
        await scene.database.transact(partial(batch_edits.make, wanted=bare))
    assert [problem.field for problem in refused.value.problems] == ["params.token"]
    one, two = [await scene.database.transact(partial(batch_edits.make, wanted=kept)) for _ in range(2)]
    assert (one.parent == two.parent, two.existing) == (True, True)
    rows = await scene.sql("SELECT params FROM headway.run")
    assert len(rows) == 2
    assert not [row for row in rows if "s3cret" in row["params"]]
