"""What schedulers keep of schedules, and how a schedule is moved on: by compare-and-set, so that each slot has one decision."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import Integer, Text, Uuid, and_, exists, func, literal_column, or_, select, update

from headway.core.run import State
from headway.store.limits import RESTRICTS
from headway.store.schema import definition, run, schedule
from headway.store.statement import INSTANT, array, const, given, now, param, statement
from headway.store.tx import Row, Tx

MARK_BROKEN: Final = statement(
    "schedule_mark_broken",
    update(schedule)
    .where(schedule.c.id == param("schedule", Uuid), schedule.c.broken.is_distinct_from(param("why", Text)))
    .values(broken=param("why", Text), updated_at=now()),
)
_NOBODY: Final = literal_column("''", Text)
LIVE: Final = and_(schedule.c.enabled, definition.c.enabled, schedule.c.paused_at.is_(None), definition.c.paused_at.is_(None))
JOINED: Final = schedule.join(definition, definition.c.id == schedule.c.definition)
_LOADED: Final = (
    schedule.c.id,
    schedule.c.tenant,
    schedule.c.name,
    schedule.c.rule,
    schedule.c.overlap,
    schedule.c.misfire,
    schedule.c.version,
    schedule.c.misfire_max_age,
    schedule.c.misfire_limit,
    schedule.c.overlap_max,
    schedule.c.allowed_delay,
    schedule.c.decided_until,
    schedule.c.chained_at,
    schedule.c.updated_at,
    func.coalesce(schedule.c.calendars, definition.c.calendars).label("calendars"),
    definition.c.id.label("definition_id"),
    definition.c.name.label("definition"),
    definition.c.tenant.label("definition_tenant"),
    LIVE.label("live"),
)
LOAD: Final = statement("schedule_load", select(*_LOADED).select_from(JOINED).where(LIVE))
# Nobody's whole table is read at once: a page at a time needs no more memory for ten times as many.
LOAD_PAGE: Final = statement(
    "schedule_load_page",
    select(*_LOADED)
    .select_from(JOINED)
    .where(LIVE, schedule.c.id > param("after", Uuid))
    .order_by(schedule.c.id)
    .limit(param("limit", Integer)),
)
LOAD_SOME: Final = statement(
    "schedule_load_some", select(*_LOADED).select_from(JOINED).where(schedule.c.id == func.any(array("ids", Uuid)))
)
_moved = given("o", ids=Uuid, versions=Integer, decided=INSTANT, until=INSTANT).c
# An UPDATE with a join does not order its locks: two schedulers that move the same schedules would deadlock.
_standing = (
    select(schedule.c.id, _moved.until)
    .where(schedule.c.id == _moved.ids, schedule.c.version == _moved.versions, schedule.c.decided_until == _moved.decided)
    .order_by(schedule.c.id)
    .with_for_update(of=schedule)
    .cte("standing")
    .prefix_with("MATERIALIZED")
)
ADVANCE: Final = statement(
    "schedule_advance",
    update(schedule).where(schedule.c.id == _standing.c.id).values(decided_until=_standing.c.until).returning(schedule.c.id),
)
_of_slots: Final = and_(run.c.schedule == schedule.c.id, run.c.origin == const(1))
_open: Final = select(func.count()).where(_of_slots).scalar_subquery()
_oldest: Final = select(run.c.id).where(_of_slots).order_by(run.c.slot_at).limit(const(1)).scalar_subquery()
_pending: Final = select(func.count()).where(_of_slots, run.c.attempt == const(0), run.c.state < const(State.RUNNING)).scalar_subquery()
FACTS: Final = statement(
    "schedule_facts",
    select(
        schedule.c.id,
        schedule.c.parameters,
        schedule.c.payload,
        definition.c.parameters.label("defaults"),
        definition.c.parameter_spec.label("spec"),
        definition.c.priority,
        and_(schedule.c.enabled, definition.c.enabled).label("enabled"),
        or_(schedule.c.paused_at.is_not(None), definition.c.paused_at.is_not(None)).label("paused"),
        func.coalesce(func.nullif(schedule.c.paused_by, _NOBODY), definition.c.paused_by).label("paused_by"),
        func.coalesce(func.nullif(schedule.c.paused_reason, _NOBODY), definition.c.paused_reason).label("paused_reason"),
        _open.label("open_runs"),
        _pending.label("pending_runs"),
        _oldest.label("oldest_open"),
        definition.c.id.label("definition_id"),
        or_(definition.c.gated, definition.c.tripped).label("gated"),
        or_(definition.c.tripped, and_(definition.c.gated, exists().where(RESTRICTS))).label("guarded"),
    )
    .select_from(JOINED)
    .where(schedule.c.id == func.any(array("ids", Uuid))),
)
LOCK: Final = statement(
    "schedule_lock",
    select(schedule.c.id).where(schedule.c.id == func.any(array("ids", Uuid))).order_by(schedule.c.id).with_for_update(),
)
_new = given("n", ids=Uuid, until=INSTANT).c
SET_DECIDED: Final = statement(
    "schedule_set_decided",
    update(schedule).where(schedule.c.id == _new.ids).values(decided_until=func.greatest(schedule.c.decided_until, _new.until)),
)
_chained = given("n", ids=Uuid, chained=INSTANT).c
CHAIN: Final = statement("schedule_chain", update(schedule).where(schedule.c.id == _chained.ids).values(chained_at=_chained.chained))


class Move(NamedTuple):
    """A schedule as a scheduler knows it, and the instant until which it wants to decide."""

    schedule: UUID
    version: int
    decided_until: datetime
    until: datetime


async def load(tx: Tx, *, ids: Sequence[UUID] | None = None) -> Sequence[Row]:
    """Return what schedulers keep of schedules: all that can fire, or those named.

    Rows of the latter say by `live` whether the schedule can fire at all.
    """
    return await (tx.fetch(LOAD) if ids is None else tx.fetch(LOAD_SOME, ids=list(ids)))


async def load_page(tx: Tx, after: UUID, limit: int) -> Sequence[Row]:
    """Return the same of at most `limit` schedules that can fire, by id, after the given one."""
    return await tx.fetch(LOAD_PAGE, after=after, limit=limit)


async def advance(tx: Tx, moves: Sequence[Move]) -> set[UUID]:
    """Move schedules on by compare-and-set and return those that were still as the caller knew them: only they may be decided."""
    ordered = sorted(moves, key=lambda move: move.schedule)
    rows = await tx.fetch(
        ADVANCE,
        ids=[move.schedule for move in ordered],
        versions=[move.version for move in ordered],
        decided=[move.decided_until for move in ordered],
        until=[move.until for move in ordered],
    )
    return {row["id"] for row in rows}


async def facts(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, Row]:
    """Return what a decision must know beyond the rule; read after `advance`, whose lock keeps it true."""
    return {row["id"]: row for row in await tx.fetch(FACTS, ids=list(ids))}


async def lock(tx: Tx, ids: Sequence[UUID]) -> None:
    """Lock schedules until the transaction ends: nobody decides their slots meanwhile."""
    if ids:
        await tx.fetch(LOCK, ids=sorted(ids))


async def set_decided(tx: Tx, until: Mapping[UUID, datetime]) -> None:
    """Move locked schedules on; none goes back."""
    if until:
        await tx.execute(SET_DECIDED, ids=sorted(until), until=[until[id_] for id_ in sorted(until)])


async def chain(tx: Tx, chained: Mapping[UUID, datetime | None]) -> None:
    """Set the next slots of locked after-completion schedules, None while a run is to finish."""
    if chained:
        await tx.execute(CHAIN, ids=sorted(chained), chained=[chained[id_] for id_ in sorted(chained)])


async def mark_broken(tx: Tx, schedule_id: UUID, why: str) -> bool:
    """Record that a schedule cannot be evaluated; False when that was known."""
    return await tx.execute(MARK_BROKEN, schedule=schedule_id, why=why[:2000]) == 1
