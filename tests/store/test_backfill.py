"""Backfills: planned from what was in force, executed as planned or not at all, each slot once for ever."""

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from headway.core.ask import Origin
from headway.core.backfill import DIGEST, digest_of
from headway.core.calendar.draft import parse_calendar_draft
from headway.core.errors import Conflict, HeadwayError, Invalid
from headway.core.run import Cause, State
from headway.store import backfill, calendar_edits, in_force, proof, schedules, waiting
from headway.store.backfill import Wanted
from headway.store.tx import Row, Tx
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


async def missed(scene: Scene, **fields: Any) -> Ledger:
    """An hourly schedule of which five slots were missed."""
    ledger = await Ledger(scene).begin({"every": "1h"}, **fields)
    await ledger.decide(START + 5.5 * HOUR)
    return ledger


async def row(ledger: Ledger, tx: Tx) -> Row:
    """The schedule, as the API reads it."""
    found = await schedules.get(tx, ledger.schedule)
    assert found is not None
    return found


async def plan(ledger: Ledger, after: datetime = START, until: datetime = START + 24 * HOUR) -> dict[str, Any]:
    """The plan of a period."""
    async with ledger.scene.database.begin() as tx:
        return await backfill.planned(tx, Wanted(await row(ledger, tx), after, until))


async def apply(ledger: Ledger, wanted: dict[str, Any]) -> dict[datetime, UUID]:
    """Do what a plan says."""

    async def act(tx: Tx) -> dict[datetime, UUID]:
        return await backfill.apply(tx, await row(ledger, tx), wanted, actor="ann")

    return await ledger.scene.database.transact(act)


async def nothing_written(scene: Scene) -> bool:
    """Whether there is no trace of a backfill."""
    counts = await scene.sql(
        "SELECT (SELECT count(*) FROM headway.backfill) + (SELECT count(*) FROM headway.run WHERE origin = 3)"
        " + (SELECT count(*) FROM headway.audit WHERE action = 'schedule.backfilled') AS rows"
    )
    return bool(counts[0]["rows"] == 0)


async def test_a_plan_is_executed_as_it_is(scene: Scene) -> None:
    """BB-030, CAL-08: a run for each slot, held for its turn, with what its slot gets; a row in `backfill`, and one line of the trail."""
    ledger = await missed(scene, parameters={"at": "{slot.local}", "fixed": 1})
    wanted = await plan(ledger)
    assert [(one["was"], one["reason"]) for one in wanted["slots"]] == [("skipped", "missed")] * 5
    runs = await apply(ledger, wanted)
    assert sorted(runs) == [START + n * HOUR for n in range(1, 6)]
    made = await ledger.runs()
    assert [(run["slot_at"], run["origin"], run["state"]) for run in made] == [
        (START + n * HOUR, Origin.BACKFILL, State.HELD) for n in range(1, 6)
    ]
    assert {run["created_by"] for run in made} == {"ann"}
    assert len({run["token"] for run in made}) == 5
    assert made[0]["params"].startswith('{"at":"2030-01-07')
    assert {one["cause"] for one in await scene.sql("SELECT cause FROM headway.run")} == {Cause.CATCH_UP}
    kept = await scene.sql("SELECT slot_at, run, asked_by FROM headway.backfill ORDER BY slot_at")
    assert {one["slot_at"]: one["run"] for one in kept} == runs
    [line] = await scene.sql("SELECT actor, subject, new FROM headway.audit WHERE action = 'schedule.backfilled'")
    assert (line["actor"], line["subject"]) == ("ann", f"schedule:{ledger.schedule}")
    assert line["new"]["digest"] == wanted[DIGEST]


async def test_runs_take_turns(scene: Scene) -> None:
    """CAL-08: one run of a backfill at a time, oldest first, beside the schedule's own."""
    ledger = await missed(scene)
    await apply(ledger, await plan(ledger))
    for number in range(1, 6):
        [placed] = await scene.database.transact(waiting.second_chance)
        assert await scene.database.transact(waiting.second_chance) == []
        assert (await scene.run(placed.id))["slot_at"] == START + number * HOUR
        await ledger.end(placed.id)
    await ledger.decide(START + 6 * HOUR)
    assert (await ledger.slots())[-1][1] == 1


async def test_slots_stay_as_they_were_decided(scene: Scene) -> None:
    """OBS-06: a backfill decides nothing again; the proof holds, and lists what was filled in apart."""
    ledger = await missed(scene)
    before = await ledger.slots(), await ledger.ranges()
    runs = await apply(ledger, await plan(ledger))
    assert (await ledger.slots(), await ledger.ranges()) == before
    async with scene.database.begin() as tx:
        known = await in_force.history(tx, ledger.schedule)
        assert known is not None
        proven = await proof.prove(tx, ledger.schedule, known)
    assert proven.proof.holds
    assert {one["slot_at"]: one["run"] for one in proven.backfilled} == runs


async def test_a_slot_is_filled_in_once_for_ever(scene: Scene) -> None:
    """BB-030: what has a backfill is left out of the next plan; a plan that still names it is refused, and writes nothing."""
    ledger = await missed(scene)
    whole = await plan(ledger)
    await apply(ledger, await plan(ledger, until=START + 2 * HOUR))
    rest = await plan(ledger)
    assert (len(rest["slots"]), rest["filled_in_before"]) == (3, 2)
    with pytest.raises(Conflict, match="was filled in since"):
        await apply(ledger, whole)
    assert len(await scene.sql("SELECT 1 FROM headway.backfill")) == 2
    assert len(await apply(ledger, rest)) == 3
    assert (await plan(ledger))["slots"] == []


async def test_two_who_apply_one_plan(scene: Scene) -> None:
    """BB-030: at the same time: one does it, the other is told."""
    ledger = await missed(scene)
    wanted = await plan(ledger)
    answers = await asyncio.gather(apply(ledger, wanted), apply(ledger, wanted), return_exceptions=True)
    assert sorted(isinstance(one, Conflict) for one in answers) == [False, True]
    assert len(await scene.sql("SELECT 1 FROM headway.run")) == 5


async def test_slots_that_fired_are_marked(scene: Scene) -> None:
    """BB-030: a slot that had a run is in the plan with that run, for whoever means to run it again."""
    ledger = await Ledger(scene).begin({"every": "1h"})
    await ledger.decide(START + HOUR)
    [fired] = await ledger.runs()
    [only] = (await plan(ledger))["slots"]
    assert (only["was"], only["run"]) == ("fired", str(fired["id"]))
    assert list(await apply(ledger, await plan(ledger))) == [START + HOUR]


async def test_a_plan_that_is_none(scene: Scene) -> None:
    """BB-030: one that was changed, is of another schedule or has no period is refused, and nothing is written."""
    ledger = await missed(scene)
    good = await plan(ledger)
    bad: list[dict[str, Any]] = [
        {},
        {**good, "slots": good["slots"][:1]},
        {**good, "schedule": str(UUID(int=3))},
        {"schedule": good["schedule"]},
        {**good, "from": "2030-01-07T12:00:00"},
        {**good, "to": 7},
    ]
    for number, one in enumerate(bad):
        with pytest.raises(Invalid, match="plan: "):
            await apply(ledger, one if number < 2 else {**one, DIGEST: digest_of(one)})
    forged = {**good, "slots": good["slots"][:1]}
    with pytest.raises(Conflict, match="no longer what would be done"):
        await apply(ledger, {**forged, DIGEST: digest_of(forged)})
    assert await nothing_written(scene)


async def test_a_schedule_that_has_changed(scene: Scene) -> None:
    """BB-030: a plan is of one version; past slots go by the version of their time."""
    ledger = await missed(scene)
    old = await plan(ledger)
    await ledger.save({"cron": "30 */2 * * *", "zone": "Europe/Berlin"})
    with pytest.raises(Conflict, match="at version 2"):
        await apply(ledger, old)
    assert await nothing_written(scene)
    await ledger.decide(START + 12 * HOUR)
    fresh = await plan(ledger)
    assert [(one["slot_at"][11:16], one["version"]) for one in fresh["slots"]] == [
        *((f"{12 + n}:00", 1) for n in range(1, 6)),
        ("19:30", 2),
        ("21:30", 2),
        ("23:30", 2),
    ]
    assert len(await apply(ledger, fresh)) == 8


async def test_a_definition_that_is_disabled(scene: Scene) -> None:
    """BB-030: it takes no runs, so its plan is refused as a whole."""
    ledger = await missed(scene)
    await scene.sql("UPDATE headway.definition SET enabled = false")
    with pytest.raises(HeadwayError, match="disabled"):
        await apply(ledger, await plan(ledger))
    assert await nothing_written(scene)


async def test_calendars_are_those_of_their_time(scene: Scene) -> None:
    """BB-030, CAL-05: a slot that a calendar skipped then stays out, whatever the calendar says now."""
    document = {"name": "office", "windows": [{"weekdays": ["mon"], "start": "13:30", "end": "15:30"}]}
    await scene.database.transact(lambda tx: calendar_edits.save(tx, [parse_calendar_draft(document)], actor="ann"))
    ledger = await missed(scene, calendars=("office",))
    changed = {"name": "office", "windows": [{"weekdays": ["mon"], "start": "12:30", "end": "13:30"}]}
    await scene.database.transact(lambda tx: calendar_edits.save(tx, [parse_calendar_draft(changed)], actor="ann"))
    found = await plan(ledger)
    assert [one["slot_at"][11:16] for one in found["slots"]] == ["13:00", "16:00", "17:00"]
    assert ({one["calendars"] for one in found["slots"]}, found["skipped_by_calendar"]) == ({"office 1"}, 2)
    await scene.sql("DELETE FROM headway.calendar_version WHERE version = 1")
    with pytest.raises(Conflict, match="not on record"):
        await plan(ledger)


async def test_a_schedule_that_cannot_be_evaluated(scene: Scene) -> None:
    """BB-030: nothing is filled in for a schedule that is broken."""
    ledger = await missed(scene)
    await scene.sql("""UPDATE headway.schedule SET rule = '{"plugin": "tides"}'""")
    with pytest.raises(Conflict, match="cannot be evaluated"):
        await plan(ledger)
