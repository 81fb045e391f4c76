"""Schedulers without their loops: tests call their steps."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from headway.broker.connect import connect
from headway.core.definition import ScheduleDraft
from headway.core.schedule.kinds import Rule
from headway.runtime.settings import SchedulerSettings, load
from headway.scheduler.work import Scheduler
from headway.store import schedules
from headway.store.tx import Database, Row
from tests.store.scene import Scene

LEASE = 86_400.0  # longer than tests step the clock


async def begin(database: Database) -> Scheduler:
    """A scheduler that has joined the others and loaded everything; its hints go nowhere."""
    settings = load(SchedulerSettings, database_url="postgresql://elsewhere/unused", broker_url="memory://", lease_seconds=LEASE)
    scheduler = Scheduler(settings, database, connect("memory://nobody"))
    scheduler.clock.read(await scheduler.membership.join())
    await scheduler.refresh_once()
    return scheduler


async def meet(schedulers: Iterable[Scheduler]) -> None:
    """A heartbeat of each: they learn of one another, and what the clock says now."""
    for scheduler in schedulers:
        await scheduler.renew_once()


async def step(scheduler: Scheduler) -> int:
    """Decide until nothing more is due at this moment; says how many slots were."""
    decided = 0
    while (passed := await scheduler.decider.step()).sleep is not None and passed.sleep <= timedelta():
        decided += passed.found
    return decided + passed.found


async def go_to(scene: Scene, instant: datetime) -> None:
    """Set the database's clock."""
    async with scene.database.begin() as tx:
        by = instant - tx.now
    await scene.later(by)


async def declare(scene: Scene, name: str, rule: Rule) -> UUID:
    """Save a definition with one schedule, of which many runs may be open, and return the schedule's id."""
    await scene.define(name, schedules=(ScheduleDraft("default", rule, overlap="allow", overlap_max=10),))
    async with scene.database.begin() as tx:
        (row,) = await schedules.listed(tx, of=name)
    found: UUID = row["id"]
    return found


async def slots(scene: Scene, schedule: UUID) -> list[Row]:
    """What was decided of a schedule's slots, oldest first."""
    return await scene.sql("SELECT * FROM headway.slot WHERE schedule = $1 ORDER BY slot_at", schedule)


async def drained(scene: Scene) -> list[tuple[UUID, datetime]]:
    """Take the runs away, as if workers had finished them, and say of which slots they were."""
    return [(row["schedule"], row["slot_at"]) for row in await scene.sql("DELETE FROM headway.run RETURNING schedule, slot_at")]
