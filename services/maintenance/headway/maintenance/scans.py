"""The scans of maintenance: each one pass over what may need moving on, each safe with any number of instances, each runnable by hand."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from headway.core.run import State
from headway.runtime.loops import Next
from headway.runtime.metrics import MAINTENANCE_BACKLOG, MAINTENANCE_OLDEST
from headway.runtime.settings import MaintenanceSettings
from headway.store import (
    batch_edits,
    batches,
    breakers,
    calendar_years,
    cancel,
    chaining,
    due,
    gates,
    inline_calendars,
    keys,
    ledger_retention,
    partitions,
    reactions,
    rescue,
    runs,
    sessions,
    set_aside,
    sla,
    start_by,
    switches,
    waiting,
)
from headway.store.gates import Placed
from headway.store.settle import Settled
from headway.store.tx import Database

log = structlog.get_logger(__name__)
Publish = Callable[[Sequence[Placed]], None]
Step = Callable[[], Awaitable[Next]]


@dataclass(frozen=True, slots=True)
class Ground:
    """What a scan stands on: the database, its knobs, and where to hand runs that are queued now."""

    database: Database
    settings: MaintenanceSettings
    publish: Publish


@dataclass(frozen=True, slots=True)
class Scan:
    """One scan: its name, what it does in a person's words, its period, and its step."""

    name: str
    does: str
    period: timedelta
    step: Step


async def release_due(ground: Ground) -> Next:
    """Queue delayed runs at their instant; sleeps until the next one."""
    released = await ground.database.transact(lambda tx: due.release(tx, ground.settings.maintenance.batch))
    ground.publish(released.queued)
    if released.found >= ground.settings.maintenance.batch:
        return Next(released.found, again=True)
    async with ground.database.once() as tx:
        wait = await due.until_next(tx)
    return Next(released.found, sleep=wait)


async def rescue_lapsed(ground: Ground) -> Next:
    """Give back what dead sessions held."""
    async with ground.database.begin() as tx:
        dead = await rescue.dead_sessions(tx)
    found = 0
    for session in dead:
        rescued = await ground.database.transact(partial(rescue.rescue, session_id=session, limit=ground.settings.maintenance.batch))
        ground.publish([*_queued(rescued.settled), *rescued.promoted])
        found += len(rescued.settled)
    return Next(found, again=found >= ground.settings.maintenance.batch)


async def end_overdue(ground: Ground) -> Next:
    """End runs whose worker did not, past their deadline or deaf to a cancel wish, and those that nobody started in time."""
    grace = timedelta(seconds=ground.settings.maintenance.timeout_grace_seconds)
    overdue = await ground.database.transact(lambda tx: rescue.end_overdue(tx, grace))
    forced = await ground.database.transact(lambda tx: cancel.force(tx, grace))
    late, behind = await ground.database.transact(start_by.skip_late)
    ground.publish([*_queued(overdue.settled), *overdue.promoted, *behind])
    return Next(len(overdue.settled) + len(forced) + len(late))


async def open_gates(ground: Ground) -> Next:
    """Hold what slipped past a pause or an open breaker, and let waiters in that nobody promoted: the second chance of held runs."""
    found = await ground.database.transact(set_aside.set_slipped_aside)
    async with ground.database.begin() as tx:
        waited_for = await gates.waited_for(tx)
    for definition in waited_for:
        promoted = await ground.database.transact(partial(gates.promote, definitions=[definition]))
        ground.publish(promoted)
        found += len(promoted)
    return Next(found, again=found > 0)


async def take_turns(ground: Ground) -> Next:
    """Let the next run of each catch-up in, and runs that wait behind nobody any more or for a pause that has ended."""
    queued = await ground.database.transact(waiting.second_chance)
    queued += await ground.database.transact(switches.resume_expired)
    ground.publish(queued)
    return Next(len(queued))


async def try_breakers(ground: Ground) -> Next:
    """Let a probe through each open breaker whose reset time has passed."""
    found, queued = await ground.database.transact(breakers.try_again)
    ground.publish(queued)
    return Next(found)


async def look_at_slas(ground: Ground) -> Next:
    """Tell of runs that did not start in time or take longer than expected."""
    return Next(await ground.database.transact(sla.look))


async def move_batches(ground: Ground) -> Next:
    """Close batches whose opening attempt has ended, cancel on, let children in and end parents whose news was lost."""
    async with ground.database.begin() as tx:
        stuck = await batches.stuck(tx)
    for row in stuck:
        looked = await ground.database.transact(partial(batch_edits.second_chance, stuck=row))
        ground.publish(looked.queued)
    return Next(len(stuck), again=any(row["wished"] for row in stuck))


async def go_on(ground: Ground) -> Next:
    """Give after-completion schedules whose chain broke off a next slot."""
    return Next(await ground.database.transact(chaining.second_chance))


async def prune(ground: Ground) -> Next:
    """Delete ended sessions and expired idempotency keys."""
    age = timedelta(seconds=ground.settings.maintenance.session_keep_seconds)
    async with ground.database.begin() as tx:
        return Next(await sessions.prune(tx, age) + await keys.prune(tx))


async def keep_partitions(ground: Ground) -> Next:
    """Make partitions ahead of time and drop those whose day has passed."""
    # Two transactions: making one locks the default partition, dropping one the whole table; a reader takes them the other way round.
    dropped = await ground.database.transact(partitions.drop_partitions)
    dropped += await ground.database.transact(partial(ledger_retention.forget, keep_days=ground.settings.maintenance.slot_keep_days))
    return Next(dropped + await ground.database.transact(partitions.ensure_partitions))


async def collect_calendars(ground: Ground) -> Next:
    """Delete inline calendars that nothing uses any more."""
    return Next(await ground.database.transact(lambda tx: inline_calendars.collect(tx, actor="maintenance")))


async def add_holidays(ground: Ground) -> Next:
    """Add to calendars the years of holidays that they lack; a date that they have never moves."""
    async with ground.database.begin() as tx:
        wanting = await calendar_years.wanting(tx)
    for calendar, slugs in wanting.unknown.items():
        log.warning("holidays of a calendar are not known any more", calendar=calendar, holidays=slugs)
    added = [await ground.database.transact(partial(calendar_years.add, calendar_id=one)) for one in wanting.ids]
    return Next(sum(added))


async def measure_backlog(ground: Ground) -> Next:
    """Read the backlog gauges."""
    async with ground.database.begin() as tx:
        open_runs, owed = await runs.backlog(tx), await reactions.backlog(tx)
    pending = [row for row in open_runs if row["state"] == State.QUEUED]
    MAINTENANCE_BACKLOG.labels("pending").set(sum(row["runs"] for row in pending))
    MAINTENANCE_BACKLOG.labels("held").set(sum(row["runs"] for row in open_runs if row["state"] == State.HELD))
    MAINTENANCE_BACKLOG.labels("reactions").set(sum(row["owed"] for row in owed))
    MAINTENANCE_OLDEST.labels("pending").set(_oldest([row["age"] for row in pending]))
    MAINTENANCE_OLDEST.labels("reactions").set(_oldest([row["age"] for row in owed]))
    return Next(len(open_runs))


def _oldest(ages: Sequence[timedelta]) -> float:
    return max((age.total_seconds() for age in ages), default=0.0)


def _queued(settled: Sequence[Settled]) -> list[Placed]:
    return [Placed(run.id, State.QUEUED, run.queue, run.priority) for run in settled if run.state == State.QUEUED]


STEPS: Final[Mapping[str, tuple[Callable[[Ground], Awaitable[Next]], str]]] = {
    "due": (release_due, "due_seconds"),
    "rescue": (rescue_lapsed, "rescue_seconds"),
    "deadlines": (end_overdue, "deadline_seconds"),
    "gates": (open_gates, "gate_seconds"),
    "breakers": (try_breakers, "breaker_seconds"),
    "sla": (look_at_slas, "sla_seconds"),
    "turns": (take_turns, "turn_seconds"),
    "batches": (move_batches, "batch_seconds"),
    "chains": (go_on, "chain_seconds"),
    "sessions": (prune, "session_seconds"),
    "partitions": (keep_partitions, "partition_seconds"),
    "calendars": (collect_calendars, "calendar_seconds"),
    "holidays": (add_holidays, "holiday_seconds"),
    "backlog": (measure_backlog, "backlog_seconds"),
}


def scans(ground: Ground) -> list[Scan]:
    """Return every scan, ready to be looped or called once."""
    return [
        Scan(name, (how.__doc__ or "").strip(), timedelta(seconds=getattr(ground.settings.maintenance, knob)), _bound(how, ground))
        for name, (how, knob) in STEPS.items()
    ]


def _bound(how: Callable[[Ground], Awaitable[Next]], ground: Ground) -> Step:
    async def step() -> Next:
        return await how(ground)

    return step
