"""Alerts for runs that are late or take too long."""

from datetime import timedelta

from headway.core.definition import Watch
from headway.core.outcome import Success
from headway.core.run import State
from headway.store import sla
from headway.store.alerting import alert
from headway.store.reactions import Kind, work_off
from tests.store.scene import Scene

MINUTE = timedelta(minutes=1)


async def look(scene: Scene) -> list[str]:
    """What maintenance does, and what has been told so far."""
    await scene.database.transact(sla.look)
    await work_off(scene.database, {Kind.ALERT: alert})
    return [row["dedupe_key"].split(":", 1)[1] for row in await scene.sql("SELECT dedupe_key FROM headway.alert ORDER BY id")]


async def test_a_run_that_does_not_start_is_told_of_once(scene: Scene) -> None:
    """RTY-14: must-start-by, from the scan; the run goes on as if nothing had been expected."""
    await scene.define(watch=Watch(must_start_by=MINUTE))
    (run,) = await scene.enqueue()
    await scene.later(MINUTE / 2)
    assert await look(scene) == []
    await scene.later(MINUTE)
    assert await look(scene) == [f"must_start_by:{run}"]
    session = await scene.worker(timedelta(hours=1))
    (claimed,) = await scene.claim(session, [run])
    assert await look(scene) == [f"must_start_by:{run}"]
    await scene.settle(session, claimed, Success())
    assert await look(scene) == [f"must_start_by:{run}"]


async def test_a_run_that_started_late_and_ended_before_a_look_is_told_of(scene: Scene) -> None:
    """RTY-14: from the finish; a run that kept what was expected is not."""
    await scene.define(watch=Watch(must_start_by=MINUTE, expected_duration=MINUTE))
    good, late = await scene.enqueue(2)
    session = await scene.worker(timedelta(hours=1))
    (kept,) = await scene.claim(session, [good])
    await scene.settle(session, kept, Success())
    await scene.later(2 * MINUTE)
    (claimed,) = await scene.claim(session, [late])
    await scene.settle(session, claimed, Success())
    assert await look(scene) == [f"must_start_by:{late}"]


async def test_a_run_that_started_in_time_is_not_looked_at_again(scene: Scene) -> None:
    """What was kept costs nothing later."""
    await scene.define(watch=Watch(must_start_by=MINUTE))
    (run,) = await scene.enqueue()
    await scene.claim(await scene.worker(timedelta(hours=1)), [run])
    await scene.later(2 * MINUTE)
    assert await look(scene) == []
    assert [row["must_start_by"] for row in await scene.sql("SELECT must_start_by FROM headway.run WHERE id = $1", run)] == [None]


async def test_a_run_that_takes_too_long_is_told_of_while_it_runs(scene: Scene) -> None:
    """RTY-14: expected duration, from the scan and from the finish, one event."""
    await scene.define(watch=Watch(expected_duration=MINUTE))
    (run,) = await scene.enqueue()
    session = await scene.worker(timedelta(hours=1))
    (claimed,) = await scene.claim(session, [run])
    assert await look(scene) == []
    await scene.later(2 * MINUTE)
    assert await look(scene) == [f"expected_duration:{run}"]
    assert await scene.state(run) is State.RUNNING
    await scene.settle(session, claimed, Success())
    assert await look(scene) == [f"expected_duration:{run}"]
