"""Schedules changed one by one: created, patched, switched, deleted; what fell due before is decided by the version in force."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, NamedTuple
from uuid import UUID

from fastapi import APIRouter, Depends, Response
from pydantic import Field

from headway.api.definition_views import Like, Schedule, ScheduleDocument
from headway.api.documents import SCHEDULE_FACTS, patched, schedule_document_of
from headway.api.edge import Route
from headway.api.inputs import Asked, IfMatch, Text, value_problems
from headway.api.params import problems_of
from headway.api.platform import Caller, Here, Who
from headway.api.saving import etag, found, require_version
from headway.broker import hints
from headway.broker.announcer import Announcer
from headway.core.draft import parse_schedule
from headway.core.errors import Invalid, NotFound
from headway.core.parameters import merged
from headway.core.reading import demand
from headway.messages import DefinitionChanged
from headway.store import catalogue, definitions, schedules, switches
from headway.store.catalogue import SavedSchedule
from headway.store.gates import Placed
from headway.store.tx import Database, Row, Tx

router = APIRouter(prefix="/v1/schedules", tags=["schedules"], route_class=Route)
Switch = Callable[[Tx, Row], Awaitable[list[Placed]]]


class NewSchedule(ScheduleDocument):
    """A schedule to create, and the definition that it belongs to."""

    definition: str


class PauseRequest(Asked):
    """Why something is paused."""

    reason: Annotated[Text, Field(max_length=2000)] = ""


class Edited(NamedTuple):
    """What a transaction made of a schedule: its row as it stands (None once deleted), what to announce, and when."""

    row: Row | None
    change: str
    definition: tuple[str, str, int]
    queued: list[Placed]
    at: datetime


class DeskOf:
    """One request about a schedule: what it may use, who asks, and how it is answered."""

    def __init__(self, here: Here, who: Who, response: Response) -> None:
        self.database: Database = here.database
        self.who: Caller = who
        self.response = response
        self._announcer: Announcer = here.announcer

    def announce(self, edited: Edited) -> None:
        """Tell schedulers what changed, and workers what is to run."""
        tenant, name, version = edited.definition
        self._announcer.put(hints.created((hints.Queued(run.id, run.queue, run.priority) for run in edited.queued), at=edited.at))
        if edited.change:
            changed = DefinitionChanged(tenant=tenant, definition=name, version=version, change="updated")
            self._announcer.put([hints.letter(changed, at=edited.at)])

    def answer(self, edited: Edited) -> Schedule:
        """Announce, and answer with the schedule as it stands, its version as the ETag."""
        self.announce(edited)
        assert edited.row is not None, "it was not deleted"
        self.response.headers["ETag"] = etag(edited.row["version"])
        return Schedule.of(edited.row, edited.row["definition_name"])


async def _desk(here: Here, who: Who, response: Response) -> DeskOf:
    return DeskOf(here, who, response)


Desk = Annotated[DeskOf, Depends(_desk)]


@router.post("", status_code=201)
async def create_schedule(document: Annotated[dict[str, Any], Like(NewSchedule)], desk: Desk) -> Schedule:
    """Create a schedule of a definition, the caller's own or one that belongs to nobody (201)."""
    name = document.pop("definition", None)
    if not isinstance(name, str):
        raise Invalid.field("definition", "is required and must be a definition's name")
    demand(list(value_problems(document, "")))

    async def create(tx: Tx) -> Edited:
        owner = await _owner(tx, name, desk.who.tenant)
        draft = parse_schedule(document)
        demand(problems_of(merged(owner["parameters"], draft.parameters), owner["parameter_spec"], "parameters"))
        saved = await catalogue.save_schedule(tx, owner, draft, None, tenant=desk.who.tenant, actor=desk.who.actor)
        return await _edited(tx, saved, owner, desk.who.tenant)

    return desk.answer(await desk.database.transact(create))


@router.patch("/{schedule_id}")
async def patch_schedule(schedule_id: UUID, patch: dict[str, Any], desk: Desk, if_match: IfMatch = None) -> Schedule:
    """Change fields of a schedule by JSON merge patch; every slot that is due already is decided as it was."""
    demand(list(value_problems(patch, "")))

    async def change(tx: Tx) -> Edited:
        owner, row = await _both(tx, schedule_id, desk.who.tenant)
        require_version(row, if_match, needed=True)
        wanted = patched(schedule_document_of(row), without_facts(patch, row))
        if wanted.get("name") != row["name"]:
            raise Invalid.field("name", "cannot be changed")
        draft = parse_schedule(wanted)
        demand(problems_of(merged(owner["parameters"], draft.parameters), owner["parameter_spec"], "parameters"))
        saved = await catalogue.save_schedule(tx, owner, draft, row, tenant=row["tenant"], actor=desk.who.actor)
        return await _edited(tx, saved, owner, desk.who.tenant)

    return desk.answer(await desk.database.transact(change))


@router.delete("/{schedule_id}", status_code=204)
async def delete_schedule(schedule_id: UUID, desk: Desk, if_match: IfMatch = None) -> None:
    """Delete a schedule; what was decided of its slots stays, and its runs go on."""

    async def delete(tx: Tx) -> Edited:
        owner, row = await _both(tx, schedule_id, desk.who.tenant)
        require_version(row, if_match, needed=False)
        queued = await switches.delete_schedule(tx, row, actor=desk.who.actor)
        return Edited(None, "deleted", await _version(tx, owner), queued, tx.now)

    desk.announce(await desk.database.transact(delete))


@router.post("/{schedule_id}:enable")
async def enable_schedule(schedule_id: UUID, desk: Desk) -> Schedule:
    """Let a schedule fire again from now on; what fell due meanwhile is no missed time."""
    return await _switched(schedule_id, desk, lambda tx, row: switches.enable_schedule(tx, row, enabled=True, actor=desk.who.actor))


@router.post("/{schedule_id}:disable")
async def disable_schedule(schedule_id: UUID, desk: Desk) -> Schedule:
    """Let a schedule fire no more."""
    return await _switched(schedule_id, desk, lambda tx, row: switches.enable_schedule(tx, row, enabled=False, actor=desk.who.actor))


@router.post("/{schedule_id}:pause")
async def pause_schedule(schedule_id: UUID, desk: Desk, wanted: PauseRequest | None = None) -> Schedule:
    """Pause a schedule: its slots are recorded as paused until it is resumed."""
    pause = switches.Pause(desk.who.actor, wanted.reason if wanted else "")
    return await _switched(schedule_id, desk, lambda tx, row: switches.pause_schedule(tx, row, pause))


@router.post("/{schedule_id}:resume")
async def resume_schedule(schedule_id: UUID, desk: Desk) -> Schedule:
    """Resume a schedule; what fell due while it was paused is no missed time."""
    return await _switched(schedule_id, desk, lambda tx, row: switches.resume_schedule(tx, row, actor=desk.who.actor))


async def _switched(schedule_id: UUID, desk: DeskOf, switch: Switch) -> Schedule:
    async def turn(tx: Tx) -> Edited:
        owner, row = await _both(tx, schedule_id, desk.who.tenant)
        queued = await switch(tx, row)
        return await _edited(tx, SavedSchedule(schedule_id, "updated", queued), owner, desk.who.tenant)

    return desk.answer(await desk.database.transact(turn))


async def _owner(tx: Tx, name: str, tenant: str) -> Row:
    """Lock a definition that a tenant may schedule."""
    own = await definitions.lock(tx, name, tenant)
    return found(own if own is not None else await definitions.lock(tx, name), name)


async def _both(tx: Tx, schedule_id: UUID, tenant: str) -> tuple[Row, Row]:
    """Lock a schedule's definition, then the schedule: whoever saves the definition takes them in this order."""
    seen = await schedules.get(tx, schedule_id, tenant)
    owner = None if seen is None else await definitions.lock(tx, seen["definition_name"], seen["definition_tenant"])
    row = None if owner is None else await schedules.get(tx, schedule_id, tenant, locked=True)
    if owner is None or row is None:
        raise NotFound(f"schedule: there is no schedule {schedule_id}")
    return owner, row


async def _edited(tx: Tx, saved: SavedSchedule, owner: Row, tenant: str) -> Edited:
    row = await schedules.get(tx, saved.id, tenant)
    return Edited(row, saved.change, await _version(tx, owner), saved.queued, tx.now)


async def _version(tx: Tx, owner: Row) -> tuple[str, str, int]:
    row = await definitions.get(tx, owner["name"], owner["tenant"])
    return owner["tenant"], owner["name"], owner["version"] if row is None else row["version"]


def without_facts(patch: Mapping[str, Any], row: Row) -> dict[str, Any]:
    """What reading a schedule added to it may come back, and says nothing."""
    kept = {name: value for name, value in patch.items() if name not in SCHEDULE_FACTS}
    kinds = {"cron", "every", "times", "at", "after_completion", "plugin"} & kept.keys()
    # Another kind of rule leaves nothing of the old one standing.
    gone = (
        {name: None for name in row["rule"] if name not in {"zone", "starts_at", "ends_at", "jitter"}} if kinds - row["rule"].keys() else {}
    )
    return gone | kept
