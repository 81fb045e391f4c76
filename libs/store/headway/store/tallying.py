"""Batches move by their children's ends: progress, the next ones let in, and the one end of the parent.

The end of a child, a close and a cancel all lock the batch and look at the children as they stand, so that an event that is told twice, or
late, or together with others, changes nothing.
"""

from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Uuid, delete, func, select, update

from headway.core.batch import Mixed, conclude, percent, room, told
from headway.core.run import Cause, State
from headway.store import batches, gates, holding, progress, runs
from headway.store.gates import Placed
from headway.store.reactions import Kind, Owed
from headway.store.schema import reaction, run
from headway.store.settle import Settled, Verdict, settle
from headway.store.statement import array, const, param, statement
from headway.store.tx import Row, Tx

# Whoever holds one of them waits for the batch and looks after us: nobody waits for it.
_owed = (
    select(reaction.c.run)
    .where(reaction.c.batch == param("batch", Uuid), reaction.c.kind == const(Kind.BATCH))
    .with_for_update(skip_locked=True)
    .cte("owed")
    .prefix_with("MATERIALIZED")
)
HEARD: Final = statement("tallying_heard", delete(reaction).where(reaction.c.run == _owed.c.run, reaction.c.kind == const(Kind.BATCH)))
_next = (
    select(run.c.id)
    .where(run.c.id == func.any(array("ids", Uuid)), run.c.state == const(State.HELD), run.c.cause == const(Cause.BATCH))
    .order_by(run.c.id)
    .with_for_update()
    .cte("next")
    .prefix_with("MATERIALIZED")
)
LET_IN: Final = statement(
    "tallying_let_in", update(run).where(run.c.id == _next.c.id).values(state=const(State.SCHEDULED), cause=const(Cause.NONE))
)
WISHED: Final = statement(
    "tallying_wished", select(run.c.id).where(run.c.id == param("parent", Uuid), run.c.cancel_requested_at.is_not(None))
)


class Looked(NamedTuple):
    """What a look at a batch came to: children to announce, and its parent when this look ended it."""

    queued: list[Placed]
    ended: list[Settled]


NOTHING: Final = Looked([], [])


async def tally(tx: Tx, parent: UUID) -> Looked:
    """Look at a batch as its children stand: write the progress, let children in, and settle the parent when it may end.

    Waits for whoever is looking at it.
    """
    row = await tx.fetch_one(batches.LOCK, parent=parent)
    await tx.execute(HEARD, batch=parent)
    if row is None or row["ended_at"] is not None:
        return NOTHING
    standing = await tx.fetch_one(batches.STANDING, parent=parent)
    assert standing is not None, "a count is always there"
    done = row["total"] - standing["open"]
    await tx.execute(batches.NOTE, parent=parent, done=done)
    await progress.record(tx, parent, percent(done, row["total"]), told(done, row["total"]))
    if row["closed"] and not standing["open"]:
        return Looked([], await _end(tx, row))
    return Looked(await _let_in(tx, row, standing), [])


async def _end(tx: Tx, row: Row) -> list[Settled]:
    """Settle the parent, unless it has been: either way the batch has ended."""
    parent = row["parent"]
    held = await holding.listed(tx, [parent])
    counts = await batches.outcomes(tx, row)
    verdicts = [Verdict(one.open.id, one.open.attempt, conclude(one.open, counts, Mixed(row["mixed"]), tx.now)) for one in held]
    ended = await settle(tx, verdicts)
    await tx.execute(batches.END, parent=parent)
    return ended


async def _let_in(tx: Tx, row: Row, standing: Row) -> list[Placed]:
    free = room(row["max_concurrent"], standing["open"] - standing["waiting"], standing["waiting"])
    if not free or await tx.fetch_value(WISHED, parent=row["parent"]) is not None:
        return []
    ids = [one["id"] for one in await tx.fetch(batches.WAITING, parent=row["parent"], limit=free)]
    await gates.lock_of(tx, ids)
    await tx.execute(LET_IN, ids=ids)
    return [one for one in await gates.place(tx, ids) if one.state is State.QUEUED]


async def react(tx: Tx, owed: Owed) -> list[Placed]:
    """Look at the batch whose child has ended, for `reactions.work_off`."""
    return [] if owed.batch is None else (await tally(tx, owed.batch)).queued


async def place_in_batch(tx: Tx, child: Row) -> dict[str, Any] | None:
    """Return what an ask takes over of a child whose batch is open still, or None for any other run; the batch is locked by that."""
    if child["batch_index"] is None or not await batches.lock_open(tx, [child["parent"]]):
        return None
    row, parent = await batches.get(tx, child["parent"], None), await runs.get(tx, child["parent"], None)
    if parent is None or parent["cancel_requested_at"] is not None:
        return None
    return {
        "parent": child["parent"],
        "batch_index": child["batch_index"],
        "owes": child["owes"],
        "counted": row["counted"] or child["definition"] != parent["definition"],
        "cause": Cause.BATCH if row["max_concurrent"] else Cause.NONE,
    }
