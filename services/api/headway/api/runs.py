"""Runs: asked for, read, cancelled."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Body, Depends, Query, Response

from headway.api.asking import BulkRequest, Prepared, RunRequest, prepare, with_headers
from headway.api.edge import Route
from headway.api.history import Event, history
from headway.api.inputs import Asked, IdempotencyKey, Instant, Page, Text, XCorrelationId
from headway.api.platform import Caller, Here, Platform, Who
from headway.api.run_views import Attempt, Run, RunAccepted, RunContent, RunPage, RunsAccepted, StateName, attempts_of
from headway.core.errors import Conflict, Invalid, NotFound, Problem
from headway.core.run import FINAL, State
from headway.store import attempts, audit, progress, runs
from headway.store.enqueue import Accepted
from headway.store.rerun import Again
from headway.store.tx import Row, Tx

router = APIRouter(prefix="/v1/runs", tags=["runs"], route_class=Route)
KNOWN_KEY: Final[dict[int | str, dict[str, Any]]] = {200: {"model": RunAccepted, "description": "The run of a known key"}}


class RunQuery(Page):
    """What a listing of runs is narrowed to: `since` inclusive and `until` exclusive, by when they were created."""

    state: list[StateName] | None = None
    definition: Text | None = None
    queue: Text | None = None
    correlation: Text | None = None
    schedule: UUID | None = None
    parent: UUID | None = None
    since: Instant | None = None
    until: Instant | None = None


class Why(Asked):
    """Why something is done with a run."""

    reason: Annotated[Text, Body(max_length=256)] = ""


class DeskOf:
    """One request to run something again: what it may use, who asks, and how it is answered."""

    def __init__(self, here: Here, who: Who, response: Response) -> None:
        self.runs = here.runs
        self.who = who
        self.response = response
        self._database = here.database

    async def again(self, make: Callable[[Again], Awaitable[Accepted]], run_id: UUID, why: Why | None, key: str | None) -> RunAccepted:
        """Make the run, and answer with it: 201, or 200 when this key made it before."""
        accepted = await make(Again(run_id, self.who.actor, why.reason if why else "", self.who.tenant, key))
        async with self._database.once() as tx:
            row = await _found(tx, run_id, self.who)
        self.response.headers["Location"] = f"/v1/runs/{accepted.id}"
        self.response.status_code = 200 if accepted.existing else 201
        return RunAccepted.of(accepted, row["definition"])


async def _desk(here: Here, who: Who, response: Response) -> DeskOf:
    return DeskOf(here, who, response)


Desk = Annotated[DeskOf, Depends(_desk)]


@router.post("", status_code=201, responses={200: {"model": RunAccepted, "description": "The run of a known key, or a dry run"}})
async def create_run(
    wanted: RunRequest,
    here: Here,
    who: Who,
    response: Response,
    idempotency_key: IdempotencyKey = None,
    x_correlation_id: XCorrelationId = None,
) -> RunAccepted:
    """Ask for a run.  It is accepted when this answers, whether or not a broker is there."""
    wanted = with_headers(wanted, idempotency_key, x_correlation_id)
    [prepared] = await prepare(here.database, [wanted], who, paths=[""])
    if wanted.dry_run:
        await here.runs.check([prepared.ask])
        response.status_code = 200
        return _unwritten(prepared)
    accepted = await here.runs.enqueue(prepared.ask)
    response.headers["Location"] = f"/v1/runs/{accepted.id}"
    response.status_code = 200 if accepted.existing else 201
    return RunAccepted.of(accepted, wanted.definition)


@router.post(":bulk", status_code=201)
async def create_runs(
    wanted: BulkRequest, here: Here, who: Who, response: Response, x_correlation_id: XCorrelationId = None
) -> RunsAccepted:
    """Ask for several runs, all of them or none."""
    items = [one.model_copy(update={"correlation": one.correlation or x_correlation_id}) for one in wanted.runs]
    prepared = await prepare(here.database, items, who, paths=[f"runs[{index}]." for index in range(len(items))])
    with _by_position():
        if wanted.dry_run:
            await here.runs.check([one.ask for one in prepared])
            response.status_code = 200
            return RunsAccepted(runs=[_unwritten(one) for one in prepared])
        accepted = await here.runs.enqueue_many([one.ask for one in prepared])
    return RunsAccepted(runs=[RunAccepted.of(one, item.definition) for one, item in zip(accepted, items, strict=True)])


@router.get("")
async def list_runs(wanted: Annotated[RunQuery, Query()], here: Here, who: Who) -> RunPage:
    """List runs, newest first."""
    listing = ("runs", who.tenant, wanted.model_dump(exclude={"cursor", "limit"}))
    after = None if wanted.cursor is None else UUID(here.cursors.read(listing, wanted.cursor))
    async with here.database.once() as tx:
        rows = await runs.listed(tx, _filter(wanted), tenant=who.tenant, after=after, limit=wanted.limit + 1)
    page, more = rows[: wanted.limit], len(rows) > wanted.limit
    cursor = here.cursors.write(listing, str(page[-1]["id"])) if more else None
    return RunPage(items=[Run.of(row) for row in page], next_cursor=cursor)


@router.get("/{run_id}")
async def read_run(run_id: UUID, here: Here, who: Who) -> Run:
    """Read a run without its parameters and result."""
    return await _shown(here, who, run_id)


@router.get("/{run_id}/content")
async def read_content(run_id: UUID, here: Here, who: Who) -> RunContent:
    """Read a run's parameters or payload, and its result.  That somebody did is kept."""
    async with here.database.begin() as tx:
        row = await _found(tx, run_id, who)
        params = await runs.params_text(tx, row)
        kept = await tx.fetch_one(runs.INPUT, run=run_id)
        await audit.write(tx, audit.Entry(who.actor, "run.content.read", f"run:{run_id}", who.tenant))
    return RunContent.of(row, params, None if kept is None else kept["payload"])


@router.get("/{run_id}/attempts")
async def read_attempts(run_id: UUID, here: Here, who: Who) -> list[Attempt]:
    """Read every attempt of a run, in order."""
    async with here.database.begin() as tx:
        row = await _found(tx, run_id, who)
        return attempts_of(row, await attempts.of_run(tx, run_id))


@router.get("/{run_id}/history")
async def read_history(run_id: UUID, here: Here, who: Who) -> list[Event]:
    """Read the moves of a run: who, when and why."""
    async with here.database.begin() as tx:
        row = await _found(tx, run_id, who)
        return history(row, await attempts.of_run(tx, run_id))


@router.post("/{run_id}:cancel")
async def cancel_run(run_id: UUID, here: Here, who: Who, wanted: Why | None = None) -> Run:
    """Cancel a run: at once if it does not run, by a wish to its worker if it does.  One that is cancelled stays so."""
    reason = wanted.reason if wanted else ""
    if await _is_open(here, who, run_id):
        done = await here.runs.cancel([run_id], actor=who.actor, reason=reason)
        async with here.database.once() as tx:
            await audit.write(tx, audit.Entry(who.actor, "run.cancel", f"run:{run_id}", who.tenant, reason, new=done[run_id]))
    return await _shown(here, who, run_id)


@router.post("/{run_id}:rerun", status_code=201, responses=KNOWN_KEY)
async def rerun_run(run_id: UUID, desk: Desk, wanted: Why | None = None, idempotency_key: IdempotencyKey = None) -> RunAccepted:
    """Make a fresh run of what a finished run was given, secrets included: without its slot and key, as often as it is asked for."""
    return await desk.again(desk.runs.rerun, run_id, wanted, idempotency_key)


@router.post("/{run_id}:replay", status_code=201, responses=KNOWN_KEY)
async def replay_run(run_id: UUID, desk: Desk, wanted: Why | None = None, idempotency_key: IdempotencyKey = None) -> RunAccepted:
    """Run a failed run once more, once, in its place: for the same slot, token and key."""
    return await desk.again(desk.runs.replay, run_id, wanted, idempotency_key)


@contextmanager
def _by_position() -> Iterator[None]:
    """Name what is wrong with one of several asks as the request named it."""
    try:
        yield
    except Invalid as error:
        raise Invalid([Problem(one.field.replace("asks[", "runs[", 1), one.message) for one in error.problems]) from error


async def _is_open(here: Platform, who: Caller, run_id: UUID) -> bool:
    async with here.database.once() as tx:
        state = State((await _found(tx, run_id, who))["state"])
    if state in FINAL - {State.CANCELLED}:
        raise Conflict(f"run: it has {state.name.lower()} already", code="run_final")
    return state not in FINAL


async def _shown(here: Platform, who: Caller, run_id: UUID) -> Run:
    async with here.database.begin() as tx:
        row = await _found(tx, run_id, who)
        return Run.of(row, await progress.of_run(tx, run_id))


async def _found(tx: Tx, run_id: UUID, who: Caller) -> Row:
    row = await runs.get(tx, run_id, who.tenant)
    if row is None:
        raise NotFound(f"run: there is no run {run_id}")
    return row


def _filter(wanted: RunQuery) -> runs.Filter:
    states: Sequence[int] | None = None if wanted.state is None else [State[name.upper()] for name in wanted.state]
    narrowed = wanted.model_dump(include={one.name for one in fields(runs.Filter)} - {"state"})
    return runs.Filter(states, **narrowed)


def _unwritten(prepared: Prepared) -> RunAccepted:
    ask, row = prepared
    priority = row["priority"] if ask.priority is None else ask.priority
    return RunAccepted(id=None, state=None, definition=ask.definition, queue=row["queue"], priority=priority, dry_run=True)
