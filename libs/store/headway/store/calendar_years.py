"""Years of holidays that calendars do not have yet: added as time goes on, while every date that is known stays where it is."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Uuid, cast, func, literal_column, select, update
from sqlalchemy.dialects.postgresql import JSONB

from headway.core.calendar.window import Window
from headway.store import advance, calendar_rows, calendars, holidays
from headway.store.calendar_edits import USERS
from headway.store.schema import calendar, schedule
from headway.store.statement import INSTANT, array, param, statement
from headway.store.tx import Row, Tx

WITH_HOLIDAYS: Final = statement(
    "calendar_with_holidays",
    select(calendar).where(calendar.c.resolved != cast(literal_column("'{}'"), JSONB)).order_by(calendar.c.id),
)
LOCK_BY_ID: Final = statement("calendar_lock_by_id", select(calendar).where(calendar.c.id == param("calendar", Uuid)).with_for_update())
SHOW: Final = statement(
    "calendar_show_schedules",
    update(schedule).where(schedule.c.id == func.any(array("ids", Uuid))).values(updated_at=param("now", INSTANT)),
)


class Wanting(NamedTuple):
    """Calendars that lack years which are known by now, and holidays that are not known any more, by calendar."""

    ids: list[UUID]
    unknown: dict[str, list[str]]


async def wanting(tx: Tx) -> Wanting:
    """Return what `add` has to do."""
    found = Wanting([], {})
    for row in await tx.fetch(WITH_HOLIDAYS):
        resolved, unknown = await _with_years(tx, row)
        if resolved != row["resolved"]:
            found.ids.append(row["id"])
        if unknown:
            found.unknown[row["name"]] = unknown
    return found


async def add(tx: Tx, calendar_id: UUID) -> bool:
    """Add the years that a calendar lacks; schedulers read again what uses it, in the version that it has.  False when it lacks none."""
    row = await tx.fetch_one(LOCK_BY_ID, calendar=calendar_id)
    if row is None:
        return False
    resolved, _ = await _with_years(tx, row)
    if resolved == row["resolved"]:
        return False
    await calendar_rows.extend(tx, row["id"], row["version"], resolved)
    users = [one["id"] for one in await tx.fetch(USERS, ids=[row["id"]])]
    await advance.lock(tx, users)
    await tx.execute(SHOW, ids=users, now=tx.now)
    return True


async def _with_years(tx: Tx, row: Row) -> tuple[dict[str, Any], list[str]]:
    windows: Sequence[Window] = calendars.calendar_of(row).windows
    found = await holidays.look_up(holidays.slugs_of(windows), tx.now.year)
    return {**row["resolved"], **holidays.kept(row["resolved"], found.dates, tx.now.year)}, sorted(found.unknown)
