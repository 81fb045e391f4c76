"""The cache is brought up to date by reading what changed, and nothing else."""

from datetime import timedelta
from uuid import UUID

import pytest

from headway.core.definition import ScheduleDraft
from headway.core.errors import Unavailable
from headway.core.schedule.rule import parse_rule
from headway.scheduler.cache import Schedules
from headway.scheduler.refresh import Refresh
from headway.store import schedules
from headway.store.tx import Database
from tests.store.scene import Scene

HOUR = timedelta(hours=1)


async def declared(scene: Scene, every: list[str], definition: str = "job") -> list[UUID]:
    """Save a definition with so many schedules, and return their ids by name."""
    drafts = [ScheduleDraft(f"s{number}", parse_rule({"every": one})) for number, one in enumerate(every)]
    await scene.define(definition, schedules=tuple(drafts))
    async with scene.database.begin() as tx:
        return [row["id"] for row in sorted(await schedules.listed(tx, of=definition), key=lambda row: row["name"])]


async def test_everything_is_read_by_the_page(scene: Scene) -> None:
    """However many schedules there are, a few are read at a time, and none is left out."""
    ids = await declared(scene, ["5s"] * 7)
    cache = Schedules()
    refresh = Refresh(scene.database, cache)
    refresh.page = 3
    assert await refresh.run() == 7
    assert cache.ids() == set(ids)


async def test_one_change_reads_one_schedule(scene: Scene) -> None:
    """An edit of one of a definition's schedules reads that one; a refresh after no change reads none."""
    await declared(scene, ["5s"] * 5)
    cache = Schedules()
    refresh = Refresh(scene.database, cache)
    await refresh.run()
    assert await refresh.run() == 0
    (_, changed, *_) = await declared(scene, ["5s", "7s", "5s", "5s", "5s"])
    assert await refresh.run() == 1
    known = cache.get(changed)
    assert known is not None
    assert known.version == 2
    assert await refresh.run() == 0


async def test_what_somebody_else_decided_is_followed_without_reading_it_again(scene: Scene) -> None:
    """Where others have moved a schedule on, its next look is computed from what they decided; a schedule that is gone is forgotten."""
    moved, gone = await declared(scene, ["5s", "5s"])
    cache = Schedules()
    refresh = Refresh(scene.database, cache)
    await refresh.run()
    before = cache.get(moved)
    assert before is not None
    await scene.sql("UPDATE headway.schedule SET decided_until = decided_until + interval '1 hour' WHERE id = $1", moved)
    await scene.sql("DELETE FROM headway.schedule WHERE id = $1", gone)
    await refresh.reread([moved, gone])
    after = cache.get(moved)
    assert after is not None
    assert after.decided_until == before.decided_until + HOUR
    assert after.timeline is before.timeline
    assert cache.ids() == {moved}


async def test_what_left_no_trace_is_found(scene: Scene) -> None:
    """Schedules that are deleted, and schedules that appear with an old date, are noticed by their number (DEF-05)."""
    one, other = await declared(scene, ["5s", "5s"])
    cache = Schedules()
    refresh = Refresh(scene.database, cache)
    await scene.sql("UPDATE headway.schedule SET enabled = false WHERE id = $1", other)
    await refresh.run()
    assert cache.ids() == {one}
    await scene.sql("DELETE FROM headway.schedule WHERE id = $1", one)
    await refresh.run()
    assert cache.ids() == set()
    await scene.sql("UPDATE headway.schedule SET enabled = true, updated_at = updated_at - interval '1 day'")
    await refresh.run()
    assert cache.ids() == {other}


async def test_changes_are_seen_after_the_clock_stepped_back(scene: Scene) -> None:
    """CAL-15: an edit that carries an earlier instant than the last refresh, because the clock went back, is read all the same."""
    (id_,) = await declared(scene, ["5s"])
    cache = Schedules()
    refresh = Refresh(scene.database, cache)
    await refresh.run()
    await scene.later(-HOUR)
    await declared(scene, ["7s"])
    await refresh.run()
    known = cache.get(id_)
    assert known is not None
    assert known.version == 2


async def test_a_broken_schedule_is_left_out_until_it_is_saved(scene: Scene) -> None:
    """A rule that cannot be read is read once; when it is mended it is back."""
    good, bad = await declared(scene, ["5s", "5s"])
    await scene.sql("""UPDATE headway.schedule SET rule = '{"cron": "not a cron"}', version = 9 WHERE id = $1""", bad)
    cache = Schedules()
    refresh = Refresh(scene.database, cache)
    assert await refresh.run() == 2
    assert await refresh.run() == 0
    assert cache.ids() == {good}
    await declared(scene, ["5s", "6s"])
    assert await refresh.run() == 1
    assert cache.ids() == {good, bad}


async def test_a_failed_refresh_keeps_what_was_there(scene: Scene, database_url: str) -> None:
    """While the database is away the cache stays as it was (DEF-04)."""
    ids = await declared(scene, ["5s", "5s"])
    cache = Schedules()
    database = await Database.open(database_url, size=1)
    refresh = Refresh(database, cache)
    await refresh.run()
    await database.close()
    with pytest.raises(Unavailable):
        await refresh.run()
    assert cache.ids() == set(ids)
