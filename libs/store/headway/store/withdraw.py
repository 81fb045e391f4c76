"""Take back runs of which nobody was told yet."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import Uuid, delete, func

from headway.store.schema import run, run_input
from headway.store.statement import array, statement
from headway.store.tx import Tx

WITHDRAW_INPUT: Final = statement("run_withdraw_input", delete(run_input).where(run_input.c.run == func.any(array("ids", Uuid))))
WITHDRAW: Final = statement(
    "run_withdraw", delete(run).where(run.c.id == func.any(array("ids", Uuid)), run.c.started_at.is_(None), run.c.session.is_(None))
)


async def withdraw(tx: Tx, ids: Sequence[UUID]) -> int:
    """Take back runs that this transaction created, as if nobody had asked, and say how many."""
    await tx.execute(WITHDRAW_INPUT, ids=list(ids))
    return await tx.execute(WITHDRAW, ids=list(ids))
