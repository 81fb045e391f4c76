"""Triggers: created, patched, applied together, switched on and off, deleted."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response

from headway.api.definition_views import Like
from headway.api.definitions import WITH_TAG, DryRun
from headway.api.documents import patched
from headway.api.edge import Route
from headway.api.inputs import IfMatch, Page, Text, value_problems
from headway.api.platform import Here, Who
from headway.api.saving import Outcome, announce, etag, perform, require_version
from headway.api.trigger_views import (
    FACTS,
    SourcedTrigger,
    Trigger,
    TriggerChange,
    TriggerChanges,
    TriggerPage,
    TriggersDocument,
)
from headway.core.errors import Invalid, NotFound
from headway.core.reading import demand
from headway.core.trigger import TriggerDraft, parse_trigger, parse_triggers
from headway.store import definitions, trigger_edits, triggers
from headway.store.trigger_edits import Edited
from headway.store.tx import Row, Tx

router = APIRouter(prefix="/v1/triggers", tags=["triggers"], route_class=Route)
Edit = Callable[[Tx, Row], Awaitable[Edited]]


class TriggerQuery(Page):
    """What a listing of triggers is narrowed to: the definition whose runs fire them, and the one whose runs they ask for."""

    source: Text | None = None
    target: Text | None = None


class DeskOf:
    """One request about triggers: what it may use, who asks, and how it is answered."""

    def __init__(self, here: Here, who: Who, response: Response) -> None:
        self.database = here.database
        self.who = who
        self.response = response
        self._announcer = here.announcer

    async def create(self, source: str, draft: TriggerDraft) -> Edited:
        """Create a trigger.  Raises Invalid and Conflict."""
        return await self._told(lambda tx: trigger_edits.create(tx, source, draft, tenant=self.who.tenant, actor=self.who.actor))

    async def save(self, drafts: Mapping[str, tuple[str, TriggerDraft]], *, dry_run: bool) -> Edited:
        """Save triggers in one transaction, or only say what that would make of them."""

        def act(tx: Tx) -> Awaitable[Edited]:
            return trigger_edits.save(tx, drafts, tenant=self.who.tenant, actor=self.who.actor)

        return await self._told(act, dry_run=dry_run)

    async def edit(self, trigger_id: UUID, edit: Edit, if_match: str | None, *, needed: bool = False) -> Edited:
        """Do something with a trigger that stands at the version that the caller knows.  Raises NotFound and Conflict."""

        async def act(tx: Tx) -> Edited:
            await triggers.lock(tx)
            seen = await self._found(tx, trigger_id)
            await definitions.lock(tx, seen["source_name"], self.who.tenant)
            row = await self._found(tx, trigger_id)
            require_version(row, if_match, needed=needed, what="trigger")
            return await edit(tx, row)

        return await self._told(act)

    async def shown(self, trigger_id: UUID) -> Trigger:
        """Answer with a trigger, its version as the ETag.  Raises NotFound."""
        async with self.database.once() as tx:
            row = await self._found(tx, trigger_id)
        self.response.headers["ETag"] = etag(row["version"])
        return Trigger.of(row)

    async def _told(self, act: Callable[[Tx], Awaitable[Edited]], *, dry_run: bool = False) -> Edited:
        async def stamped(tx: Tx) -> tuple[Edited, datetime]:
            return await act(tx), tx.now

        edited, at = await perform(self.database, stamped, dry_run=dry_run)
        if not dry_run:
            announce(self._announcer, Outcome(edited.concerned, at), self.who.tenant)
        return edited

    async def _found(self, tx: Tx, trigger_id: UUID) -> Row:
        row = await triggers.get(tx, trigger_id, self.who.tenant)
        if row is None:
            raise NotFound(f"trigger: there is no trigger {trigger_id}")
        return row


async def _desk(here: Here, who: Who, response: Response) -> DeskOf:
    return DeskOf(here, who, response)


Desk = Annotated[DeskOf, Depends(_desk)]


@router.get("")
async def list_triggers(wanted: Annotated[TriggerQuery, Query()], here: Here, who: Who) -> TriggerPage:
    """List triggers in the order in which they were made."""
    listing = ("triggers", who.tenant, wanted.source, wanted.target)
    after = None if wanted.cursor is None else UUID(here.cursors.read(listing, wanted.cursor))
    async with here.database.once() as tx:
        rows = await triggers.listed(tx, who.tenant, source=wanted.source, target=wanted.target, after=after, limit=wanted.limit + 1)
    page, more = rows[: wanted.limit], len(rows) > wanted.limit
    cursor = here.cursors.write(listing, str(page[-1]["id"])) if more else None
    return TriggerPage(items=[Trigger.of(row) for row in page], next_cursor=cursor)


@router.get("/{trigger_id}", responses=WITH_TAG)
async def read_trigger(trigger_id: UUID, desk: Desk) -> Trigger:
    """Read a trigger."""
    return await desk.shown(trigger_id)


@router.post("", status_code=201)
async def create_trigger(document: Annotated[dict[str, Any], Like(SourcedTrigger)], desk: Desk) -> Trigger:
    """Create a trigger of a definition (201); one that would close a circle is refused with its path."""
    demand(list(value_problems(document, "")))
    source = document.pop("source", None)
    if not isinstance(source, str):
        raise Invalid.field("source", "is required and must be a definition's name")
    edited = await desk.create(source, parse_trigger(document))
    return await desk.shown(edited.saved[0].id)


@router.post(":apply")
async def apply_triggers(
    document: Annotated[dict[str, Any], Like(TriggersDocument)], wanted: Annotated[DryRun, Query()], desk: Desk
) -> TriggerChanges:
    """Save several triggers, all of them or none; triggers that are not named stay as they are."""
    demand(list(value_problems(document, "")))
    given = document.get("triggers")
    listed = [_without_facts(one) for one in given] if isinstance(given, list) else given
    edited = await desk.save(parse_triggers({**document, "triggers": listed}), dry_run=wanted.dry_run)
    return TriggerChanges(changes=[_change(edited, number) for number in range(len(edited.saved))], dry_run=wanted.dry_run)


@router.patch("/{trigger_id}", responses=WITH_TAG)
async def patch_trigger(trigger_id: UUID, patch: dict[str, Any], desk: Desk, if_match: IfMatch = None) -> Trigger:
    """Change fields of a trigger by JSON merge patch; its name and its source stay."""
    demand(list(value_problems(patch, "")))

    async def change(tx: Tx, row: Row) -> Edited:
        shown = Trigger.of(row).model_dump(mode="json")
        document = _without_facts(patched(shown, patch))
        fixed = [name for name in ("source", "name") if document.pop(name, None) != shown[name]]
        if fixed:
            raise Invalid.field(fixed[0], "cannot be changed")
        draft = parse_trigger({**document, "name": row["name"]})
        drafts = {"": (row["source_name"], draft)}
        return await trigger_edits.save(tx, drafts, tenant=desk.who.tenant, actor=desk.who.actor)

    await desk.edit(trigger_id, change, if_match, needed=True)
    return await desk.shown(trigger_id)


@router.delete("/{trigger_id}")
async def delete_trigger(trigger_id: UUID, desk: Desk, if_match: IfMatch = None) -> TriggerChange:
    """Delete a trigger; the runs that it asked for go on."""
    edited = await desk.edit(trigger_id, lambda tx, row: trigger_edits.remove(tx, row, actor=desk.who.actor), if_match)
    return _change(edited, 0)


@router.post("/{trigger_id}:enable", responses=WITH_TAG)
async def enable_trigger(trigger_id: UUID, desk: Desk, if_match: IfMatch = None) -> Trigger:
    """Let a trigger fire again; refused when it would close a circle."""
    return await _switched(trigger_id, desk, if_match, enabled=True)


@router.post("/{trigger_id}:disable", responses=WITH_TAG)
async def disable_trigger(trigger_id: UUID, desk: Desk, if_match: IfMatch = None) -> Trigger:
    """Let a trigger fire no more."""
    return await _switched(trigger_id, desk, if_match, enabled=False)


async def _switched(trigger_id: UUID, desk: DeskOf, if_match: str | None, *, enabled: bool) -> Trigger:
    await desk.edit(trigger_id, lambda tx, row: trigger_edits.switch(tx, row, enabled=enabled, actor=desk.who.actor), if_match)
    return await desk.shown(trigger_id)


def _change(edited: Edited, number: int) -> TriggerChange:
    return TriggerChange.model_validate(edited.saved[number]._asdict())


def _without_facts(document: Any) -> Any:
    """What reading a trigger added to it may come back, and says nothing."""
    return {name: value for name, value in document.items() if name not in FACTS} if isinstance(document, dict) else document
