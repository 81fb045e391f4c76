"""Reading what was written, and moving it on as a worker would."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from headway.core.outcome import Outcome, Success
from headway.core.run import Open, settle
from headway.store import holding, runs
from headway.store import settle as settling
from headway.store.claim import Claimed, claim
from headway.store.sessions import Session, register
from headway.store.settle import Verdict
from headway.store.tx import Database, Row


async def row_of(database: Database, run_id: UUID) -> Row:
    """The row of a run."""
    async with database.once() as tx:
        row = await runs.get(tx, run_id, tenant=None)
    assert row is not None
    return row


async def all_rows(database: Database) -> Sequence[Row]:
    """Every run, the newest first."""
    async with database.once() as tx:
        return await runs.listed(tx, runs.Filter(), tenant=None, limit=5000)


async def end(database: Database, run_id: UUID, outcome: Outcome) -> None:
    """Settle a run for whoever holds it."""
    async with database.begin() as tx:
        [held] = await holding.listed(tx, [run_id])
        open_run: Open = held.open
        await settling.settle(tx, [Verdict(run_id, open_run.attempt, settle(open_run, outcome, tx.now), held.session)])


async def claim_one(database: Database, run_id: UUID, handler: str = "empty") -> Claimed:
    """Claim a run for a session of its own."""
    async with database.begin() as tx:
        me = Session(uuid4(), "worker", "here", 1, handlers=(handler,))
        await register(tx, me, timedelta(minutes=1))
    async with database.once() as tx:
        [claimed] = await claim(tx, me.id, [run_id], handlers=[handler])
    return claimed


async def succeed(database: Database, run_id: UUID, result: dict[str, Any], handler: str = "empty") -> None:
    """Claim a run and settle it as succeeded."""
    await claim_one(database, run_id, handler)
    await end(database, run_id, Success(result))
