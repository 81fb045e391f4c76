"""Edits of calendars: a decision for every schedule that uses them, of its own or by its definition's default.

What fell due is decided by the version that was in force; the schedules begin their next version with that of the calendar.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, Text, Uuid, delete, func, literal_column, select, union_all

from headway.core.calendar.draft import CalendarDraft, coverage_problems
from headway.core.errors import Conflict, Invalid, Problem
from headway.core.reading import demand
from headway.store import audit, calendar_rows, calendars, editing, holidays
from headway.store.advance import JOINED
from headway.store.gates import Placed
from headway.store.schema import calendar, definition, schedule
from headway.store.statement import array, const, param, statement
from headway.store.tx import Row, Tx

MOST_NAMED: Final = 10
_claimed_name: Final = literal_column("'calendar:'", Text) + param("tenant", Text) + literal_column("'/'", Text) + param("name", Text)
# A name that does not exist yet has no row to lock.
RESERVE: Final = statement("calendar_reserve", select(func.pg_advisory_xact_lock(func.hashtextextended(_claimed_name, const(0)))))
REMOVE: Final = statement("calendar_remove", delete(calendar).where(calendar.c.id == param("calendar", Uuid)))


def _holds(ids: ColumnElement[Any]) -> ColumnElement[bool]:
    return ids.op("&&", is_comparison=True)(array("ids", Uuid))


USERS: Final = statement(
    "calendar_users",
    select(schedule.c.id, definition.c.name, definition.c.tenant, definition.c.version)
    .select_from(JOINED)
    .where(_holds(func.coalesce(schedule.c.calendars, definition.c.calendars)))
    .order_by(schedule.c.id),
)
_slash: Final = literal_column("'/'", Text)
NAMED_BY: Final = statement(
    "calendar_named_by",
    union_all(
        select((literal_column("'definition '", Text) + definition.c.name).label("who")).where(_holds(definition.c.calendars)),
        select((literal_column("'schedule '", Text) + definition.c.name + _slash + schedule.c.name).label("who"))
        .select_from(JOINED)
        .where(_holds(schedule.c.calendars)),
    )
    .order_by(literal_column("who"))
    .limit(param("limit", Integer)),
)


class Saved(NamedTuple):
    """A calendar after a save: `change` is created, updated, or empty when nothing changed."""

    name: str
    version: int
    change: str


class Concerned(NamedTuple):
    """A definition some of whose schedules begin a new version."""

    tenant: str
    name: str
    version: int


class Edited(NamedTuple):
    """What an edit came to: the calendars in the order of the drafts, whom schedulers are to be told of, and the runs to announce."""

    saved: list[Saved]
    concerned: list[Concerned]
    queued: Sequence[Placed]


class _Plan(NamedTuple):
    draft: CalendarDraft
    row: Row | None
    resolved: Mapping[str, Any]

    @property
    def changes(self) -> bool:
        """Whether the calendar is new or would be another."""
        row, draft = self.row, self.draft
        return row is None or (row["windows"], row["description"]) != (draft.documents, draft.description)


async def save(tx: Tx, drafts: Sequence[CalendarDraft], *, actor: str) -> Edited:
    """Create calendars or bring them to their drafts; one that is what it is to be already is not touched, nor is what uses it.

    Raises Invalid for a calendar that leaves no time, and for holidays that are not known.
    """
    resolved = await _resolved(tx, drafts)
    plans = {draft.name: await _planned(tx, draft, resolved[draft.name]) for draft in sorted(drafts, key=lambda draft: draft.name)}
    users = await _users(tx, [plan.row["id"] for plan in plans.values() if plan.row is not None and plan.changes])
    schedules = [row["id"] for row in users]
    queued = await editing.close(tx, schedules, actor=actor)
    saved = {name: await _written(tx, plan, actor) for name, plan in plans.items()}
    await editing.begin(tx, schedules, actor=actor)
    return Edited([saved[draft.name] for draft in drafts], _concerned(users), queued)


async def remove(tx: Tx, row: Row, *, actor: str) -> None:
    """Delete a locked calendar; its versions stay, for what was decided by them.  Raises Conflict naming what uses it."""
    users = [one["who"] for one in await tx.fetch(NAMED_BY, ids=[row["id"]], limit=MOST_NAMED + 1)]
    if users:
        named = ", ".join(users[:MOST_NAMED]) + (" and others" if len(users) > MOST_NAMED else "")
        raise Conflict(f"calendar: {row['name']!r} is used by {named}: take it from there first", code="calendar_in_use")
    await tx.execute(REMOVE, calendar=row["id"])
    subject = f"calendar:{row['name']}"
    await audit.write(tx, audit.Entry(actor, "calendar.deleted", subject, row["tenant"], old={"version": row["version"]}))


async def _resolved(tx: Tx, drafts: Sequence[CalendarDraft]) -> dict[str, holidays.Dates]:
    """The dates of each calendar's holidays, by its name.  Raises Invalid with every problem of all calendars."""
    problems: list[Problem] = []
    found: dict[str, holidays.Dates] = {}
    for draft in drafts:
        # Hundreds of windows that leave next to nothing take a second to look through.
        problems += await asyncio.to_thread(coverage_problems, draft, tx.now.date())
        try:
            found[draft.name] = await holidays.resolve(holidays.slugs_of(draft.windows), tx.now.year, "windows")
        except Invalid as error:
            problems += error.problems
    demand(problems)
    return found


async def _planned(tx: Tx, draft: CalendarDraft, resolved: holidays.Dates) -> _Plan:
    await tx.execute(RESERVE, tenant=draft.tenant, name=draft.name)
    row = await tx.fetch_one(calendars.LOCK, tenant=draft.tenant, name=draft.name)
    return _Plan(draft, row, holidays.kept({} if row is None else row["resolved"], resolved, tx.now.year))


async def _written(tx: Tx, plan: _Plan, actor: str) -> Saved:
    draft, row = plan.draft, plan.row
    if row is not None and not plan.changes:
        return Saved(draft.name, row["version"], "")
    if row is None:
        await calendar_rows.create(tx, draft, plan.resolved, shared=True, actor=actor)
        saved = Saved(draft.name, 1, "created")
    else:
        saved = Saved(draft.name, await calendar_rows.change(tx, row["id"], draft, plan.resolved, actor=actor), "updated")
    entry = audit.Entry(actor, f"calendar.{saved.change}", f"calendar:{draft.name}", draft.tenant, new={"version": saved.version})
    await audit.write(tx, entry)
    return saved


async def _users(tx: Tx, ids: Sequence[UUID]) -> Sequence[Row]:
    return await tx.fetch(USERS, ids=sorted(ids)) if ids else []


def _concerned(users: Sequence[Row]) -> list[Concerned]:
    return sorted({Concerned(row["tenant"], row["name"], row["version"]) for row in users})
