"""Keep a definition's runs from the workers until a pause or an open breaker has ended: what is queued is held, all others ask.

A run that asks its gates goes through admit wherever it goes on: at its instant, after an attempt, when it is handed back or rescued.
"""

from typing import Final
from uuid import UUID

from sqlalchemy import SmallInteger, Uuid, and_, case, func, or_, select, true, union, update

from headway.core.breaker import BreakerState
from headway.core.run import Cause, State
from headway.store import gates
from headway.store.limits import STRAYS_FOR
from headway.store.schema import breaker, definition, run
from headway.store.statement import INSTANT, const, param, statement
from headway.store.tx import Tx

_queued: Final = run.c.state == const(State.QUEUED)
_concerned = (
    select(run.c.id)
    .where(run.c.definition_id == param("of", Uuid), or_(_queued, ~run.c.gated))
    .order_by(run.c.id)
    .with_for_update()
    .cte("concerned")
    .prefix_with("MATERIALIZED")
)
SET_ASIDE: Final = statement(
    "set_aside",
    update(run)
    .where(run.c.id == _concerned.c.id)
    .values(
        state=case((_queued, const(State.HELD)), else_=run.c.state),
        cause=case((_queued, param("cause", SmallInteger)), else_=run.c.cause),
        gated=true(),
    ),
)
_stopped = (
    select(
        definition.c.id,
        case((definition.c.paused_at.is_not(None), const(Cause.PAUSED)), else_=const(Cause.BREAKER)).label("cause"),
        func.coalesce(definition.c.paused_at, breaker.c.since).label("since"),
    )
    .select_from(definition.outerjoin(breaker, and_(definition.c.tripped, breaker.c.definition == definition.c.id)))
    .where(or_(definition.c.paused_at.is_not(None), breaker.c.state == const(BreakerState.OPEN)))
    .cte("stopped")
    .prefix_with("MATERIALIZED")
)
_of_stopped = select(_stopped.c.id, _stopped.c.cause).join(run, run.c.definition_id == _stopped.c.id)
# What is not queued yet has no index to be found by, and is looked for only as long as it may have been asked for before the stop.
SLIPPED: Final = statement(
    "set_aside_slipped", union(_of_stopped.where(_queued), _of_stopped.where(~run.c.gated, _stopped.c.since > param("since", INSTANT)))
)


async def set_aside(tx: Tx, definition_id: UUID, cause: Cause) -> int:
    """Hold the queued runs of a definition for a cause and have all its others ask; whoever does so has taken the definition's gate.

    Returns how many runs it moved or marked.
    """
    return await tx.execute(SET_ASIDE, of=definition_id, cause=int(cause))


async def set_slipped_aside(tx: Tx) -> int:
    """Set aside what slipped past a pause or an open breaker, because it was asked for while that began, and say how many."""
    found = {row["id"]: Cause(row["cause"]) for row in await tx.fetch(SLIPPED, since=tx.now - STRAYS_FOR)}
    await gates.lock(tx, found)
    return sum([await set_aside(tx, id_, found[id_]) for id_ in sorted(found)])
