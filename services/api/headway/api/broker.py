"""The broker: what died in it, and making it whole again."""

from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Final

from fastapi import APIRouter
from pydantic import BaseModel, Field

from headway.api.edge import Route
from headway.api.inputs import Asked, Text
from headway.api.platform import Caller, Here, Platform, Who
from headway.broker import DeadLetter, Queued, Receipt, hints
from headway.core.errors import Invalid
from headway.store import audit, definitions, reactions, runs
from headway.store.tx import Database, Row

PAGE: Final = 1000

router = APIRouter(prefix="/v1", tags=["broker"], route_class=Route)


class DeadMessage(BaseModel):
    """One message that could not be handled; a body that is no text is shown as base64."""

    id: str
    type: str
    origin: str
    reason: str
    tries: int
    body: str
    encoding: str

    @classmethod
    def of(cls, letter: DeadLetter) -> "DeadMessage":
        """Show a message of the dead queue."""
        try:
            body, encoding = letter.body.decode(), "utf-8"
        except UnicodeDecodeError:
            body, encoding = b64encode(letter.body).decode(), "base64"
        return cls(
            id=letter.id, type=letter.type, origin=letter.origin, reason=letter.reason, tries=letter.tries, body=body, encoding=encoding
        )


class ParkedReaction(BaseModel):
    """Follow-up work that was given up on; it is still owed."""

    run: str
    kind: str
    tries: int
    last_error: str | None

    @classmethod
    def of(cls, row: Row) -> "ParkedReaction":
        """Show a row of `headway.store.reactions`."""
        kind = reactions.Kind(row["kind"]).name.lower()
        return cls(run=str(row["run"]), kind=kind, tries=row["tries"], last_error=row["last_error"])


class Dead(BaseModel):
    """What could not be handled."""

    messages: list[DeadMessage]
    reactions: list[ParkedReaction]


class RequeueRequest(Asked):
    """Which messages go back to where they came from; null: all of them, and parked reactions with them."""

    ids: Annotated[list[Text], Field(min_length=1, max_length=1000)] | None = None
    reason: Text = ""


class PurgeRequest(Asked):
    """Why the dead queue is emptied."""

    reason: Text = ""


class RebuildRequest(Asked):
    """Whose runs are announced again; null: those of every definition."""

    definition: Text | None = None
    reason: Text = ""


class Requeued(BaseModel):
    """How many messages went back, and how many reactions are tried again."""

    messages: int
    reactions: int


class Purged(BaseModel):
    """How many messages are gone."""

    messages: int


class Rebuilt(BaseModel):
    """What a rebuild found queued and announced: hints that the broker took, and those that it did not."""

    queues: list[str]
    runs: int
    hints: int
    refused: int


@router.get("/dead")
async def list_dead(here: Here, who: Who) -> Dead:
    """Look at what could not be handled; nothing is taken from it."""
    messages = await here.broker.dead(200)
    async with here.database.once() as tx:
        parked = await reactions.parked(tx, 200)
    return Dead(messages=[DeadMessage.of(letter) for letter in messages], reactions=[ParkedReaction.of(row) for row in parked])


@router.post("/dead:requeue")
async def requeue_dead(here: Here, who: Who, wanted: RequeueRequest | None = None) -> Requeued:
    """Send dead messages back to the queues that they came from, their count reset."""
    wanted = wanted or RequeueRequest()
    messages = await here.broker.requeue_dead(wanted.ids)
    async with here.database.begin() as tx:
        freed = 0 if wanted.ids is not None else await reactions.free(tx)
        done = Requeued(messages=messages, reactions=freed)
        await audit.write(tx, _entry(who, "dead.requeue", "dead", wanted.reason, done))
    return done


@router.post("/dead:purge")
async def purge_dead(here: Here, who: Who, wanted: PurgeRequest | None = None) -> Purged:
    """Empty the dead queue; what its messages told of is still in the database."""
    done = Purged(messages=await here.broker.purge_dead())
    async with here.database.once() as tx:
        await audit.write(tx, _entry(who, "dead.purge", "dead", wanted.reason if wanted else "", done))
    return done


@router.post("/broker:rebuild")
async def rebuild_broker(here: Here, who: Who, wanted: RebuildRequest | None = None) -> Rebuilt:
    """Declare everything in the broker again, and announce every run that is queued."""
    wanted = wanted or RebuildRequest()
    if wanted.definition is not None:
        await _require_definition(here.database, wanted.definition, who)
    done = await rebuild(here, wanted.definition)
    async with here.database.once() as tx:
        await audit.write(tx, _entry(who, "broker.rebuild", "broker", wanted.reason, done))
    return done


async def rebuild(here: Platform, definition: str | None) -> Rebuilt:
    """Do it, and say what was found.  Raises Unavailable while the broker is away."""
    await here.broker.round_trip()
    queues: set[str] = set()
    found, taken, refused = 0, 0, 0
    async for page in _queued(here.database, definition):
        new = {run.queue for run in page} - queues
        await here.broker.declare_run_queues(sorted(new))
        queues |= new
        found += len(page)
        for letter in hints.created(page):
            confirmed = await here.broker.publish(letter) is Receipt.CONFIRMED
            taken, refused = taken + confirmed, refused + (not confirmed)
    return Rebuilt(queues=sorted(queues), runs=found, hints=taken, refused=refused)


async def _queued(database: Database, definition: str | None) -> AsyncIterator[Sequence[Queued]]:
    after = None
    while True:
        async with database.once() as tx:
            page = await runs.queued(tx, definition=definition, after=after, limit=PAGE)
        if not page:
            return
        yield [Queued(run.id, run.queue, run.priority) for run in page]
        after = page[-1].id


async def _require_definition(database: Database, name: str, who: Caller) -> None:
    async with database.once() as tx:
        if await definitions.get(tx, name, who.tenant) is None:
            raise Invalid.field("definition", f"there is no definition {name!r}", code="definition_unknown")


def _entry(who: Caller, action: str, subject: str, reason: str, done: BaseModel) -> audit.Entry:
    return audit.Entry(who.actor, action, subject, who.tenant, reason, new=done.model_dump())
