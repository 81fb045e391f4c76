"""Calendars: named, shared and versioned windows of time."""

from collections.abc import Collection, Sequence
from datetime import date
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import Text, Uuid, func, literal_column, or_, select

from headway.core.calendar.reading import parse_calendar
from headway.core.calendar.window import Calendar, Resolved
from headway.core.errors import Problem
from headway.core.reading import demand
from headway.store.schema import calendar
from headway.store.statement import array, param, statement
from headway.store.tx import Row, Tx

_NOBODY: Final = literal_column("''", Text)
LOAD: Final = statement("calendar_load", select(calendar).where(calendar.c.id == func.any(array("ids", Uuid))))


NAMED: Final = statement(
    "calendar_named",
    select(calendar.c.id, calendar.c.name).where(
        calendar.c.name == func.any(array("names", Text)), or_(calendar.c.tenant == param("tenant", Text), calendar.c.tenant == _NOBODY)
    ),
)


class Kept(NamedTuple):
    """A calendar as it is kept."""

    id: UUID
    calendar: Calendar


async def load(tx: Tx, ids: Collection[UUID]) -> dict[UUID, Kept]:
    """Return the calendars that there are of those asked for, by id."""
    return {row["id"]: Kept(row["id"], calendar_of(row)) for row in await tx.fetch(LOAD, ids=sorted(ids))} if ids else {}


async def named(tx: Tx, names: Sequence[str], tenant: str) -> list[UUID]:
    """Return the ids of calendars by name, a tenant's own or one that belongs to nobody.  Raises Invalid naming those that are missing."""
    rows = await tx.fetch(NAMED, names=list(names), tenant=tenant) if names else []
    found = {row["name"]: row["id"] for row in rows}
    demand([Problem("calendars", f"there is no calendar {name!r}") for name in names if name not in found])
    return [found[name] for name in names]


def calendar_of(row: Row) -> Calendar:
    """Return the value that a row holds, of a calendar or of one of its versions."""
    document = {"name": row["name"], "windows": row["windows"] or []}
    return parse_calendar(document, version=row["version"], resolved=_resolved(row))


def _resolved(row: Row) -> Resolved:
    return {
        slug: {int(year): [date.fromisoformat(day) for day in days] for year, days in years.items()}
        for slug, years in row["resolved"].items()
    }
