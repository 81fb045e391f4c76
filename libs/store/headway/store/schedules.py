"""Schedules: kept with their definition, loaded by schedulers, moved on by compare-and-set."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Boolean, Integer, Text, Uuid, and_, case, delete, func, insert, null, or_, select, update

from headway.core.definition import ScheduleDraft
from headway.core.ids import make_id
from headway.core.run import State
from headway.core.schedule.rule import to_mapping
from headway.store.documents import as_stored
from headway.store.schema import definition, run, schedule
from headway.store.statement import INSTANT, array, const, given, now, param, statement
from headway.store.tx import Row, Tx

_MEANING: Final = (
    "description",
    "owner",
    "rule",
    "misfire",
    "overlap",
    "parameters",
    "allowed_delay",
    "retry_horizon",
    "completion_target",
    "enabled",
)
OF_DEFINITION: Final = statement(
    "schedule_of_definition",
    select(schedule).where(schedule.c.definition == param("of", Uuid)).order_by(schedule.c.id).with_for_update(),
)
READ_OF_DEFINITION: Final = statement(
    "schedule_read_of_definition", select(schedule).where(schedule.c.definition == param("of", Uuid)).order_by(schedule.c.name)
)
CREATE: Final = statement(
    "schedule_create",
    insert(schedule).values(
        id=param("id", Uuid),
        definition=param("of", Uuid),
        tenant=param("tenant", Text),
        name=param("name", Text),
        source=param("source", Text),
        decided_until=param("now", INSTANT),
        created_at=param("now", INSTANT),
        updated_at=param("now", INSTANT),
        **{name: param(f"new_{name}", schedule.c[name].type) for name in _MEANING},
    ),
)
# A schedule that comes back from disabled owes nothing for the time it was off.
CHANGE: Final = statement(
    "schedule_change",
    update(schedule)
    .where(schedule.c.id == param("schedule", Uuid))
    .values(
        version=schedule.c.version + const(1),
        updated_at=now(),
        broken=null(),
        overridden=array("overridden", Text),
        decided_until=case((~schedule.c.enabled & param("new_enabled", Boolean), now()), else_=schedule.c.decided_until),
        **{name: param(f"new_{name}", schedule.c[name].type) for name in _MEANING},
    ),
)
REMOVE: Final = statement("schedule_remove", delete(schedule).where(schedule.c.id == func.any(array("ids", Uuid))))
MARK_BROKEN: Final = statement(
    "schedule_mark_broken",
    update(schedule)
    .where(schedule.c.id == param("schedule", Uuid), schedule.c.broken.is_distinct_from(param("why", Text)))
    .values(broken=param("why", Text), updated_at=now()),
)
_live: Final = and_(schedule.c.enabled, definition.c.enabled, schedule.c.paused_at.is_(None), definition.c.paused_at.is_(None))
_joined: Final = schedule.join(definition, definition.c.id == schedule.c.definition)
_LOADED: Final = (
    schedule.c.id,
    schedule.c.tenant,
    schedule.c.name,
    schedule.c.rule,
    schedule.c.overlap,
    schedule.c.misfire,
    schedule.c.version,
    schedule.c.decided_until,
    definition.c.id.label("definition_id"),
    definition.c.name.label("definition"),
    definition.c.tenant.label("definition_tenant"),
    _live.label("live"),
)
LOAD: Final = statement("schedule_load", select(*_LOADED).select_from(_joined).where(_live))
LOAD_SINCE: Final = statement(
    "schedule_load_since",
    select(*_LOADED)
    .select_from(_joined)
    .where(or_(schedule.c.updated_at >= param("since", INSTANT), definition.c.updated_at >= param("since", INSTANT))),
)
LOAD_SOME: Final = statement(
    "schedule_load_some", select(*_LOADED).select_from(_joined).where(schedule.c.id == func.any(array("ids", Uuid)))
)
IDS: Final = statement("schedule_ids", select(schedule.c.id).select_from(_joined).where(_live))
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
_open: Final = select(func.count()).where(run.c.schedule == schedule.c.id, run.c.origin == const(1)).scalar_subquery()
_pending: Final = (
    select(func.count())
    .where(run.c.schedule == schedule.c.id, run.c.origin == const(1), run.c.attempt == const(0), run.c.state < const(State.RUNNING))
    .scalar_subquery()
)
FACTS: Final = statement(
    "schedule_facts",
    select(
        schedule.c.id,
        schedule.c.parameters,
        definition.c.parameters.label("defaults"),
        definition.c.parameter_spec.label("spec"),
        and_(schedule.c.enabled, definition.c.enabled).label("enabled"),
        or_(schedule.c.paused_at.is_not(None), definition.c.paused_at.is_not(None)).label("paused"),
        _open.label("open_runs"),
        _pending.label("pending_runs"),
    )
    .select_from(_joined)
    .where(schedule.c.id == func.any(array("ids", Uuid))),
)
LIST: Final = statement(
    "schedule_list",
    select(schedule, definition.c.name.label("definition_name"))
    .select_from(_joined)
    .where(
        definition.c.tenant == param("tenant", Text),
        or_(param("of", Text).is_(None), definition.c.name == param("of", Text)),
        or_(param("after", Uuid).is_(None), schedule.c.id > param("after", Uuid)),
    )
    .order_by(schedule.c.id)
    .limit(param("limit", Integer)),
)
GET: Final = statement(
    "schedule_get",
    select(schedule, definition.c.name.label("definition_name"))
    .select_from(_joined)
    .where(schedule.c.id == param("id", Uuid), definition.c.tenant == param("tenant", Text)),
)


class Move(NamedTuple):
    """A schedule as a scheduler knows it, and the instant until which it wants to decide."""

    schedule: UUID
    version: int
    decided_until: datetime
    until: datetime


async def load(tx: Tx, *, since: datetime | None = None, ids: Sequence[UUID] | None = None) -> Sequence[Row]:
    """Return what schedulers keep of schedules: all that can fire, those changed since, or those named.

    Rows of the last two say by `live` whether the schedule can fire at all.
    """
    if ids is not None:
        return await tx.fetch(LOAD_SOME, ids=list(ids))
    return await (tx.fetch(LOAD) if since is None else tx.fetch(LOAD_SINCE, since=since))


async def live_ids(tx: Tx) -> set[UUID]:
    """Return the ids of all schedules that can fire."""
    return {row["id"] for row in await tx.fetch(IDS)}


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


async def mark_broken(tx: Tx, schedule_id: UUID, why: str) -> bool:
    """Record that a schedule cannot be evaluated; False when that was known."""
    return await tx.execute(MARK_BROKEN, schedule=schedule_id, why=why[:2000]) == 1


async def of_definition(tx: Tx, definition_id: UUID, *, locked: bool = False) -> Sequence[Row]:
    """Return a definition's schedules, by name, or locked by id."""
    return await tx.fetch(OF_DEFINITION if locked else READ_OF_DEFINITION, of=definition_id)


async def listed(tx: Tx, tenant: str = "", *, of: str | None = None, after: UUID | None = None, limit: int = 50) -> Sequence[Row]:
    """Return schedules by id, after the given one, optionally of one definition."""
    return await tx.fetch(LIST, tenant=tenant, of=of, after=after, limit=limit)


async def get(tx: Tx, schedule_id: UUID, tenant: str = "") -> Row | None:
    """Return one schedule, or None."""
    return await tx.fetch_one(GET, id=schedule_id, tenant=tenant)


async def replace(tx: Tx, owner: Row | Mapping[str, Any], drafts: Sequence[ScheduleDraft], source: str) -> bool:
    """Make a definition's schedules be exactly these, by name, and say whether anything changed.

    An unchanged schedule is not touched and keeps its planned slot; a changed one goes on from its last decided slot.  Schedules that
    came from elsewhere (`source`) stay.  Code never changes `enabled`, nor a field that an operator set over what it declares.
    """
    standing = {row["name"]: row for row in await of_definition(tx, owner["id"], locked=True)}
    changed = False
    for draft in drafts:
        changed |= await _save(tx, owner, standing.get(draft.name), draft, source)
    gone = [row["id"] for name, row in standing.items() if row["source"] == source and name not in {draft.name for draft in drafts}]
    if gone:
        await tx.execute(REMOVE, ids=gone)
    return changed or bool(gone)


async def _save(tx: Tx, owner: Row | Mapping[str, Any], row: Row | None, draft: ScheduleDraft, source: str) -> bool:
    wanted = meaning(draft)
    if row is None:
        await tx.execute(
            CREATE, id=make_id(tx.now), of=owner["id"], tenant=owner["tenant"], name=draft.name, source=source, now=tx.now, **_new(wanted)
        )
        return True
    mine = {"enabled", *row["overridden"]} if source == "code" else set()
    kept = {name: row[name] if name in mine else value for name, value in wanted.items()}
    differing = {name for name, value in kept.items() if row[name] != value}
    if not differing:
        return False
    by_operator = differing if source != "code" and row["source"] == "code" else set()
    await tx.execute(CHANGE, schedule=row["id"], overridden=sorted({*row["overridden"], *by_operator}), **_new(kept))
    return True


def meaning(draft: ScheduleDraft) -> dict[str, Any]:
    """Return the columns that carry a schedule's meaning."""
    return {name: getattr(draft, name) for name in _MEANING} | {
        "rule": to_mapping(draft.rule),
        "parameters": as_stored(dict(draft.parameters), "parameters"),
    }


def _new(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {f"new_{name}": value for name, value in columns.items()}
