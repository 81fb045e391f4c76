"""Runs that wait for others to end: at gates, behind the open runs of their schedule, or for their turn in a catch-up."""

from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import Integer, Uuid, and_, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import distinct_on

from headway.core.ask import Origin
from headway.core.run import FINAL, Cause, State
from headway.store import gates
from headway.store.gates import Placed
from headway.store.schema import run
from headway.store.settle import Settled
from headway.store.statement import array, const, param, statement
from headway.store.tx import Tx

_other: Final = run.alias("other")
_before: Final = and_(_other.c.schedule == run.c.schedule, _other.c.origin == const(Origin.SLOT), _other.c.id != run.c.id)
_behind: Final = and_(run.c.state == const(State.HELD), run.c.cause == const(Cause.OVERLAP), ~exists().where(_before))
_freed: Final = {"state": const(State.SCHEDULED), "cause": const(Cause.NONE)}
FREE_OF: Final = statement(
    "waiting_free_of",
    update(run).where(run.c.schedule == func.any(array("schedules", Uuid)), _behind).values(**_freed).returning(run.c.id),
)
FREE: Final = statement("waiting_free", update(run).where(run.c.schedule.is_not(None), _behind).values(**_freed).returning(run.c.id))
_turn: Final = and_(run.c.state == const(State.HELD), run.c.cause == const(Cause.CATCH_UP))
_going: Final = and_(
    _other.c.schedule == run.c.schedule,
    _other.c.origin.in_([const(Origin.CATCH_UP), const(Origin.BACKFILL)]),
    or_(_other.c.state != const(State.HELD), _other.c.cause != const(Cause.CATCH_UP)),
)
_heads = (
    select(run.c.id)
    .where(run.c.schedule.is_not(None), _turn, ~exists().where(_going))
    .ext(distinct_on(run.c.schedule))
    .order_by(run.c.schedule, run.c.slot_at, run.c.id)
    .limit(param("limit", Integer))
    .cte("heads")
)
NEXT_TURNS: Final = statement("waiting_next_turns", update(run).where(run.c.id == _heads.c.id, _turn).values(**_freed).returning(run.c.id))


async def let_in(tx: Tx, settled: Sequence[Settled]) -> list[Placed]:
    """Let in those of these runs that go on at once, then whoever waited for the others, and return what is queued now."""
    queued = await _placed(tx, [one.id for one in settled if one.kept], kept=True)
    queued += await gates.promote(tx, {one.definition_id for one in settled if one.gated})
    return queued + await _free(tx, {one.schedule for one in settled if one.gated and one.schedule and one.state in FINAL})


async def second_chance(tx: Tx, limit: int = 100) -> list[Placed]:
    """Let in what waits behind nobody any more, and the next run of each catch-up; returns what is queued now."""
    freed = [row["id"] for row in await tx.fetch(FREE)]
    freed += [row["id"] for row in await tx.fetch(NEXT_TURNS, limit=limit)]
    return await _placed(tx, freed)


async def _free(tx: Tx, schedules: Collection[UUID]) -> list[Placed]:
    if not schedules:
        return []
    return await _placed(tx, [row["id"] for row in await tx.fetch(FREE_OF, schedules=sorted(schedules))])


async def _placed(tx: Tx, ids: Sequence[UUID], *, kept: bool = False) -> list[Placed]:
    return [one for one in await gates.place(tx, sorted(ids), kept=kept) if one.state is State.QUEUED]
