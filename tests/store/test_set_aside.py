"""Runs of a paused definition, and of one whose breaker is open, wherever they are when that begins."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID

import pytest

from headway.core.definition import Watch
from headway.core.outcome import Failure, HandedBack, SafeError, Snooze, Success
from headway.core.run import Cause, State
from headway.store import breakers, due, set_aside, switches
from headway.store.claim import Claimed
from headway.store.reactions import Kind, work_off
from tests.store.scene import Scene

ERROR = SafeError("ValueError", "no rows")
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
LONG = timedelta(days=1)
RESET = 10 * HOUR
NOW = Failure(ERROR, retry_after=timedelta())
LATER = Failure(ERROR, retry_after=HOUR)


class Stopped:
    """What stops the definition `job`, and ends that again."""

    def __init__(self, scene: Scene, cause: Cause) -> None:
        self.scene = scene
        self.cause = cause

    async def begin(self) -> None:
        """Pause the definition, or let its breaker open by two failures."""
        if self.cause is Cause.PAUSED:
            await self._switch(lambda tx, row: switches.pause_definition(tx, row, switches.Pause("ann", "stocktaking")))
            return
        session = await self.scene.worker(LONG)
        for claimed in await self.scene.claim(session, await self.scene.enqueue(2, priority=9)):
            await self.scene.settle(session, claimed, Failure(ERROR, permanent=True))
        await work_off(self.scene.database, {Kind.BREAKER: breakers.react})

    async def end(self) -> None:
        """Resume the definition, or close its breaker by switching it off."""
        if self.cause is Cause.PAUSED:
            await self._switch(lambda tx, row: switches.resume_definition(tx, row, actor="ann"))
            return
        await self.scene.define(attempts=9, watch=Watch(alert_after=0))
        await self.scene.database.transact(breakers.try_again)

    async def _switch(self, turn: Callable[..., Awaitable[object]]) -> None:
        (row,) = await self.scene.sql("SELECT * FROM headway.definition WHERE name = 'job'")
        async with self.scene.database.begin() as tx:
            await turn(tx, row)


@pytest.fixture(params=[Cause.PAUSED, Cause.BREAKER], ids=["pause", "breaker"])
async def stopped(scene: Scene, request: pytest.FixtureRequest) -> Stopped:
    """A definition without any limit, before it is stopped."""
    await scene.define(attempts=9, watch=Watch(breaker_threshold=2, breaker_reset=RESET, alert_after=0))
    return Stopped(scene, request.param)


async def running(scene: Scene) -> Claimed:
    """A run that a worker of its own holds, claimed before anything stops."""
    (id_,) = await scene.enqueue()
    (claimed,) = await scene.claim(await scene.worker(LONG), [id_])
    return claimed


async def session_of(scene: Scene, id_: UUID) -> UUID:
    """Who holds a run."""
    session = (await scene.run(id_))["session"]
    assert isinstance(session, UUID)
    return session


async def release(scene: Scene) -> None:
    """What the due step does."""
    await scene.database.transact(due.release)


async def held(scene: Scene, *ids: UUID) -> list[Cause | None]:
    """Why runs are held; None for one that is not."""
    rows = [await scene.run(id_) for id_ in ids]
    return [Cause(row["cause"]) if row["state"] == State.HELD else None for row in rows]


async def test_a_delayed_run_is_held_at_its_instant(scene: Scene, stopped: Stopped) -> None:
    """MODEL "Admit": a run that was asked for before the stop and comes due in it is held with the cause, and let in when that ends."""
    (delayed,) = await scene.enqueue(delay=HOUR)
    await stopped.begin()
    await scene.later(HOUR + MINUTE)
    await release(scene)
    assert await held(scene, delayed) == [stopped.cause]
    await stopped.end()
    assert await scene.state(delayed) is State.QUEUED


@pytest.mark.parametrize("outcome", [LATER, Snooze(HOUR)], ids=["retry", "snooze"])
async def test_a_retry_with_a_delay_is_held_at_its_instant(scene: Scene, stopped: Stopped, outcome: Failure | Snooze) -> None:
    """MODEL "Admit": what was running when it stopped, and is to go on in an hour, is held then."""
    claimed = await running(scene)
    await stopped.begin()
    await scene.settle(await session_of(scene, claimed.id), claimed, outcome)
    assert await scene.state(claimed.id) is State.SCHEDULED
    await scene.later(HOUR + MINUTE)
    await release(scene)
    assert await held(scene, claimed.id) == [stopped.cause]
    await stopped.end()
    assert await scene.state(claimed.id) is State.QUEUED


@pytest.mark.parametrize("outcome", [NOW, HandedBack()], ids=["retry", "hand-back"])
async def test_what_goes_on_at_once_is_held_at_once(scene: Scene, stopped: Stopped, outcome: Failure | HandedBack) -> None:
    """MODEL "Admit", RTY-08: a retry without delay and a hand-back of a stopped definition are held by their settle, attempt charged."""
    claimed = await running(scene)
    await stopped.begin()
    await scene.settle(await session_of(scene, claimed.id), claimed, outcome)
    assert await held(scene, claimed.id) == [stopped.cause]
    assert (await scene.run(claimed.id))["session"] is None
    await stopped.end()
    (again,) = await scene.claim(await scene.worker(LONG), [claimed.id])
    assert again.attempt == 2


async def test_a_rescued_run_is_held(scene: Scene, stopped: Stopped) -> None:
    """MODEL "Admit", LSE-06: what a dead worker held of a stopped definition does not start again before that ends."""
    claimed = await running(scene)
    await stopped.begin()
    rescued = await scene.stop_and_rescue(await session_of(scene, claimed.id))
    assert ([run.id for run in rescued.settled], rescued.promoted) == ([claimed.id], [])
    assert await held(scene, claimed.id) == [stopped.cause]
    await stopped.end()
    assert await scene.state(claimed.id) is State.QUEUED


async def test_what_runs_may_succeed(scene: Scene, stopped: Stopped) -> None:
    """A stop ends nothing that runs: its success counts."""
    claimed = await running(scene)
    await stopped.begin()
    await scene.settle(await session_of(scene, claimed.id), claimed, Success())
    assert await scene.state(claimed.id) is State.SUCCEEDED


async def test_other_definitions_go_on(scene: Scene, stopped: Stopped) -> None:
    """A stop marks and holds the runs of its own definition, no others."""
    await scene.define("other")
    mine, others = (await scene.enqueue(delay=HOUR))[0], (await scene.enqueue(name="other", delay=HOUR))[0]
    await stopped.begin()
    await scene.later(HOUR + MINUTE)
    await release(scene)
    assert await held(scene, mine, others) == [stopped.cause, None]
    assert (await scene.run(others))["state"] == State.QUEUED


async def test_what_slipped_in_is_set_aside(scene: Scene, stopped: Stopped) -> None:
    """MODEL "Pause": what was asked for while the stop began is found, queued or not yet due; once, and not when nothing is stopped."""
    look = set_aside.set_slipped_aside
    (queued,), (delayed,) = await scene.enqueue(), await scene.enqueue(delay=HOUR)
    assert await scene.database.transact(look) == 0
    await stopped.begin()
    await scene.sql("UPDATE headway.run SET gated = false, state = CASE WHEN id = $1 THEN 2 ELSE state END", queued)
    assert [await scene.database.transact(look) for _ in range(2)] == [2, 0]
    await scene.later(HOUR + MINUTE)
    await release(scene)
    assert await held(scene, queued, delayed) == [stopped.cause] * 2


async def test_a_definition_that_loses_its_limit_in_a_pause_stays_paused(scene: Scene) -> None:
    """An edit that takes the last limit away does not let runs past the pause."""
    stopped = Stopped(scene, Cause.PAUSED)
    await scene.define(max_concurrent_runs=5)
    (delayed,) = await scene.enqueue(delay=HOUR)
    await stopped.begin()
    await scene.define()
    await scene.later(HOUR + MINUTE)
    await release(scene)
    assert await held(scene, delayed) == [Cause.PAUSED]


async def test_a_retry_takes_its_turn(scene: Scene) -> None:
    """RUN-10: at a full limit a retry without delay gives its place to whoever was due before it; never are there more than the limit."""
    await scene.define(attempts=3, max_concurrent_runs=1)
    first, second = await scene.enqueue(2)
    session = await scene.worker(LONG)
    (claimed,) = await scene.claim(session, [first])
    await scene.settle(session, claimed, NOW)
    assert await scene.states([first, second]) == [State.HELD, State.QUEUED]
    (claimed,) = await scene.claim(session, [second])
    await scene.settle(session, claimed)
    assert await scene.state(first) is State.QUEUED


async def test_what_is_given_back_keeps_its_place_before_more_urgent_work(scene: Scene) -> None:
    """MODEL "Order and limits": hand-back and rescue keep a hold, whatever waits and however full the hour is."""
    await scene.define(max_concurrent_runs=1, max_runs_per_hour=1)
    (first,) = await scene.enqueue()
    (urgent,) = await scene.enqueue(priority=9)
    session = await scene.worker(LONG)
    (claimed,) = await scene.claim(session, [first])
    await scene.settle(session, claimed, HandedBack())
    assert await scene.states([first, urgent]) == [State.QUEUED, State.HELD]
    await scene.claim(session, [first])
    rescued = await scene.stop_and_rescue(session)
    assert [run.id for run in rescued.promoted] == [first]
    assert await scene.states([first, urgent]) == [State.QUEUED, State.HELD]
    assert [row["runs"] for row in await scene.sql("SELECT runs FROM headway.rate_bucket")] == [1]


async def test_what_is_given_back_makes_no_more_than_a_limit_that_shrank(scene: Scene) -> None:
    """RUN-10, invariant 7: of two rescued runs of a definition that may have one by now, one goes on."""
    await scene.define(max_concurrent_runs=2)
    ids = await scene.enqueue(2)
    session = await scene.worker(LONG)
    await scene.claim(session, ids)
    await scene.define(max_concurrent_runs=1)
    await scene.stop_and_rescue(session)
    assert await scene.states(ids) == [State.QUEUED, State.HELD]
