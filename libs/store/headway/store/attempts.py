"""What is kept of an attempt that ended as anything but a first-time success."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Integer, SmallInteger, Text, Uuid, select
from sqlalchemy.dialects.postgresql import JSONB, insert

from headway.core.outcome import FAILED_ATTEMPTS, Result, SafeError
from headway.core.run import Settlement
from headway.store.documents import json_text
from headway.store.schema import attempt
from headway.store.statement import INSTANT, given, param, statement
from headway.store.tx import Row, Tx

_a = given(
    "a",
    run=Uuid,
    attempt=Integer,
    session=Uuid,
    started_at=INSTANT,
    ended_at=INSTANT,
    outcome=SmallInteger,
    reason=Text,
    error=JSONB,
    result=Text,
    definition_id=Uuid,
).c
RECORD: Final = statement(
    "attempt_record", insert(attempt).from_select([column.name for column in _a], select(*_a)).on_conflict_do_nothing()
)
OF_RUN: Final = statement("attempt_of_run", select(attempt).where(attempt.c.run == param("run", Uuid)).order_by(attempt.c.attempt))


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One attempt that ended, and how; a failed one is counted for its definition."""

    run: UUID
    attempt: int
    session: UUID | None
    started_at: datetime | None
    settlement: Settlement
    definition_id: UUID | None = None


async def record(tx: Tx, records: Sequence[AttemptRecord]) -> None:
    """Write attempt rows; one that exists stays as it is."""
    if not records:
        return
    settlements = [record.settlement for record in records]
    await tx.execute(
        RECORD,
        run=[record.run for record in records],
        attempt=[record.attempt for record in records],
        session=[record.session for record in records],
        started_at=[record.started_at for record in records],
        ended_at=[tx.now] * len(records),
        outcome=[int(settlement.attempt_outcome) for settlement in settlements],
        reason=[settlement.reason for settlement in settlements],
        error=[error_document(settlement.error) for settlement in settlements],
        result=[result_text(settlement.result) for settlement in settlements],
        definition_id=[record.definition_id if record.settlement.attempt_outcome in FAILED_ATTEMPTS else None for record in records],
    )


async def of_run(tx: Tx, run_id: UUID) -> Sequence[Row]:
    """Return the attempts of a run that have rows, in order."""
    return await tx.fetch(OF_RUN, run=run_id)


def result_text(result: Result | None) -> str | None:
    """Return a result as the JSON text that rows hold.  Raises Invalid when it cannot be written."""
    return None if result is None else json_text(result, "result")


def error_document(error: SafeError | None) -> dict[str, str] | None:
    """Return an error as rows hold it."""
    return None if error is None else {"kind": error.kind, "message": error.message, "stack": error.stack}
