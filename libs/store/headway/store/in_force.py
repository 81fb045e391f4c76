"""Which version of a schedule was in force when, with the calendars that it went by: kept for ever, of deleted schedules as well."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import Uuid, func, select

from headway.core.calendar.window import Calendar
from headway.core.errors import Conflict, Invalid
from headway.core.proof.ledger import Era
from headway.core.schedule.rule import parse_rule
from headway.store.calendars import calendar_of
from headway.store.schema import calendar_version, schedule, schedule_version
from headway.store.statement import array, param, statement
from headway.store.tx import Row, Tx

DECIDED: Final = statement("in_force_decided", select(schedule.c.decided_until).where(schedule.c.id == param("of", Uuid)))
VERSIONS: Final = statement(
    "in_force_versions",
    select(
        schedule_version.c.version,
        schedule_version.c.from_at,
        schedule_version.c.rule,
        schedule_version.c.calendars,
        schedule_version.c.ended,
        schedule_version.c.tenant,
    )
    .where(schedule_version.c.schedule == param("of", Uuid))
    .order_by(schedule_version.c.version),
)
CALENDARS: Final = statement(
    "in_force_calendars",
    select(
        calendar_version.c.calendar,
        calendar_version.c.version,
        calendar_version.c.name,
        calendar_version.c.windows,
        calendar_version.c.resolved,
    ).where(calendar_version.c.calendar == func.any(array("ids", Uuid))),
)


class Used(NamedTuple):
    """A version of a calendar."""

    calendar: UUID
    version: int


class History(NamedTuple):
    """The versions of a schedule as they were in force, the calendars of each, until when its slots are decided, and whose it is."""

    eras: Sequence[Era]
    used: Mapping[int, Sequence[Used]]
    decided_until: datetime
    tenant: str


async def history(tx: Tx, schedule_id: UUID) -> History | None:
    """Return which version was in force when, of a deleted schedule as well; None when there was no such schedule."""
    decided = await tx.fetch_value(DECIDED, of=schedule_id)
    rows = await tx.fetch(VERSIONS, of=schedule_id)
    if not rows:
        return None
    until = decided if decided is not None else rows[-1]["from_at"]
    ends = [*(later["from_at"] for _, later in pairwise(rows)), until]
    eras = [_era(row, end) for row, end in zip(rows, ends, strict=True) if not row["ended"]]
    used = {row["version"]: [Used(UUID(one["calendar"]), one["version"]) for one in row["calendars"]] for row in rows}
    return History(eras, used, until, rows[-1]["tenant"])


async def calendars_of(tx: Tx, used: Sequence[Used]) -> list[Calendar]:
    """Return calendars as they were.  Raises Conflict for a version that was not kept."""
    rows = await tx.fetch(CALENDARS, ids=sorted({one.calendar for one in used})) if used else []
    found = {Used(row["calendar"], row["version"]): calendar_of(row) for row in rows}
    if missing := [one for one in used if one not in found]:
        raise Conflict(f"calendar: version {missing[0].version} of {missing[0].calendar} is not on record", code="calendar_unknown")
    return [found[one] for one in used]


def _era(row: Row, until: datetime) -> Era:
    try:
        return Era(row["version"], row["from_at"], until, parse_rule(row["rule"]))
    except Invalid as error:
        return Era(row["version"], row["from_at"], until, None, f"its rule cannot be evaluated: {error}")
