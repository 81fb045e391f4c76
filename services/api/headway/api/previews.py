"""What schedules will do, asked before anything is saved: stored ones, drafts, and drafts against what is stored."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, NamedTuple
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from headway.api.definition_views import Like, ScheduleDocument
from headway.api.documents import patched, schedule_document_of
from headway.api.edge import Route
from headway.api.inputs import Asked, Instant, Narrowed, Text, value_problems
from headway.api.platform import Caller, Here, Who
from headway.api.saving import found
from headway.api.schedule_edits import without_facts
from headway.core.draft import parse_schedule
from headway.core.errors import NotFound
from headway.core.reading import demand
from headway.core.schedule.kinds import Cron, Rule
from headway.core.schedule.preview import MOST, Differences, Previewed, differences
from headway.store import definitions, previews, schedules
from headway.store.previews import Period, Subject
from headway.store.tx import Row, Tx

FIRST: Final = 5
router = APIRouter(prefix="/v1", tags=["schedules"], route_class=Route)
Count = Annotated[int, Field(ge=1, le=MOST)]


class Wanted(Narrowed):
    """The slots that are looked at: behind `from` (now), up to `until`, at most `count` lines."""

    from_: Annotated[Instant | None, Field(alias="from")] = None
    until: Instant | None = None
    count: Count = 20


class PreviewRequest(Asked):
    """A draft, alone, as one of a definition's schedules, or as a change of the schedule that is named."""

    draft: Annotated[dict[str, Any], Like(ScheduleDocument)] = Field(default_factory=dict)
    schedule: Annotated[UUID | None, Field(strict=False)] = None
    definition: Text | None = None
    from_: Annotated[Instant | None, Field(alias="from")] = None
    until: Instant | None = None
    count: Count = 20


class Line(BaseModel):
    """A slot, or a local time that a clock change left out: what becomes of it, when its run is due, and why."""

    slot_at: datetime
    local: str
    decision: Literal["fired", "deferred", "skipped"]
    effective_at: datetime | None
    reason: str

    @classmethod
    def of(cls, line: Previewed) -> "Line":
        """Show a line."""
        return cls(**line._asdict())


class Preview(BaseModel):
    """What a schedule will do.  `day_rule` says by which of its two day fields a cron expression matches, or that either will do.

    `next_slots` are the first five from now on; `added` and `removed` are what a change of a stored schedule makes fire and no more.
    """

    zone: str
    day_rule: Literal["every day", "day of month", "day of week", "day of month or day of week"] | None
    next_slots: list[datetime]
    items: list[Line]
    added: list[Line] = []
    removed: list[Line] = []


class NextSlot(Line):
    """A line of one of a definition's schedules."""

    zone: str
    schedule: UUID
    schedule_name: str


class NextSlots(BaseModel):
    """What becomes of the next slots of a definition, earliest first, over all of its schedules."""

    definition: str
    items: list[NextSlot]


class HowMany(Narrowed):
    """How many slots are wanted."""

    count: Count = 20


class Asking(NamedTuple):
    """What is to be previewed, what it would replace, over which period, and the instant at which this is asked."""

    subject: Subject
    stored: Subject | None
    period: Period
    now: datetime


@router.get("/schedules/{schedule_id}/preview")
async def preview_schedule(schedule_id: UUID, wanted: Annotated[Wanted, Query()], here: Here, who: Who) -> Preview:
    """Say what becomes of a schedule's coming slots, with its calendars, whether or not it is switched on."""
    async with here.database.begin() as tx:
        row, owner = await _stored(tx, schedule_id, who.tenant)
        subject = await previews.of_row(tx, row, owner["calendars"])
        asking = Asking(subject, None, _period(wanted, tx.now), tx.now)
    return await asyncio.to_thread(_shown, asking)


@router.post("/schedules:preview")
async def preview_draft(wanted: PreviewRequest, here: Here, who: Who) -> Preview:
    """Say what a draft would do; nothing is saved.  With `schedule` it is a change of that one, and the answer says what that changes."""
    demand(list(value_problems(wanted.draft, "draft")))
    async with here.database.begin() as tx:
        asking = await (_drafted(tx, wanted, who) if wanted.schedule is None else _changed(tx, wanted, wanted.schedule, who))
    return await asyncio.to_thread(_shown, asking)


@router.get("/definitions/{name:path}/next-slots")
async def next_slots(name: Annotated[Text, Path()], wanted: Annotated[HowMany, Query()], here: Here, who: Who) -> NextSlots:
    """Say what becomes of the next slots of a definition's schedules; what is disabled, paused or broken has none."""
    async with here.database.begin() as tx:
        row = found(await definitions.get(tx, name, who.tenant), name)
        live = [one for one in await schedules.of_definition(tx, row["id"]) if _fires(row, one)]
        subjects = [(one["name"], await previews.of_row(tx, one, row["calendars"])) for one in live]
        period = Period(tx.now, None, wanted.count)
    return NextSlots(definition=name, items=await asyncio.to_thread(_merged, subjects, period))


def _merged(subjects: Sequence[tuple[str, Subject]], period: Period) -> list[NextSlot]:
    found = [
        NextSlot(**line._asdict(), zone=subject.rule.zone, schedule=subject.schedule_id, schedule_name=name)
        for name, subject in subjects
        for line in subject.lines(period)
    ]
    return sorted(found, key=lambda line: line.slot_at)[: period.count]


def _fires(definition: Row, schedule: Row) -> bool:
    switched_on = definition["enabled"] and schedule["enabled"]
    return bool(switched_on and definition["paused_at"] is None and schedule["paused_at"] is None and schedule["broken"] is None)


async def _drafted(tx: Tx, wanted: PreviewRequest, who: Caller) -> Asking:
    draft = parse_schedule(wanted.draft)
    owner = None if wanted.definition is None else found(await definitions.get(tx, wanted.definition, who.tenant), wanted.definition)
    subject = await previews.of_draft(tx, draft, [] if owner is None else owner["calendars"], who.tenant)
    return Asking(subject, None, _period(wanted, tx.now), tx.now)


async def _changed(tx: Tx, wanted: PreviewRequest, schedule_id: UUID, who: Caller) -> Asking:
    row, owner = await _stored(tx, schedule_id, who.tenant)
    stored = await previews.of_row(tx, row, owner["calendars"])
    draft = parse_schedule(patched(schedule_document_of(row), without_facts(wanted.draft, row)))
    subject = previews.like(await previews.of_draft(tx, draft, owner["calendars"], who.tenant), stored)
    return Asking(subject, stored, _period(wanted, tx.now), tx.now)


def _period(wanted: Wanted | PreviewRequest, now: datetime) -> Period:
    return Period(wanted.from_ or now, wanted.until, wanted.count)


def _shown(asking: Asking) -> Preview:
    subject, stored, period, now = asking
    first = [line.slot_at for line in subject.lines(Period(now, None, FIRST)) if line.decision != "skipped"]
    items = subject.lines(period)
    changes = Differences([], []) if stored is None else differences(stored.lines(period), items, period.count)
    return Preview(
        zone=subject.rule.zone,
        day_rule=_day_rule(subject.rule),
        next_slots=first,
        items=_lines(items),
        added=_lines(changes.added),
        removed=_lines(changes.removed),
    )


def _day_rule(rule: Rule) -> Any:
    return rule.expression.day_rule.value if isinstance(rule, Cron) else None


def _lines(lines: Sequence[Previewed]) -> list[Line]:
    return [Line.of(line) for line in lines]


async def _stored(tx: Tx, schedule_id: UUID, tenant: str) -> tuple[Row, Row]:
    row = await schedules.get(tx, schedule_id, tenant)
    if row is None:
        raise NotFound(f"schedule: there is no schedule {schedule_id}")
    owner = await definitions.get(tx, row["definition_name"], row["definition_tenant"])
    return row, found(owner, row["definition_name"])
