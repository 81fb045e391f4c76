"""What a handler says of its progress while it runs; only the holder of the fence is heard."""

from typing import Final
from uuid import UUID

from sqlalchemy import Integer, SmallInteger, Text, Uuid, func, select
from sqlalchemy.dialects.postgresql import insert

from headway.core.errors import LeaseLost
from headway.core.run import State
from headway.core.safe import safe_text
from headway.store.fence import Fence
from headway.store.schema import run, run_progress
from headway.store.statement import hidden, now, param, statement
from headway.store.tx import Row, Tx

MESSAGE_LIMIT: Final = 2000
_heard = select(run.c.id, param("percent", SmallInteger), param("message", Text), now()).where(
    run.c.id == param("run", Uuid),
    run.c.session == param("session", Uuid),
    run.c.attempt == param("attempt", Integer),
    hidden(run.c.state, State.RUNNING),
)
_upsert = insert(run_progress).from_select(["run", "percent", "message", "updated_at"], _heard)
REPORT: Final = statement(
    "progress_report",
    _upsert.on_conflict_do_update(
        index_elements=["run"],
        set_={"percent": _upsert.excluded.percent, "message": _upsert.excluded.message, "updated_at": _upsert.excluded.updated_at},
    ),
)
_parents = insert(run_progress).values(
    run=param("run", Uuid), percent=param("percent", SmallInteger), message=param("message", Text), updated_at=now()
)
RECORD: Final = statement(
    "progress_record",
    _parents.on_conflict_do_update(
        index_elements=["run"],
        set_={
            "percent": func.greatest(run_progress.c.percent, _parents.excluded.percent),
            "message": _parents.excluded.message,
            "updated_at": _parents.excluded.updated_at,
        },
    ),
)
OF_RUN: Final = statement("progress_of_run", select(run_progress).where(run_progress.c.run == param("run", Uuid)))


async def report(tx: Tx, fence: Fence, percent: int, message: str) -> None:
    """Record progress, 0 to 100, with a message of at most 2,000 characters.  Raises LeaseLost when the fence no longer stands."""
    said = safe_text(message, MESSAGE_LIMIT)
    if await tx.execute(REPORT, **fence._asdict(), percent=max(0, min(100, percent)), message=said) != 1:
        raise LeaseLost(f"run {fence.run} attempt {fence.attempt} is no longer held by session {fence.session}")


async def record(tx: Tx, run_id: UUID, percent: int, message: str) -> None:
    """Record how far a run is that no handler speaks for; the percentage never falls."""
    await tx.execute(RECORD, run=run_id, percent=percent, message=message)


async def of_run(tx: Tx, run_id: UUID) -> Row | None:
    """Return the last progress of a run, or None."""
    return await tx.fetch_one(OF_RUN, run=run_id)
