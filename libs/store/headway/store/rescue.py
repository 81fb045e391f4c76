"""Give back what a dead session held, and end what outlived its deadline."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import Integer, Interval, Uuid, select, update

from headway.core.outcome import Lost, Outcome, Timeout
from headway.core.run import State
from headway.core.run import settle as decide
from headway.store import gates, holding
from headway.store.holding import Held
from headway.store.schema import run, session
from headway.store.sessions import SessionState
from headway.store.settle import Settled, Verdict, settle
from headway.store.statement import const, now, param, statement
from headway.store.tx import Tx
from headway.store.waiting import let_in

LAPSED: Final = statement(
    "rescue_lapsed",
    select(session.c.id)
    .where(session.c.state < const(SessionState.STOPPED), session.c.lease_until <= now())
    .order_by(session.c.id)
    .limit(param("limit", Integer)),
)
STOP_LAPSED: Final = statement(
    "rescue_stop_lapsed",
    update(session)
    .where(session.c.id == param("session", Uuid), session.c.state < const(SessionState.STOPPED), session.c.lease_until <= now())
    .values(state=const(SessionState.STOPPED))
    .returning(session.c.id),
)
LOCK_SESSION: Final = statement("rescue_lock_session", select(session.c.id).where(session.c.id == param("session", Uuid)).with_for_update())
ORPHANS: Final = statement(
    "rescue_orphans",
    select(run.c.session)
    .distinct()
    .select_from(run.outerjoin(session, session.c.id == run.c.session))
    .where(run.c.state == const(State.RUNNING), (session.c.id.is_(None)) | (session.c.state == const(SessionState.STOPPED))),
)
IS_STOPPED: Final = statement(
    "rescue_is_stopped", select(session.c.state == const(SessionState.STOPPED)).where(session.c.id == param("session", Uuid))
)
_gates = select(run.c.definition_id).distinct().where(run.c.state == const(State.RUNNING), run.c.gated)
GATES_OF_SESSION: Final = statement("rescue_gates_of_session", _gates.where(run.c.session == param("session", Uuid)))
GATES_OF_OVERDUE: Final = statement("rescue_gates_of_overdue", _gates.where(run.c.deadline_at < now() - param("grace", Interval)))


class Rescued(NamedTuple):
    """What a rescue moved, and what it let in: runs of its own that had to ask their gates again, and whoever waited behind the others."""

    settled: list[Settled]
    promoted: list[gates.Placed]


async def dead_sessions(tx: Tx, limit: int = 100) -> list[UUID]:
    """Return the sessions that lapsed but are not stopped, and those that are stopped or missing but still hold runs."""
    lapsed = [row["id"] for row in await tx.fetch(LAPSED, limit=limit)]
    return lapsed + [row["session"] for row in await tx.fetch(ORPHANS)]


async def rescue(tx: Tx, session_id: UUID, limit: int = 500) -> Rescued:
    """Stop a session if it is still lapsed, then give back at most `limit` of its runs: queued again, or failed as Crashed.

    Waits for claims of that session under way.  A session that was renewed meanwhile keeps everything.
    """
    standing = await tx.fetch_value(LOCK_SESSION, session=session_id)
    if standing is not None and await tx.fetch_value(STOP_LAPSED, session=session_id) is None and not await _is_stopped(tx, session_id):
        return Rescued([], [])
    await gates.lock(tx, [row["definition_id"] for row in await tx.fetch(GATES_OF_SESSION, session=session_id)])
    return await _end(tx, await holding.of_session(tx, session_id, limit), Lost())


async def end_overdue(tx: Tx, grace: timedelta, limit: int = 200) -> Rescued:
    """Settle running runs whose deadline passed longer ago than the grace as Timeout, in their worker's place."""
    await gates.lock(tx, [row["definition_id"] for row in await tx.fetch(GATES_OF_OVERDUE, grace=grace)])
    return await _end(tx, await holding.overdue(tx, grace, limit), Timeout(forced=True))


async def _is_stopped(tx: Tx, session_id: UUID) -> bool:
    return bool(await tx.fetch_value(IS_STOPPED, session=session_id))


async def _end(tx: Tx, held: Sequence[Held], outcome: Outcome) -> Rescued:
    verdicts = [Verdict(one.open.id, one.open.attempt, decide(one.open, outcome, tx.now), one.session) for one in held]
    settled = await settle(tx, verdicts)
    return Rescued(settled, await let_in(tx, settled))
