"""Reading what was written, and moving it on as a worker would."""

from collections.abc import Sequence
from uuid import UUID

from headway.core.outcome import Outcome
from headway.core.run import Open, settle
from headway.store import holding, runs
from headway.store import settle as settling
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
    """Settle a run that nobody holds."""
    async with database.begin() as tx:
        [held] = await holding.listed(tx, [run_id])
        open_run: Open = held.open
        await settling.settle(tx, [Verdict(run_id, open_run.attempt, settle(open_run, outcome, tx.now))])
