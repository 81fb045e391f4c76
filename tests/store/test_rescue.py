"""Give back what a dead session held."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from headway.core.errors import LeaseLost
from headway.core.outcome import AttemptOutcome, RunOutcome, Success
from headway.core.run import State, succeed
from headway.store import attempts, cancel, rescue, sessions
from headway.store.rescue import dead_sessions, end_overdue
from headway.store.settle import Verdict, settle
from tests.store.scene import LEASE, Scene

SECOND = timedelta(seconds=1)


async def lapsed(scene: Scene) -> tuple[UUID, UUID]:
    """A running run under a session that has lapsed a second ago: (run, session)."""
    claimed = await scene.started()
    session = (await scene.run(claimed.id))["session"]
    await scene.later(LEASE + SECOND)
    return claimed.id, session


async def test_a_lapsed_session_gives_its_runs_back(scene: Scene) -> None:
    """LSE-06, BB-046: a run whose worker is gone is queued again, with one crash and no failure, and its attempt says Lost."""
    await scene.define()
    run, session = await lapsed(scene)
    async with scene.database.begin() as tx:
        assert await dead_sessions(tx) == [session]
    rescued = await scene.database.transact(lambda tx: rescue.rescue(tx, session))
    assert [one.id for one in rescued.settled] == [run]
    row = await scene.run(run)
    assert (row["state"], row["crashes"], row["failures"], row["attempt"], row["session"]) == (State.QUEUED, 1, 0, 1, None)
    async with scene.database.begin() as tx:
        (attempt,) = await attempts.of_run(tx, run)
        assert await dead_sessions(tx) == []
    assert (attempt["outcome"], attempt["session"]) == (AttemptOutcome.LOST, session)


async def test_two_rescuers_make_one_rescue(scene: Scene) -> None:
    """BB-040: two that find the same lapsed session at once give its run back once: queued, attempt 1, one crash, one event."""
    await scene.define(attempts=3)
    run, session = await lapsed(scene)
    both = await asyncio.gather(*[scene.database.transact(lambda tx: rescue.rescue(tx, session)) for _ in range(2)])
    assert sorted(len(one.settled) for one in both) == [0, 1]
    row = await scene.run(run)
    assert (row["state"], row["attempt"], row["crashes"]) == (State.QUEUED, 1, 1)
    assert len(await scene.sql("SELECT 1 FROM headway.attempt")) == 1


async def test_a_success_before_the_rescue_stands(scene: Scene) -> None:
    """BB-055, order 1: a lapsed session whose rescue has not begun may settle what it holds; the rescue then finds nothing."""
    await scene.define()
    run, session = await lapsed(scene)
    assert await scene.database.transact(lambda tx: settle(tx, [Verdict(run, 1, succeed(Success()), session)]))
    rescued = await scene.database.transact(lambda tx: rescue.rescue(tx, session))
    assert rescued.settled == []
    assert await scene.state(run) is State.SUCCEEDED


async def test_a_success_after_the_rescue_is_refused(scene: Scene) -> None:
    """BB-055, order 2: after the rescue the old fence writes nothing, and the run is queued for somebody else."""
    await scene.define()
    run, session = await lapsed(scene)
    await scene.database.transact(lambda tx: rescue.rescue(tx, session))
    assert await scene.database.transact(lambda tx: settle(tx, [Verdict(run, 1, succeed(Success()), session)])) == []
    assert await scene.state(run) is State.QUEUED
    (again,) = await scene.claim(await scene.worker(), [run])
    assert await scene.database.transact(lambda tx: settle(tx, [Verdict(run, 1, succeed(Success()), session)])) == []
    assert (again.attempt, await scene.state(run)) == (2, State.RUNNING)


async def test_a_success_and_a_rescue_at_once_end_in_one_of_both(scene: Scene) -> None:
    """BB-055: raced against each other, exactly one of settle and rescue moves the run."""
    await scene.define()
    run, session = await lapsed(scene)
    settled, rescued = await asyncio.gather(
        scene.database.transact(lambda tx: settle(tx, [Verdict(run, 1, succeed(Success()), session)])),
        scene.database.transact(lambda tx: rescue.rescue(tx, session)),
    )
    assert len(settled) + len(rescued.settled) == 1
    assert await scene.state(run) is (State.SUCCEEDED if settled else State.QUEUED)


async def test_a_session_that_was_renewed_meanwhile_keeps_everything(scene: Scene) -> None:
    """LSE-06: a rescuer that looked before the renewal and acts after it stops nobody and moves nothing."""
    await scene.define()
    claimed = await scene.started()
    session = (await scene.run(claimed.id))["session"]
    rescued = await scene.database.transact(lambda tx: rescue.rescue(tx, session))
    assert rescued.settled == []
    assert await scene.state(claimed.id) is State.RUNNING
    async with scene.database.begin() as tx:
        await sessions.renew(tx, session, LEASE)


async def test_a_renewal_that_races_a_rescue_loses_or_wins_whole(scene: Scene) -> None:
    """LSE-04: a renewal that waits for a rescue finds its session stopped: LeaseLost, and it never revives."""
    await scene.define()
    run, session = await lapsed(scene)
    async with scene.database.begin() as rescuing:
        await rescue.rescue(rescuing, session)
        await scene.later(-LEASE)
        renewing = asyncio.create_task(_renew(scene, session))
        await scene.somebody_waits()
    with pytest.raises(LeaseLost):
        await renewing
    assert await scene.state(run) is State.QUEUED
    with pytest.raises(LeaseLost):
        await _renew(scene, session)


async def _renew(scene: Scene, session: UUID) -> None:
    async with scene.database.once() as tx:
        await sessions.renew(tx, session, LEASE)


async def test_the_third_crash_fails_the_run(scene: Scene) -> None:
    """BB-057: a run that takes its worker with it each time ends as failed, Crashed, reason crash limit, after three."""
    await scene.define(attempts=20)
    ids = await scene.enqueue(2)
    for _ in range(3):
        session = await scene.worker()
        assert await scene.claim(session, ids[:1])
        await scene.stop_and_rescue(session)
    row = await scene.run(ids[0])
    assert (row["state"], row["outcome"], row["reason"], row["crashes"]) == (State.FAILED, RunOutcome.CRASHED, "crash limit", 3)
    assert await scene.state(ids[1]) is State.QUEUED


async def test_what_may_not_restart_fails_at_once(scene: Scene) -> None:
    """RTY-09, BB-067: a lost run that is not restartable is failed as Crashed at the first rescue."""
    await scene.define(restartable=False)
    run, session = await lapsed(scene)
    await scene.database.transact(lambda tx: rescue.rescue(tx, session))
    row = await scene.run(run)
    assert (row["state"], row["outcome"], row["crashes"]) == (State.FAILED, RunOutcome.CRASHED, 1)


async def test_a_lost_run_that_somebody_wanted_cancelled_is_cancelled(scene: Scene) -> None:
    """RUN-06: rescue heeds a wish: the run is not queued again."""
    await scene.define()
    run, session = await lapsed(scene)
    await scene.database.transact(lambda tx: cancel.cancel(tx, [run], actor="ann"))
    await scene.database.transact(lambda tx: rescue.rescue(tx, session))
    assert await scene.state(run) is State.CANCELLED


@pytest.mark.parametrize("how", ["stopped", "missing"])
async def test_runs_without_a_session_are_found(scene: Scene, how: str) -> None:
    """LSE-07, BB-050: runs of a session that is stopped or has no row are found and given back."""
    await scene.define()
    claimed = await scene.started()
    session = (await scene.run(claimed.id))["session"]
    if how == "stopped":
        async with scene.database.begin() as tx:
            await sessions.stop(tx, session)
    else:
        await scene.sql("DELETE FROM headway.session")
    async with scene.database.begin() as tx:
        assert await dead_sessions(tx) == [session]
    await scene.database.transact(lambda tx: rescue.rescue(tx, session))
    assert await scene.state(claimed.id) is State.QUEUED


async def test_a_rescue_takes_a_bounded_bite(scene: Scene) -> None:
    """A rescue moves at most its limit; the stopped session is found again until nothing is left."""
    await scene.define()
    ids = await scene.enqueue(5)
    session = await scene.worker()
    await scene.claim(session, ids)
    await scene.later(LEASE + SECOND)
    bites = [len((await scene.database.transact(lambda tx: rescue.rescue(tx, session, 2))).settled) for _ in range(4)]
    assert bites == [2, 2, 1, 0]


async def test_what_outlived_its_deadline_is_ended_in_its_workers_place(scene: Scene) -> None:
    """RUN-18: a running run is ended as Timeout when its deadline is longer ago than the grace; its worker writes nothing more."""
    await scene.define(timeout=60 * SECOND, attempts=1)
    claimed = await scene.started()
    session = (await scene.run(claimed.id))["session"]
    grace = 30 * SECOND
    await scene.later(80 * SECOND)
    assert (await scene.database.transact(lambda tx: end_overdue(tx, grace))).settled == []
    await scene.later(15 * SECOND)
    assert [one.id for one in (await scene.database.transact(lambda tx: end_overdue(tx, grace))).settled] == [claimed.id]
    row = await scene.run(claimed.id)
    assert (row["state"], row["outcome"], row["failures"]) == (State.FAILED, RunOutcome.TIMEOUT, 1)
    assert await scene.settle(session, claimed) == []
