"""Idempotency keys: concurrent duplicates yield one run and the same answer."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg
from sqlalchemy import Interval, LargeBinary, Text, Uuid, and_, delete, exists, func, literal_column, select
from sqlalchemy.dialects.postgresql import insert

from headway.core.errors import Conflict
from headway.store.schema import idempotency_key, run
from headway.store.statement import array, given, now, param, statement
from headway.store.tx import Tx

KEEP: Final = timedelta(hours=24)
WAIT: Final = timedelta(seconds=2)


class KeyContested(Conflict):
    """A transaction that took the key has not ended: ask again in a moment."""

    code = "key_contested"


class Claim(NamedTuple):
    """A key (tenant, definition, key) and the run that is to have it; kept for `keep`, and at least while that run is open.

    `older` are hashes that the same request had by keys of secrets that are no longer the newest.
    """

    tenant: str
    definition: str
    key: str
    run: UUID
    request_hash: bytes
    keep: timedelta = KEEP
    older: tuple[bytes, ...] = ()


_claims = given("c", tenant=Text, definition=Text, key=Text, run=Uuid, request_hash=LargeBinary, keep=Interval)
_c, _k = _claims.c, idempotency_key.c
_same: Final = and_(_k.tenant == _c.tenant, _k.definition == _c.definition, _k.key == _c.key)
_expired: Final = and_(_k.expires_at <= now(), ~exists().where(run.c.id == _k.run))
FORGET: Final = statement("key_forget", delete(idempotency_key).where(_same, _expired))
TAKE: Final = statement(
    "key_take",
    insert(idempotency_key)
    .from_select(
        ["tenant", "definition", "key", "request_hash", "run", "expires_at"],
        select(_c.tenant, _c.definition, _c.key, _c.request_hash, _c.run, now() + _c.keep).order_by(
            _c.tenant, _c.definition, _c.key, _c.run
        ),
    )
    .on_conflict_do_nothing(),
)
FIND: Final = statement(
    "key_find", select(_c.run.label("asked"), _k.run, _k.request_hash).select_from(_claims.join(idempotency_key, _same))
)
RELEASE: Final = statement("key_release", delete(idempotency_key).where(_k.run == func.any(array("ids", Uuid))))
PATIENCE: Final = statement("lock_patience", select(func.current_setting(literal_column("'lock_timeout'", Text))))
WAIT_AT_MOST: Final = statement(
    "lock_wait_at_most",
    select(func.set_config(literal_column("'lock_timeout'", Text), param("patience", Text), literal_column("true"))),
)
PRUNE: Final = statement("key_prune", delete(idempotency_key).where(_expired))


async def take(tx: Tx, claims: Sequence[Claim], *, wait: timedelta = WAIT) -> dict[UUID, UUID | Conflict]:
    """Bind keys to runs and return, by the run that each was asked for, the run it belongs to: that one, or the one that was first.

    A Conflict stands for a key that belongs to a request with other parameters.  Raises KeyContested when a transaction that took
    one of the keys does not end within `wait`.
    """
    values = {name: list(column) for name, column in zip(Claim._fields, zip(*sorted(claims), strict=True), strict=True)}
    async with _waiting_at_most(tx, wait):
        await tx.execute(FORGET, **values)
        await tx.execute(TAKE, **values)
    found = {row["asked"]: row for row in await tx.fetch(FIND, **values)}
    answers: dict[UUID, UUID | Conflict] = {}
    for claim in claims:
        standing = found.get(claim.run)
        if standing is None:
            raise KeyContested("idempotency key: the request that took it was undone, try again")
        same = bytes(standing["request_hash"]) in (claim.request_hash, *claim.older)
        answers[claim.run] = UUID(str(standing["run"])) if same else _reused(claim)
    return answers


async def release(tx: Tx, ids: Sequence[UUID]) -> int:
    """Give back the keys of runs that were not accepted after all."""
    return await tx.execute(RELEASE, ids=list(ids))


async def prune(tx: Tx) -> int:
    """Delete expired keys whose run is no longer open, and say how many."""
    return await tx.execute(PRUNE)


def _reused(claim: Claim) -> Conflict:
    return Conflict(f"idempotency key: {claim.key!r} was used with other parameters", code="key_reused")


@asynccontextmanager
async def _waiting_at_most(tx: Tx, wait: timedelta) -> AsyncIterator[None]:
    """Wait at most this long for each lock; the transaction may be somebody else's and gets its own patience back."""
    before = await tx.fetch_value(PATIENCE)
    await tx.fetch_value(WAIT_AT_MOST, patience=f"{max(1, wait // timedelta(milliseconds=1))}ms")
    try:
        yield
    except asyncpg.LockNotAvailableError as error:
        raise KeyContested("idempotency key: another request with it is under way, try again") from error
    await tx.fetch_value(WAIT_AT_MOST, patience=before)
