"""Give queued runs to a live session: by id, as a hint names them, or by order, as a look finds them.

Both are one statement that is its own transaction.  Both lock their session's row FOR KEY SHARE, so that a session cannot be
stopped between the check and the claim.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Integer, Text, Uuid, and_, func, literal_column, or_, select, update
from sqlalchemy.sql.elements import ColumnElement

from headway.core.run import State
from headway.store.schema import batch, run, run_input, session
from headway.store.sessions import SessionState, require_live
from headway.store.statement import Statement, array, const, hidden, now, param, statement
from headway.store.tx import Row, Tx


class Claimed(NamedTuple):
    """A run that a session holds: `(session, attempt)` is the fence of everything it may write.

    A tuple in the statement's own order: one is made for every run, and a frozen dataclass costs ten times as much.
    """

    id: UUID
    attempt: int
    handler: str
    definition: str
    definition_id: UUID
    tenant: str
    queue: str
    priority: int
    params: str | None
    stored_token: UUID | None
    schedule: UUID | None
    slot_at: datetime | None
    available_at: datetime
    started_at: datetime
    deadline_at: datetime
    failures: int
    gated: bool
    owes: int
    correlation: str | None
    has_input: bool
    parent: UUID | None
    batch_index: int | None
    payload: bytes | None
    traceparent: str | None
    batch_total: int | None

    @property
    def token(self) -> UUID:
        """The idempotency token: the same for all attempts and replays of a slot or key."""
        return self.stored_token or self.id


_COLD: Final = {"payload": run_input.c.payload, "traceparent": run_input.c.traceparent, "batch_total": batch.c.total}
_TAKEN: Final = (
    *[run.c[name.removeprefix("stored_")] for name in Claimed._fields if name not in _COLD],
    *[literal_column("NULL", kept.type).label(name) for name, kept in _COLD.items()],
)
_me = (
    select(now().label("now"))
    .where(
        session.c.id == param("session", Uuid),
        session.c.state == const(SessionState.RUNNING),
        session.c.lease_until > now(),
    )
    .with_for_update(read=True, key_share=True)
    .cte("me")
    .prefix_with("MATERIALIZED")
)
_now: Final = select(_me.c.now).scalar_subquery()
_taking: Final[Mapping[str, Any]] = {
    "state": const(State.RUNNING),
    "session": param("session", Uuid),
    "attempt": run.c.attempt + const(1),
    "started_at": _now,
    "deadline_at": _now + run.c.timeout,
}


def _wanted(handlers: ColumnElement[bool]) -> ColumnElement[bool]:
    in_time = or_(run.c.start_by.is_(None), run.c.attempt > const(0), run.c.start_by > _now)
    return and_(run.c.cancel_requested_at.is_(None), handlers, _now.is_not(None), in_time)


CLAIM_BY_ID: Final = statement(
    "claim_by_id",
    update(run)
    .where(
        run.c.id == func.any(array("ids", Uuid)),
        hidden(run.c.state, State.QUEUED),
        _wanted(run.c.handler == func.any(array("handlers", Text))),
    )
    .values(_taking)
    .returning(*_TAKEN),
)
_head = (
    select(run.c.id)
    .where(
        run.c.queue == param("queue", Text),
        run.c.state == const(State.QUEUED),
        _wanted(run.c.handler == func.any(array("handlers", Text))),
    )
    .order_by(-run.c.priority, run.c.available_at, run.c.id)
    .limit(param("limit", Integer))
    .with_for_update(skip_locked=True)
    .cte("head")
    .prefix_with("MATERIALIZED")
)
CLAIM_BY_ORDER: Final = statement("claim_by_order", update(run).where(run.c.id == _head.c.id).values(_taking).returning(*_TAKEN))
INPUTS: Final = statement("claim_inputs", select(run_input).where(run_input.c.run == func.any(array("ids", Uuid))))
TOTALS: Final = statement("claim_totals", select(batch.c.parent, batch.c.total).where(batch.c.parent == func.any(array("parents", Uuid))))


async def claim(tx: Tx, session_id: UUID, wanted: Sequence[UUID], *, handlers: Sequence[str]) -> list[Claimed]:
    """Give the wanted runs to a live session, or fewer, or none.

    A run that is missing from the answer was taken, cancelled, is not due or has no handler here: nothing is owed to whoever asked.
    Raises LeaseLost when the session is not live.
    """
    return await _take(tx, CLAIM_BY_ID, session_id, ids=sorted(wanted), handlers=list(handlers))


async def claim_next(tx: Tx, session_id: UUID, queue: str, *, handlers: Sequence[str], limit: int) -> list[Claimed]:
    """Give at most `limit` queued runs of a queue to a live session: priority first, then due instant, then id.

    Raises LeaseLost when the session is not live.
    """
    return await _take(tx, CLAIM_BY_ORDER, session_id, queue=queue, handlers=list(handlers), limit=limit)


async def _take(tx: Tx, how: Statement, session_id: UUID, **values: Any) -> list[Claimed]:
    rows = await tx.fetch(how, session=session_id, **values)
    if not rows:
        await require_live(tx, session_id)
        return []
    claimed = [Claimed._make(row.values()) for row in rows]
    if any(run.batch_index is not None for run in claimed):
        claimed = await _with_totals(tx, claimed)
    return await _with_inputs(tx, claimed) if any(run.has_input for run in claimed) else claimed


async def _with_totals(tx: Tx, claimed: list[Claimed]) -> list[Claimed]:
    parents = sorted({run.parent for run in claimed if run.batch_index is not None and run.parent is not None})
    totals = {row["parent"]: row["total"] for row in await tx.fetch(TOTALS, parents=parents)}
    return [run if run.batch_index is None else run._replace(batch_total=totals.get(run.parent)) for run in claimed]


async def _with_inputs(tx: Tx, claimed: list[Claimed]) -> list[Claimed]:
    rows = await tx.fetch(INPUTS, ids=[run.id for run in claimed if run.has_input])
    inputs = {row["run"]: row for row in rows}
    return [_complete(run, inputs.get(run.id)) for run in claimed]


def _complete(run: Claimed, given: Row | None) -> Claimed:
    if given is None:
        return run
    return run._replace(params=given["params"] or run.params, payload=given["payload"], traceparent=given["traceparent"])
