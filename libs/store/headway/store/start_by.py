"""Skip what was to start by an instant that has passed: a claim refuses it, and this ends it."""

from typing import Final

from sqlalchemy import Integer, select

from headway.core.outcome import Skipped
from headway.core.run import State
from headway.core.run import settle as decide
from headway.store import gates, holding
from headway.store.gates import Placed
from headway.store.schema import run
from headway.store.settle import Settled, Verdict, settle
from headway.store.statement import const, now, param, statement
from headway.store.tx import Tx
from headway.store.waiting import let_in

PASSED: Final = statement(
    "start_by_passed",
    select(run.c.id)
    .where(run.c.start_by <= now(), run.c.attempt == const(0), run.c.state < const(State.RUNNING))
    .order_by(run.c.start_by, run.c.id)
    .limit(param("limit", Integer)),
)


async def skip_late(tx: Tx, limit: int = 200) -> tuple[list[Settled], list[Placed]]:
    """Settle at most `limit` runs that nobody has started in time as skipped; returns them and what was let in behind them."""
    ids = [row["id"] for row in await tx.fetch(PASSED, limit=limit)]
    await gates.lock_of(tx, ids)
    late = [one.open for one in await holding.listed(tx, ids) if one.open.state < State.RUNNING and one.open.attempt == 0]
    skipped = await settle(tx, [Verdict(one.id, one.attempt, decide(one, Skipped("start-by passed"), tx.now)) for one in late])
    return skipped, await let_in(tx, skipped)
