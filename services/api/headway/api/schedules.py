"""Schedules: read, with what was decided of their slots."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from headway.api.definition_views import Schedule, SchedulePage
from headway.api.edge import Route
from headway.api.inputs import Page, Text
from headway.api.platform import Caller, Here, Who
from headway.api.schedule_views import Slot, SlotPage, SlotRange
from headway.core.errors import NotFound
from headway.store import schedules, slots
from headway.store.tx import Row, Tx

router = APIRouter(prefix="/v1", tags=["schedules"], route_class=Route)


class ScheduleQuery(Page):
    """What a listing of schedules is narrowed to."""

    definition: Text | None = None


@router.get("/schedules")
async def list_schedules(wanted: Annotated[ScheduleQuery, Query()], here: Here, who: Who) -> SchedulePage:
    """List schedules in the order in which they were made."""
    listing = ("schedules", who.tenant, wanted.definition)
    after = None if wanted.cursor is None else UUID(here.cursors.read(listing, wanted.cursor))
    async with here.database.once() as tx:
        rows = await schedules.listed(tx, who.tenant, of=wanted.definition, after=after, limit=wanted.limit + 1)
    page, more = rows[: wanted.limit], len(rows) > wanted.limit
    cursor = here.cursors.write(listing, str(page[-1]["id"])) if more else None
    return SchedulePage(items=[Schedule.of(row, row["definition_name"]) for row in page], next_cursor=cursor)


@router.get("/schedules/{schedule_id}")
async def read_schedule(schedule_id: UUID, here: Here, who: Who) -> Schedule:
    """Read a schedule."""
    async with here.database.once() as tx:
        row = await _found(tx, schedule_id, who)
    return Schedule.of(row, row["definition_name"])


@router.get("/schedules/{schedule_id}/slots")
async def list_slots(schedule_id: UUID, wanted: Annotated[Page, Query()], here: Here, who: Who) -> SlotPage:
    """List what was decided of a schedule's slots, newest first."""
    listing = ("slots", who.tenant, schedule_id)
    before = None if wanted.cursor is None else datetime.fromisoformat(here.cursors.read(listing, wanted.cursor))
    async with here.database.begin() as tx:
        await _found(tx, schedule_id, who)
        rows = await slots.listed(tx, schedule_id, before=before, limit=wanted.limit + 1)
        ranges = await slots.ranges(tx, schedule_id, limit=wanted.limit) if before is None else []
    page, more = rows[: wanted.limit], len(rows) > wanted.limit
    cursor = here.cursors.write(listing, page[-1]["slot_at"].isoformat()) if more else None
    return SlotPage(items=[Slot.of(row) for row in page], ranges=[SlotRange.of(row) for row in ranges], next_cursor=cursor)


async def _found(tx: Tx, schedule_id: UUID, who: Caller) -> Row:
    row = await schedules.get(tx, schedule_id, who.tenant)
    if row is None:
        raise NotFound(f"schedule: there is no schedule {schedule_id}")
    return row
