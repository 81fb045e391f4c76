"""Rerun: a fresh run from what an earlier one was given; it has no slot, no key and a token of its own."""

from hashlib import blake2b
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import Uuid, select

from headway.core.ask import Ask, Origin
from headway.core.errors import Conflict, HeadwayError, NotFound
from headway.core.ids import make_id
from headway.core.run import FINAL, State
from headway.store import audit, batches, keys, runs
from headway.store.accept import admitted, found_by
from headway.store.enqueue import Accepted, create
from headway.store.schema import definition
from headway.store.statement import param, statement
from headway.store.tx import Row, Tx

OWNER: Final = statement("rerun_owner", select(definition.c.tenant).where(definition.c.id == param("definition", Uuid)))


class Again(NamedTuple):
    """Who wants a run once more, and why.  The same `key` is the same new run; `tenant` None means every tenant."""

    run: UUID
    actor: str
    reason: str = ""
    tenant: str | None = ""
    key: str | None = None
    traceparent: str | None = None


async def rerun(tx: Tx, wanted: Again) -> Accepted:
    """Make a fresh run of what a finished run was given, as often as somebody asks.

    Raises NotFound for a run or a definition that there is not, Conflict (`not_final`, disabled, over its limit, key used otherwise).
    """
    row = await original(tx, wanted)
    if State(row["state"]) not in FINAL:
        raise Conflict(f"run: it is {State(row['state']).name.lower()}, wait for its end or cancel it", code="not_final")
    id_ = make_id(tx.now)
    if before := await made_before(tx, wanted, row, id_):
        return before
    return await make(tx, await ask_again(tx, row, wanted, Origin.RERUN), id_, wanted)


async def original(tx: Tx, wanted: Again) -> Row:
    """Return the run that is wanted once more.  Raises NotFound, and Conflict for the parent of a batch."""
    row = await runs.get(tx, wanted.run, wanted.tenant)
    if row is None:
        raise NotFound(f"run: there is no run {wanted.run}")
    if await tx.fetch_one(batches.GET, parent=wanted.run) is not None:
        raise Conflict("run: it is the parent of a batch and ran nothing itself: make the batch again", code="batch_parent")
    return row


async def made_before(tx: Tx, wanted: Again, row: Row, id_: UUID, what: str = "rerun") -> Accepted | None:
    """Bind the request's key to the run that is to be made, or return the one that the same request made before."""
    if wanted.key is None:
        return None
    request = blake2b(f"{what} {wanted.run}".encode(), digest_size=16).digest()
    return await found_by(tx, keys.Claim(row["tenant"], row["definition"], wanted.key, id_, request))


async def ask_again(tx: Tx, row: Row, wanted: Again, origin: Origin) -> Ask:
    """Return the ask for what a run was given: its parameters as they are stored, secrets sealed, or its payload."""
    kept = await tx.fetch_one(runs.INPUT, run=row["id"])
    return Ask(
        row["definition"],
        tenant=row["tenant"],
        definition_tenant=await tx.fetch_value(OWNER, definition=row["definition_id"]),
        params=kept["params"] if row["params"] is None and kept is not None else row["params"],
        payload=None if kept is None else kept["payload"],
        priority=row["priority"],
        correlation=row["correlation"],
        created_by=wanted.actor,
        origin=origin,
        parent=row["id"],
        depth=row["depth"],
        traceparent=wanted.traceparent,
    )


async def make(tx: Tx, ask: Ask, id_: UUID, wanted: Again) -> Accepted:
    """Make the run, let it in as far as its definition's limits allow, and keep who asked for it.  Raises what refuses it."""
    [answer] = await admitted(tx, [ask], await create(tx, [ask], ids=[id_]))
    if isinstance(answer, HeadwayError):
        raise answer
    action = f"run.{ask.origin.name.lower()}"
    await audit.write(tx, audit.Entry(wanted.actor, action, f"run:{wanted.run}", ask.tenant, wanted.reason, new={"run": str(id_)}))
    return answer
