"""Edits, pauses and resumes: each slot is decided once, by the version that was in force."""

import asyncio
from datetime import UTC, datetime, timedelta

from headway.core.definition import DefinitionDraft, ScheduleDraft
from headway.core.schedule.rule import parse_rule
from headway.store import catalogue, schedules, switches
from headway.store.decide import decide_due
from headway.store.known import Manner
from headway.store.tx import Row, Tx
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

TEN = timedelta(minutes=10)
SOON = timedelta(milliseconds=50)


async def locked(ledger: Ledger, tx: Tx) -> Row:
    """The schedule, locked as the API locks it."""
    row = await schedules.get(tx, ledger.schedule, locked=True)
    assert row is not None
    return row


async def test_an_edit_just_after_a_due_instant_decides_the_slot_as_it_was(scene: Scene) -> None:
    """BB-048, DEF-14: 50 ms after the instant, before any scheduler came, the edit itself fires the slot by the version in force."""
    ledger = await Ledger(scene).begin({"every": "10m"})
    await ledger.set(START + TEN + SOON)
    await ledger.save({"every": "7m"})
    assert await ledger.slots() == [(START + TEN, 1, "")]
    [record] = await scene.sql("SELECT schedule_version, decided_by FROM headway.slot")
    assert (record["schedule_version"], record["decided_by"]) == (1, "ann")
    assert (await ledger.row())["version"] == 2
    assert len(await ledger.runs()) == 1


async def test_schedulers_that_know_an_older_version_decide_nothing(scene: Scene) -> None:
    """BB-048: caches of different age and an edit between them; the older one learns of it and then decides by the new version."""
    ledger = await Ledger(scene).begin({"every": "10m"})
    async with scene.database.begin() as tx:
        old = await ledger.known(tx)
    await ledger.save({"every": "15m"})
    await ledger.set(START + 2 * TEN)
    async with scene.database.begin() as tx:
        assert (await decide_due(tx, old, Manner())).conflicts == [ledger.schedule]
    await ledger.decide()
    assert [slot for slot, *_ in await ledger.slots()] + [
        slot for after, until, *_ in await ledger.ranges() for slot in [START + timedelta(minutes=15)] if after < slot <= until
    ] == [START + timedelta(minutes=15)]


async def test_an_edit_waits_for_a_decision_and_a_decision_for_an_edit(scene: Scene) -> None:
    """VER-01: two transactions opened by hand, in both orders: whoever comes second finds the slot decided."""
    ledger = await Ledger(scene).begin({"every": "10m"})
    await ledger.set(START + TEN)
    async with scene.database.begin() as deciding:
        decided = await decide_due(deciding, await ledger.known(deciding), Manner())
        editing = asyncio.create_task(ledger.save({"every": "7m"}))
        await scene.somebody_waits()
    await editing
    assert len(decided.verdicts) == 1
    assert await ledger.slots() == [(START + TEN, 1, "")]
    async with scene.database.begin() as tx:
        stale = await ledger.known(tx)
    await ledger.set(START + 3 * TEN)
    async with scene.database.begin() as edit:
        draft = DefinitionDraft("job", "job", schedules=(ScheduleDraft("default", parse_rule({"every": "11m"})),))
        await catalogue.save(edit, draft, actor="ann")

        async def late() -> bool:
            async with scene.database.begin() as tx:
                return (await decide_due(tx, stale, Manner())).conflicts == [ledger.schedule]

        deciding_late = asyncio.create_task(late())
        await scene.somebody_waits()
    assert await deciding_late
    slots = [slot for slot, *_ in await ledger.slots()]
    assert len(slots) == len(set(slots))


async def test_a_pause_over_a_due_instant_is_no_missed_time(scene: Scene) -> None:
    """BB-030: paused from the first to the fourth of May, run_once: nothing runs at the resume, the next slot is the next morning's."""
    ledger = await Ledger(scene).begin({"cron": "0 6 * * *"}, misfire="run_once")
    first = datetime(2030, 5, 1, 5, tzinfo=UTC)
    await ledger.set(first)
    await ledger.decide()
    for run in await ledger.runs():
        await ledger.end(run)
    before = len(await ledger.runs())
    async with scene.database.begin() as tx:
        await switches.pause_schedule(tx, await locked(ledger, tx), switches.Pause("ann", "stocktaking"))
    await ledger.set(datetime(2030, 5, 4, 12, tzinfo=UTC))
    async with scene.database.begin() as tx:
        await switches.resume_schedule(tx, await locked(ledger, tx), actor="ann")
    await ledger.decide()
    assert len(await ledger.runs()) == before
    *_, paused = await ledger.ranges()
    assert paused[2:] == (4, "paused")
    [detail] = [row["detail"] for row in await scene.sql("SELECT detail FROM headway.slot_range WHERE reason = 'paused'")]
    assert detail == "paused by ann: stocktaking"
    await ledger.save({"cron": "0 7 * * *"}, misfire="run_once")
    await ledger.decide(datetime(2030, 5, 5, 6, 30, tzinfo=UTC))
    assert len(await ledger.runs()) == before
    await ledger.decide(datetime(2030, 5, 5, 7, 0, 1, tzinfo=UTC))
    assert (await ledger.runs())[-1]["slot_at"] == datetime(2030, 5, 5, 7, tzinfo=UTC)


async def test_pausing_at_a_due_instant_decides_it_first(scene: Scene) -> None:
    """A slot that was due when the pause came fires; the pause begins behind it."""
    ledger = await Ledger(scene).begin({"every": "10m"})
    await ledger.set(START + TEN + SOON)
    async with scene.database.begin() as tx:
        [queued] = await switches.pause_schedule(tx, await locked(ledger, tx), switches.Pause("ann"))
    assert [run["id"] for run in await ledger.runs()] == [queued.id]


async def test_versions_tell_what_was_in_force(scene: Scene) -> None:
    """Each edit ends one version where the next begins; a deletion is the last, and the ledger outlives it."""
    ledger = await Ledger(scene).begin({"every": "10m"})
    await ledger.set(START + TEN)
    await ledger.save({"every": "7m"})
    await ledger.set(START + 2 * TEN)
    async with scene.database.begin() as tx:
        await switches.delete_schedule(tx, await locked(ledger, tx), actor="ann")
    kept = await scene.sql("SELECT version, from_at, rule, ended FROM headway.schedule_version ORDER BY version")
    assert [(row["version"], row["rule"]["every"], row["ended"]) for row in kept] == [(1, "10m", False), (2, "7m", False), (3, "7m", True)]
    assert kept[0]["from_at"] < kept[1]["from_at"] < kept[2]["from_at"]
    assert kept[1]["from_at"] - START >= TEN
    assert await ledger.slots()


async def test_a_save_that_changes_no_meaning_decides_nothing(scene: Scene) -> None:
    """DEF-15: the planned slot is kept, no version begins."""
    ledger = await Ledger(scene).begin({"every": "10m"})
    before = await ledger.row()
    await ledger.set(START + TEN)
    await ledger.save({"every": "10m"})
    after = await ledger.row()
    assert (after["version"], after["decided_until"]) == (before["version"], before["decided_until"])
    assert await ledger.slots() == []


async def test_an_edit_mends_a_broken_schedule(scene: Scene) -> None:
    """DEF-08: what cannot be evaluated decides nothing, and a save makes it whole."""
    ledger = await Ledger(scene).begin({"every": "10m"})
    await scene.sql("""UPDATE headway.schedule SET rule = '{"cron": "* * * * *", "zone": "UTC+3"}' RETURNING 1""")
    await ledger.set(START + TEN)
    await ledger.save({"every": "10m"})
    assert ((await ledger.row())["broken"], await ledger.slots()) == (None, [])
    await ledger.decide(START + 2 * TEN)
    assert [slot for slot, *_ in await ledger.slots()] == [START + 2 * TEN]
