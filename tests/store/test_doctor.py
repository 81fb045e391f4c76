"""The invariants as queries: each finds what breaks it."""

from datetime import timedelta

import pytest

from headway.core.ask import Ask, Origin
from headway.store import doctor, slots
from headway.store.slots import SlotRecord
from tests.store.batching import Batches
from tests.store.scene import LEASE, Scene

HOUR = timedelta(hours=1)

# How each invariant is broken by hand, on a database with one schedule, one open run of a slot and one finished one.
BREAK = {
    "one_run_for_a_slot": "UPDATE headway.run_done SET slot_at = (SELECT slot_at FROM headway.run)",
    "slots_outside_ranges": """INSERT INTO headway.slot_range (schedule, from_at, to_at, decision, reason, decided_at, schedule_version)
        SELECT schedule, slot_at - interval '1 minute', slot_at, 3, 'missed', decided_at, 1 FROM headway.slot LIMIT 1""",
    "ranges_apart": """INSERT INTO headway.slot_range (schedule, from_at, to_at, decision, reason, decided_at, schedule_version)
        SELECT id, '2020-01-01'::timestamptz + n * interval '1 minute', '2020-01-01'::timestamptz + n * interval '10 minutes', 3, 'missed',
        now(), 1 FROM headway.schedule, generate_series(1, 2) AS n""",
    "fired_slots_have_runs": "UPDATE headway.slot SET run = NULL",
    "one_place": "UPDATE headway.run_done SET id = (SELECT id FROM headway.run LIMIT 1)",
    "running_is_held": "UPDATE headway.run SET state = 3, session = gen_random_uuid(), deadline_at = now()",
    "scheduled_is_released": "UPDATE headway.run SET state = 1, available_at = now() - interval '2 minutes'",
    "held_has_cause": "ALTER TABLE headway.run DROP CONSTRAINT run_held_has_cause_check; UPDATE headway.run SET state = 0, cause = 0",
    "concurrency": """UPDATE headway.run SET state = 3, session = gen_random_uuid(), deadline_at = now(), gated = true, origin = 0;
        UPDATE headway.definition SET max_concurrent_runs = 1;
        CREATE TEMP TABLE twin AS SELECT * FROM headway.run;
        UPDATE twin SET id = gen_random_uuid();
        INSERT INTO headway.run SELECT * FROM twin""",
    "restrictions": """INSERT INTO headway.restriction (id, first, second, created_at)
        SELECT gen_random_uuid(), id, id, '2000-01-01' FROM headway.definition;
        UPDATE headway.run SET origin = 0;
        CREATE TEMP TABLE twin AS SELECT * FROM headway.run;
        UPDATE twin SET id = gen_random_uuid();
        INSERT INTO headway.run SELECT * FROM twin""",
    "reactions_are_done": """INSERT INTO headway.reaction (run, kind, next_look_at)
        SELECT id, 0, now() - interval '2 minutes' FROM headway.run_done""",
    "batches_tell_their_children": "INSERT INTO headway.batch (parent, total, done, created_at) SELECT id, 2, 1, now() FROM headway.run",
    "batches_move": "UPDATE headway.run SET state = 0, cause = 5",
    "triggers_are_owed": "UPDATE headway.definition SET owes = 1",
    "slots_are_decided": "UPDATE headway.schedule SET broken = 'no such zone'",
}


async def busy(scene: Scene) -> None:
    """One schedule with two slots that fired: the run of one is finished, that of the other is queued."""
    schedule = await scene.schedule()
    async with scene.database.begin() as tx:
        now = tx.now
    instants = [now - HOUR, now - HOUR / 2]
    session = await scene.worker()
    for number, slot_at in enumerate(instants):
        (run,) = await scene.ask(Ask("job", origin=Origin.SLOT, schedule=schedule, slot_at=slot_at))
        async with scene.database.begin() as tx:
            await slots.record(tx, [SlotRecord(schedule, slot_at, 1, "", "", slot_at, run, 1)], actor="scheduler", tzdata="")
        if number == 0:
            (claimed,) = await scene.claim(session, [run])
            await scene.settle(session, claimed)


async def broken(scene: Scene) -> dict[str, int]:
    """Which invariants do not hold, and by how many rows."""
    async with scene.database.begin() as tx:
        return {finding.name: finding.broken for finding in await doctor.examine(tx) if not finding.ok}


async def test_a_healthy_database_keeps_every_invariant(scene: Scene) -> None:
    """With work waiting, running, finished and scheduled every finding is fine and says what it promises."""
    await busy(scene)
    await scene.enqueue(delay=HOUR)
    await scene.claim(await scene.worker(), await scene.enqueue())
    batches = Batches(scene)
    await batches.end(await batches.ids(await batches.make(3, max_concurrent=2)))
    async with scene.database.begin() as tx:
        findings = await doctor.examine(tx)
    assert [finding.name for finding in findings if not finding.ok] == []
    assert all(finding.promise and not finding.examples for finding in findings)


def test_every_invariant_has_its_break() -> None:
    """No invariant goes untried."""
    assert set(BREAK) == {invariant.name for invariant in doctor.INVARIANTS}


@pytest.mark.parametrize("name", BREAK)
async def test_what_breaks_an_invariant_is_found(scene: Scene, name: str) -> None:
    """Each invariant that is broken by hand is found, with what breaks it."""
    await busy(scene)
    async with scene.database.begin() as tx:
        await tx.run(BREAK[name])
        finding = next(finding for finding in await doctor.examine(tx) if finding.name == name)
    assert not finding.ok
    assert finding.broken >= 1
    assert finding.examples[0]


async def test_a_run_of_a_lapsed_session_is_no_fault_until_a_minute_later(scene: Scene) -> None:
    """Repair has its time: a lapsed session is maintenance's work first and the doctor's after a minute."""
    await scene.define()
    await scene.started()
    await scene.later(LEASE + timedelta(seconds=30))
    assert await broken(scene) == {}
    await scene.later(timedelta(seconds=31))
    assert await broken(scene) == {"running_is_held": 1}


async def test_what_is_safe_to_repair_is_repaired(scene: Scene) -> None:
    """Reactions of runs that no longer exist are forgotten, in words; others stay; a second repair has nothing to do."""
    await busy(scene)
    await scene.sql(
        "INSERT INTO headway.reaction (run, kind, next_look_at) SELECT id, 0, now() FROM headway.run_done "
        "UNION ALL SELECT gen_random_uuid(), 0, now()"
    )
    assert await scene.database.transact(doctor.repair) == ["forgot 1 reactions of runs that no longer exist"]
    assert await scene.database.transact(doctor.repair) == []
    assert len(await scene.sql("SELECT 1 FROM headway.reaction")) == 1
