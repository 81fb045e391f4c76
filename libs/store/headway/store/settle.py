"""Settle: the only way into a final state, and the way back into the open table after an attempt."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from headway.core.outcome import FAILED_ATTEMPTS, AttemptOutcome
from headway.core.run import DONE, FINAL, Settlement, State
from headway.store.attempts import AttemptRecord, error_document, record, result_text
from headway.store.finish import FINISH_HELD, FINISH_IDLE, FINISH_PLAIN, RELEASE
from headway.store.owing import owe_failures
from headway.store.tx import Row, Tx


class Verdict(NamedTuple):
    """What was decided for one run, with the fence under which it was decided; `session` None for a run that nobody holds."""

    run: UUID
    attempt: int
    settlement: Settlement
    session: UUID | None = None


class Settled(NamedTuple):
    """A run that really moved, and the reactions that it owes by now."""

    id: UUID
    state: int
    definition: str
    definition_id: UUID
    schedule: UUID | None
    queue: str
    priority: int
    owes: int
    gated: bool
    attempt: int
    available_at: datetime
    started_at: datetime | None
    parent: UUID | None

    @property
    def kept(self) -> bool:
        """Whether it asks its gates again but was put off by nobody: it is due since before it started, and has the place that it had."""
        return self.state == State.HELD and self.started_at is not None and self.available_at <= self.started_at


async def settle(tx: Tx, verdicts: Sequence[Verdict]) -> list[Settled]:
    """Record what was decided, and return the runs that really moved.

    A verdict whose fence no longer stands changes nothing and is missing from the answer.  Attempt rows are written for everything
    but a first-time success.  A success may be decided without reading its row; anything else is decided from the locked row.
    A run with gates that goes on at once is held at them until `waiting.let_in` lets it in.
    """
    moved: list[Settled] = []
    for session in sorted({verdict.session for verdict in verdicts}, key=str):
        held = sorted((verdict for verdict in verdicts if verdict.session == session), key=lambda verdict: verdict.run)
        final = [verdict for verdict in held if verdict.settlement.state in FINAL]
        going_on = [verdict for verdict in held if verdict.settlement.state not in FINAL]
        plain = [(verdict.run, verdict.attempt) for verdict in final if session is not None and verdict.settlement is DONE]
        telling = [verdict for verdict in final if session is None or verdict.settlement is not DONE]
        if session is not None and plain:
            moved += (await settle_plain(tx, session, plain))[0]
        if telling:
            moved += await _finish(tx, session, telling)
        if going_on:
            moved += await _release(tx, session, going_on)
    by_run = {settled.id: settled for settled in moved}
    await _remember(tx, verdicts, by_run)
    failed = {verdict.run for verdict in verdicts if verdict.settlement.attempt_outcome in FAILED_ATTEMPTS}
    owed = await owe_failures(tx, [(run, by_run[run].definition_id) for run in sorted(failed & by_run.keys())])
    return [run._replace(owes=run.owes | owed[run.id]) if run.id in owed else run for run in moved]


async def settle_plain(tx: Tx, session: UUID, attempts: Sequence[tuple[UUID, int]]) -> tuple[list[Settled], datetime | None]:
    """Settle first-time successes that say nothing, in one statement that may be its own transaction.

    Takes (run, attempt) pairs of one session; returns what really moved, and the database's instant, None when nothing did.
    """
    ordered = sorted(attempts)
    ids, numbers = [run for run, _ in ordered], [number for _, number in ordered]
    rows = await tx.fetch(FINISH_PLAIN, session=session, ids=ids, attempts=numbers)
    return [_settled(row) for row in rows], rows[0]["at"] if rows else None


async def _finish(tx: Tx, session: UUID | None, verdicts: Sequence[Verdict]) -> list[Settled]:
    values = _shared(verdicts) | {
        "outcomes": [int(verdict.settlement.outcome or 0) for verdict in verdicts],
        "results": [result_text(verdict.settlement.result) for verdict in verdicts],
        "errors": [error_document(verdict.settlement.error) for verdict in verdicts],
    }
    rows = await (tx.fetch(FINISH_IDLE, **values) if session is None else tx.fetch(FINISH_HELD, session=session, **values))
    return [_settled(row) for row in rows]


async def _release(tx: Tx, session: UUID | None, verdicts: Sequence[Verdict]) -> list[Settled]:
    rows = await tx.fetch(RELEASE, session=session, dues=[verdict.settlement.due for verdict in verdicts], **_shared(verdicts))
    return [_settled(row) for row in rows]


def _shared(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    return {
        "ids": [verdict.run for verdict in verdicts],
        "attempts": [verdict.attempt for verdict in verdicts],
        "states": [int(verdict.settlement.state) for verdict in verdicts],
        "failures": [verdict.settlement.failures for verdict in verdicts],
        "crashes": [verdict.settlement.crashes for verdict in verdicts],
        "reasons": [verdict.settlement.reason or None for verdict in verdicts],
    }


def _settled(row: Row) -> Settled:
    return Settled._make(islice(row.values(), len(Settled._fields)))


async def _remember(tx: Tx, verdicts: Sequence[Verdict], moved: dict[UUID, Settled]) -> None:
    worth_a_row = [
        (verdict, moved[verdict.run])
        for verdict in verdicts
        if verdict.run in moved
        and verdict.session is not None
        and (verdict.attempt > 1 or verdict.settlement.attempt_outcome is not AttemptOutcome.SUCCESS)
    ]
    await record(
        tx,
        [
            AttemptRecord(verdict.run, verdict.attempt, verdict.session, ended.started_at, verdict.settlement, ended.definition_id)
            for verdict, ended in worth_a_row
        ],
    )
