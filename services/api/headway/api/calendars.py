"""Calendars: put, applied together, taken from iCalendar files, deleted; each change is a decision for what uses them."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Path, Query, Response

from headway.api.calendar_views import (
    FACTS,
    Calendar,
    CalendarChange,
    CalendarChanges,
    CalendarDocument,
    CalendarPage,
    CalendarsDocument,
    IcsRequest,
)
from headway.api.definition_views import Like
from headway.api.definitions import WITH_TAG, DryRun
from headway.api.edge import Route
from headway.api.inputs import IfMatch, Page, Text, value_problems
from headway.api.platform import Here, Who
from headway.api.saving import CREATED, DELETED, etag, perform, require_version
from headway.broker import hints
from headway.core.calendar.draft import CalendarDraft, parse_calendar_draft, parse_calendar_drafts
from headway.core.errors import Invalid
from headway.core.reading import demand
from headway.messages import DefinitionChanged
from headway.store import calendar_edits, calendars, ics
from headway.store.calendar_edits import Edited
from headway.store.tx import Tx

router = APIRouter(prefix="/v1/calendars", tags=["calendars"], route_class=Route)


class Outcome(NamedTuple):
    """What a transaction made of calendars, and when."""

    edited: Edited
    at: datetime


class DeskOf:
    """One request about calendars: what it may use, who asks, and how it is answered."""

    def __init__(self, here: Here, who: Who, response: Response) -> None:
        self.database = here.database
        self.who = who
        self.response = response
        self._announcer = here.announcer

    async def save(
        self, drafts: Sequence[CalendarDraft], if_match: str | None = None, *, alone: bool = False, dry_run: bool = False
    ) -> Outcome:
        """Save calendars in one transaction and announce it; one that is put `alone` needs the version that it builds on."""

        async def act(tx: Tx) -> Outcome:
            if alone:
                row = await tx.fetch_one(calendars.LOCK, name=drafts[0].name, tenant=self.who.tenant)
                require_version(row, if_match, needed=row is not None, what="calendar")
            outcome = Outcome(await calendar_edits.save(tx, drafts, actor=self.who.actor), tx.now)
            if alone and row is None and outcome.edited.saved[0].change != CREATED:  # somebody else created it between the two
                require_version(row, None, needed=True, what="calendar")
            return outcome

        outcome = await perform(self.database, act, dry_run=dry_run)
        if not dry_run:
            self._announce(outcome)
        return outcome

    async def shown(self, name: str) -> Calendar:
        """Answer with a calendar, its version as the ETag.  Raises NotFound."""
        async with self.database.once() as tx:
            row = await calendars.get(tx, name, self.who.tenant)
        self.response.headers["ETag"] = etag(row["version"])
        return Calendar.of(row)

    async def saved(self, outcome: Outcome) -> Calendar:
        """Answer with a calendar that was saved, by 201 when it is new."""
        [saved] = outcome.edited.saved
        if saved.change == CREATED:
            self.response.status_code = 201
        return await self.shown(saved.name)

    def _announce(self, outcome: Outcome) -> None:
        """Tell schedulers whose schedules go by other windows now, and workers what is to run."""
        queued = (hints.Queued(run.id, run.queue, run.priority) for run in outcome.edited.queued)
        self._announcer.put(hints.created(queued, at=outcome.at))
        for one in outcome.edited.concerned:
            changed = DefinitionChanged(tenant=one.tenant, definition=one.name, version=one.version, change="updated")
            self._announcer.put([hints.letter(changed, at=outcome.at)])


async def _desk(here: Here, who: Who, response: Response) -> DeskOf:
    return DeskOf(here, who, response)


Desk = Annotated[DeskOf, Depends(_desk)]
Name = Annotated[Text, Path(description="A name may hold slashes.")]


@router.get("")
async def list_calendars(wanted: Annotated[Page, Query()], here: Here, who: Who) -> CalendarPage:
    """List shared calendars by name."""
    listing = ("calendars", who.tenant)
    after = None if wanted.cursor is None else here.cursors.read(listing, wanted.cursor)
    async with here.database.once() as tx:
        rows = await calendars.listed(tx, who.tenant, after=after, limit=wanted.limit + 1)
    page, more = rows[: wanted.limit], len(rows) > wanted.limit
    return CalendarPage(
        items=[Calendar.of(row) for row in page], next_cursor=here.cursors.write(listing, page[-1]["name"]) if more else None
    )


@router.get("/{name:path}", responses=WITH_TAG)
async def read_calendar(name: Name, desk: Desk) -> Calendar:
    """Read a calendar with the dates of its holidays."""
    return await desk.shown(name)


@router.put("/{name:path}", responses={**WITH_TAG, 201: {"model": Calendar, "description": "It is new"}})
async def put_calendar(
    name: Name, document: Annotated[dict[str, Any], Like(CalendarDocument)], desk: Desk, if_match: IfMatch = None
) -> Calendar:
    """Create a calendar (201), or replace the one whose ETag is sent along; what is due already is decided by the version that it had."""
    if document.setdefault("name", name) != name:
        raise Invalid.field("name", f"differs from the name in the path, {name!r}")
    return await desk.saved(await desk.save([_parsed(document, desk.who.tenant)], if_match, alone=True))


@router.delete("/{name:path}")
async def delete_calendar(name: Name, desk: Desk, if_match: IfMatch = None) -> CalendarChange:
    """Delete a calendar; one that a definition or a schedule uses stays, and the conflict names them."""

    async def delete(tx: Tx) -> CalendarChange:
        row = await calendars.get(tx, name, desk.who.tenant, locked=True)
        require_version(row, if_match, needed=False, what="calendar")
        await calendar_edits.remove(tx, row, actor=desk.who.actor)
        return CalendarChange(name=name, version=row["version"], change=DELETED)

    return await desk.database.transact(delete)


@router.post(":apply")
async def apply_calendars(
    document: Annotated[dict[str, Any], Like(CalendarsDocument)], wanted: Annotated[DryRun, Query()], desk: Desk
) -> CalendarChanges:
    """Save several calendars, all of them or none; calendars that are not named stay as they are."""
    demand(list(value_problems(document, "")))
    given = document.get("calendars")
    listed = [_without_facts(one) for one in given] if isinstance(given, list) else given
    drafts = parse_calendar_drafts({**document, "calendars": listed}, tenant=desk.who.tenant)
    outcome = await desk.save(drafts, dry_run=wanted.dry_run)
    changes = [CalendarChange.model_validate(one._asdict()) for one in outcome.edited.saved]
    return CalendarChanges(changes=changes, dry_run=wanted.dry_run)


@router.post("/{name:path}:import", responses={**WITH_TAG, 201: {"model": Calendar, "description": "It is new"}})
async def import_calendar(name: Name, wanted: IcsRequest, desk: Desk) -> Calendar:
    """Make a calendar what an iCalendar file says; importing the same file again changes nothing."""
    async with desk.database.begin() as tx:
        today = tx.now.date()
    how = ics.Import(wanted.policy, wanted.years, wanted.zone)
    found = await asyncio.to_thread(ics.windows_of, wanted.ics, how, today)
    document = {"name": name, "description": _origin(found), "windows": found.windows}
    return await desk.saved(await desk.save([_parsed(document, desk.who.tenant)]))


def _parsed(document: dict[str, Any], tenant: str) -> CalendarDraft:
    demand(list(value_problems(document, "")))
    return parse_calendar_draft(_without_facts(document), tenant=tenant)


def _without_facts(document: Any) -> Any:
    """What reading a calendar added to it may come back, and says nothing."""
    return {name: value for name, value in document.items() if name not in FACTS} if isinstance(document, dict) else document


def _origin(found: ics.Imported) -> str:
    """What a calendar says of the file that it was made of."""
    zone = f" in {found.zone}" if found.zone else ""
    return f"events of an iCalendar file{zone}" + (f", recurrences until {found.until}" if found.until else "")
