"""How schedules stand by now: what a scheduler compares its copies with, without reading the schedules again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Uuid, func, select

from headway.store.advance import JOINED, LIVE
from headway.store.schema import schedule
from headway.store.statement import INSTANT, array, param, statement
from headway.store.tx import Row, Tx

_stand: Final = select(
    schedule.c.id, schedule.c.version, schedule.c.decided_until, schedule.c.chained_at, schedule.c.updated_at, LIVE.label("live")
).select_from(JOINED)
# Whatever changes what a schedule means, its definition's changes as well, begins a version of the schedule and writes `updated_at`.
# A year of holidays that a calendar gets changes no decision, so it writes `updated_at` alone.
CHANGED: Final = statement("schedule_changed", _stand.where(schedule.c.updated_at >= param("since", INSTANT)))
STANDING: Final = statement("schedule_standing", _stand.where(schedule.c.id == func.any(array("ids", Uuid))))
COUNT: Final = statement("schedule_count", select(func.count()).select_from(JOINED).where(LIVE))
IDS: Final = statement("schedule_ids", select(schedule.c.id).select_from(JOINED).where(LIVE))


async def changed(tx: Tx, since: datetime) -> Sequence[Row]:
    """Return id, version, decided_until, chained_at, updated_at, and by `live` whether it can fire, of each schedule that changed since."""
    return await tx.fetch(CHANGED, since=since)


async def standing(tx: Tx, ids: Sequence[UUID]) -> Sequence[Row]:
    """Return the same of those named that there are."""
    return await tx.fetch(STANDING, ids=list(ids))


async def count_live(tx: Tx) -> int:
    """Return how many schedules can fire."""
    return int(await tx.fetch_value(COUNT))


async def live_ids(tx: Tx) -> set[UUID]:
    """Return the ids of all schedules that can fire."""
    return {row["id"] for row in await tx.fetch(IDS)}
