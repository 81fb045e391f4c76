"""Batches: asked for whole or not at all, read, appended to, closed; a batch is cancelled as the run that its parent is."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends, Query, Response

from headway.api.asking import Prepared, RunItem, prepare
from headway.api.batch_views import (
    AppendRequest,
    Batch,
    BatchAccepted,
    BatchPage,
    BatchRequest,
    ChildPage,
    ChildrenAccepted,
    items_of,
)
from headway.api.edge import Route
from headway.api.inputs import Asked, IdempotencyKey, Page, Text, XCorrelationId
from headway.api.params import problems_of
from headway.api.platform import Caller, Here, Platform, Who
from headway.api.run_views import Run
from headway.core.ask import Ask
from headway.core.batch import BatchAsk, Mixed
from headway.core.errors import Invalid
from headway.core.reading import demand
from headway.core.secret import lookalikes, opened
from headway.runtime.tracing import current_traceparent
from headway.store import audit, batches, definitions, runs
from headway.store.sealing import values_of
from headway.store.tx import Row, Tx

router = APIRouter(prefix="/v1/batches", tags=["batches"], route_class=Route)


class CloseRequest(Asked):
    """Why a batch is closed."""

    reason: Text = ""


class Headers(NamedTuple):
    """What a request says of itself beside its body."""

    key: str | None
    correlation: str | None

    def key_beside(self, other: str | None) -> str | None:
        """Return the key, which may stand in the body as well.  Raises Invalid when the body says another."""
        if self.key is not None and other not in (None, self.key):
            raise Invalid.field("Idempotency-Key", "differs from the key in the body")
        return self.key or other


async def _headers(idempotency_key: IdempotencyKey = None, x_correlation_id: XCorrelationId = None) -> Headers:
    return Headers(idempotency_key, x_correlation_id)


Sent = Annotated[Headers, Depends(_headers)]


@router.post("", status_code=201, responses={200: {"model": BatchAccepted, "description": "The batch of a known key"}})
async def create_batch(
    wanted: BatchRequest,
    here: Here,
    who: Who,
    sent: Sent,
    response: Response,
) -> BatchAccepted:
    """Ask for a parent and its children, all of them or none."""
    key = sent.key_beside(wanted.key)
    await _require_definition(here, wanted.definition, who)
    correlation = wanted.correlation or sent.correlation
    parent = _parent(wanted, who, key, correlation)
    children = await _children(here, items_of(wanted.children, wanted.definition, wanted.params, correlation), who)
    options = {name: getattr(wanted, name) for name in ("closed", "max_concurrent", "counted", "triggers")}
    made = await here.runs.make_batch(BatchAsk(parent, children, mixed=Mixed(wanted.mixed), **options))
    response.headers["Location"] = f"/v1/batches/{made.parent}"
    response.status_code = 200 if made.existing else 201
    return BatchAccepted(id=made.parent, definition=wanted.definition, total=made.total, existing=made.existing)


@router.get("")
async def list_batches(wanted: Annotated[Page, Query()], here: Here, who: Who) -> BatchPage:
    """List batches, newest first."""
    listing = ("batches", who.tenant)
    after = None if wanted.cursor is None else UUID(here.cursors.read(listing, wanted.cursor))
    async with here.database.begin() as tx:
        rows = await batches.listed(tx, who.tenant, after=after, limit=wanted.limit + 1)
        page = rows[: wanted.limit]
        parents = {row["id"]: row for row in await tx.fetch(runs.GET, ids=[row["parent"] for row in page])}
    cursor = here.cursors.write(listing, str(page[-1]["parent"])) if len(rows) > len(page) else None
    return BatchPage(items=[Batch.of(row, parents[row["parent"]]) for row in page if row["parent"] in parents], next_cursor=cursor)


@router.get("/{batch_id}")
async def read_batch(batch_id: UUID, here: Here, who: Who) -> Batch:
    """Read a batch with how many of its children ended in which way."""
    async with here.database.begin() as tx:
        return await _shown(tx, await batches.get(tx, batch_id, who.tenant))


@router.get("/{batch_id}/children")
async def list_children(batch_id: UUID, wanted: Annotated[Page, Query()], here: Here, who: Who) -> ChildPage:
    """List the children of a batch, open and finished, by their index."""
    listing = ("children", who.tenant, batch_id)
    after = -1 if wanted.cursor is None else int(here.cursors.read(listing, wanted.cursor))
    async with here.database.begin() as tx:
        await batches.get(tx, batch_id, who.tenant)
        rows = await batches.children(tx, batch_id, after=after, limit=wanted.limit + 1)
    page = rows[: wanted.limit]
    cursor = here.cursors.write(listing, str(page[-1]["batch_index"])) if len(rows) > len(page) else None
    return ChildPage(items=[Run.of(row) for row in page], next_cursor=cursor)


@router.post("/{batch_id}/children", status_code=201, responses={200: {"model": ChildrenAccepted, "description": "Those of a known key"}})
async def append_children(
    batch_id: UUID,
    wanted: AppendRequest,
    here: Here,
    who: Who,
    sent: Sent,
    response: Response,
) -> ChildrenAccepted:
    """Append children to an open batch, all of them or none."""
    key = sent.key_beside(wanted.key)
    async with here.database.begin() as tx:
        parent = await _parent_of(tx, await batches.get(tx, batch_id, who.tenant))
        params = await runs.params_text(tx, parent)
    inherited = opened(values_of(params), here.database.vault)
    children = await _children(here, items_of(wanted.children, parent["definition"], inherited, sent.correlation), who)
    done = await here.runs.append(batch_id, children, tenant=who.tenant, key=key)
    if not done.existing:
        await _write(here, audit.Entry(who.actor, "batch.append", f"run:{batch_id}", who.tenant, new={"children": done.added}))
    response.status_code = 200 if done.existing else 201
    return ChildrenAccepted(id=batch_id, first=done.first, added=done.added, total=done.total, existing=done.existing)


@router.post("/{batch_id}:close")
async def close_batch(batch_id: UUID, here: Here, who: Who, wanted: CloseRequest | None = None) -> Batch:
    """Let a batch take no more children: it ends with those that it has.  One that is closed stays so."""
    await here.runs.close_batch(batch_id, tenant=who.tenant)
    await _write(here, audit.Entry(who.actor, "batch.close", f"run:{batch_id}", who.tenant, wanted.reason if wanted else ""))
    return await read_batch(batch_id, here, who)


async def _require_definition(here: Platform, name: str, who: Caller) -> None:
    async with here.database.once() as tx:
        if await definitions.brief(tx, name, who.tenant) is None:
            raise Invalid.field("definition", f"there is no definition {name!r}")


def _parent(wanted: BatchRequest, who: Caller, key: str | None, correlation: str | None) -> Ask:
    """The parent keeps the parameters that its children inherit as they were sent: nobody runs it."""
    params = wanted.params or {}
    demand(lookalikes(params, "params") + problems_of(params, None, "params"))
    return Ask(
        wanted.definition,
        tenant=who.tenant,
        params=orjson.dumps(params).decode() if params else None,
        priority=wanted.priority,
        key=key,
        correlation=correlation,
        created_by=who.actor,
        traceparent=current_traceparent(),
    )


async def _children(here: Platform, items: Sequence[RunItem], who: Caller) -> list[Ask]:
    prepared: list[Prepared] = await prepare(here.database, items, who, paths=[f"children[{index}]." for index in range(len(items))])
    return [one.ask for one in prepared]


async def _shown(tx: Tx, row: Row) -> Batch:
    parent = await _parent_of(tx, row)
    standing = await tx.fetch_one(batches.STANDING, parent=row["parent"])
    return Batch.of(row, parent, await batches.outcomes(tx, row), standing["waiting"] if standing else None)


async def _parent_of(tx: Tx, row: Row) -> Row:
    parent = await runs.get(tx, row["parent"], None)
    assert parent is not None, "a batch leaves with the row of its parent"
    return parent


async def _write(here: Platform, entry: audit.Entry) -> None:
    async with here.database.once() as tx:
        await audit.write(tx, entry)
