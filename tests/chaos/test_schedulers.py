"""A simulated day under two schedulers that die again and again around the instants at which slots are due."""

import asyncio
import random
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from headway.core.schedule.kinds import Rule
from headway.core.schedule.rule import parse_rule
from headway.core.schedule.timeline import Timeline
from headway.store import in_force, proof
from headway.store.proof import Proven
from headway.store.tx import Database
from tests.scheduler.schedulers import declare, drained, go_to
from tests.store.scene import Scene
from tests.system.fleet import Fleet, fleet_in

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(900)]
ZONES = (
    "UTC",
    "America/New_York",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Europe/Berlin",
    "Europe/London",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
)
DAY_BEGINS = datetime(2026, 3, 28, 18, tzinfo=UTC)  # and in the night that it holds Europe's clocks go forward
DAY_ENDS = DAY_BEGINS + timedelta(days=1)
SCHEDULES, SLOTS_EACH, DEATHS = 200, 10, 50
SETTINGS = {"HEADWAY_LEASE_SECONDS": "1200", "HEADWAY_HEARTBEAT_SECONDS": "0.1"}  # the clock goes by the quarter of an hour
PATIENCE = 30.0

Due = Mapping[datetime, Sequence[UUID]]


@pytest.fixture
async def scene(database_url: str) -> AsyncIterator[Scene]:
    """The database, with its clock at the beginning of the day."""
    database = await Database.open(database_url, size=2)
    scene = Scene(database)
    await go_to(scene, DAY_BEGINS)
    yield scene
    await database.close()


def rules(chance: random.Random) -> list[Rule]:
    """Schedules that have ten slots a day, at quarters of hours of ten zones."""
    found = []
    for number in range(SCHEDULES):
        hours = ",".join(str(hour) for hour in sorted(chance.sample(range(24), SLOTS_EACH)))
        expression = f"{chance.choice([0, 15, 30, 45])} {hours} * * *"
        found.append(parse_rule({"cron": expression, "zone": ZONES[number % len(ZONES)]}))
    return found


async def declared(scene: Scene, chance: random.Random) -> Due:
    """Save the schedules, and say which are due when in the course of the day."""
    due = defaultdict[datetime, list[UUID]](list)
    for number, rule in enumerate(rules(chance)):
        id_ = await declare(scene, f"job-{number}", rule)
        for slot in Timeline(rule).between(DAY_BEGINS, DAY_ENDS, 100):
            due[slot].append(id_)
    return dict(sorted(due.items()))


async def pass_over(scene: Scene, fleet: Fleet, instant: datetime, count: int, death: tuple[float, float, int] | None) -> None:
    """Let the clock go over an instant, perhaps with a death around it, until all that is due is decided."""
    before, after, victim = death or (0.3, 0.0, 0)
    await go_to(scene, instant - timedelta(seconds=before))
    if death:
        await asyncio.sleep(after)  # noqa: TID251  # a death at a random moment waits for nothing
        dead = fleet.members.pop(victim)
        dead.kill()
        assert '"level": "error"' not in dead.said()
        fleet.start("scheduler")
    await fleet.until("SELECT count(*) >= $2 FROM headway.slot WHERE slot_at = $1", instant, count, within=PATIENCE)


async def proven(scene: Scene, schedule: UUID) -> Proven:
    """What the platform itself says of a schedule's slots of the day."""
    async with scene.database.begin() as tx:
        known = await in_force.history(tx, schedule)
        assert known is not None
        return await proof.prove(tx, schedule, known, after=DAY_BEGINS)


async def test_deaths_around_due_instants_lose_and_double_no_slot(
    tmp_path: Path, database_url: str, broker_url: str, scene: Scene, seed: int
) -> None:
    """Two schedulers, one of which is killed and started again 50 times around due instants, over a day of 200 schedules in ten zones with
    some 2,000 slots: each slot fires once, none is missing, and every schedule's proof holds (DEF-13, DEF-14, BB-035, BB-038)."""
    chance = random.Random(seed)  # noqa: S311  # a seed that can be replayed is the point
    due = await declared(scene, chance)
    fatal = set(chance.sample(sorted(due), min(DEATHS, len(due))))
    fired: Counter[tuple[UUID, datetime]] = Counter()
    with fleet_in(tmp_path, database_url, broker_url) as fleet:
        fleet.settings = SETTINGS
        for _ in range(2):
            fleet.start("scheduler")
        await fleet.until("SELECT count(*) = 2 FROM headway.session WHERE kind = 'scheduler' AND state = 1")
        for instant, ids in due.items():
            death = (chance.uniform(0, 1), chance.uniform(0, 1.6), chance.randrange(2)) if instant in fatal else None
            await pass_over(scene, fleet, instant, len(ids), death)
            fired.update(await drained(scene))
        assert not [member for member in fleet.members if '"level": "error"' in member.said()], fleet.report()
    expected = Counter({(id_, instant): 1 for instant, ids in due.items() for id_ in ids})
    rows = await scene.sql("SELECT decision, reason, count(*) FROM headway.slot GROUP BY decision, reason")
    proofs = [await proven(scene, id_) for id_ in sorted({id_ for ids in due.values() for id_ in ids})]
    sys.stdout.write(
        f"seed {seed}: {len(fatal)} deaths, {expected.total()} slots at {len(due)} instants, twice {(fired - expected).total()}, "
        f"missing {(expected - fired).total()}, proofs that hold {sum(one.proof.holds for one in proofs)} of {len(proofs)}, "
        f"decisions {[tuple(row) for row in rows]}\n"
    )
    assert fired == expected
    assert all(one.proof.holds for one in proofs)
    assert sum(one.proof.expected for one in proofs) == expected.total()
