"""Definitions: put, patched, applied together, switched on and off, deleted."""

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import Field

from headway.api import saving
from headway.api.definition_views import (
    Change,
    Changes,
    Definition,
    DefinitionDocument,
    DefinitionPage,
    DefinitionsDocument,
    DefinitionSummary,
    LatestRuns,
    Like,
)
from headway.api.differences import Differences, compare
from headway.api.documents import parse, parse_all, patched
from headway.api.edge import Route
from headway.api.inputs import Asked, IfMatch, Instant, Narrowed, Page, Text, value_problems
from headway.api.platform import Here, Who
from headway.api.run_views import Run
from headway.api.saving import Outcome
from headway.core.errors import Invalid
from headway.core.reading import demand
from headway.store import definitions, last_runs, runs, schedules, triggers
from headway.store.switches import Pause
from headway.store.switches import pause_definition as pause_one
from headway.store.switches import resume_definition as resume_one
from headway.store.tx import Row, Tx

router = APIRouter(prefix="/v1/definitions", tags=["definitions"], route_class=Route)


class DeskOf:
    """One request about definitions: what it may use, who asks, and how it is answered."""

    def __init__(self, here: Here, who: Who, response: Response) -> None:
        self.database = here.database
        self.who = who
        self.response = response
        self._announcer = here.announcer

    def announce(self, outcome: Outcome) -> None:
        """Tell everybody what changed."""
        saving.announce(self._announcer, outcome, self.who.tenant)

    async def saved(self, outcome: Outcome) -> Definition:
        """Announce what changed, and answer with the definition as it now stands."""
        self.announce(outcome)
        return await self.shown(outcome.saved[0].name)

    async def shown(self, name: str) -> Definition:
        """Answer with a definition, its version as the ETag.  Raises NotFound."""
        async with self.database.begin() as tx:
            row = saving.found(await definitions.get(tx, name, self.who.tenant), name)
            standing = await schedules.of_definition(tx, row["id"]), await triggers.of_definition(tx, row["id"])
        self.response.headers["ETag"] = saving.etag(row["version"])
        return Definition.whole(row, *standing)


async def _desk(here: Here, who: Who, response: Response) -> DeskOf:
    return DeskOf(here, who, response)


Desk = Annotated[DeskOf, Depends(_desk)]
Name = Annotated[Text, Path(description="A name may hold slashes.")]
Document = Annotated[dict[str, Any], Like(DefinitionDocument)]
WITH_TAG: Final[dict[int | str, dict[str, Any]]] = {
    200: {"headers": {"ETag": {"description": "The version", "schema": {"type": "string"}}}}
}


class DefinitionQuery(Page):
    """What a listing of definitions is narrowed to."""

    source: Text | None = None


class DryRun(Narrowed):
    """Whether to say only what would change."""

    dry_run: bool = False


class DefinitionPause(Asked):
    """Why a definition is paused, and until when at the latest."""

    reason: Annotated[Text, Field(max_length=2000)] = ""
    until: Instant | None = None


class LatestRunsRequest(Asked):
    """The definitions whose last runs are wanted."""

    names: Annotated[list[Text], Field(max_length=1000)]


@router.get("")
async def list_definitions(wanted: Annotated[DefinitionQuery, Query()], here: Here, who: Who) -> DefinitionPage:
    """List definitions by name."""
    listing = ("definitions", who.tenant, wanted.source)
    after = None if wanted.cursor is None else here.cursors.read(listing, wanted.cursor)
    async with here.database.once() as tx:
        rows = await definitions.listed(tx, who.tenant, after=after, source=wanted.source, limit=wanted.limit + 1)
    page, more = rows[: wanted.limit], len(rows) > wanted.limit
    cursor = here.cursors.write(listing, page[-1]["name"]) if more else None
    return DefinitionPage(items=[DefinitionSummary.of(row) for row in page], next_cursor=cursor)


@router.get("/{name:path}", responses=WITH_TAG)
async def read_definition(name: Name, desk: Desk) -> Definition:
    """Read a definition with its schedules and triggers."""
    return await desk.shown(name)


@router.put("/{name:path}", responses={**WITH_TAG, 201: {"model": Definition, "description": "It is new"}})
async def put_definition(name: Name, document: Document, desk: Desk, if_match: IfMatch = None) -> Definition:
    """Create a definition (201), or replace the one whose ETag is sent along; what changes no meaning changes nothing."""
    if document.setdefault("name", name) != name:
        raise Invalid.field("name", f"differs from the name in the path, {name!r}")
    outcome = await saving.put(desk.database, parse(document, desk.who.tenant), desk.who, if_match)
    if outcome.saved[0].change == saving.CREATED:
        desk.response.status_code = 201
    return await desk.saved(outcome)


@router.patch("/{name:path}", responses=WITH_TAG)
async def patch_definition(name: Name, patch: dict[str, Any], desk: Desk, if_match: IfMatch = None) -> Definition:
    """Change fields of a definition by JSON merge patch: null takes a field back to its default, a list replaces the one that stands."""
    demand(list(value_problems(patch, "")))
    if patch.get("name", name) != name:
        raise Invalid.field("name", "cannot be changed")
    outcome = await saving.edit(desk.database, name, desk.who, lambda document: patched(document, patch), if_match=if_match, needed=True)
    return await desk.saved(outcome)


@router.delete("/{name:path}")
async def delete_definition(name: Name, desk: Desk, if_match: IfMatch = None) -> Change:
    """Delete a definition with its schedules and triggers, those that ask for its runs included.

    Its finished runs stay, what waits is skipped, and a run that is running forbids it.
    """
    outcome = await saving.delete(desk.database, name, desk.who, if_match)
    desk.announce(outcome)
    return _changes(outcome)[0]


@router.post(":apply")
async def apply_definitions(
    document: Annotated[dict[str, Any], Like(DefinitionsDocument)], wanted: Annotated[DryRun, Query()], desk: Desk
) -> Changes:
    """Save several definitions, all of them or none; definitions that are not named stay as they are."""
    outcome = await saving.save_all(desk.database, parse_all(document, desk.who.tenant), desk.who, dry_run=wanted.dry_run)
    if not wanted.dry_run:
        desk.announce(outcome)
    return Changes(changes=_changes(outcome), dry_run=wanted.dry_run)


@router.post(":diff")
async def compare_definitions(document: Annotated[dict[str, Any], Like(DefinitionsDocument)], desk: Desk) -> Differences:
    """Say field by field what applying a document would change, and change nothing."""
    return await compare(desk.database, parse_all(document, desk.who.tenant), desk.who)


@router.post(":latest-runs")
async def read_latest_runs(wanted: LatestRunsRequest, here: Here, who: Who) -> dict[str, LatestRuns]:
    """Read the newest run of each definition, and the newest that succeeded and failed; null where there is none."""
    async with here.database.begin() as tx:
        kept = await last_runs.of_definitions(tx, wanted.names, who.tenant)
        shown = await _runs(tx, {row[kind] for row in kept.values() for kind in LatestRuns.model_fields if row[kind] is not None})
    return {name: _latest(kept.get(name), shown) for name in wanted.names}


@router.post("/{name:path}:enable", responses=WITH_TAG)
async def enable_definition(name: Name, desk: Desk, if_match: IfMatch = None) -> Definition:
    """Let a definition run again, without a restart of anything."""
    return await _switched(name, desk, {"enabled": True}, if_match)


@router.post("/{name:path}:disable", responses=WITH_TAG)
async def disable_definition(name: Name, desk: Desk, if_match: IfMatch = None) -> Definition:
    """Let a definition run no more: what waits is skipped, what is running goes on to its end."""
    return await _switched(name, desk, {"enabled": False}, if_match)


@router.post("/{name:path}:pause", responses=WITH_TAG)
async def pause_definition(name: Name, desk: Desk, wanted: DefinitionPause | None = None) -> Definition:
    """Pause a definition: slots are recorded as paused, what waits is held, what runs goes on; `until` resumes it by itself."""
    pause = Pause(desk.who.actor, wanted.reason if wanted else "", wanted.until if wanted else None)
    return await desk.saved(await saving.turn(desk.database, name, desk.who, lambda tx, row: pause_one(tx, row, pause)))


@router.post("/{name:path}:resume", responses=WITH_TAG)
async def resume_definition(name: Name, desk: Desk) -> Definition:
    """Resume a definition: what was held for it is let in, and what fell due meanwhile is no missed time."""
    return await desk.saved(await saving.turn(desk.database, name, desk.who, lambda tx, row: resume_one(tx, row, actor=desk.who.actor)))


async def _switched(name: str, desk: DeskOf, switch: dict[str, bool], if_match: str | None) -> Definition:
    outcome = await saving.edit(desk.database, name, desk.who, lambda document: {**document, **switch}, if_match=if_match, needed=False)
    return await desk.saved(outcome)


def _changes(outcome: Outcome) -> list[Change]:
    return [Change.model_validate(one._asdict()) for one in outcome.saved]


async def _runs(tx: Tx, ids: set[UUID]) -> dict[UUID, Run]:
    return {row["id"]: Run.of(row) for row in await tx.fetch(runs.GET, ids=sorted(ids))}


def _latest(kept: Row | None, shown: dict[UUID, Run]) -> LatestRuns:
    if kept is None:
        return LatestRuns()
    return LatestRuns(**{kind: shown.get(kept[kind]) for kind in LatestRuns.model_fields})
