"""Restrictions: definitions that must not be active together, created, applied together, listed, deleted."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, Field

from headway.api import saving
from headway.api.definitions import DryRun
from headway.api.edge import Route
from headway.api.inputs import Asked, Page, Text
from headway.api.platform import Here, Who
from headway.api.saving import Outcome
from headway.store import restrictions
from headway.store.restrictions import Change, Edited, Pair
from headway.store.tx import Row, Tx

router = APIRouter(prefix="/v1/restrictions", tags=["restrictions"], route_class=Route)
Name = Annotated[Text, Field(min_length=1, max_length=128)]


class RestrictionDocument(Asked):
    """Two definitions, by name and in no order, that must not be active together; the same one twice must not be with itself."""

    first: Name
    second: Name
    description: Annotated[Text, Field(max_length=4000)] = ""

    @property
    def pair(self) -> Pair:
        """The same as the store takes it."""
        return Pair(self.first, self.second, self.description)


class RestrictionsDocument(Asked):
    """Restrictions that are saved together or not at all."""

    restrictions: Annotated[list[RestrictionDocument], Field(min_length=1, max_length=1000)]


class Restriction(BaseModel):
    """A restriction that is kept."""

    id: UUID
    tenant: str
    first: str
    second: str
    description: str
    created_at: datetime
    created_by: str

    @classmethod
    def of(cls, row: Row) -> "Restriction":
        """Show a row of `headway.store.restrictions`."""
        return cls.model_validate({**row, "first": row["first_name"], "second": row["second_name"]})


class RestrictionPage(BaseModel):
    """A page of restrictions, oldest first; `next_cursor` is null on the last one."""

    items: list[Restriction]
    next_cursor: str | None


class RestrictionChange(BaseModel):
    """What an edit made of one restriction; `change` is empty where nothing changed."""

    id: UUID
    first: str
    second: str
    change: Literal["", "created", "updated", "deleted"]

    @classmethod
    def of(cls, change: Change) -> "RestrictionChange":
        """Show a change."""
        return cls.model_validate({"id": change.id, "first": change.pair.first, "second": change.pair.second, "change": change.change})


class RestrictionChanges(BaseModel):
    """What an apply made of several restrictions, in their order; a dry run says what it would have made."""

    changes: list[RestrictionChange]
    dry_run: bool = False


class RestrictionQuery(Page):
    """What a listing of restrictions is narrowed to: those of one definition."""

    definition: Text | None = None


class DeskOf:
    """One request that edits restrictions: what it may use, and who asks."""

    def __init__(self, here: Here, who: Who) -> None:
        self._database = here.database
        self._announcer = here.announcer
        self.who = who

    async def edit(self, act: Callable[[Tx], Awaitable[Edited]], *, dry_run: bool = False) -> Sequence[Change]:
        """Edit restrictions in one transaction, and tell schedulers whose definitions have changed and workers what is to run."""

        async def change(tx: Tx) -> tuple[Edited, datetime]:
            return await act(tx), tx.now

        edited, at = await saving.perform(self._database, change, dry_run=dry_run)
        if not dry_run:
            saving.announce(self._announcer, Outcome(edited.concerned, at), self.who.tenant)
        return edited.changes


async def _desk(here: Here, who: Who) -> DeskOf:
    return DeskOf(here, who)


Desk = Annotated[DeskOf, Depends(_desk)]


@router.get("")
async def list_restrictions(wanted: Annotated[RestrictionQuery, Query()], here: Here, who: Who) -> RestrictionPage:
    """List restrictions, oldest first."""
    listing = ("restrictions", who.tenant, wanted.definition)
    after = None if wanted.cursor is None else UUID(here.cursors.read(listing, wanted.cursor))
    async with here.database.once() as tx:
        rows = await restrictions.listed(tx, who.tenant, of=wanted.definition, after=after, limit=wanted.limit + 1)
    page, more = rows[: wanted.limit], len(rows) > wanted.limit
    cursor = here.cursors.write(listing, str(page[-1]["id"])) if more else None
    return RestrictionPage(items=[Restriction.of(row) for row in page], next_cursor=cursor)


@router.get("/{restriction_id}")
async def read_restriction(restriction_id: UUID, here: Here, who: Who) -> Restriction:
    """Read a restriction."""
    async with here.database.once() as tx:
        return Restriction.of(await restrictions.get(tx, restriction_id, who.tenant))


@router.post("", status_code=201)
async def create_restriction(wanted: RestrictionDocument, here: Here, desk: Desk, response: Response) -> Restriction:
    """Keep two definitions apart from now on (201); what is active already goes on."""
    who = desk.who
    [made] = await desk.edit(lambda tx: restrictions.create(tx, wanted.pair, tenant=who.tenant, actor=who.actor))
    response.headers["Location"] = f"/v1/restrictions/{made.id}"
    return await read_restriction(made.id, here, who)


@router.post(":apply")
async def apply_restrictions(document: RestrictionsDocument, wanted: Annotated[DryRun, Query()], desk: Desk) -> RestrictionChanges:
    """Save several restrictions, all of them or none; those that are not named stay as they are."""
    who, pairs = desk.who, [one.pair for one in document.restrictions]
    paths = [f"restrictions[{index}]." for index in range(len(pairs))]
    changes = await desk.edit(
        lambda tx: restrictions.apply(tx, pairs, tenant=who.tenant, actor=who.actor, paths=paths), dry_run=wanted.dry_run
    )
    return RestrictionChanges(changes=[RestrictionChange.of(one) for one in changes], dry_run=wanted.dry_run)


@router.delete("/{restriction_id}")
async def delete_restriction(restriction_id: UUID, desk: Desk) -> RestrictionChange:
    """Let two definitions be active together again; whoever waited for that is let in."""
    who = desk.who
    [gone] = await desk.edit(lambda tx: restrictions.remove(tx, restriction_id, tenant=who.tenant, actor=who.actor))
    return RestrictionChange.of(gone)
