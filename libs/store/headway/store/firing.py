"""The runs of slots that fired: due at their instant, held until their schedule's open runs have ended, or held for their turn."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import SmallInteger, Uuid, func, select, true, update

from headway.core.ask import Ask, Origin
from headway.core.errors import HeadwayError
from headway.core.run import Cause, State
from headway.core.slot import Decision, Start
from headway.store import gates
from headway.store.cancel import cancel
from headway.store.enqueue import Accepted, create
from headway.store.faults import new_to
from headway.store.gates import Placed
from headway.store.schema import run
from headway.store.statement import array, const, given, statement
from headway.store.tx import Tx

CAUSES: Final = {Start.AFTER_OPEN: Cause.OVERLAP, Start.IN_TURN: Cause.CATCH_UP}
_held = given("h", ids=Uuid, causes=SmallInteger).c
HOLD: Final = statement(
    "firing_hold",
    update(run).where(run.c.id == _held.ids, run.c.state < const(State.RUNNING)).values(state=const(State.HELD), cause=_held.causes),
)
GATE: Final = statement("firing_gate", update(run).where(run.c.id == func.any(array("ids", Uuid))).values(gated=true()))
OPEN: Final = statement(
    "firing_open",
    select(run.c.id)
    .where(run.c.schedule == func.any(array("schedules", Uuid)), run.c.origin == const(Origin.SLOT), run.c.cancel_requested_at.is_(None))
    .order_by(run.c.id),
)


class Fired(NamedTuple):
    """The runs by schedule and slot, those to announce, and those that were asked to end for them."""

    runs: dict[tuple[UUID | None, datetime | None], UUID]
    queued: list[Placed]
    wished: list[UUID]


async def fire(tx: Tx, wanted: Sequence[tuple[Ask, Decision]]) -> Fired:
    """Make the runs of slots that fired; runs that have to give way to them get the wish to end.

    Raises Invalid when there is a run of such a slot already.
    """
    if not wanted:
        return Fired({}, [], [])
    wished = await _make_room(tx, sorted({ask.schedule for ask, decision in wanted if decision.cancels and ask.schedule is not None}))
    with new_to("run"):
        made = [_accepted(one) for one in await create(tx, [ask for ask, _ in wanted])]
    await _gate(tx, [one.id for one, (_, decision) in zip(made, wanted, strict=True) if decision.gated])
    held = {one.id: CAUSES[decision.start] for one, (_, decision) in zip(made, wanted, strict=True) if decision.start in CAUSES}
    if held:
        await tx.execute(HOLD, ids=sorted(held), causes=[int(held[id_]) for id_ in sorted(held)])
    free = [one for one in made if one.id not in held]
    queued = [Placed(one.id, State.QUEUED, one.queue, one.priority) for one in free if one.state is State.QUEUED]
    queued += [one for one in await gates.place(tx, [one.id for one in free if one.gated]) if one.state is State.QUEUED]
    return Fired({(ask.schedule, ask.slot_at): one.id for one, (ask, _) in zip(made, wanted, strict=True)}, queued, wished)


async def _gate(tx: Tx, ids: Sequence[UUID]) -> None:
    """Runs that others wait behind are settled in a transaction that lets those in."""
    if ids:
        await tx.execute(GATE, ids=sorted(ids))


async def _make_room(tx: Tx, schedules: Sequence[UUID]) -> list[UUID]:
    if not schedules:
        return []
    rows = await tx.fetch(OPEN, schedules=list(schedules))
    done = await cancel(tx, [row["id"] for row in rows], actor="scheduler", reason="the next slot of its schedule has come")
    return list(done.wished)


def _accepted(answer: Accepted | HeadwayError) -> Accepted:
    """A definition that was there when its facts were read under the lock is there when its run is made, or all is tried again."""
    if isinstance(answer, HeadwayError):
        raise answer
    return answer
