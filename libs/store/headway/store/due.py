"""Release what is due: scheduled runs whose instant has come go to admit."""

from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, Integer, Uuid, false, func, select, update

from headway.core.run import State
from headway.store.gates import Placed, place
from headway.store.schema import run
from headway.store.statement import INSTANT, const, now, param, statement
from headway.store.tx import Tx

_due = (
    select(run.c.id)
    .where(run.c.state == const(State.SCHEDULED), run.c.available_at <= param("now", INSTANT))
    .order_by(run.c.available_at, run.c.id)
    .limit(param("limit", Integer))
)
_head = _due.where(~run.c.gated).with_for_update(skip_locked=True).cte("head").prefix_with("MATERIALIZED")
# An array of ids, for a join would be planned for as many rows as the statistics promise.
_found = func.array(select(_head.c.id).scalar_subquery(), type_=ARRAY(Uuid))
RELEASE_DUE: Final = statement(
    "due_release",
    update(run).where(run.c.id == func.any(_found)).values(state=const(State.QUEUED)).returning(run.c.id, run.c.queue, run.c.priority),
)
# Not locked: gates come before runs, and admit looks at each run again when it has locked it.
GATED_DUE: Final = statement("due_gated", _due.where(func.coalesce(run.c.gated, false())))
UNTIL_NEXT: Final = statement("due_until_next", select(func.min(run.c.available_at) - now()).where(run.c.state == const(State.SCHEDULED)))


class Released(NamedTuple):
    """What a pass of the due step found: how many were due, and what is queued now."""

    found: int
    queued: list[Placed]


async def release(tx: Tx, limit: int = 1000) -> Released:
    """Queue or hold scheduled runs that are due, at most `limit` with gates and as many without; never one that is not."""
    rows = await tx.fetch(RELEASE_DUE, now=tx.now, limit=limit)
    gated: list[UUID] = [row["id"] for row in await tx.fetch(GATED_DUE, now=tx.now, limit=limit)]
    queued = [Placed(row["id"], State.QUEUED, row["queue"], row["priority"]) for row in rows]
    queued += [run for run in await place(tx, gated) if run.state is State.QUEUED]
    return Released(len(rows) + len(gated), queued)


async def until_next(tx: Tx) -> timedelta | None:
    """Return how long it is until the next scheduled run is due, less than zero when it is; None when there is none."""
    wait: timedelta | None = await tx.fetch_value(UNTIL_NEXT)
    return wait
