"""Schedulers side by side: who decides what, when, and what stops nobody."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from headway.core.schedule import plugins
from headway.core.schedule.rule import parse_rule
from headway.scheduler.work import Scheduler
from headway.store import schedules, switches
from headway.store.switches import Pause
from headway.store.tx import Row, Tx
from tests.scheduler.schedulers import begin, declare, drained, go_to, meet, slots, step
from tests.store.scene import Scene

MINUTE = timedelta(minutes=1)
SOON = timedelta(milliseconds=50)
LATER = timedelta(milliseconds=550)
START = datetime(2030, 1, 7, 12, tzinfo=UTC)
EVERY_MINUTE = parse_rule({"cron": "* * * * *"})


class Raising:
    """A source of slots that fails from an instant on."""

    def first(self) -> datetime | None:
        """The first slot."""
        return START + MINUTE

    def next(self, after: datetime) -> datetime | None:
        """No slot but an error."""
        raise LookupError(f"nothing is known after {after:%H:%M}")


def raising(_: object) -> Raising:
    """Make one."""
    return Raising()


plugins.register("tests.raising", raising)


async def two(scene: Scene) -> tuple[Scheduler, Scheduler]:
    """Two schedulers that know of one another."""
    both = await begin(scene.database), await begin(scene.database)
    await meet(both)
    return both


async def locked(tx: Tx, schedule: UUID) -> Row:
    """A schedule, locked as the API locks it."""
    row = await schedules.get(tx, schedule, locked=True)
    assert row is not None
    return row


async def test_the_owner_decides_at_the_instant_and_the_other_looks_later(scene: Scene) -> None:
    """BB-035: of two schedulers the owner decides at the instant; the other finds that out half a second later, without a conflict."""
    await go_to(scene, START)
    schedule = await declare(scene, "job", EVERY_MINUTE)
    one, other = await two(scene)
    owner, second = (one, other) if one.membership.owns(schedule) else (other, one)
    await go_to(scene, START + MINUTE + SOON)
    await meet((owner, second))
    assert (await step(second), await step(owner)) == (0, 1)
    await go_to(scene, START + MINUTE + SOON + LATER)
    await meet((owner, second))
    assert (await step(second), await step(owner)) == (0, 0)
    for scheduler in (owner, second):
        assert scheduler.cache.next_due() == START + 2 * MINUTE
    assert len(await slots(scene, schedule)) == 1


async def test_a_dead_owners_slots_are_decided_half_a_second_later(scene: Scene) -> None:
    """BB-038: nobody has to notice that the owner is dead, or to be elected: the others look half a second later, as always."""
    await go_to(scene, START)
    ids = [await declare(scene, f"job-{number}", EVERY_MINUTE) for number in range(8)]
    alive, dead = await two(scene)
    await go_to(scene, START + MINUTE)
    await meet((alive,))
    assert await step(alive) == sum(map(alive.membership.owns, ids))
    due = alive.cache.next_due()
    assert due is not None
    assert due - START - MINUTE <= LATER
    await go_to(scene, due)
    await meet((alive,))
    assert await step(alive) == sum(map(dead.membership.owns, ids)) > 0
    assert [len(await slots(scene, id_)) for id_ in ids] == [1] * 8


async def test_schedulers_that_know_nothing_of_one_another_decide_each_slot_once(scene: Scene) -> None:
    """BB-038: two that both think that they own everything race for each slot; one gets it, and the other learns so without an error."""
    await go_to(scene, START)
    ids = [await declare(scene, f"job-{number}", EVERY_MINUTE) for number in range(8)]
    one, other = await begin(scene.database), await begin(scene.database)
    for scheduler in (one, other):
        scheduler.membership.members = frozenset([scheduler.membership.me])
    fired: Counter[tuple[UUID, datetime]] = Counter()
    for minute in range(1, 4):
        await go_to(scene, START + minute * MINUTE)
        for scheduler in (one, other):
            scheduler.clock.read(START + minute * MINUTE)
        assert sum(await asyncio.gather(step(one), step(other))) == 8
        fired.update(await drained(scene))
    assert fired == Counter({(id_, START + minute * MINUTE): 1 for id_ in ids for minute in range(1, 4)})


async def test_five_schedulers_and_deaths_among_them(scene: Scene) -> None:
    """BB-035: five schedulers, one of which dies every five slots and is replaced: each slot of each schedule has one run."""
    await go_to(scene, START)
    ids = [await declare(scene, f"job-{number}", EVERY_MINUTE) for number in range(20)]
    five = [await begin(scene.database) for _ in range(5)]
    fired: Counter[tuple[UUID, datetime]] = Counter()
    for minute in range(1, 21):
        if minute % 5 == 0:
            five = [*five[1:], await begin(scene.database)]
        await go_to(scene, START + minute * MINUTE)
        for _ in range(2):
            await meet(five)
            await asyncio.gather(*map(step, five))
            await scene.later(LATER)
        fired.update(await drained(scene))
    assert fired == Counter({(id_, START + minute * MINUTE): 1 for id_ in ids for minute in range(1, 21)})


@pytest.mark.parametrize("gap", ["skip", "next_valid", "shift_forward"])
async def test_a_slot_in_a_gap_stops_nobody(scene: Scene, gap: str) -> None:
    """BB-017: over the hour that New York's clocks skip, what is due in UTC fires as always, and what is due in the gap by its policy."""
    begins = datetime(2016, 3, 13, 6, 59, tzinfo=UTC)
    await go_to(scene, begins)
    in_gap = await declare(scene, "a", parse_rule({"cron": "30 2 * * *", "zone": "America/New_York", "gap": gap}))
    steady = await declare(scene, "b", parse_rule({"cron": "*/5 * * * *"}))
    scheduler = await begin(scene.database)
    for minute in range(32):
        await go_to(scene, begins + minute * MINUTE)
        await meet((scheduler,))
        await step(scheduler)
        await drained(scene)
    seven = datetime(2016, 3, 13, 7, tzinfo=UTC)
    expected = {"skip": [], "next_valid": [seven], "shift_forward": [seven + 30 * MINUTE]}[gap]
    assert [row["slot_at"] for row in await slots(scene, in_gap)] == expected
    assert [row["slot_at"] for row in await slots(scene, steady)] == [seven + count * 5 * MINUTE for count in range(7)]


async def test_a_schedule_that_cannot_be_evaluated_stops_nobody(scene: Scene) -> None:
    """BB-017: a rule that raises is marked broken, once, with its error, and left out; whatever else is due is decided."""
    await go_to(scene, START)
    broken = await declare(scene, "bad", parse_rule({"plugin": "tests.raising"}))
    good = [await declare(scene, f"good-{number}", EVERY_MINUTE) for number in range(3)]
    scheduler = await begin(scene.database)
    with capture_logs() as said:
        for minute in range(1, 4):
            await go_to(scene, START + minute * MINUTE)
            await meet((scheduler,))
            assert await step(scheduler) == 3
            await scheduler.refresh_once()
            await drained(scene)
    assert [event["schedule"] for event in said if event["event"] == "schedule was marked broken"] == [str(broken)]
    assert broken not in scheduler.cache
    (row,) = await scene.sql("SELECT broken FROM headway.schedule WHERE id = $1", broken)
    assert "LookupError: nothing is known after 12:01" in row["broken"]
    assert [len(await slots(scene, id_)) for id_ in good] == [3] * 3


async def test_a_slot_that_is_in_the_ledger_already_stops_nobody(scene: Scene) -> None:
    """VER-01: where the compare-and-set was led astray, by a hand that set a schedule back, the ledger's key holds: nothing fires twice,
    the schedule is marked broken, and the others are decided."""
    await go_to(scene, START)
    astray = await declare(scene, "astray", EVERY_MINUTE)
    good = await declare(scene, "good", EVERY_MINUTE)
    scheduler = await begin(scene.database)
    await go_to(scene, START + MINUTE)
    await meet((scheduler,))
    await step(scheduler)
    await scene.sql("UPDATE headway.schedule SET decided_until = $2 WHERE id = $1", astray, START)
    await scheduler.refresh.reread([astray])
    await go_to(scene, START + MINUTE + SOON)
    await meet((scheduler,))
    await step(scheduler)
    assert astray not in scheduler.cache
    (row,) = await scene.sql("SELECT broken FROM headway.schedule WHERE id = $1", astray)
    assert "recorded already" in row["broken"]
    assert len(await drained(scene)) == 2
    await go_to(scene, START + 2 * MINUTE)
    await meet((scheduler,))
    assert await step(scheduler) == 1
    assert [len(await slots(scene, id_)) for id_ in (astray, good)] == [1, 2]


async def test_a_clock_that_steps_fires_nothing_twice(scene: Scene) -> None:
    """CAL-15: after a step back by an hour nothing fires until the clock is where it was; a step forward by an hour is an outage, and the
    misfire policy decides the slots in between."""
    await go_to(scene, START)
    schedule = await declare(scene, "job", EVERY_MINUTE)
    scheduler = await begin(scene.database)
    fired: list[tuple[UUID, datetime]] = []
    hour = 60 * MINUTE
    for instant in (START + MINUTE, START - hour, START - hour + 5 * MINUTE, START + MINUTE, START + 2 * MINUTE, START + hour):
        await go_to(scene, instant)
        await meet((scheduler,))
        await step(scheduler)
        await scheduler.refresh_once()
        fired += await drained(scene)
    assert [slot for _, slot in fired] == [START + MINUTE, START + 2 * MINUTE, START + hour]
    (missed,) = await scene.sql("SELECT reason, slots FROM headway.slot_range WHERE schedule = $1", schedule)
    assert (missed["reason"], missed["slots"]) == ("missed", 57)


async def test_caches_of_different_age_and_an_edit_between(scene: Scene) -> None:
    """BB-048: one scheduler has read the new version and one has not, in either order: each slot is decided once, by what was in force."""
    await go_to(scene, START)
    schedule = await declare(scene, "job", EVERY_MINUTE)
    old, new = await begin(scene.database), await begin(scene.database)
    for scheduler in (old, new):
        scheduler.membership.members = frozenset([scheduler.membership.me])
    await go_to(scene, START + MINUTE + SOON)
    await declare(scene, "job", parse_rule({"cron": "*/3 * * * *"}))
    await new.refresh_once()
    for minute in (2, 3, 4, 6):
        await go_to(scene, START + minute * MINUTE)
        for scheduler in (old, new):
            async with scene.database.begin() as tx:
                scheduler.clock.read(tx.now)
        await asyncio.gather(step(old), step(new))
        await drained(scene)
    decided = [((row["slot_at"] - START) // MINUTE, row["schedule_version"], row["decision"]) for row in await slots(scene, schedule)]
    assert decided == [(1, 1, 1), (3, 2, 1), (6, 2, 1)]


async def test_a_pause_over_a_due_instant_and_a_resume(scene: Scene) -> None:
    """BB-048: schedulers that have not heard of a pause decide nothing while it lasts; what fell due is recorded as paused, and after the
    resume each slot is decided once, though nobody told them."""
    await go_to(scene, START)
    schedule = await declare(scene, "job", EVERY_MINUTE)
    both = await two(scene)

    async def pass_by() -> None:
        for _ in range(2):
            await meet(both)
            await asyncio.gather(*map(step, both))
            await scene.later(LATER)

    await go_to(scene, START + MINUTE - SOON)
    await scene.database.transact(lambda tx: _pause(tx, schedule))
    await go_to(scene, START + MINUTE)
    await pass_by()
    assert await slots(scene, schedule) == []
    await go_to(scene, START + MINUTE + MINUTE / 2)
    await scene.database.transact(lambda tx: _resume(tx, schedule))
    await both[0].refresh_once()
    await both[1].refresh_once()
    await go_to(scene, START + 2 * MINUTE)
    await pass_by()
    decided = [(row["slot_at"], row["reason"]) for row in await slots(scene, schedule)]
    assert decided == [(START + MINUTE, "paused"), (START + 2 * MINUTE, "")]
    assert len(await drained(scene)) == 1


async def test_a_transaction_decides_so_many_slots_and_no_more(scene: Scene) -> None:
    """After half a minute without a scheduler twenty schedules have thirty slots each: they are decided some at a time, each once."""
    await go_to(scene, START)
    ids = [await declare(scene, f"job-{number}", parse_rule({"every": "1s"})) for number in range(20)]
    scheduler = await begin(scene.database)
    await go_to(scene, START + MINUTE / 2)
    await meet((scheduler,))
    first = await scheduler.decider.step()
    assert (first.found, first.sleep) == (500, timedelta())
    await step(scheduler)
    decided = await scene.sql("SELECT schedule, count(*) FROM headway.slot WHERE slot_at <= $1 GROUP BY schedule", START + MINUTE / 2)
    assert {row["schedule"]: row["count"] for row in decided} == dict.fromkeys(ids, 30)


async def _pause(tx: Tx, schedule: UUID) -> None:
    await switches.pause_schedule(tx, await locked(tx, schedule), Pause("ann"))


async def _resume(tx: Tx, schedule: UUID) -> None:
    await switches.resume_schedule(tx, await locked(tx, schedule), actor="ann")
