"""Make batches, append to them, close them: each in one transaction, all or none."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, NamedTuple
from uuid import UUID

from headway.core.ask import Ask
from headway.core.batch import BatchAsk, Parentage, children_of, parent_ask
from headway.core.errors import Conflict, HeadwayError, Invalid, Problem
from headway.core.ids import make_ids
from headway.core.reading import demand
from headway.core.run import State
from headway.store import batches, cancel, keys, runs, tallying
from headway.store.accept import accept, request_hashes
from headway.store.enqueue import Accepted, create
from headway.store.gates import Placed
from headway.store.reactions import Kind
from headway.store.sealing import Sealing, sealings_of, values_of
from headway.store.tx import Row, Tx

AT_ONCE: Final = 1000
OWES: Final = 1 << Kind.BATCH


class Scope(NamedTuple):
    """Where a key is one of its kind."""

    name: str
    tenant: str
    key: str | None


class Made(NamedTuple):
    """A batch that now exists, or stood already under its key, and the children to announce."""

    parent: UUID
    total: int
    queued: Sequence[Placed] = ()
    existing: bool = False


class Appended(NamedTuple):
    """Children that now exist, or stood already under the key: the index of the first, how many, and the batch's total."""

    first: int
    added: int
    total: int
    queued: Sequence[Placed] = ()
    existing: bool = False


async def make(tx: Tx, wanted: BatchAsk) -> Made:
    """Create a parent with its children.  Raises Invalid with every child that is refused by its index, and then nothing is created.

    NotFound: no such definition.  Conflict: it is disabled, or the key belongs to another request.  Raises KeyContested.
    """
    parent, *ids = make_ids(tx.now, 1 + len(wanted.children))
    ask = parent_ask(wanted.parent)
    children = [child._replace(tenant=ask.tenant) for child in wanted.children]
    await _require_secrets_apart(tx, ask, children)
    options = (wanted.closed, wanted.max_concurrent, wanted.mixed.value, wanted.counted, wanted.triggers)
    owner = await _owner(tx, Scope(ask.definition, ask.tenant, ask.key), parent, repr(options), [ask, *children])
    if owner != parent:
        return Made(owner, (await batches.get(tx, owner, None))["total"], existing=True)
    [answer] = await create(tx, [ask], ids=[parent])
    if isinstance(answer, HeadwayError):
        raise answer
    await batches.insert_row(tx, parent, wanted)
    waits = wanted.max_concurrent > 0
    parentage = Parentage(parent, ask.definition, ask.tenant, answer.priority, ask.correlation, wanted.counted, wanted.triggers, waits)
    queued = await _add(tx, children_of(parentage, children, 0, OWES), ids)
    return Made(parent, len(ids), [*queued, *(await tallying.tally(tx, parent)).queued])


async def append(tx: Tx, parent: UUID, children: Sequence[Ask], *, tenant: str | None, key: str | None = None) -> Appended:
    """Add children to an open batch, all or none.  The same key with the same children adds them once.

    NotFound: no such batch.  Conflict: it is closed, or cancelled.  Raises Invalid with every child that is refused, KeyContested.
    """
    row = await batches.get(tx, parent, tenant, locked=True)
    ids = make_ids(tx.now, len(children))
    named = [child._replace(tenant=row["tenant"]) for child in children]
    owner = await _owner(tx, Scope(f"batch:{parent}", row["tenant"], key), ids[0], "", named)
    if owner != ids[0]:
        return await _appended_before(tx, owner, row, len(children))
    run = await _require_open(tx, row)
    waits = row["max_concurrent"] > 0
    parentage = Parentage(
        parent, run["definition"], row["tenant"], run["priority"], run["correlation"], row["counted"], row["triggers"], waits
    )
    await tx.execute(batches.GROW, parent=parent, more=len(children))
    queued = await _add(tx, children_of(parentage, named, row["total"], OWES), ids)
    looked = await tallying.tally(tx, parent)
    return Appended(row["total"], len(ids), row["total"] + len(ids), [*queued, *looked.queued])


async def close(tx: Tx, parent: UUID, *, tenant: str | None) -> tallying.Looked:
    """Take no more children: the parent ends with the last of those that there are.  One that is closed stays so.  Raises NotFound."""
    await batches.get(tx, parent, tenant, locked=True)
    await tx.execute(batches.CLOSE, parents=[parent])
    return await tallying.tally(tx, parent)


async def second_chance(tx: Tx, stuck: Row) -> tallying.Looked:
    """Move on a batch that `batches.stuck` found: one whose opener has ended is closed, a cancelled one cancels more children."""
    parent = stuck["parent"]
    if stuck["wished"]:
        run = await runs.get(tx, parent, None)
        done = await cancel.cancel(tx, [parent], actor="" if run is None else run["cancel_by"] or "", reason="its batch is cancelled")
        return tallying.Looked(done.promoted, [one for one in done.ended if one.id == parent])
    return await (close(tx, parent, tenant=None) if stuck["opener_ended"] else tallying.tally(tx, parent))


async def _add(tx: Tx, children: Sequence[Ask], ids: Sequence[UUID]) -> list[Placed]:
    refused: list[Problem] = []
    queued: list[Placed] = []
    for first in range(0, len(children), AT_ONCE):
        answers = await accept(tx, children[first : first + AT_ONCE], ids=ids[first : first + AT_ONCE])
        for number, one in enumerate(answers, first):
            refused += _problems(number, one) if isinstance(one, HeadwayError) else ()
        made = [one for one in answers if isinstance(one, Accepted) and one.state is State.QUEUED]
        queued += [Placed(one.id, one.state, one.queue, one.priority) for one in made]
    demand(refused)
    return queued


def _problems(index: int, error: HeadwayError) -> list[Problem]:
    found = error.problems if isinstance(error, Invalid) else [Problem(*error.message.split(": ", 1))]
    return [Problem(f"children[{index}].{one.field}", one.message) for one in found]


async def _require_secrets_apart(tx: Tx, parent: Ask, children: Sequence[Ask]) -> None:
    """A parent keeps what its children inherit, sealed where its own definition calls it secret; what only theirs do it must not keep."""
    given = values_of(parent.params)
    known = await sealings_of(tx, [parent, *children]) if given else {}
    own = known.pop((parent.owner, parent.definition), Sealing()).secrets
    demand(
        [
            Problem(f"params.{name}", f"is secret for {definition!r} and not for {parent.definition!r}: give it to the children alone")
            for (_, definition), sealing in sorted(known.items())
            for name in given
            if sealing.secrets.covers(name) and not own.covers(name)
        ]
    )


async def _owner(tx: Tx, scope: Scope, fresh: UUID, options: str, asks: Sequence[Ask]) -> UUID:
    """Return the run that a key belongs to, `fresh` when it is new or there is no key.  Raises Conflict, KeyContested."""
    if scope.key is None:
        return fresh
    newest, *older = await _hashes(tx, options, asks)
    claim = keys.Claim(scope.tenant, scope.name, scope.key, fresh, newest, keys.KEEP, tuple(older))
    owner = (await keys.take(tx, [claim]))[fresh]
    if isinstance(owner, Conflict):
        raise owner
    return owner


async def _hashes(tx: Tx, options: str, asks: Sequence[Ask]) -> list[bytes]:
    """Return what two requests under one key must have in common, once for each key that seals secrets, the newest first."""
    known = await sealings_of(tx, asks)
    forms = [request_hashes(ask, known.get((ask.owner, ask.definition), Sealing()).secrets, tx.vault) for ask in asks]
    heads = [f"\x00{ask.definition}\x00".encode() for ask in asks]
    return [
        _digest(options, [head + one[min(age, len(one) - 1)] for head, one in zip(heads, forms, strict=True)])
        for age in range(max(map(len, forms)))
    ]


def _digest(options: str, parts: Sequence[bytes]) -> bytes:
    return blake2b(options.encode() + b"".join(parts), digest_size=16).digest()


async def _appended_before(tx: Tx, first: UUID, row: Row, count: int) -> Appended:
    child = await runs.get(tx, first, None)
    if child is None:
        raise Conflict("idempotency key: the children that it belongs to are no longer kept", code="key_spent")
    return Appended(child["batch_index"], count, row["total"], existing=True)


async def _require_open(tx: Tx, row: Row) -> Row:
    run = await runs.get(tx, row["parent"], None)
    if row["closed"] or row["ended_at"] is not None or run is None:
        raise Conflict(f"batch: {row['parent']} is closed and takes no more children", code="batch_closed")
    return run
