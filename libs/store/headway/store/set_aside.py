"""Take a definition's queued runs back from the workers, until what they wait for has ended."""

from typing import Final
from uuid import UUID

from sqlalchemy import SmallInteger, Uuid, select, true, update

from headway.core.run import Cause, State
from headway.store.schema import run
from headway.store.statement import const, param, statement
from headway.store.tx import Tx

_queued = (
    select(run.c.id)
    .where(run.c.definition_id == param("of", Uuid), run.c.state == const(State.QUEUED))
    .order_by(run.c.id)
    .with_for_update()
    .cte("queued")
    .prefix_with("MATERIALIZED")
)
HOLD_QUEUED: Final = statement(
    "hold_queued",
    update(run).where(run.c.id == _queued.c.id).values(state=const(State.HELD), cause=param("cause", SmallInteger), gated=true()),
)


async def hold_queued(tx: Tx, definition_id: UUID, cause: Cause) -> int:
    """Hold the queued runs of a definition for a cause, and say how many; whoever does so has taken the definition's gate."""
    return await tx.execute(HOLD_QUEUED, of=definition_id, cause=int(cause))
