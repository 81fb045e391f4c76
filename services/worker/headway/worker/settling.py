"""Settle a batch of ended attempts in one transaction: decide each, write all, let waiters in."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

import structlog

from headway.core.errors import Invalid
from headway.core.outcome import AttemptOutcome, Failure, Outcome, PartialSuccess, SafeError, Success
from headway.core.run import State, succeed
from headway.core.run import settle as decide
from headway.store import gates, holding
from headway.store.claim import Claimed
from headway.store.gates import Placed
from headway.store.settle import Settled, Verdict, settle, settle_plain
from headway.store.tx import Database, Tx
from headway.store.waiting import let_in

log = structlog.get_logger(__name__)


class AttemptEnd(Protocol):
    """An ended attempt with its fence and outcome."""

    @property
    def claimed(self) -> Claimed:
        """The run as it was claimed."""

    @property
    def session(self) -> UUID:
        """The session that claimed it."""

    @property
    def outcome(self) -> Outcome | None:
        """What the handler made of it."""


class Concluded(NamedTuple):
    """What a batch came to: the runs that moved, those that may be announced as queued, and each attempt's outcome, by run."""

    at: datetime
    settled: list[Settled]
    queued: list[Placed]
    outcomes: dict[UUID, AttemptOutcome]


async def conclude(database: Database, ended: Sequence[AttemptEnd]) -> Concluded:
    """Settle a batch, all in one transaction.  What a stale fence asked for is not among the outcomes.

    A batch that the database refuses because of one value is halved until the culprit stands alone; that one fails as
    `result_not_storable`.  Raises Unavailable.
    """
    sessions = {end.session for end in ended}
    if len(sessions) == 1 and all(map(_is_plain, ended)):
        return await _conclude_plain(database, sessions.pop(), ended)
    try:
        return await database.transact(lambda tx: _conclude(tx, ended))
    except Invalid as error:
        refusal = error
    if len(ended) == 1:
        return await database.transact(lambda tx: _conclude(tx, [_not_storable(ended[0], refusal)]))
    middle = len(ended) // 2
    first, second = await conclude(database, ended[:middle]), await conclude(database, ended[middle:])
    return Concluded(second.at, first.settled + second.settled, first.queued + second.queued, {**first.outcomes, **second.outcomes})


def _is_plain(end: AttemptEnd) -> bool:
    """Whether an attempt ended in the way that most do: the first time, with nothing to say, and nobody waiting behind it."""
    done = isinstance(end.outcome, Success) and end.outcome.result is None and not end.outcome.warnings
    return done and end.claimed.attempt == 1 and not end.claimed.gated


async def _conclude_plain(database: Database, session: UUID, ended: Sequence[AttemptEnd]) -> Concluded:
    async with database.once() as tx:
        settled, at = await settle_plain(tx, session, [(end.claimed.id, end.claimed.attempt) for end in ended])
    return Concluded(at or ended[0].claimed.started_at, settled, [], {run.id: AttemptOutcome.SUCCESS for run in settled})


class _End(NamedTuple):
    claimed: Claimed
    session: UUID
    outcome: Outcome | None


def _not_storable(ended: AttemptEnd, refusal: Invalid) -> _End:
    log.warning("result could not be stored", run=str(ended.claimed.id), error=str(refusal))
    error = SafeError("result_not_storable", "the database refused what the handler returned")
    return _End(ended.claimed, ended.session, Failure(error, permanent=True))


async def _conclude(tx: Tx, ended: Sequence[AttemptEnd]) -> Concluded:
    taken = await gates.lock(tx, {end.claimed.definition_id for end in ended if end.claimed.gated})
    verdicts = [
        Verdict(end.claimed.id, end.claimed.attempt, succeed(end.outcome), end.session)
        for end in ended
        if isinstance(end.outcome, Success | PartialSuccess)
    ]
    verdicts += await _decide_others(tx, [end for end in ended if not isinstance(end.outcome, Success | PartialSuccess)])
    settled = await settle(tx, verdicts)
    queued = [Placed(run.id, State.QUEUED, run.queue, run.priority) for run in settled if run.state == State.QUEUED]
    if taken:
        # Runs that have got gates since they were claimed are maintenance's: gates are taken before runs.
        queued += await let_in(tx, [run for run in settled if run.definition_id in taken])
    moved = {run.id for run in settled}
    outcomes = {verdict.run: verdict.settlement.attempt_outcome for verdict in verdicts if verdict.run in moved}
    return Concluded(tx.now, settled, queued, outcomes)


async def _decide_others(tx: Tx, ended: Sequence[AttemptEnd]) -> list[Verdict]:
    """Decide what is no success from the locked rows: it depends on wishes, counters and the retry policy."""
    verdicts = []
    for session in sorted({end.session for end in ended}):
        mine = {end.claimed.id: end for end in ended if end.session == session}
        for held in await holding.held_by(tx, session, list(mine)):
            end = mine[held.open.id]
            if held.open.attempt == end.claimed.attempt and end.outcome is not None:
                verdicts.append(Verdict(held.open.id, held.open.attempt, decide(held.open, end.outcome, tx.now), session))
    return verdicts
