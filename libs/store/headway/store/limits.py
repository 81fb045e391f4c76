"""What admit has to know of definitions: what they allow, what is in use, and whom they must not be active together with."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, Text, Uuid, and_, case, cast, func, literal_column, or_, select, union_all
from sqlalchemy.sql.selectable import Select

from headway.core.breaker import BreakerState
from headway.core.gate import HOUR, Limits, Usage
from headway.core.run import State
from headway.store.schema import breaker, definition, rate_bucket, restriction, run
from headway.store.statement import INSTANT, array, const, param, statement
from headway.store.tx import Row, Tx

# A bucket is a minute wide: its last run is an hour old when the minute after that hour ends.
COUNTED_FOR: Final = HOUR + timedelta(minutes=1)
# A caller's transaction that began before its definition had gates may still commit runs that know nothing of them.
STRAYS_FOR: Final = timedelta(hours=1)

_active = run.c.state.in_([const(State.QUEUED), const(State.RUNNING)])
_gated = and_(run.c.definition_id == definition.c.id, run.c.gated)
_wanted = run.c.definition_id == func.any(array("definitions", Uuid))
# Of a definition in the statement around: its restrictions, and the definition at the other end of each.
RESTRICTS: Final = or_(restriction.c.first == definition.c.id, restriction.c.second == definition.c.id)
PARTNER: Final = case((restriction.c.first == definition.c.id, restriction.c.second), else_=restriction.c.first)
_partners = select(PARTNER).where(RESTRICTS)
_closed = const(BreakerState.CLOSED)
_breaker = select(breaker.c.state).where(breaker.c.definition == definition.c.id).scalar_subquery()
LIMITS: Final = statement(
    "gate_limits",
    select(
        definition.c.id,
        definition.c.max_concurrent_runs,
        definition.c.max_runs_per_hour,
        (definition.c.over_limit == literal_column("'refuse'", Text)).label("refuse"),
        definition.c.paused_at.is_not(None).label("paused"),
        definition.c.updated_at,
        case((definition.c.tripped, func.coalesce(_breaker, const(BreakerState.CLOSED))), else_=const(BreakerState.CLOSED)).label(
            "breaker"
        ),
        func.array(_partners.scalar_subquery(), type_=ARRAY(Uuid)).label("partners"),
        select(func.count()).where(_gated, _active).scalar_subquery().label("active"),
        select(func.count()).where(_gated, _active, ~run.c.counted).scalar_subquery().label("uncounted"),
        select(func.coalesce(func.sum(rate_bucket.c.runs), const(0)))
        .where(rate_bucket.c.definition == definition.c.id, rate_bucket.c.minute > param("since", INSTANT))
        .scalar_subquery()
        .label("last_hour"),
        select(func.min(rate_bucket.c.minute))
        .where(rate_bucket.c.definition == definition.c.id, rate_bucket.c.minute > param("since", INSTANT))
        .scalar_subquery()
        .label("oldest"),
    ).where(definition.c.id == func.any(array("definitions", Uuid))),
)
_held_by = (run.c.definition_id, run.c.definition, run.c.id)
_known = (
    select(*_held_by).where(_wanted, run.c.gated, _active),
    select(*_held_by).where(_wanted, ~run.c.gated, run.c.state == const(State.RUNNING)),
)
_strays = select(*_held_by).where(_wanted, ~run.c.gated, run.c.state == const(State.QUEUED))


def _counted(*found: Select[Any]) -> Select[Any]:
    holder = union_all(*found).subquery("holder")
    return select(
        holder.c.definition_id,
        func.min(holder.c.definition).label("definition"),
        func.count().label("active"),
        func.min(cast(holder.c.id, Text)).label("run"),
    ).group_by(holder.c.definition_id)


# What is queued and knows of no gates has no index of its own, so whoever need not look for it does not.
HOLDERS: Final = statement("gate_holders", _counted(*_known))
HOLDERS_AND_STRAYS: Final = statement("gate_holders_and_strays", _counted(*_known, _strays))


class Holder(NamedTuple):
    """The active runs of a definition, queued or running: how many, and the oldest of them."""

    name: str
    active: int
    run: str


class Facts(NamedTuple):
    """Everything by definition: limits, usage, partners by restrictions, and the active runs of those who have partners or a breaker."""

    limits: dict[UUID, Limits]
    usage: dict[UUID, Usage]
    partners: dict[UUID, Set[UUID]]
    holders: dict[UUID, Holder]


async def read(tx: Tx, definitions: Sequence[UUID], tied: Set[UUID]) -> Facts:
    """Read what holds for definitions while their gates are taken.

    A partner that is not `tied` to them, because it became one after the gates were taken, counts as active: it cannot be looked at
    before the next transaction.
    """
    rows = await tx.fetch(LIMITS, definitions=list(definitions), since=tx.now - COUNTED_FOR)
    limits = {row["id"]: _limits(row) for row in rows}
    partners: dict[UUID, Set[UUID]] = {row["id"]: frozenset(row["partners"]) for row in rows}
    holders = await _holders(tx, [row for row in rows if row["partners"] or row["breaker"]])
    usage = {row["id"]: _usage(row, holders) for row in rows}
    for id_, others in partners.items():
        restricting = sum(_active_of(one, holders, tied) for one in others)
        usage[id_] = replace(usage[id_], restricting=restricting)
    return Facts(limits, usage, partners, holders)


async def _holders(tx: Tx, rows: Sequence[Row]) -> dict[UUID, Holder]:
    ids = {row["id"] for row in rows}.union(*(row["partners"] for row in rows))
    if not ids:
        return {}
    stray = any(row["breaker"] or row["updated_at"] > tx.now - STRAYS_FOR for row in rows)
    found = await tx.fetch(HOLDERS_AND_STRAYS if stray else HOLDERS, definitions=sorted(ids))
    return {row["definition_id"]: Holder(row["definition"], row["active"], row["run"]) for row in found}


def _active_of(partner: UUID, holders: Mapping[UUID, Holder], tied: Set[UUID]) -> int:
    if partner not in tied:
        return 1
    return holders[partner].active if partner in holders else 0


def _limits(row: Row) -> Limits:
    return Limits(row["max_concurrent_runs"], row["max_runs_per_hour"], row["refuse"], row["paused"], BreakerState(row["breaker"]))


def _usage(row: Row, holders: Mapping[UUID, Holder]) -> Usage:
    active = holders[row["id"]].active if row["id"] in holders else row["active"]
    return Usage(active, int(row["last_hour"]), _frees_at(row["oldest"]), uncounted=row["uncounted"])


def _frees_at(oldest: datetime | None) -> datetime | None:
    return None if oldest is None else oldest + COUNTED_FOR
