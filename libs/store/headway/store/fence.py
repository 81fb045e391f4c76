"""The fence as a question: does this session still hold this attempt?"""

from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import Integer, Uuid, select

from headway.core.errors import LeaseLost
from headway.core.run import State
from headway.store.schema import run
from headway.store.statement import hidden, param, statement
from headway.store.tx import Tx


class Fence(NamedTuple):
    """What everything that a holder writes is guarded by."""

    run: UUID
    session: UUID
    attempt: int


HOLDS: Final = statement(
    "fence_holds",
    select(run.c.id)
    .where(
        run.c.id == param("run", Uuid),
        run.c.session == param("session", Uuid),
        run.c.attempt == param("attempt", Integer),
        hidden(run.c.state, State.RUNNING),
    )
    .with_for_update(read=True, key_share=True),
)


async def require(tx: Tx, fence: Fence) -> None:
    """Raise LeaseLost unless the fence stands; it then stands until the transaction ends."""
    if await tx.fetch_value(HOLDS, run=fence.run, session=fence.session, attempt=fence.attempt) is None:
        raise LeaseLost(f"run {fence.run} attempt {fence.attempt} is no longer held by session {fence.session}")
