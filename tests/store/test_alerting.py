"""Alerts for failed attempts: one for each event, by the reaction that the settle owes."""

import asyncio
from datetime import timedelta
from uuid import UUID

from headway.core.definition import Watch
from headway.core.outcome import Failure, Lost, Outcome, SafeError, Success
from headway.core.retry import Backoff, BackoffKind
from headway.store.alerting import alert
from headway.store.reactions import Kind, work_off
from tests.store.scene import Scene

ERROR = SafeError("ValueError", "no rows")
AT_ONCE = Backoff(BackoffKind.FIXED, timedelta())


async def attempt(scene: Scene, run: UUID, outcome: Outcome) -> None:
    """Let a run's next attempt end so."""
    session = await scene.worker()
    (claimed,) = await scene.claim(session, [run])
    await scene.settle(session, claimed, outcome)


async def told(scene: Scene) -> list[str]:
    """Work off what is owed, and say what there are alerts for."""
    await work_off(scene.database, {Kind.ALERT: alert})
    return [row["dedupe_key"] for row in await scene.sql("SELECT dedupe_key FROM headway.alert ORDER BY id")]


async def test_each_failed_attempt_is_told_once(scene: Scene) -> None:
    """RTY-12: by default the first failed attempt alerts, and each later one; a repeated reaction tells nothing twice."""
    await scene.define(attempts=3, backoff=AT_ONCE)
    (run,) = await scene.enqueue()
    await attempt(scene, run, Failure(ERROR))
    assert await told(scene) == [f"failure:{run}:1"]
    await attempt(scene, run, Failure(ERROR))
    await asyncio.gather(*[work_off(scene.database, {Kind.ALERT: alert}) for _ in range(4)])
    await scene.sql("INSERT INTO headway.reaction (run, kind, next_look_at) VALUES ($1, $2, headway.headway_now())", run, Kind.ALERT)
    assert await told(scene) == [f"failure:{run}:1", f"failure:{run}:2"]
    (row,) = await scene.sql("SELECT message, kind, state FROM headway.alert ORDER BY id LIMIT 1")
    assert tuple(row.values()) == (f"job: attempt 1 of run {run} ended as failure: ValueError: no rows", "failure", 0)


async def test_a_threshold_counts_failures_in_a_row_over_all_runs(scene: Scene) -> None:
    """RTY-12: with `alert_after` 3 the third failed attempt in a row alerts, whatever run it belongs to; a success starts anew."""
    await scene.define(watch=Watch(alert_after=3))
    runs = await scene.enqueue(5)
    await attempt(scene, runs[0], Failure(ERROR))
    await attempt(scene, runs[1], Failure(ERROR))
    assert await told(scene) == []
    await attempt(scene, runs[2], Failure(ERROR))
    await attempt(scene, runs[3], Failure(ERROR))
    assert await told(scene) == [f"failure:{runs[2]}:1", f"failure:{runs[3]}:1"]


async def test_a_run_that_crashed_for_good_is_a_dead_job(scene: Scene) -> None:
    """RTY-09, RTY-12: a run that is not restarted after its worker was lost is flagged for the operator."""
    await scene.define(restartable=False)
    (run,) = await scene.enqueue()
    await attempt(scene, run, Lost())
    assert await told(scene) == [f"failure:{run}:1", f"dead_job:{run}"]


async def test_a_success_tells_nothing(scene: Scene) -> None:
    """Nobody is woken for what went well."""
    await scene.define()
    (run,) = await scene.enqueue()
    await attempt(scene, run, Success())
    assert await told(scene) == []
