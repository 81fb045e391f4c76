"""Cancel: final at once for what does not run, a wish for what does."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import Integer, Interval, Text, Uuid, func, select, update

from headway.core.outcome import Cancelled
from headway.core.run import Open, State
from headway.core.run import settle as decide
from headway.store import gates, holding
from headway.store.schema import run
from headway.store.settle import Settled, Verdict, settle
from headway.store.statement import array, const, hidden, now, param, statement
from headway.store.tx import Tx
from headway.store.waiting import let_in

WISH: Final = statement(
    "cancel_wish",
    update(run)
    .where(run.c.id == func.any(array("ids", Uuid)), hidden(run.c.state, State.RUNNING), run.c.cancel_requested_at.is_(None))
    .values(cancel_requested_at=now(), cancel_by=param("actor", Text), reason=param("reason", Text))
    .returning(run.c.id, run.c.session),
)
UNHEARD: Final = statement(
    "cancel_unheard",
    select(run.c.id)
    .where(run.c.state == const(State.RUNNING), run.c.cancel_requested_at < now() - param("grace", Interval))
    .order_by(run.c.id)
    .limit(param("limit", Integer)),
)


class CancelDone(NamedTuple):
    """What a cancel did: runs that are cancelled, runs that were asked to stop with the session that holds each, runs let in behind."""

    ended: list[Settled]
    wished: dict[UUID, UUID]
    promoted: list[gates.Placed]


async def cancel(tx: Tx, ids: Sequence[UUID], *, actor: str, reason: str = "") -> CancelDone:
    """Cancel open runs.  An id that is in no list of the answer was final already, or never existed."""
    why = reason or f"cancelled by {actor}"
    await gates.lock_of(tx, ids)
    held = await holding.listed(tx, ids)
    idle = [one.open for one in held if one.open.state is not State.RUNNING]
    ended = await settle(tx, [_ended(open_run, Cancelled(why), tx) for open_run in idle])
    running = [one.open.id for one in held if one.open.state is State.RUNNING]
    wished = {row["id"]: row["session"] for row in await tx.fetch(WISH, ids=running, actor=actor, reason=why)} if running else {}
    return CancelDone(ended, wished, await let_in(tx, ended))


async def force(tx: Tx, grace: timedelta, limit: int = 200) -> list[Settled]:
    """End runs that were asked to stop longer ago than the grace; their handlers may still be running outside."""
    ids = [row["id"] for row in await tx.fetch(UNHEARD, grace=grace, limit=limit)]
    await gates.lock_of(tx, ids)
    held = [one for one in await holding.listed(tx, ids) if one.open.cancel_reason is not None]
    forced = [
        Verdict(one.open.id, one.open.attempt, decide(one.open, Cancelled(one.open.cancel_reason or "", forced=True), tx.now), one.session)
        for one in held
    ]
    settled = await settle(tx, forced)
    await let_in(tx, settled)
    return settled


def _ended(open_run: Open, outcome: Cancelled, tx: Tx) -> Verdict:
    return Verdict(open_run.id, open_run.attempt, decide(open_run, outcome, tx.now))
