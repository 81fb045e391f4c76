"""Slots of the past that are filled in: first a plan, then exactly that plan."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field

from headway.api.definition_views import Like
from headway.api.edge import Route
from headway.api.inputs import Asked, Instant, value_problems
from headway.api.platform import Caller, Here, Who
from headway.core.errors import NotFound, Problem
from headway.core.reading import demand
from headway.store import backfill, schedules
from headway.store.tx import Row, Tx

router = APIRouter(prefix="/v1/schedules", tags=["schedules"], route_class=Route)


class PlannedSlot(BaseModel):
    """A slot to fill in: the version and calendars that expected it, and what was decided of it (`was`), perhaps with a run."""

    slot_at: datetime
    local: str
    version: int
    calendars: str
    was: Literal["", "fired", "deferred", "skipped"]
    reason: str
    run: UUID | None


class BackfillPlan(BaseModel):
    """What a backfill will do, and a digest of all of it; nothing is known of slots before `known_from`."""

    schedule: UUID
    definition: str
    name: str
    version: int
    tzdata: str
    from_: datetime = Field(alias="from")
    to: datetime
    known_from: datetime
    slots: list[PlannedSlot]
    skipped_by_calendar: int
    filled_in_before: int
    digest: str


class BackfillRequest(Asked):
    """A period to plan, its beginning excluded and its end included; or a plan to apply."""

    from_: Annotated[Instant | None, Field(alias="from")] = None
    to: Instant | None = None
    apply: bool = False
    plan: Annotated[dict[str, Any], Like(BackfillPlan)] | None = None


class BackfilledRun(BaseModel):
    """The run that fills a slot in."""

    slot_at: datetime
    run: UUID


class Backfill(BaseModel):
    """A plan, and once it is applied the runs that it made: they take turns, one at a time."""

    plan: Annotated[dict[str, Any], Like(BackfillPlan)]
    applied: bool = False
    runs: list[BackfilledRun] = []


@router.post("/{schedule_id}:backfill")
async def backfill_schedule(schedule_id: UUID, wanted: BackfillRequest, here: Here, who: Who) -> Backfill:
    """Plan which slots of the past would be filled in; with `apply` and a plan do exactly that, all of it or nothing.

    A plan whose schedule has changed since, or one of whose slots was filled in meanwhile, is refused (409).
    """
    demand(list(_problems(wanted)))

    async def act(tx: Tx) -> Backfill:
        row = await _found(tx, schedule_id, who)
        if wanted.plan is None:
            assert wanted.from_ is not None and wanted.to is not None, "a period that is not given is a problem"
            return Backfill(plan=await backfill.planned(tx, backfill.Wanted(row, wanted.from_, wanted.to)))
        runs = await backfill.apply(tx, row, wanted.plan, actor=who.actor)
        shown = [BackfilledRun(slot_at=slot_at, run=run) for slot_at, run in sorted(runs.items())]
        return Backfill(plan=wanted.plan, applied=True, runs=shown)

    return await here.database.transact(act)


def _problems(wanted: BackfillRequest) -> Iterator[Problem]:
    """What is wrong with a request: it has a period to plan, or a plan to apply."""
    period = {"from": wanted.from_, "to": wanted.to}
    if wanted.apply:
        yield from (Problem(name, "is said by the plan") for name, value in period.items() if value is not None)
        yield from value_problems(wanted.plan, "plan") if wanted.plan is not None else [Problem("plan", "is required with apply")]
        return
    if wanted.plan is not None:
        yield Problem("plan", "is applied with apply: true")
    yield from (Problem(name, "is required") for name, value in period.items() if value is None)
    if wanted.from_ is not None and wanted.to is not None and wanted.to <= wanted.from_:
        yield Problem("to", "must be later than from")


async def _found(tx: Tx, schedule_id: UUID, who: Caller) -> Row:
    row = await schedules.get(tx, schedule_id, who.tenant)
    if row is None:
        raise NotFound(f"schedule: there is no schedule {schedule_id}")
    return row
