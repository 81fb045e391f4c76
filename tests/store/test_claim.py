"""Give queued runs to live sessions."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from headway.core.ask import Ask
from headway.core.errors import LeaseLost
from headway.core.run import State
from headway.store import cancel, rescue, sessions
from headway.store.claim import claim
from headway.store.tx import Tx
from tests.store.scene import HANDLERS, LEASE, Scene

SECOND = timedelta(seconds=1)


async def test_a_claim_makes_a_run_running_under_its_session(scene: Scene) -> None:
    """RUN-04: a claimed run is running, held by the session, with one attempt more and a deadline."""
    await scene.define(timeout=timedelta(minutes=5))
    ids = await scene.enqueue(2)
    session = await scene.worker()
    claimed = await scene.claim(session, ids)
    assert sorted(run.id for run in claimed) == ids
    assert {run.attempt for run in claimed} == {1}
    assert all(run.deadline_at - run.started_at == timedelta(minutes=5) for run in claimed)
    row = await scene.run(ids[0])
    assert (row["state"], row["session"]) == (State.RUNNING, session)


async def test_a_timeout_of_zero_takes_a_day(scene: Scene) -> None:
    """DEF-01: no run is unbounded."""
    await scene.define()
    claimed = await scene.started()
    assert claimed.deadline_at - claimed.started_at == timedelta(hours=24)


async def test_a_claim_brings_what_was_asked(scene: Scene) -> None:
    """RUN-16: parameters, payload, trace context, correlation and token travel with the claim, wherever they are kept."""
    await scene.define()
    big = '{"text":"' + "x" * 5000 + '"}'
    trace = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
    asks = [
        Ask("job", params='{"a":1}', correlation="c-1", token=UUID(int=9)),
        Ask("job", params=big),
        Ask("job", payload=b"\x00\xff", traceparent=trace),
    ]
    small, large, opaque = await scene.ask(*asks)
    claimed = {run.id: run for run in await scene.claim(await scene.worker(), [small, large, opaque])}
    assert (claimed[small].params, claimed[small].correlation, claimed[small].token) == ('{"a":1}', "c-1", UUID(int=9))
    assert (claimed[large].params, claimed[large].token) == (big, large)
    assert (claimed[opaque].params, claimed[opaque].payload, claimed[opaque].traceparent) == (None, b"\x00\xff", trace)


async def test_what_is_not_there_to_be_taken_is_passed_over(scene: Scene) -> None:
    """RUN-04: an unknown id, a run that is running, delayed, finished, of another handler or wished away is missing from the answer."""
    await scene.define()
    await scene.define("other", handler="other")
    session = await scene.worker()
    running, finished, free = await scene.enqueue(3)
    taken = {run.id: run for run in await scene.claim(session, [running, finished])}
    await scene.settle(session, taken[finished])
    (delayed,) = await scene.enqueue(delay=timedelta(hours=1))
    (foreign,) = await scene.enqueue(name="other")
    (wished,) = await scene.enqueue()
    await scene.sql("UPDATE headway.run SET cancel_requested_at = now() WHERE id = $1", wished)
    wanted = [running, finished, free, delayed, foreign, wished, UUID(int=5)]
    assert [run.id for run in await scene.claim(session, wanted)] == [free]
    assert await scene.claim(session, wanted) == []
    assert await scene.claim_next(session) == []


async def test_a_look_takes_at_most_its_limit_in_order(scene: Scene) -> None:
    """MSG-05, BB-066: priority first, then due instant, then id; never more than the limit."""
    await scene.define()
    early, late = await scene.enqueue(2)
    (urgent,) = await scene.enqueue(priority=9)
    (low,) = await scene.enqueue(priority=0)
    await scene.sql("UPDATE headway.run SET available_at = available_at - interval '1 hour' WHERE id = $1", late)
    session = await scene.worker()
    assert [run.id for run in await scene.claim_next(session, 1)] == [urgent]
    assert {run.id for run in await scene.claim_next(session, 2)} == {late, early}
    assert [run.id for run in await scene.claim_next(session, 5)] == [low]


async def test_a_look_sees_its_own_queue_only(scene: Scene) -> None:
    """MSG-14: a queue is looked at by itself."""
    await scene.define("slow", queue="slow")
    await scene.enqueue(name="slow")
    assert await scene.claim_next(await scene.worker()) == []


async def test_a_run_is_claimed_once_however_many_want_it(scene: Scene) -> None:
    """MSG-07, VER-01: of sessions that claim the same runs at once, by id and by order, exactly one gets each."""
    await scene.define()
    ids = await scene.enqueue(60)
    workers = [await scene.worker() for _ in range(6)]
    claims = [scene.claim(worker, ids) if number % 2 else scene.claim_next(worker, 20) for number, worker in enumerate(workers)]
    taken = [run.id for claimed in await asyncio.gather(*claims) for run in claimed]
    taken += [run.id for run in await scene.claim_next(workers[0])]
    assert sorted(taken) == ids
    assert {row["attempt"] for row in await scene.sql("SELECT attempt FROM headway.run")} == {1}


@pytest.mark.parametrize("how", ["unknown", "stopped", "draining", "lapsed"])
async def test_only_a_live_session_claims(scene: Scene, how: str) -> None:
    """LSE-03: a session that is unknown, stopped, draining or lapsed is told that it lost its lease, and takes nothing."""
    await scene.define()
    ids = await scene.enqueue()
    session = await scene.worker()
    if how == "unknown":
        session = UUID(int=4)
    elif how == "lapsed":
        await scene.later(LEASE + SECOND)
    else:
        async with scene.database.begin() as tx:
            await (sessions.stop(tx, session) if how == "stopped" else sessions.drain(tx, session))
    with pytest.raises(LeaseLost):
        await scene.claim(session, ids)
    with pytest.raises(LeaseLost):
        await scene.claim_next(session)
    assert await scene.state(ids[0]) is State.QUEUED


async def test_a_session_cannot_be_stopped_between_the_check_and_the_claim(scene: Scene) -> None:
    """LSE-04: rescue waits for a claim under way and then gives back what it took; a claim waits for a rescue and then takes nothing."""
    await scene.define()
    ids = await scene.enqueue(2)
    session = await scene.worker()
    async with scene.database.begin() as claiming:
        assert await claim(claiming, session, ids[:1], handlers=HANDLERS)
        rescuing = asyncio.create_task(scene.database.transact(lambda tx: _lapse_and_rescue(tx, session)))
        await scene.somebody_waits()
    rescued = await rescuing
    assert [run.id for run in rescued.settled] == ids[:1]
    with pytest.raises(LeaseLost):
        await scene.claim(session, ids)


async def _lapse_and_rescue(tx: Tx, session: UUID) -> rescue.Rescued:
    await tx.connection.execute("UPDATE headway.session SET lease_until = now() - interval '1 second' WHERE id = $1", session)
    return await rescue.rescue(tx, session)


async def test_a_cancelled_run_is_not_claimed(scene: Scene) -> None:
    """RUN-06: what was cancelled while queued is gone for claims by id and by order."""
    await scene.define()
    ids = await scene.enqueue(2)
    await scene.database.transact(lambda tx: cancel.cancel(tx, ids[:1], actor="ann"))
    assert [run.id for run in await scene.claim(await scene.worker(), ids)] == ids[1:]


async def test_attempts_only_rise(scene: Scene) -> None:
    """LSE-05: each claim is one attempt more, whoever claims."""
    await scene.define()
    ids = await scene.enqueue()
    attempts = []
    for _ in range(2):
        session = await scene.worker()
        attempts += [run.attempt for run in await scene.claim(session, ids)]
        await scene.stop_and_rescue(session)
    assert attempts == [1, 2]
