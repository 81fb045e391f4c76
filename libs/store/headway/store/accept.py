"""Accept what is asked for, keys and limits included: the one way in for whoever calls."""

from collections.abc import Sequence
from datetime import timedelta
from hashlib import blake2b
from typing import Final
from uuid import UUID

from headway.core.ask import Ask
from headway.core.errors import Conflict, HeadwayError
from headway.core.ids import make_ids, token_for
from headway.core.run import State
from headway.core.secret import Vault
from headway.core.secret_names import NONE, Secrets
from headway.store import audit, gates, keys
from headway.store.enqueue import Accepted, create
from headway.store.runs import GET
from headway.store.sealing import Sealing, Sealings, canonical, sealings_of
from headway.store.tx import Tx
from headway.store.withdraw import withdraw

WHILE_OPEN: Final = b"while open"
Answer = Accepted | HeadwayError


async def accept(
    tx: Tx, asks: Sequence[Ask], *, ids: Sequence[UUID] | None = None, wait: timedelta = keys.WAIT, admit: bool = True
) -> list[Answer]:
    """Answer each ask in its place: the run that now exists, the run that its key found, or the error that is its own.

    NotFound: no such definition.  Conflict: it is disabled, refuses more runs for now, or the key belongs to another request.
    Without `admit` no lock is taken: runs of definitions with gates stay scheduled for the due step to admit.  `ids` are what `make_ids`
    gave in this transaction, for whoever has to know them before.  Raises KeyContested.
    """
    ids = make_ids(tx.now, len(asks)) if ids is None else ids
    if not any(ask.key is not None for ask in asks):
        answers = await create(tx, asks, ids=ids)
    else:
        answers = await _create_keyed(tx, ids, asks, wait)
    if admit:
        answers = await admitted(tx, asks, answers)
    for ask, one in zip(asks, answers, strict=True):
        if ask.forced and isinstance(one, Accepted) and not one.existing:
            await audit.write(tx, audit.Entry(ask.created_by, "run.forced", f"run:{one.id}", ask.tenant))
    return answers


async def admitted(tx: Tx, asks: Sequence[Ask], answers: list[Answer]) -> list[Answer]:
    """Let what was created in as far as its definitions' limits allow; a run that a limit refuses is withdrawn, its answer a Conflict."""
    if any(isinstance(one, Accepted) and one.gated and not one.existing for one in answers):
        return await _admit(tx, asks, answers)
    return answers


async def found_by(tx: Tx, claim: keys.Claim) -> Accepted | None:
    """Bind a key to a run that is to be made, or return the run that the same request made before.

    Raises Conflict for a key of another request, KeyContested.
    """
    owner = (await keys.take(tx, [claim]))[claim.run]
    if owner == claim.run:
        return None
    answer = _answer(claim.run, owner, await _standing(tx, [owner] if isinstance(owner, UUID) else []))
    if isinstance(answer, HeadwayError):
        raise answer
    return answer


def request_hashes(ask: Ask, secrets: Secrets = NONE, vault: Vault | None = None) -> list[bytes]:
    """Return what two requests under one key must have in common: their parameters, however they are written.

    Of secrets it tells nothing to whoever lacks the key; there is one hash for each key, the newest first.
    """
    if ask.unique_while_open:
        return [WHILE_OPEN]
    forms = canonical(ask.params, secrets, vault)
    return [blake2b(b"\x00".join((form, ask.payload or b"")), digest_size=16).digest() for form in forms]


async def _create_keyed(tx: Tx, ids: Sequence[UUID], asks: Sequence[Ask], wait: timedelta) -> list[Answer]:
    known = await sealings_of(tx, [ask for ask in asks if ask.key is not None and ask.params is not None])
    claims = [_claim(tx, id_, ask, known) for id_, ask in zip(ids, asks, strict=True) if ask.key is not None]
    owners = await keys.take(tx, claims, wait=wait)
    fresh = [(id_, _with_token(ask)) for id_, ask in zip(ids, asks, strict=True) if owners.get(id_, id_) == id_]
    created = await create(tx, [ask for _, ask in fresh], ids=[id_ for id_, _ in fresh]) if fresh else []
    made: dict[UUID, Answer] = dict(zip((id_ for id_, _ in fresh), created, strict=True))
    await keys.release(tx, [id_ for id_, one in made.items() if isinstance(one, HeadwayError)])
    before = await _standing(tx, [owner for owner in owners.values() if isinstance(owner, UUID) and owner not in made])
    return [_answer(id_, owners.get(id_, id_), made | before) for id_ in ids]


def _claim(tx: Tx, id_: UUID, ask: Ask, known: Sealings) -> keys.Claim:
    keep = timedelta() if ask.unique_while_open else keys.KEEP
    newest, *older = request_hashes(ask, known.get((ask.owner, ask.definition), Sealing()).secrets, tx.vault)
    return keys.Claim(ask.tenant, ask.definition, ask.key or "", id_, newest, keep, tuple(older))


def _with_token(ask: Ask) -> Ask:
    """A key gives its runs one idempotency token; while-open keys name many runs in turn, each with its own."""
    if ask.key is None or ask.unique_while_open or ask.token is not None:
        return ask
    return ask._replace(token=token_for("key", ask.tenant, ask.definition, ask.key))


def _answer(id_: UUID, owner: UUID | Conflict, known: dict[UUID, Answer]) -> Answer:
    if isinstance(owner, Conflict):
        return owner
    found = known.get(owner)
    if found is None:
        return Conflict("idempotency key: the run that it belongs to is no longer kept", code="key_spent")
    return found if owner == id_ or isinstance(found, HeadwayError) else found._replace(existing=True)


async def _standing(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, Answer]:
    rows = await tx.fetch(GET, ids=list(ids)) if ids else []
    return {row["id"]: Accepted(row["id"], State(row["state"]), row["queue"], row["priority"], False, True) for row in rows}


async def _admit(tx: Tx, asks: Sequence[Ask], answers: Sequence[Answer]) -> list[Answer]:
    due = {one.id for ask, one in zip(asks, answers, strict=True) if isinstance(one, Accepted) and one.gated and _may_start(tx, ask)}
    placed = {one.id: one for one in await gates.place(tx, sorted(due)) if one.id in due}
    refused = [id_ for id_, one in placed.items() if one.refusal]
    if refused:
        await withdraw(tx, refused)
        await keys.release(tx, refused)
    return [_admitted(one, placed) for one in answers]


def _may_start(tx: Tx, ask: Ask) -> bool:
    """Whether it is due, and held for nothing that somebody else frees it of."""
    due = ask.due(tx.now)
    return not ask.cause and (due is None or due <= tx.now)


def _admitted(answer: Answer, placed: dict[UUID, gates.Placed]) -> Answer:
    if isinstance(answer, HeadwayError) or answer.id not in placed:
        return answer
    place = placed[answer.id]
    if place.refusal:
        return Conflict(f"definition: it takes no more runs for now, {place.refusal}", code="over_limit")
    return answer._replace(state=place.state)
