"""What a worker makes of attempts that ended."""

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from headway.core.outcome import Failure, HandedBack, Outcome, SafeError, Success
from headway.core.run import Cause, State
from headway.store import gates
from headway.store.claim import Claimed
from headway.worker.settling import conclude
from tests.store.scene import Scene

NOW = Failure(SafeError("ValueError", "no rows"), retry_after=timedelta())


class End(NamedTuple):
    """An attempt that ended."""

    claimed: Claimed
    session: UUID
    outcome: Outcome | None


async def claimed(scene: Scene, count: int) -> list[End]:
    """Runs in the hands of one worker."""
    session = await scene.worker()
    return [End(run, session, None) for run in await scene.claim(session, await scene.enqueue(count))]


async def test_a_run_that_got_gates_meanwhile_is_left_to_maintenance(scene: Scene) -> None:
    """MODEL "Lock order": gates are taken before runs, so what the claim knew of no gates of is held, and let in by the next look."""
    await scene.define(attempts=3)
    (first, second) = await claimed(scene, 2)
    definition = await scene.define(attempts=3, max_concurrent_runs=1)
    done = await conclude(scene.database, [first._replace(outcome=NOW), second._replace(outcome=HandedBack())])
    assert (len(done.settled), done.queued) == (2, [])
    ids = [first.claimed.id, second.claimed.id]
    assert [(row["state"], row["cause"]) for row in [await scene.run(id_) for id_ in ids]] == [(State.HELD, Cause.GATE)] * 2
    assert len(await scene.database.transact(lambda tx: gates.promote(tx, [definition]))) == 1
    assert sorted(await scene.states(ids)) == [State.HELD, State.QUEUED]


async def test_a_run_with_gates_goes_on_and_is_announced(scene: Scene) -> None:
    """MODEL "Admit": where the claim knew of the gates the settle lets the run in itself, and says so to whoever announces."""
    await scene.define(attempts=3, max_concurrent_runs=2)
    first, second = await claimed(scene, 2)
    ends = [first._replace(outcome=NOW), second._replace(outcome=HandedBack())]
    done = await conclude(scene.database, ends)
    assert {run.id for run in done.queued} == {end.claimed.id for end in ends}
    assert await scene.states([end.claimed.id for end in ends]) == [State.QUEUED] * 2


async def test_one_of_two_hundred_that_cannot_be_stored_fails_alone(scene: Scene) -> None:
    """RUN-19, BB-058: a batch that PostgreSQL refuses for one result settles the other 199 at once, and that one as not storable."""
    await scene.define(attempts=3)
    ends = [end._replace(outcome=Success({"value": number})) for number, end in enumerate(await claimed(scene, 200))]
    culprit = ends[77]._replace(outcome=Success({"value": "\ud800"}))
    done = await conclude(scene.database, [*ends[:77], culprit, *ends[78:]])
    assert len(done.settled) == 200
    rows = await scene.sql("SELECT id, state, error ->> 'kind' AS kind FROM headway.run_done WHERE state <> $1", State.SUCCEEDED)
    assert [tuple(row.values()) for row in rows] == [(culprit.claimed.id, State.FAILED, "result_not_storable")]
    assert await scene.sql("SELECT id FROM headway.run") == []
