"""Cancel: final at once for what does not run, a wish for what does."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import Integer, Interval, Text, Uuid, func, or_, select, update

from headway.core.outcome import Cancelled
from headway.core.run import Cause, Open, State
from headway.core.run import settle as decide
from headway.store import batches, gates, holding, tallying
from headway.store.schema import run
from headway.store.settle import Settled, Verdict, settle
from headway.store.statement import array, const, hidden, now, param, statement
from headway.store.tx import Tx
from headway.store.waiting import let_in

WISH: Final = statement(
    "cancel_wish",
    update(run)
    .where(
        run.c.id == func.any(array("ids", Uuid)),
        or_(hidden(run.c.state, State.RUNNING), run.c.cause == const(Cause.CHILDREN)),
        run.c.cancel_requested_at.is_(None),
    )
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


CHILDREN_AT_ONCE: Final = 500


class CancelDone(NamedTuple):
    """What a cancel did: runs that are cancelled, runs that were asked to stop with the session that holds each, runs let in behind.

    `parents` of batches end when their children have; those that are `left` have more children to cancel: cancel them again.
    """

    ended: list[Settled]
    wished: dict[UUID, UUID]
    promoted: list[gates.Placed]
    parents: Sequence[UUID] = ()
    left: Sequence[UUID] = ()


async def cancel(tx: Tx, ids: Sequence[UUID], *, actor: str, reason: str = "") -> CancelDone:
    """Cancel open runs, and children of those that are parents of batches, at most 500 of them.

    An id that is in no list of the answer was final already, or never existed.
    """
    why = reason or f"cancelled by {actor}"
    parents = await batches.lock_open(tx, ids)
    children = await batches.unwished(tx, parents, CHILDREN_AT_ONCE)
    concerned = [*ids, *children]
    await gates.lock_of(tx, concerned)
    held = await holding.listed(tx, concerned)
    idle = [one.open for one in held if one.open.state is not State.RUNNING and one.open.id not in parents]
    ended = await settle(tx, [_ended(open_run, Cancelled(why), tx) for open_run in idle])
    asked = [one.open.id for one in held if one.open.state is State.RUNNING or one.open.id in parents]
    wished = {row["id"]: row["session"] for row in await tx.fetch(WISH, ids=asked, actor=actor, reason=why)} if asked else {}
    ended += await _end_parents(tx, parents)
    left = tuple(parents) if len(children) == CHILDREN_AT_ONCE else ()
    running = {id_: session for id_, session in wished.items() if session is not None}
    return CancelDone(ended, running, await let_in(tx, ended), tuple(parents), left)


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


async def _end_parents(tx: Tx, parents: Sequence[UUID]) -> list[Settled]:
    """Close batches that were cancelled; one whose children have all ended ends with this."""
    if parents:
        await tx.execute(batches.CLOSE, parents=list(parents))
    return [one for parent in parents for one in (await tallying.tally(tx, parent)).ended]


def _ended(open_run: Open, outcome: Cancelled, tx: Tx) -> Verdict:
    return Verdict(open_run.id, open_run.attempt, decide(open_run, outcome, tx.now))
