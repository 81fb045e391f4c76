"""After-completion schedules: the end of a run brings forth the next slot."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import Uuid, exists, literal_column, select, update

from headway.core.schedule.chain import following_finish
from headway.core.schedule.kinds import AfterCompletion
from headway.core.schedule.rule import parse_rule
from headway.store.gates import Placed
from headway.store.reactions import Doing, Kind, Owed
from headway.store.schema import reaction, run, run_done, schedule
from headway.store.statement import INSTANT, const, param, statement
from headway.store.tx import Tx

ENDED: Final = statement("chaining_ended", select(run_done.c.schedule, run_done.c.finished_at).where(run_done.c.id == param("run", Uuid)))
NEXT: Final = statement(
    "chaining_next",
    update(schedule)
    .where(schedule.c.id == param("schedule", Uuid), schedule.c.chained_at.is_(None))
    .values(chained_at=param("at", INSTANT), updated_at=param("now", INSTANT)),
)
LOCK: Final = statement(
    "chaining_lock", select(schedule.c.rule, schedule.c.decided_until).where(schedule.c.id == param("schedule", Uuid)).with_for_update()
)
# Nothing is open, nothing is owed, and no slot is set: an end that owed nothing, or a reaction that was given up.
BROKEN_OFF: Final = statement(
    "chaining_broken_off",
    select(schedule.c.id, schedule.c.rule, schedule.c.decided_until)
    .where(
        schedule.c.chained_at.is_(None),
        schedule.c.enabled,
        schedule.c.rule.has_key(literal_column("'after_completion'")),
        ~exists().where(run.c.schedule == schedule.c.id),
        ~exists().where(run_done.c.schedule == schedule.c.id, reaction.c.run == run_done.c.id, reaction.c.kind == const(Kind.SCHEDULE)),
    )
    .order_by(schedule.c.id)
    .limit(const(500))
    .with_for_update(of=schedule, skip_locked=True),
)
_TICK: Final = timedelta(microseconds=1)


async def chain(tx: Tx, owed: Owed) -> UUID | None:
    """Set the slot that follows a run's end, and return the schedule that has one now.

    A schedule that was edited meanwhile, or deleted, goes its own way: a slot that is set stays, and no slot lies in decided time.
    """
    ended = await tx.fetch_one(ENDED, run=owed.run)
    row = None if ended is None else await tx.fetch_one(LOCK, schedule=ended["schedule"])
    if ended is None or row is None:
        return None
    rule = parse_rule(row["rule"])
    at = following_finish(rule, ended["finished_at"]) if isinstance(rule, AfterCompletion) else None
    if at is None or not await tx.execute(NEXT, schedule=ended["schedule"], at=_undecided(at, row["decided_until"]), now=tx.now):
        return None
    chained: UUID = ended["schedule"]
    return chained


async def second_chance(tx: Tx) -> int:
    """Go on with chains that broke off, as if a run had ended now, and say how many there were."""
    found = 0
    for row in await tx.fetch(BROKEN_OFF):
        rule = parse_rule(row["rule"])
        at = following_finish(rule, tx.now) if isinstance(rule, AfterCompletion) else None
        if at is not None:
            found += await tx.execute(NEXT, schedule=row["id"], at=_undecided(at, row["decided_until"]), now=tx.now)
    return found


def chaining(done: Callable[[UUID], None]) -> Doing:
    """Return the reaction for `reactions.work_off`; `done` hears of each schedule that has a next slot."""

    async def do(tx: Tx, owed: Owed) -> list[Placed]:
        chained = await chain(tx, owed)
        if chained is not None:
            done(chained)
        return []

    return do


def _undecided(at: datetime, decided_until: datetime) -> datetime:
    return max(at, decided_until + _TICK)
