"""Lock runs and read what `headway.core.run.settle` must know of them."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import Integer, Interval, Uuid, func, select
from sqlalchemy.sql.selectable import Select

from headway.core.definition import policy_of
from headway.core.run import Open, State
from headway.store.schema import definition, run
from headway.store.statement import array, const, now, param, statement
from headway.store.tx import Row, Tx

_OPEN: Final = (
    run.c.id,
    run.c.state,
    run.c.attempt,
    run.c.failures,
    run.c.crashes,
    run.c.created_at,
    run.c.slot_at,
    run.c.restartable,
    run.c.cancel_requested_at,
    run.c.cancel_by,
    run.c.reason,
    run.c.session,
    run.c.started_at,
    func.coalesce(definition.c.attempts, const(1)).label("attempts"),
    definition.c.backoff,
    definition.c.retry_horizon,
)


def _locked(*where: object) -> Select[tuple[object, ...]]:
    joined = run.outerjoin(definition, definition.c.id == run.c.definition_id)
    return select(*_OPEN).select_from(joined).where(*where).order_by(run.c.id).with_for_update(of=run)  # type: ignore[arg-type]  # clauses


HELD: Final = statement(
    "lock_held",
    _locked(
        run.c.session == param("session", Uuid),
        run.c.id == func.any(array("ids", Uuid)),
    ),
)
LISTED: Final = statement("lock_listed", _locked(run.c.id == func.any(array("ids", Uuid))))
OF_SESSION: Final = statement(
    "lock_of_session", _locked(run.c.session == param("session", Uuid), run.c.state == const(State.RUNNING)).limit(param("limit", Integer))
)
OVERDUE: Final = statement(
    "lock_overdue",
    _locked(run.c.state == const(State.RUNNING), run.c.deadline_at < now() - param("grace", Interval)).limit(param("limit", Integer)),
)


class Held:
    """One locked open run: what settle decides from, and the fence it was read under."""

    __slots__ = ("open", "session", "started_at")

    def __init__(self, row: Row) -> None:
        self.session: UUID | None = row["session"]
        self.started_at = row["started_at"]
        wish = row["cancel_requested_at"] is not None
        self.open = Open(
            row["id"],
            State(row["state"]),
            row["attempt"],
            row["failures"],
            row["crashes"],
            row["slot_at"] or row["created_at"],
            policy_of(row["attempts"], row["backoff"] or {}, row["retry_horizon"]),
            row["restartable"],
            (row["reason"] or f"cancelled by {row['cancel_by']}") if wish else None,
        )


async def held_by(tx: Tx, session: UUID, ids: Sequence[UUID]) -> list[Held]:
    """Lock those of the runs that the session holds, in id order."""
    return [Held(row) for row in await tx.fetch(HELD, session=session, ids=sorted(ids))]


async def listed(tx: Tx, ids: Sequence[UUID]) -> list[Held]:
    """Lock those of the runs that are open, in id order."""
    return [Held(row) for row in await tx.fetch(LISTED, ids=sorted(ids))]


async def of_session(tx: Tx, session: UUID, limit: int) -> list[Held]:
    """Lock at most `limit` of the runs that a session still holds."""
    return [Held(row) for row in await tx.fetch(OF_SESSION, session=session, limit=limit)]


async def overdue(tx: Tx, grace: object, limit: int) -> list[Held]:
    """Lock at most `limit` running runs whose deadline passed longer ago than the grace."""
    return [Held(row) for row in await tx.fetch(OVERDUE, grace=grace, limit=limit)]
