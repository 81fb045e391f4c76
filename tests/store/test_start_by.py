"""Runs that were to start by an instant."""

from datetime import timedelta

from headway.core.ask import Ask
from headway.core.outcome import Failure, SafeError
from headway.core.run import State
from headway.store import start_by
from tests.store.scene import Scene

MINUTE = timedelta(minutes=1)


async def test_a_run_that_did_not_start_in_time_never_does(scene: Scene) -> None:
    """Model, `skipped`: from its start-by on no worker gets the run, by id or by order, and maintenance settles it as skipped."""
    await scene.define(start_by=MINUTE)
    early, late = await scene.enqueue(2)
    session = await scene.worker(timedelta(hours=1))
    assert [one.id for one in await scene.claim(session, [early])] == [early]
    await scene.later(MINUTE)
    assert await scene.claim(session, [late]) == []
    assert await scene.claim_next(session) == []
    skipped, _ = await scene.database.transact(start_by.skip_late)
    assert [one.id for one in skipped] == [late]
    row = await scene.run(late)
    assert (row["state"], row["reason"]) == (State.SKIPPED, "start-by passed")
    assert await scene.state(early) is State.RUNNING


async def test_it_counts_from_when_the_run_is_due(scene: Scene) -> None:
    """A delayed run has as long as any other, whatever it waits for."""
    await scene.define(start_by=MINUTE)
    (later,) = await scene.ask(Ask("job", delay=timedelta(hours=1)))
    await scene.later(timedelta(hours=1) + MINUTE / 2)
    assert await scene.database.transact(start_by.skip_late) == ([], [])
    await scene.later(MINUTE)
    await scene.database.transact(start_by.skip_late)
    assert await scene.state(later) is State.SKIPPED


async def test_a_retry_is_no_start(scene: Scene) -> None:
    """A run that has started keeps its retries, however late they are."""
    await scene.define(start_by=MINUTE, attempts=3)
    (run,) = await scene.enqueue()
    session = await scene.worker(timedelta(hours=1))
    (claimed,) = await scene.claim(session, [run])
    await scene.settle(session, claimed, Failure(SafeError("oops", "no"), retry_after=timedelta()))
    await scene.later(MINUTE)
    assert await scene.database.transact(start_by.skip_late) == ([], [])
    assert len(await scene.claim(session, [run])) == 1


async def test_whoever_waits_behind_it_goes(scene: Scene) -> None:
    """A skipped run frees what it held: the next waiter is let in by the same transaction."""
    await scene.define(start_by=MINUTE, max_concurrent_runs=1)
    first, *_ = await scene.enqueue(1)
    await scene.later(MINUTE / 2)
    (second,) = await scene.enqueue(1)
    await scene.later(MINUTE * 2 / 3)
    skipped, behind = await scene.database.transact(start_by.skip_late)
    assert ([one.id for one in skipped], [one.id for one in behind]) == ([first], [second])
