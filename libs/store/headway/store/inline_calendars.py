"""Calendars that stand in the document of a definition or schedule: kept once under a name made of their windows, while they are used."""

import asyncio
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import Integer, Uuid, and_, delete, func, not_, select

from headway.core.calendar.draft import coverage_problems, inline_draft
from headway.core.calendar.window import Window
from headway.core.reading import demand
from headway.store import audit, calendar_rows, calendars, holidays
from headway.store.schema import calendar, definition, schedule
from headway.store.statement import array, param, statement
from headway.store.tx import Tx

ALL_AT_ONCE: Final = 500
_unused: Final = and_(
    not_(calendar.c.shared),
    calendar.c.id.not_in(select(func.unnest(definition.c.calendars))),
    calendar.c.id.not_in(select(func.unnest(schedule.c.calendars))),
)
UNUSED: Final = statement(
    "calendar_unused",
    select(calendar.c.id).where(_unused).order_by(calendar.c.id).limit(param("limit", Integer)).with_for_update(skip_locked=True),
)
COLLECT: Final = statement(
    "calendar_collect",
    delete(calendar).where(calendar.c.id == func.any(array("ids", Uuid)), _unused).returning(calendar.c.name, calendar.c.tenant),
)


async def chosen(tx: Tx, names: Sequence[str], windows: Sequence[Window], tenant: str) -> list[UUID]:
    """Return the ids of named calendars, and behind them that of inline windows, which are kept if they were not yet.

    Raises Invalid for a name that there is not, and for windows that cannot be kept.
    """
    ids = await calendars.named(tx, names, tenant)
    return [*ids, await _kept(tx, windows, tenant)] if windows else ids


async def collect(tx: Tx, *, actor: str) -> int:
    """Delete inline calendars that nothing uses any more, and say how many."""
    ids = [row["id"] for row in await tx.fetch(UNUSED, limit=ALL_AT_ONCE)]
    # Whoever held one of them before it was locked here has written its use by now.
    gone = await tx.fetch(COLLECT, ids=ids) if ids else []
    for row in gone:
        await audit.write(tx, audit.Entry(actor, "calendar.deleted", f"calendar:{row['name']}", row["tenant"], "inline, and not used"))
    return len(gone)


async def _kept(tx: Tx, windows: Sequence[Window], tenant: str) -> UUID:
    draft = inline_draft(windows, tenant)
    if rows := await tx.fetch(calendars.NAMED, names=[draft.name], tenant=tenant):
        found: UUID = rows[-1]["id"]
        return found
    demand(await asyncio.to_thread(coverage_problems, draft, tx.now.date()))
    resolved = await holidays.resolve(holidays.slugs_of(windows), tx.now.year, "calendar")
    return await calendar_rows.create(tx, draft, resolved, shared=False, actor="")
