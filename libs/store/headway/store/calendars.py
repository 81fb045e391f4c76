"""Calendars: named, shared and versioned windows of time."""

from collections.abc import Collection, Sequence
from datetime import date
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, Text, Uuid, and_, case, func, literal_column, null, or_, select
from sqlalchemy.dialects.postgresql import aggregate_order_by

from headway.core.calendar.reading import parse_calendar
from headway.core.calendar.window import Calendar, Resolved
from headway.core.errors import NotFound, Problem
from headway.core.reading import demand
from headway.store.schema import calendar
from headway.store.statement import array, param, statement
from headway.store.tx import Row, Tx

_NOBODY: Final = literal_column("''", Text)
_mine: Final = and_(calendar.c.tenant == param("tenant", Text), calendar.c.name == param("name", Text))
LOAD: Final = statement("calendar_load", select(calendar).where(calendar.c.id == func.any(array("ids", Uuid))))
# Whoever uses a calendar keeps it from being edited and removed until the use is written.
NAMED: Final = statement(
    "calendar_named",
    select(calendar.c.id, calendar.c.name, calendar.c.tenant)
    .where(calendar.c.name == func.any(array("names", Text)), or_(calendar.c.tenant == param("tenant", Text), calendar.c.tenant == _NOBODY))
    .order_by(calendar.c.tenant, calendar.c.id)
    .with_for_update(read=True),
)
GET: Final = statement("calendar_get", select(calendar).where(_mine))
LOCK: Final = statement("calendar_lock", select(calendar).where(_mine).with_for_update())
LIST: Final = statement(
    "calendar_list",
    select(calendar)
    .where(
        calendar.c.tenant == param("tenant", Text),
        calendar.c.shared,
        or_(param("after", Text).is_(None), calendar.c.name > param("after", Text)),
    )
    .order_by(calendar.c.name)
    .limit(param("limit", Integer)),
)


class Kept(NamedTuple):
    """A calendar as it is kept."""

    id: UUID
    calendar: Calendar


async def load(tx: Tx, ids: Collection[UUID]) -> dict[UUID, Kept]:
    """Return the calendars that there are of those asked for, by id."""
    return {row["id"]: Kept(row["id"], calendar_of(row)) for row in await tx.fetch(LOAD, ids=sorted(ids))} if ids else {}


async def named(tx: Tx, names: Sequence[str], tenant: str) -> list[UUID]:
    """Return the ids of calendars by name, a tenant's own before one that belongs to nobody; nobody changes them meanwhile.

    Raises Invalid naming those that are missing.
    """
    rows = await tx.fetch(NAMED, names=list(names), tenant=tenant) if names else []
    found = {row["name"]: row["id"] for row in rows}
    demand([Problem("calendars", f"there is no calendar {name!r}") for name in names if name not in found])
    return [found[name] for name in names]


async def get(tx: Tx, name: str, tenant: str = "", *, locked: bool = False) -> Row:
    """Return a calendar's row, locked until the transaction ends if that is asked for.  Raises NotFound."""
    row = await tx.fetch_one(LOCK if locked else GET, name=name, tenant=tenant)
    if row is None:
        raise NotFound(f"calendar: there is no calendar {name!r}", code="calendar_unknown")
    return row


async def listed(tx: Tx, tenant: str = "", *, after: str | None = None, limit: int = 50) -> Sequence[Row]:
    """Return shared calendars by name, after the given one."""
    return await tx.fetch(LIST, tenant=tenant, after=after, limit=limit)


def used(ids: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the calendars of a column of ids as `used`, in their order: name, version, and the windows of inline ones."""
    windows = case((calendar.c.shared, null()), else_=calendar.c.windows)
    fields = {"name": calendar.c.name, "version": calendar.c.version, "windows": windows}
    document = func.jsonb_build_object(*(part for name, value in fields.items() for part in (literal_column(f"'{name}'", Text), value)))
    ordered = aggregate_order_by(document, func.array_position(ids, calendar.c.id))
    return select(func.jsonb_agg(ordered)).where(calendar.c.id == func.any(ids)).scalar_subquery().label("used")


def calendar_of(row: Row) -> Calendar:
    """Return the value that a row holds, of a calendar or of one of its versions."""
    document = {"name": row["name"], "windows": row["windows"] or []}
    return parse_calendar(document, version=row["version"], resolved=_resolved(row))


def _resolved(row: Row) -> Resolved:
    return {
        slug: {int(year): [date.fromisoformat(day) for day in days] for year, days in years.items()}
        for slug, years in row["resolved"].items()
    }
