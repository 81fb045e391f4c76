"""Admit, and let waiters in."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from headway.core.ask import Ask
from headway.core.errors import Conflict
from headway.core.outcome import Failure, HandedBack, SafeError
from headway.core.run import Cause, State
from headway.store import cancel, due, gates, rescue
from headway.store.accept import accept
from headway.store.claim import Claimed
from headway.store.enqueue import Accepted
from tests.store.scene import LEASE, Scene

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


async def active(scene: Scene) -> int:
    """How many runs are queued or running."""
    (row,) = await scene.sql("SELECT count(*) FROM headway.run WHERE state IN (2, 3)")
    return int(row["count"])


async def test_over_the_limit_runs_are_held_and_let_in_one_by_one(scene: Scene) -> None:
    """RUN-10: a limit of two queues two; each settle lets the next one in, priority first, then due instant, then id."""
    await scene.define(max_concurrent_runs=2)
    first, second, third, fourth = await scene.enqueue(4)
    (urgent,) = await scene.enqueue(priority=9)
    assert await scene.states([first, second, third, fourth, urgent]) == [State.QUEUED] * 2 + [State.HELD] * 3
    assert (await scene.run(third))["cause"] == Cause.CONCURRENCY
    session = await scene.worker()
    claimed = {run.id: run for run in await scene.claim_next(session)}
    order = []
    for next_in, done in ((urgent, first), (third, second)):
        await scene.settle(session, claimed[done])
        order.append(await scene.state(next_in))
    assert order == [State.QUEUED, State.QUEUED]
    assert await scene.state(fourth) is State.HELD


async def test_the_limit_is_never_exceeded(scene: Scene) -> None:
    """RUN-10, invariant 7: with enqueues, claims, settles and promotions at once no more than the limit are ever queued or running."""
    await scene.define(max_concurrent_runs=3)
    session = await scene.worker()
    seen: list[int] = []

    async def work(run: Claimed) -> None:
        await scene.settle(session, run)
        seen.append(await active(scene))

    async def ask() -> None:
        await scene.enqueue(2)
        seen.append(await active(scene))

    await asyncio.gather(*[scene.sql("SELECT pg_sleep(0.05)") for _ in range(8)])
    for _ in range(6):
        claimed = await scene.claim_next(session)
        await asyncio.gather(ask(), ask(), *[work(run) for run in claimed], scene.database.transact(due.release))
    assert max(seen) <= 3
    rest = 0
    while claimed := await scene.claim_next(session):
        rest += len(claimed)
        await asyncio.gather(*[work(run) for run in claimed])
    assert not await scene.sql("SELECT 1 FROM headway.run")
    assert len(await scene.sql("SELECT 1 FROM headway.run_done")) == 24


async def test_two_that_ask_at_once_count_each_other(scene: Scene) -> None:
    """RUN-10, invariant 7: whoever admits waits for the transaction that is admitting, and then counts what it let in."""
    await scene.define(max_concurrent_runs=1)
    async with scene.database.begin() as tx:
        (first,) = await accept(tx, [Ask("job")])
        asking = asyncio.create_task(scene.enqueue())
        await scene.somebody_waits()
    (second,) = await asking
    assert isinstance(first, Accepted)
    assert await scene.states([first.id, second]) == [State.QUEUED, State.HELD]


async def test_a_waiting_retry_gives_its_place_away(scene: Scene) -> None:
    """A retry with a delay releases its permit, so that the next run starts; a hand-back keeps it."""
    await scene.define(max_concurrent_runs=1, attempts=3)
    first, second = await scene.enqueue(2)
    session = await scene.worker()
    (claimed,) = await scene.claim(session, [first])
    await scene.settle(session, claimed, HandedBack())
    assert await scene.states([first, second]) == [State.QUEUED, State.HELD]
    (claimed,) = await scene.claim(session, [first])
    await scene.settle(session, claimed, Failure(SafeError("E", "e"), retry_after=HOUR))
    assert await scene.states([first, second]) == [State.SCHEDULED, State.QUEUED]


async def test_rescue_keeps_the_place_and_a_crash_for_good_gives_it_away(scene: Scene) -> None:
    """Rescue keeps a hold; the final state of a run that may not restart lets the next one in."""
    await scene.define("keeps", max_concurrent_runs=1)
    await scene.define("gives", max_concurrent_runs=1, restartable=False)
    session = await scene.worker()
    kept, waiting = await scene.enqueue(2, "keeps")
    given, promoted = await scene.enqueue(2, "gives")
    await scene.claim(session, [kept, given])
    await scene.later(LEASE + MINUTE)
    rescued = await scene.database.transact(lambda tx: rescue.rescue(tx, session))
    assert await scene.states([kept, waiting, given, promoted]) == [State.QUEUED, State.HELD, State.FAILED, State.QUEUED]
    assert [run.id for run in rescued.promoted] == [kept, promoted]


async def test_over_the_hourly_rate_a_run_is_scheduled_for_later(scene: Scene) -> None:
    """RUN-10: in any hour no more than the rate is admitted; the rest is due when the rate frees, and admitted then."""
    await scene.define(max_runs_per_hour=2)
    first, second, third = await scene.enqueue(3)
    assert await scene.states([first, second, third]) == [State.QUEUED, State.QUEUED, State.SCHEDULED]
    row = await scene.run(third)
    assert HOUR - MINUTE < row["available_at"] - row["created_at"] <= HOUR + MINUTE
    await scene.later(HOUR - MINUTE)
    assert (await scene.database.transact(due.release)).queued == []
    (fourth,) = await scene.enqueue()
    assert await scene.state(fourth) is State.SCHEDULED
    await scene.later(2 * MINUTE)
    released = await scene.database.transact(due.release)
    assert {run.id for run in released.queued} == {third, fourth}


async def test_an_hour_of_a_rate_is_a_whole_hour(scene: Scene) -> None:
    """RUN-10: a run that was admitted in the last second of a minute still counts 59 minutes and 50 seconds later."""
    await scene.define(max_runs_per_hour=1)
    (row,) = await scene.sql("SELECT 60 - extract(second FROM headway.headway_now()) AS left")
    await scene.later(timedelta(seconds=float(row["left"]) - 1))
    await scene.enqueue()
    await scene.later(HOUR - timedelta(seconds=10))
    (second,) = await scene.enqueue()
    assert await scene.state(second) is State.SCHEDULED


@pytest.mark.parametrize("limit", [{"max_concurrent_runs": 1}, {"max_runs_per_hour": 1}])
async def test_a_definition_may_refuse(scene: Scene, limit: dict[str, Any]) -> None:
    """RUN-10: with over_limit refuse whoever asks is turned away with the reason, and nothing is left of the run."""
    await scene.define(over_limit="refuse", **limit)
    await scene.enqueue()
    with pytest.raises(Conflict, match="takes no more runs") as refusal:
        await scene.enqueue(key="k")
    assert refusal.value.code == "over_limit"
    assert len(await scene.sql("SELECT 1 FROM headway.run")) == 1
    assert not await scene.sql("SELECT 1 FROM headway.idempotency_key")


async def test_a_pause_holds_what_comes_due(scene: Scene) -> None:
    """A paused definition holds its new runs with that cause; when the pause ends maintenance lets them in."""
    definition = await scene.define()
    await scene.sql("UPDATE headway.definition SET paused_at = now()")
    (id_,) = await scene.enqueue()
    row = await scene.run(id_)
    assert (row["state"], row["cause"]) == (State.HELD, Cause.PAUSED)
    assert await scene.database.transact(gates.waited_for) == [definition]
    assert await scene.database.transact(lambda tx: gates.promote(tx, [definition])) == []
    await scene.sql("UPDATE headway.definition SET paused_at = NULL")
    assert [run.id for run in await scene.database.transact(lambda tx: gates.promote(tx, [definition]))] == [id_]


async def test_a_limit_that_is_taken_away_frees_its_waiters(scene: Scene) -> None:
    """A definition whose limit goes lets its held runs in with the next promotion; a new limit counts those that are queued already."""
    definition = await scene.define(max_concurrent_runs=1)
    await scene.enqueue(3)
    await scene.define()
    assert len(await scene.database.transact(lambda tx: gates.promote(tx, [definition]))) == 2
    await scene.define(max_concurrent_runs=3)
    (held,) = await scene.enqueue()
    assert await scene.state(held) is State.HELD


async def test_waiters_that_stay_are_not_written_again(scene: Scene) -> None:
    """A promotion that lets nobody in writes nothing: a settle does not rewrite everybody who waits."""
    definition = await scene.define(max_concurrent_runs=1)
    ids = await scene.enqueue(4)
    versions = "SELECT xmin::text FROM headway.run WHERE id = ANY($1) ORDER BY id"
    before = [row["xmin"] for row in await scene.sql(versions, ids[1:])]
    assert await scene.database.transact(lambda tx: gates.promote(tx, [definition])) == []
    assert [one["xmin"] for one in await scene.sql(versions, ids[1:])] == before


async def test_asks_cancels_and_due_steps_at_once_do_not_deadlock(scene: Scene) -> None:
    """Gates are taken before runs everywhere: cancels, due steps, rescues and settles of one definition at once never wait in a ring.

    No transaction here is tried again: a deadlock would come out.
    """
    await scene.define(max_concurrent_runs=2)
    session = await scene.worker()
    waiting = await scene.enqueue(12, delay=timedelta(seconds=1))
    ids = await scene.enqueue(6)
    await scene.later(timedelta(seconds=5))
    claimed = await scene.claim_next(session)

    async def cancel_all(wanted: list[UUID]) -> None:
        async with scene.database.begin() as tx:
            await cancel.cancel(tx, wanted, actor="ann")

    async def release_some() -> None:
        async with scene.database.begin() as tx:
            await due.release(tx, 5)

    await asyncio.gather(
        *[scene.settle(session, run) for run in claimed],
        *[cancel_all(waiting[start::3]) for start in range(3)],
        *[release_some() for _ in range(3)],
        cancel_all(ids[::-1]),
        scene.ask(Ask("job"), Ask("job")),
    )
    assert await active(scene) <= 2
