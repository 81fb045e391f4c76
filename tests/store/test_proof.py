"""The proof over what schedulers and edits really wrote."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from headway.core.definition import DefinitionDraft
from headway.core.proof.ledger import Kind
from headway.store import catalogue, chaining, in_force, proof, reactions
from headway.store.known import Manner
from headway.store.proof import Proven
from headway.store.reactions import Kind as Reaction
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

MINUTE = timedelta(minutes=1)


async def proven(ledger: Ledger, after: datetime | None = None, until: datetime | None = None, limit: int = 1000) -> Proven:
    """The proof of the ledger's schedule."""
    async with ledger.scene.database.begin() as tx:
        known = await in_force.history(tx, ledger.schedule)
        assert known is not None
        return await proof.prove(tx, ledger.schedule, known, after=after, until=until, limit=limit)


async def busy(scene: Scene) -> Ledger:
    """A schedule with slots in time, an outage, an edit, a pause, and slots behind all that."""
    ledger = await Ledger(scene).begin({"every": "1m"}, overlap="allow", overlap_max=1000, misfire="run_once")
    await ledger.decide(START + 1 * MINUTE)
    await ledger.decide(START + 40 * MINUTE)
    await ledger.set(START + 42 * MINUTE)
    await ledger.save({"cron": "*/7 * * * *", "zone": "Europe/Berlin"}, overlap="allow")
    await ledger.decide(START + 49.5 * MINUTE)
    return ledger


async def test_a_busy_schedule_is_proven(scene: Scene) -> None:
    """OBS-06, DEF-14: slots, misfires and edits as they were really written, by the versions that were in force."""
    found = await proven(await busy(scene))
    assert (found.proof.holds, found.proof.findings, found.proof.remarks) == (True, [], [])
    assert found.proof.expected == found.proof.singles + found.proof.spanned == 42 + 1
    assert (found.proof.until, found.next_from) == (found.decided_until, None)
    assert found.decided_until - START > 49 * MINUTE


@pytest.mark.parametrize(
    ("harm", "kind"),
    [
        ("DELETE FROM headway.slot WHERE slot_at = (SELECT max(slot_at) FROM headway.slot)", Kind.MISSING),
        (
            "UPDATE headway.slot SET slot_at = slot_at + interval '1 second' WHERE slot_at = (SELECT max(slot_at) FROM headway.slot)",
            Kind.UNEXPECTED,
        ),
        ("UPDATE headway.slot_range SET slots = slots + 1", Kind.WRONG_COUNT),
        ("UPDATE headway.slot_range SET from_at = from_at - interval '1 minute'", Kind.DOUBLED),
        ("DELETE FROM headway.slot_range", Kind.MISSING),
    ],
)
async def test_a_fault_is_found(scene: Scene, harm: str, kind: Kind) -> None:
    """OBS-06: a row that is gone, moved, miscounted or covered twice breaks the proof."""
    ledger = await busy(scene)
    await scene.sql(harm)
    found = (await proven(ledger)).proof
    assert not found.holds
    assert kind in {one.kind for one in found.findings}


async def test_a_long_period_is_proven_in_parts(scene: Scene) -> None:
    """OBS-06: at most so many slots at once, and the next part begins where the last one ended."""
    ledger = await busy(scene)
    parts, after = [], START
    while True:
        part = await proven(ledger, after, limit=2)
        parts.append(part.proof)
        if part.next_from is None:
            break
        after = part.next_from
    assert len(parts) > 2
    assert all(one.holds for one in parts)
    assert sum(one.expected for one in parts) == sum(one.singles + one.spanned for one in parts) == 43


async def test_a_pause_is_no_gap(scene: Scene) -> None:
    """OBS-06: what falls due while a definition is disabled is decided when that ends, and proven then."""
    ledger = await Ledger(scene).begin({"every": "1m"})
    await ledger.save({"every": "1m"}, enabled=False)
    await ledger.set(START + 10 * MINUTE)
    assert (await proven(ledger)).proof.expected == 0
    await ledger.save({"every": "1m"})
    found = (await proven(ledger)).proof
    assert (found.holds, found.expected, found.spanned + found.singles) == (True, 10, 10)


async def test_a_deleted_schedule_is_proven_to_its_end(scene: Scene) -> None:
    """DEF-22, OBS-06: the ledger outlives its schedule, and nothing is expected behind its end."""
    ledger = await Ledger(scene).begin({"every": "1m"})
    await ledger.set(START + 10 * MINUTE)
    await scene.database.transact(lambda tx: catalogue.save(tx, DefinitionDraft("job", "job"), actor="ann"))
    await ledger.set(START + 20 * MINUTE)
    found = (await proven(ledger)).proof
    assert (found.holds, found.expected) == (True, 10)
    assert found.until < START + 11 * MINUTE
    async with scene.database.begin() as tx:
        assert await in_force.history(tx, UUID(int=5)) is None


async def test_backfilled_slots_stand_apart(scene: Scene) -> None:
    """OBS-06: a slot that was filled in afterwards stays decided as it was, and is listed."""
    ledger = await busy(scene)
    run, slot = uuid4(), START + 5 * MINUTE
    await scene.sql("INSERT INTO headway.backfill VALUES ($1, $2, $3, $2)", ledger.schedule, slot, run)
    found = await proven(ledger)
    assert found.proof.holds
    assert [tuple(row.values()) for row in found.backfilled] == [(slot, run)]


async def test_a_version_that_cannot_be_read(scene: Scene) -> None:
    """OBS-06: a rule of a plug-in that is not there proves nothing, and the finding says which version it is."""
    ledger = await busy(scene)
    await scene.sql("""UPDATE headway.schedule_version SET rule = '{"plugin": "tides"}' WHERE version = 1""")
    found = (await proven(ledger)).proof
    assert [one.kind for one in found.findings] == [Kind.UNREADABLE]
    assert "tides" in found.findings[0].words


async def test_a_chain_is_proven(scene: Scene) -> None:
    """OBS-06: each slot is its run's end and the gap, over runs, a misfire and an edit; a slot that came by itself is found."""
    ledger = await Ledger(scene).begin({"after_completion": "1m"})
    for minute in (1, 5, 7):
        await ledger.decide(START + minute * MINUTE)
        for run in await scene.sql("SELECT id FROM headway.run WHERE state = 2"):
            await ledger.set(START + minute * MINUTE + timedelta(seconds=20))
            await ledger.end(run["id"])
            await reactions.work_off(scene.database, {int(Reaction.SCHEDULE): chaining.chaining(lambda _: None)}, limit=10)
    await ledger.save({"after_completion": "2m"})
    await ledger.decide(START + 8 * MINUTE, Manner(grace_seconds=3600))
    found = (await proven(ledger)).proof
    assert (found.holds, found.findings, found.remarks) == (True, [], [])
    assert found.expected == found.singles + found.spanned >= 4
    later = (await proven(ledger, after=START + 6 * MINUTE)).proof
    assert (later.holds, later.remarks) == (True, [])
    assert 0 < later.expected < found.expected
    await scene.sql("UPDATE headway.slot SET slot_at = slot_at + interval '1 second' WHERE slot_at > $1", START + 6 * MINUTE)
    assert Kind.OUT_OF_CHAIN in {one.kind for one in (await proven(ledger)).proof.findings}


async def test_an_edit_after_a_clock_stepped_back_starts_a_chain_behind_what_is_decided(scene: Scene) -> None:
    """CAL-15: no slot is set in time that is decided, where nobody would ever decide it."""
    ledger = await Ledger(scene).begin({"after_completion": "1m"})
    await ledger.set(START + 10 * MINUTE)
    await ledger.save({"after_completion": "2m"})
    await ledger.set(START + 5 * MINUTE)
    await ledger.save({"after_completion": "3m"})
    row = await ledger.row()
    assert row["chained_at"] > row["decided_until"] > START + 10 * MINUTE
