"""Idempotency keys: concurrent duplicates yield one run and the same answer."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import Interval, LargeBinary, Text, Uuid, and_, delete, exists, select
from sqlalchemy.dialects.postgresql import insert

from headway.core.errors import Conflict
from headway.store.schema import idempotency_key, run
from headway.store.statement import now, param, statement
from headway.store.tx import Tx

KEEP: Final = timedelta(hours=24)
WAIT_MILLIS: Final = 2000
_mine: Final = and_(
    idempotency_key.c.tenant == param("tenant", Text),
    idempotency_key.c.definition == param("definition", Text),
    idempotency_key.c.key == param("key", Text),
)
_expired: Final = and_(idempotency_key.c.expires_at <= now(), ~exists().where(run.c.id == idempotency_key.c.run))
FORGET: Final = statement("key_forget", delete(idempotency_key).where(_mine, _expired))
TAKE: Final = statement(
    "key_take",
    insert(idempotency_key)
    .values(
        tenant=param("tenant", Text),
        definition=param("definition", Text),
        key=param("key", Text),
        request_hash=param("request_hash", LargeBinary),
        run=param("run", Uuid),
        expires_at=now() + param("keep", Interval),
    )
    .on_conflict_do_nothing()
    .returning(idempotency_key.c.run),
)
FIND: Final = statement("key_find", select(idempotency_key.c.run, idempotency_key.c.request_hash).where(_mine))
PRUNE: Final = statement("key_prune", delete(idempotency_key).where(_expired))


async def take(tx: Tx, owner: tuple[str, str, str], run_id: UUID, request_hash: bytes, *, keep: timedelta = KEEP) -> UUID:
    """Bind a key (tenant, definition, key) to a run and return the run it belongs to: this one, or the one that was first.

    Waits at most 2 s for a transaction that took the key and has not ended (then Unavailable).
    Raises Conflict when the key belongs to a request with other parameters.
    """
    tenant, definition, key = owner
    mine = {"tenant": tenant, "definition": definition, "key": key}
    await tx.run(f"SET LOCAL lock_timeout = {WAIT_MILLIS}")
    await tx.execute(FORGET, **mine)
    if await tx.fetch_value(TAKE, **mine, run=run_id, request_hash=request_hash, keep=keep) is not None:
        return run_id
    standing = await tx.fetch_one(FIND, **mine)
    if standing is None:
        raise Conflict("idempotency key: the request that took it was undone, try again", code="key_contested")
    if bytes(standing["request_hash"]) != request_hash:
        raise Conflict(f"idempotency key: {key!r} was used with other parameters", code="key_reused")
    return UUID(str(standing["run"]))


async def prune(tx: Tx) -> int:
    """Delete expired keys whose run is no longer open, and say how many."""
    return await tx.execute(PRUNE)
