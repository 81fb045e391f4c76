"""The scans: each moves on what is due, never what is not, and is safe with any number of instances."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from headway.core.batch import Opener
from headway.core.draft import parse_definition
from headway.core.run import Cause, State
from headway.maintenance.pulse import Pulse
from headway.maintenance.scans import STEPS, Ground, Scan, scans
from headway.runtime.loops import Next
from headway.runtime.settings import MaintenanceSettings, load
from headway.store import catalogue
from headway.store.gates import Placed
from tests.store.batching import Batches
from tests.store.scene import Scene

FAR = datetime(2100, 1, 1, tzinfo=UTC)


class Found:
    """A ground whose announcements are kept."""

    def __init__(self, scene: Scene) -> None:
        self.announced: list[Placed] = []
        settings = load(MaintenanceSettings, database_url="postgresql://nowhere/x", broker_url="memory://")
        self.ground = Ground(scene.database, settings, self._publish)

    def _publish(self, queued: Sequence[Placed]) -> None:
        self.announced.extend(queued)

    async def scan(self, name: str) -> Next:
        """One pass of a scan."""
        (scan,) = [scan for scan in scans(self.ground) if scan.name == name]
        return await scan.step()


@pytest.fixture
def found(scene: Scene) -> Found:
    """Where scans announce to."""
    return Found(scene)


async def now(scene: Scene) -> datetime:
    """The database's instant."""
    async with scene.database.begin() as tx:
        return tx.now


async def test_a_delayed_run_is_released_at_its_instant(scene: Scene, found: Found) -> None:
    """The due step never releases early, releases at once when it is due, and sleeps until the next one (MSG-06, MNT-03)."""
    await scene.define()
    at = await now(scene) + timedelta(seconds=30)
    (id_,) = await scene.enqueue(at=at)
    first = await found.scan("due")
    assert (first.found, await scene.state(id_)) == (0, State.SCHEDULED)
    assert first.sleep is not None and timedelta(seconds=20) < first.sleep <= timedelta(seconds=30)
    await scene.later(timedelta(seconds=31))
    assert (await found.scan("due")).found == 1
    assert await scene.state(id_) is State.QUEUED
    assert [run.id for run in found.announced] == [id_]


async def test_instances_release_each_run_once(scene: Scene, found: Found) -> None:
    """Several instances at once announce every due run exactly once (MNT-05)."""
    await scene.define()
    ids = await scene.enqueue(50, at=await now(scene) + timedelta(seconds=1))
    await scene.later(timedelta(seconds=2))
    await asyncio.gather(*(found.scan("due") for _ in range(4)))
    assert sorted(run.id for run in found.announced) == sorted(ids)


async def test_what_a_dead_session_held_is_queued_again(scene: Scene, found: Found) -> None:
    """Runs of a lapsed session are queued again and announced, once, with a crash charged and no failure (LSE-06, LSE-08, RTY-08)."""
    claimed = await scene.started() if await scene.define() else None
    assert claimed is not None
    assert (await found.scan("rescue")).found == 0
    await scene.later(timedelta(seconds=31))
    assert sum(result.found for result in await asyncio.gather(*(found.scan("rescue") for _ in range(3)))) == 1
    run = await scene.run(claimed.id)
    assert (run["state"], run["failures"], run["crashes"]) == (State.QUEUED, 0, 1)
    assert [run.id for run in found.announced] == [claimed.id]


async def test_a_run_past_its_deadline_is_ended(scene: Scene, found: Found) -> None:
    """A run whose worker does not end it is settled as Timeout after the grace, not before (MNT-02, RUN-18)."""
    await scene.define(timeout=timedelta(seconds=10))
    claimed = await scene.started()
    await scene.later(timedelta(seconds=39))
    assert (await found.scan("deadlines")).found == 0
    await scene.later(timedelta(seconds=2))
    assert (await found.scan("deadlines")).found == 1
    assert await scene.state(claimed.id) is State.FAILED


async def test_a_waiter_that_nobody_promoted_gets_its_second_chance(scene: Scene, found: Found) -> None:
    """A held run whose gate is free is let in by the scan (RUN-10)."""
    await scene.define(max_concurrent_runs=1)
    first, second = await scene.enqueue(2)
    assert await scene.states([first, second]) == [State.QUEUED, State.HELD]
    await scene.sql("DELETE FROM headway.run WHERE id = $1", first)
    assert (await found.scan("gates")).found == 1
    run = await scene.run(second)
    assert (run["state"], run["cause"]) == (State.QUEUED, Cause.NONE)


async def test_sessions_and_keys_are_pruned_when_nobody_needs_them(scene: Scene, found: Found) -> None:
    """An ended session goes after five minutes, unless it still holds a run (MNT-04)."""
    await scene.define()
    await scene.started()
    await scene.worker()
    await scene.later(timedelta(minutes=6))
    assert (await found.scan("sessions")).found == 1
    assert len(await scene.sql("SELECT 1 FROM headway.session")) == 1


async def test_unused_inline_calendars_go_and_years_of_holidays_come(scene: Scene, found: Found) -> None:
    """The calendars scan deletes what nothing uses, the holidays scan adds the years that a calendar lacks, each once (DEF-22, CAL-02)."""
    kept = {"windows": [{"holiday": "DE-BE:labor-day"}]}
    for document in (
        {"name": "job", "calendar": kept},
        {"name": "other", "calendar": {"windows": [{"weekdays": ["sun"]}]}},
        {"name": "other"},
    ):
        draft = parse_definition(document)
        await scene.database.transact(partial(catalogue.save, draft=draft, actor="ann"))
    assert [(await found.scan("calendars")).found for _ in range(2)] == [1, 0]
    assert (await found.scan("holidays")).found == 0
    await scene.sql("""UPDATE headway.calendar SET resolved = '{"DE-BE:labor-day": {"2025": ["2025-05-02"]}}' RETURNING 1""")
    assert [(await found.scan("holidays")).found for _ in range(2)] == [1, 0]
    [row] = await scene.sql("SELECT resolved FROM headway.calendar")
    assert row["resolved"]["DE-BE:labor-day"]["2025"] == ["2025-05-02"]
    assert len(row["resolved"]["DE-BE:labor-day"]) >= 12


async def test_every_scan_runs_by_hand_and_finds_nothing_twice(scene: Scene, found: Found) -> None:
    """Each scan can be run once by hand; on an idle platform none moves anything (MNT-01)."""
    for name in STEPS:
        if name != "backlog":
            assert (await found.scan(name)).found == 0, name


async def test_three_missed_scans_are_unhealthy() -> None:
    """A scan that fails counts as missed: health turns, and names it (HLT-05, MNT-06)."""

    async def fail() -> Next:
        raise ConnectionError

    pulse = Pulse()
    pulse.watched(Scan("due", "", timedelta(0), fail))
    assert pulse.check()[0]
    pulse._last["due"] -= 10
    healthy, figures = pulse.check()
    assert not healthy
    assert figures["late"] == ["due"]


async def test_a_batch_is_closed_when_its_opener_has_ended(scene: Scene, found: Found) -> None:
    """A batch that a handler opened is closed when that attempt has ended, a lost one included, and then ends by its children (BAT-06)."""
    await scene.define()
    batches = Batches(scene)
    opener = await scene.started()
    parent = await batches.make(1, closed=False, opener=Opener(opener.id, opener.attempt))
    assert (await found.scan("batches")).found == 0
    await scene.stop_and_rescue((await scene.run(opener.id))["session"])
    assert (await found.scan("batches")).found == 1
    assert (await batches.row(parent))["closed"]
    await batches.end(await batches.ids(parent))
    await batches.react()
    assert await scene.state(parent) is State.SUCCEEDED
    assert (await found.scan("batches")).found == 0


async def test_a_batch_of_a_later_attempt_stays_open(scene: Scene, found: Found) -> None:
    """Only the attempt that opened a batch keeps it open: an empty one of a former attempt is closed and ends (BAT-06)."""
    await scene.define()
    batches = Batches(scene)
    opener = await scene.started()
    former = await batches.make(0, closed=False, opener=Opener(opener.id, opener.attempt))
    await scene.stop_and_rescue((await scene.run(opener.id))["session"])
    (again,) = await scene.claim(await scene.worker(), [opener.id])
    later = await batches.make(0, closed=False, opener=Opener(again.id, again.attempt))
    assert (await found.scan("batches")).found == 1
    assert await scene.states([former, later]) == [State.SUCCEEDED, State.HELD]


async def test_children_that_were_forgotten_are_announced(scene: Scene, found: Found) -> None:
    """Children that nobody let in because the news of an end was lost are let in and announced (BAT-06)."""
    await scene.define()
    batches = Batches(scene)
    parent = await batches.make(2, max_concurrent=1)
    first, second = await batches.ids(parent)
    await batches.end([first])
    await scene.sql("DELETE FROM headway.reaction")
    assert (await found.scan("batches")).found == 1
    assert [run.id for run in found.announced] == [second]
