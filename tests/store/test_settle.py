"""The only way into a final state, and back after an attempt."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from headway.core.definition import Watch
from headway.core.errors import Invalid
from headway.core.outcome import (
    AttemptOutcome,
    Cancelled,
    Failure,
    HandedBack,
    Outcome,
    PartialSuccess,
    RunOutcome,
    SafeError,
    Snooze,
    Success,
    Timeout,
)
from headway.core.retry import Backoff, BackoffKind
from headway.core.run import Settlement, State, succeed
from headway.store import attempts, cancel
from headway.store.settle import Verdict, settle
from headway.store.tx import Tx
from tests.store.scene import Scene

SECOND = timedelta(seconds=1)
ERROR = SafeError("ValueError", "no")
FAILED = Settlement(State.FAILED, AttemptOutcome.FAILURE, RunOutcome.FAILURE, error=ERROR)


async def test_a_success_moves_the_run_among_the_finished(scene: Scene) -> None:
    """RUN-02, invariant 5: a settled run is finished and nowhere else, with its outcome, result, fence and the day on which it may go."""
    await scene.define(retention_days=7)
    claimed = await scene.started(params='{"a":1}', correlation="c")
    session = (await scene.run(claimed.id))["session"]
    (settled,) = await scene.settle(session, claimed, Success({"rows": 3}))
    assert (settled.id, settled.state, settled.attempt) == (claimed.id, State.SUCCEEDED, 1)
    assert not await scene.sql("SELECT id FROM headway.run")
    (row,) = await scene.sql("SELECT *, drop_on - finished_at::date AS kept FROM headway.run_done")
    assert (row["state"], row["outcome"], row["result"]) == (State.SUCCEEDED, RunOutcome.SUCCESS, '{"rows":3}')
    assert (row["session"], row["attempt"], row["params"], row["correlation"], row["kept"]) == (session, 1, '{"a":1}', "c", 7)
    assert row["started_at"] == claimed.started_at


async def test_for_ever_is_for_ever(scene: Scene) -> None:
    """RET-01: retention 0 keeps a finished run in the default partition, without a day."""
    await scene.define(retention_days=0)
    claimed = await scene.started()
    await scene.settle((await scene.run(claimed.id))["session"], claimed)
    (row,) = await scene.sql(
        "SELECT drop_on = 'infinity' AS for_ever, relname AS place FROM headway.run_done d JOIN pg_class c ON c.oid = d.tableoid"
    )
    assert (row["for_ever"], row["place"]) == (True, "run_done_default")


@pytest.mark.parametrize("wrong", ["attempt", "session", "nobody", "run"])
@pytest.mark.parametrize("settlement", [succeed(Success()), FAILED, Settlement(State.QUEUED, AttemptOutcome.HANDED_BACK)])
async def test_a_stale_fence_changes_nothing(scene: Scene, wrong: str, settlement: Settlement) -> None:
    """RUN-05, LSE-05: a verdict with another attempt, another session or none is missing from the answer and writes nothing."""
    await scene.define()
    claimed = await scene.started()
    before = await scene.run(claimed.id)
    run = UUID(int=3) if wrong == "run" else claimed.id
    attempt = claimed.attempt + 1 if wrong == "attempt" else claimed.attempt
    session = {"session": UUID(int=1), "nobody": None}.get(wrong, before["session"])
    assert await scene.database.transact(lambda tx: settle(tx, [Verdict(run, attempt, settlement, session)])) == []
    assert dict(await scene.run(claimed.id)) == dict(before)
    assert not await scene.sql("SELECT 1 FROM headway.run_done")
    assert not await scene.sql("SELECT 1 FROM headway.attempt")


async def test_a_second_settle_finds_nothing(scene: Scene) -> None:
    """One accepted settle for each run: the same verdict again changes nothing and says so."""
    await scene.define()
    claimed = await scene.started()
    verdict = Verdict(claimed.id, 1, succeed(Success({"first": True})), (await scene.run(claimed.id))["session"])
    again = verdict._replace(settlement=FAILED)
    both = await asyncio.gather(
        scene.database.transact(lambda tx: settle(tx, [verdict])), scene.database.transact(lambda tx: settle(tx, [again]))
    )
    assert sorted(len(answer) for answer in both) == [0, 1]
    assert len(await scene.sql("SELECT 1 FROM headway.run_done")) == 1


async def test_a_batch_settles_together(scene: Scene) -> None:
    """RUN-03: successes, failures and retries of one batch are written in one transaction; a stale one among them harms no other."""
    await scene.define(attempts=2)
    ids = await scene.enqueue(5)
    session = await scene.worker()
    claimed = {run.id: run for run in await scene.claim(session, ids)}
    waiting = Settlement(State.SCHEDULED, AttemptOutcome.SNOOZED, due=claimed[ids[2]].started_at + timedelta(hours=1), reason="later")
    verdicts = [
        Verdict(ids[0], 1, succeed(Success()), session),
        Verdict(ids[1], 1, FAILED, session),
        Verdict(ids[2], 1, waiting, session),
        Verdict(ids[3], 7, succeed(Success()), session),
        Verdict(ids[4], 1, succeed(PartialSuccess(warnings=("half",))), session),
    ]
    moved = await scene.database.transact(lambda tx: settle(tx, verdicts))
    assert {one.id for one in moved} == {ids[0], ids[1], ids[2], ids[4]}
    assert await scene.states(ids) == [State.SUCCEEDED, State.FAILED, State.SCHEDULED, State.RUNNING, State.SUCCEEDED]


async def test_a_failure_goes_back_to_wait(scene: Scene) -> None:
    """RTY-04, RTY-05: the state change is the retry: due after the backoff, with parameters, priority and counters kept, and no holder."""
    await scene.define(attempts=3, backoff=Backoff(BackoffKind.FIXED, 60 * SECOND), priority=4)
    claimed = await scene.started(params='{"a":1}')
    session = (await scene.run(claimed.id))["session"]
    (settled,) = await scene.settle(session, claimed, Failure(ERROR))
    assert settled.state == State.SCHEDULED
    row = await scene.run(claimed.id)
    assert (row["state"], row["failures"], row["attempt"], row["session"], row["priority"]) == (State.SCHEDULED, 1, 1, None, 4)
    assert row["available_at"] - claimed.started_at >= 60 * SECOND
    assert await scene.settle(session, claimed, Success()) == []


async def test_the_last_failure_is_the_end(scene: Scene) -> None:
    """RTY-03: with the attempts spent the run is failed, with evidence of each."""
    await scene.define(attempts=2, backoff=Backoff(BackoffKind.FIXED, timedelta()))
    (id_,) = await scene.enqueue()
    session = await scene.worker()
    for outcome in (Failure(ERROR), Timeout()):
        (claimed,) = await scene.claim(session, [id_])
        await scene.settle(session, claimed, outcome)
    row = await scene.run(id_)
    assert (row["state"], row["outcome"], row["failures"], row["attempt"]) == (State.FAILED, RunOutcome.TIMEOUT, 2, 2)
    async with scene.database.begin() as tx:
        kept = await attempts.of_run(tx, id_)
    assert [(one["attempt"], one["outcome"]) for one in kept] == [(1, AttemptOutcome.FAILURE), (2, AttemptOutcome.TIMEOUT)]
    assert kept[0]["error"] == {"kind": "ValueError", "message": "no", "stack": ""}
    assert kept[0]["session"] == session
    assert kept[0]["started_at"] < kept[0]["ended_at"]


async def test_a_first_time_success_needs_no_attempt_row(scene: Scene) -> None:
    """RUN-14: the run itself says all of a first-time success; a later one has its row."""
    await scene.define()
    session = await scene.worker()
    first, second = await scene.enqueue(2)
    claimed = {run.id: run for run in await scene.claim(session, [first, second])}
    await scene.settle(session, claimed[first])
    await scene.settle(session, claimed[second], HandedBack())
    (again,) = await scene.claim(session, [second])
    await scene.settle(session, again, Success({"rows": 1}))
    rows = await scene.sql("SELECT run, attempt, outcome, result FROM headway.attempt ORDER BY attempt")
    assert [tuple(row.values()) for row in rows] == [
        (second, 1, AttemptOutcome.HANDED_BACK, None),
        (second, 2, AttemptOutcome.SUCCESS, '{"rows":1}'),
    ]


@pytest.mark.parametrize("outcome", [HandedBack(), Snooze(timedelta())])
async def test_hand_back_and_snooze_charge_nothing(scene: Scene, outcome: Outcome) -> None:
    """RTY-08, RUN-07: a run that is given back may be claimed again with all its attempts left."""
    await scene.define(attempts=1)
    claimed = await scene.started()
    await scene.settle((await scene.run(claimed.id))["session"], claimed, outcome)
    row = await scene.run(claimed.id)
    assert (row["state"], row["failures"], row["crashes"]) == (State.QUEUED if outcome == HandedBack() else State.SCHEDULED, 0, 0)


async def test_a_success_after_a_wish_finished_before_it(scene: Scene) -> None:
    """RUN-06: a success that is settled without reading the row says that it finished before the cancel."""
    await scene.define()
    claimed = await scene.started()
    done = await scene.database.transact(lambda tx: cancel.cancel(tx, [claimed.id], actor="ann"))
    (session,) = done.wished.values()
    await scene.database.transact(lambda tx: settle(tx, [Verdict(claimed.id, 1, succeed(Success()), session)]))
    row = await scene.run(claimed.id)
    assert (row["state"], row["reason"], row["cancel_by"]) == (State.SUCCEEDED, "finished before cancel", "ann")


@pytest.mark.parametrize("outcome", [Failure(ERROR), HandedBack(), Snooze(SECOND), Cancelled()])
async def test_anything_else_after_a_wish_is_cancelled(scene: Scene, outcome: Outcome) -> None:
    """RUN-06, RUN-07: with a wish no attempt goes on, and the run says why."""
    await scene.define(attempts=5)
    claimed = await scene.started()
    await scene.database.transact(lambda tx: cancel.cancel(tx, [claimed.id], actor="ann", reason="wrong data"))
    await scene.settle((await scene.run(claimed.id))["session"], claimed, outcome)
    row = await scene.run(claimed.id)
    assert (row["state"], row["outcome"], row["reason"]) == (State.CANCELLED, RunOutcome.CANCELLED, "wrong data")


@pytest.mark.parametrize(
    "settlement",
    [
        succeed(Success({"bad": object()})),
        succeed(Success({"bad": "\ud800"})),
        succeed(Success(warnings=("a\x00b",))),
        Settlement(State.FAILED, AttemptOutcome.FAILURE, RunOutcome.FAILURE, error=SafeError("E", "a\x00b")),
        Settlement(State.FAILED, AttemptOutcome.FAILURE, RunOutcome.FAILURE, error=SafeError("E", "\ud800")),
        Settlement(State.FAILED, AttemptOutcome.FAILURE, RunOutcome.FAILURE, reason="\ud800"),
    ],
)
async def test_a_value_that_cannot_be_stored_is_invalid(scene: Scene, settlement: Settlement) -> None:
    """BB-058, RUN-19: a value that PostgreSQL or JSON refuses is Invalid, not Unavailable, and leaves the run as it was."""
    await scene.define()
    claimed = await scene.started()
    verdict = Verdict(claimed.id, 1, settlement, (await scene.run(claimed.id))["session"])
    with pytest.raises(Invalid):
        await scene.database.transact(lambda tx: settle(tx, [verdict]))
    assert await scene.state(claimed.id) is State.RUNNING


async def test_a_run_owes_what_its_bits_say(scene: Scene) -> None:
    """Invariant 10, MSG-02: the settle that ends a run records its reactions in the same statement; a retry owes none of them."""
    await scene.define(attempts=2, watch=Watch(alert_after=0))
    claimed = await scene.started()
    await scene.sql("UPDATE headway.run SET owes = $1", (1 << 1) | (1 << 4))
    session = (await scene.run(claimed.id))["session"]
    await scene.settle(session, claimed, Failure(ERROR, retry_after=timedelta()))
    assert not await scene.sql("SELECT 1 FROM headway.reaction")
    (again,) = await scene.claim(session, [claimed.id])
    await scene.settle(session, again)
    assert [row["kind"] for row in await scene.sql("SELECT kind FROM headway.reaction ORDER BY kind")] == [1, 4]


async def test_large_batches_of_two_workers_do_not_deadlock(scene: Scene) -> None:
    """Runs are locked in the order of their ids: settles, cancels and retries of the same runs at once all get through."""
    await scene.define(attempts=9, backoff=Backoff(BackoffKind.FIXED, timedelta()))
    ids = await scene.enqueue(80)
    session = await scene.worker()
    await scene.claim(session, ids)

    def verdicts(order: int) -> list[Verdict]:
        return [Verdict(id_, 1, succeed(Success()), session) for id_ in ids[::order]]

    async def settled(tx: Tx, order: int) -> int:
        return len(await settle(tx, verdicts(order)))

    done = await asyncio.gather(
        scene.database.transact(lambda tx: settled(tx, 1)),
        scene.database.transact(lambda tx: cancel.cancel(tx, ids, actor="ann")),
        scene.database.transact(lambda tx: settled(tx, -1)),
    )
    assert done[0] + done[2] == 80
    assert set(await scene.states(ids)) == {State.SUCCEEDED}
