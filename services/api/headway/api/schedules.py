"""Schedules: read, with what was decided of their slots and what comes next."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Annotated
from uuid import UUID
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Path, Query
from pydantic import Field

from headway.api.definition_views import Schedule, SchedulePage
from headway.api.edge import Route
from headway.api.inputs import Narrowed, Page, Text
from headway.api.platform import Caller, Here, Who
from headway.api.saving import found
from headway.api.schedule_views import NextSlot, NextSlots, Slot, SlotPage, SlotRange
from headway.core.errors import NotFound
from headway.core.schedule.evaluate import next_slot
from headway.core.schedule.rule import parse_rule
from headway.store import definitions, schedules, slots
from headway.store.tx import Row, Tx

router = APIRouter(prefix="/v1", tags=["schedules"], route_class=Route)


class ScheduleQuery(Page):
    """What a listing of schedules is narrowed to."""

    definition: Text | None = None


class HowMany(Narrowed):
    """How many slots are wanted."""

    count: Annotated[int, Field(ge=1, le=1000)] = 20


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


@router.get("/definitions/{name:path}/next-slots")
async def preview(name: Annotated[Text, Path()], wanted: Annotated[HowMany, Query()], here: Here, who: Who) -> NextSlots:
    """Say when a definition's schedules fire next; what is disabled, paused or broken does not."""
    async with here.database.begin() as tx:
        row = found(await definitions.get(tx, name, who.tenant), name)
        live = [one for one in await schedules.of_definition(tx, row["id"]) if _fires(row, one)]
    return NextSlots(definition=name, items=next_slots(live, tx.now, wanted.count))


def next_slots(rows: Sequence[Row], after: datetime, count: int) -> list[NextSlot]:
    """Return the first `count` slots of schedules after an instant, earliest first."""
    return list(islice(merge(*(_slots(row, after) for row in rows), key=lambda slot: slot.slot_at), count))


def _slots(row: Row, after: datetime) -> Iterator[NextSlot]:
    rule = parse_rule(row["rule"])
    zone = ZoneInfo(rule.zone)
    while (slot := next_slot(rule, after)) is not None:
        yield NextSlot(slot_at=slot, local=slot.astimezone(zone).isoformat(), zone=rule.zone, schedule=row["id"], schedule_name=row["name"])
        after = slot


def _fires(definition: Row, schedule: Row) -> bool:
    switched_on = definition["enabled"] and schedule["enabled"]
    return bool(switched_on and definition["paused_at"] is None and schedule["paused_at"] is None and schedule["broken"] is None)


async def _found(tx: Tx, schedule_id: UUID, who: Caller) -> Row:
    row = await schedules.get(tx, schedule_id, who.tenant)
    if row is None:
        raise NotFound(f"schedule: there is no schedule {schedule_id}")
    return row
