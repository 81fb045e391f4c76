"""Deciding slots: once each, by whoever comes first, with everything they make in one transaction."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from headway.core.definition import ScheduleDraft
from headway.core.ids import token_for
from headway.core.schedule.rule import parse_rule
from headway.scheduler.cache import Schedules
from headway.scheduler.refresh import Refresh
from headway.store.decide import Decided, decide_due
from headway.store.known import Manner
from headway.store.statement import Statement
from headway.store.tx import Row, Tx
from tests.store.scene import Scene


async def loaded(scene: Scene) -> Schedules:
    """The cache of a scheduler that has just started."""
    cache = Schedules()
    await Refresh(scene.database, cache).run()
    return cache


async def decide(scene: Scene, cache: Schedules) -> Decided:
    """One pass over what is due by the database's clock."""
    async with scene.database.begin() as tx:
        due = cache.due(tx.now, 500)
        decided = await decide_due(tx, due, Manner())
    for known in decided.moved:
        cache.put(known)
    return decided


async def test_a_slot_fires_with_its_run_in_one_transaction(scene: Scene) -> None:
    """A due slot becomes a fired slot and a queued run that names it, with the parameters and token of that slot (DEF-13, MSG-02)."""
    schedule = await scene.schedule("nightly", every="10s", parameters={"day": "all"})
    cache = await loaded(scene)
    await scene.later(timedelta(seconds=10))
    decided = await decide(scene, cache)
    (slot,) = await scene.sql("SELECT * FROM headway.slot WHERE decision = 1")
    (run,) = await scene.sql("SELECT * FROM headway.run")
    assert [one.id for one in decided.queued] == [run["id"]] == [slot["run"]]
    assert (run["schedule"], run["slot_at"], run["state"], run["params"]) == (schedule, slot["slot_at"], 2, '{"day":"all"}')
    assert run["token"] == token_for("slot", schedule, slot["slot_at"].astimezone(UTC).isoformat())
    assert (await decide(scene, cache)).verdicts == []


async def test_two_schedulers_decide_each_slot_once(scene: Scene) -> None:
    """Schedulers that loaded the same cache and decide at the same time: one gets each schedule, the other learns so without an error
    (DEF-14, BB-035)."""
    for number in range(20):
        await scene.schedule(f"job-{number}", every="5s")
    first, second, third = [await loaded(scene) for _ in range(3)]
    for _ in range(6):
        await scene.later(timedelta(seconds=5))
        outcomes = await asyncio.gather(*(decide(scene, cache) for cache in (first, second, third)))
        conflicts = {id_ for decided in outcomes for id_ in decided.conflicts}
        for cache in (first, second, third):
            await Refresh(scene.database, cache).reread(sorted(conflicts))
    slots = await scene.sql("SELECT schedule, slot_at FROM headway.slot")
    assert max(Counter((slot["schedule"], slot["slot_at"]) for slot in slots).values()) == 1
    assert len(slots) >= 6 * 20
    runs = await scene.sql("SELECT schedule, slot_at FROM headway.all_runs")
    assert max(Counter((run["schedule"], run["slot_at"]) for run in runs).values()) == 1


async def test_a_stale_cache_decides_nothing(scene: Scene) -> None:
    """After an edit the old version of a schedule decides no slot: the compare-and-set names its version (BB-048)."""
    schedule = await scene.schedule("job", every="5s")
    stale = await loaded(scene)
    await scene.schedule("job", every="7s")
    await scene.later(timedelta(seconds=10))
    decided = await decide(scene, stale)
    assert (decided.moved, decided.conflicts) == ([], [schedule])
    assert await scene.sql("SELECT 1 FROM headway.slot") == []


async def test_an_open_run_skips_the_next_slot(scene: Scene) -> None:
    """While a run of the schedule is open the next slot is decided `skipped: overlap`, and at most one run waits (DEF-11, DEF-12,
    BB-033)."""
    await scene.schedule("job", every="5s")
    cache = await loaded(scene)
    for _ in range(4):
        await scene.later(timedelta(seconds=5))
        await decide(scene, cache)
    slots = await scene.sql("SELECT decision, reason FROM headway.slot ORDER BY slot_at")
    assert [(slot["decision"], slot["reason"]) for slot in slots] == [(1, "")] + [(3, "overlap")] * 3
    assert len(await scene.sql("SELECT 1 FROM headway.run")) == 1


async def test_an_outage_is_one_range(scene: Scene) -> None:
    """What was due longer ago than the grace is one range `missed` with its count; what is younger is decided singly; nothing is in
    both (DEF-14, OBS-06)."""
    schedule = await scene.schedule("job", every="10s")
    cache = await loaded(scene)
    await scene.later(timedelta(hours=1))
    await decide(scene, cache)
    (missed,) = await scene.sql("SELECT * FROM headway.slot_range")
    slots = await scene.sql("SELECT slot_at FROM headway.slot ORDER BY slot_at")
    assert (missed["schedule"], missed["reason"]) == (schedule, "missed")
    assert 350 <= missed["slots"] + len(slots) <= 361
    assert all(slot["slot_at"] > missed["to_at"] for slot in slots)


async def test_a_clock_that_steps_back_fires_nothing_twice(scene: Scene) -> None:
    """After the clock was stepped back no slot is decided again (CAL-15)."""
    await scene.schedule("job", every="5s")
    cache = await loaded(scene)
    await scene.later(timedelta(seconds=60))
    await decide(scene, cache)
    before = await scene.sql("SELECT schedule, slot_at FROM headway.slot")
    await scene.later(timedelta(seconds=-50))
    await decide(scene, await loaded(scene))
    assert await scene.sql("SELECT schedule, slot_at FROM headway.slot") == before


async def test_nothing_is_written_when_a_decision_dies(scene: Scene) -> None:
    """A scheduler that dies after any statement of the slot path leaves nothing; the next start decides the slot once (BB-044)."""
    await scene.schedule("job", every="5s")
    await scene.later(timedelta(seconds=5))
    deaths = 0
    while await dies(scene, deaths + 1):
        deaths += 1
        assert await scene.sql("SELECT 1 FROM headway.slot UNION ALL SELECT 1 FROM headway.run") == []
    assert deaths >= 4
    assert len(await scene.sql("SELECT 1 FROM headway.run")) == 1
    assert len(await scene.sql("SELECT 1 FROM headway.slot WHERE decision = 1")) == 1


async def dies(scene: Scene, statements: int) -> bool:
    """Decide what is due in a process that dies after so many statements; False when it needed no more."""
    cache = await loaded(scene)
    try:
        async with scene.database.begin() as tx:
            await decide_due(Dying(tx, statements), cache.due(tx.now, 10), Manner())
    except Killed:
        return True
    return False


async def test_a_broken_schedule_stops_nobody(scene: Scene) -> None:
    """A schedule whose stored rule cannot be read is marked broken with its error and left out; the others are decided."""
    broken = await scene.schedule("bad", every="5s")
    await scene.schedule("good", every="5s")
    await scene.sql("""UPDATE headway.schedule SET rule = '{"cron": "not a cron"}' WHERE id = $1""", broken)
    cache = await loaded(scene)
    assert broken not in cache
    await scene.later(timedelta(seconds=5))
    assert len((await decide(scene, cache)).queued) == 1
    (row,) = await scene.sql("SELECT broken FROM headway.schedule WHERE id = $1", broken)
    assert "cron" in row["broken"]


async def test_a_refresh_sees_what_changed(scene: Scene) -> None:
    """A schedule that was added, edited, disabled or deleted is so in the cache after the next refresh; the rest is not read again
    (DEF-04, DEF-05, DEF-18)."""
    await scene.schedule("kept", every="5s")
    cache = Schedules()
    refresh = Refresh(scene.database, cache)
    await refresh.run()
    await scene.schedule("added", every="5s")
    await refresh.run()
    assert len(cache) == 2
    await scene.define("added", enabled=False)
    await refresh.run()
    assert len(cache) == 1
    await scene.sql("DELETE FROM headway.definition")
    await refresh.run()
    assert len(cache) == 0


class Killed(Exception):
    """The process died here."""


class Dying(Tx):
    """A transaction whose process dies after a number of statements."""

    def __init__(self, tx: Tx, statements: int) -> None:
        super().__init__(tx.connection, tx.schema, tx.now)
        self.left = statements

    async def fetch(self, statement: Statement, **values: Any) -> Sequence[Row]:
        """Run a statement, or die before it."""
        self.left -= 1
        if self.left <= 0:
            raise Killed
        return await super().fetch(statement, **values)

    async def execute(self, statement: Statement, **values: Any) -> int:
        """Run a statement, or die before it."""
        self.left -= 1
        if self.left <= 0:
            raise Killed
        return await super().execute(statement, **values)


async def test_a_weekly_interval_survives_restarts(scene: Scene) -> None:
    """Every seven days from its anchor a schedule fires, though the scheduler starts anew every six hours (BB-043, DEF-14)."""
    begin, end = datetime(2025, 3, 3, 7, tzinfo=UTC), datetime(2025, 3, 25, tzinfo=UTC)
    async with scene.database.begin() as tx:
        back = begin - tx.now
    await scene.later(back)
    rule = parse_rule({"every": "7d", "anchor": "2025-03-03T06:00:00Z"})
    await scene.define("weekly", schedules=(ScheduleDraft("default", rule),))
    for _ in range((end - begin) // timedelta(hours=6)):
        cache = await loaded(scene)
        due = cache.next_due()
        assert due is not None
        async with scene.database.begin() as tx:
            wait = due - tx.now
        if wait <= timedelta(hours=6):
            await scene.later(wait)
            await decide(scene, cache)
            await scene.sql("DELETE FROM headway.run")
            await scene.later(timedelta(hours=6) - wait)
        else:
            await scene.later(timedelta(hours=6))
    slots = await scene.sql("SELECT slot_at FROM headway.slot WHERE decision = 1 ORDER BY slot_at")
    assert [slot["slot_at"] for slot in slots] == [datetime(2025, 3, day, 6, tzinfo=UTC) for day in (10, 17, 24)]


async def test_a_job_that_the_file_switches_off_is_skipped(scene: Scene) -> None:
    """A `[jobs.<name>]` table with `enabled = false` has its slots decided `skipped: disabled`, without a change of the definition
    (CFG-03)."""
    await scene.schedule("job", every="5s")
    await scene.later(timedelta(seconds=5))
    cache = await loaded(scene)
    async with scene.database.begin() as tx:
        await decide_due(tx, cache.due(tx.now, 10), Manner(), {"job"})
    (slot,) = await scene.sql("SELECT decision, reason, run FROM headway.slot")
    assert (slot["decision"], slot["reason"], slot["run"]) == (3, "disabled", None)
