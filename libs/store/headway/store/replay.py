"""Replay: a failed run once more, once, in its place: the same slot, idempotency token and key, and its attempts go on from there.

A child takes its original's place in the batch as well, as long as that has not ended.
"""

from typing import Final

from sqlalchemy import Uuid, update

from headway.core.ask import Origin
from headway.core.errors import Conflict
from headway.core.ids import make_id
from headway.core.run import State
from headway.store.enqueue import Accepted
from headway.store.finish import MARK_REPLAYED
from headway.store.rerun import Again, ask_again, made_before, make, original
from headway.store.schema import idempotency_key
from headway.store.statement import param, statement
from headway.store.tallying import place_in_batch, tally
from headway.store.tx import Row, Tx

MOVE_KEYS: Final = statement(
    "replay_move_keys",
    update(idempotency_key).where(idempotency_key.c.run == param("original", Uuid)).values(run=param("run", Uuid)),
)


async def replay(tx: Tx, wanted: Again) -> Accepted:
    """Make the one replay that a failed run may have.

    Raises NotFound for a run or a definition that there is not, Conflict (`not_failed`, `replayed_already`, disabled, over its limit, key
    used otherwise).
    """
    row = await original(tx, wanted)
    place = await place_in_batch(tx, row)
    id_ = make_id(tx.now)
    if before := await made_before(tx, wanted, row, id_, "replay"):
        return before
    if not await tx.execute(MARK_REPLAYED, original=row["id"], run=id_):
        raise _refusal(await original(tx, wanted))
    ask = (await ask_again(tx, row, wanted, Origin.REPLAY))._replace(
        schedule=row["schedule"], slot_at=row["slot_at"], token=row["token"] or row["id"], key=row["key"], attempt=row["attempt"]
    )
    await tx.execute(MOVE_KEYS, original=row["id"], run=id_)
    if place is None:
        return await make(tx, ask, id_, wanted)
    made = await make(tx, ask._replace(**place), id_, wanted)
    queued = (await tally(tx, row["parent"])).queued
    return made._replace(state=State.QUEUED) if id_ in {one.id for one in queued} else made


def _refusal(row: Row) -> Conflict:
    state = State(row["state"])
    if state is not State.FAILED:
        return Conflict(f"run: it is {state.name.lower()}, and only a failed run is replayed; rerun makes a fresh one", code="not_failed")
    return Conflict(f"run: it was replayed already, as {row['replayed_by']}", code="replayed_already")
