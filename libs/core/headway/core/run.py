"""The states of a run, the moves between them, and what an attempt's outcome makes of a run.

This is the one place where the state machine is written.  SQL predicates, CHECK constraints, `contracts/run-states.mmd` and a
property test are derived from `NEXT`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final, assert_never
from uuid import UUID

from headway.core.errors import Conflict
from headway.core.outcome import (
    AttemptOutcome,
    Cancelled,
    Failure,
    HandedBack,
    Lost,
    Outcome,
    PartialSuccess,
    Result,
    RunOutcome,
    SafeError,
    Skipped,
    Snooze,
    Success,
    Timeout,
)
from headway.core.retry import Policy, later, roll_for


class State(IntEnum):
    """Where a run stands; the numbers are what rows hold."""

    HELD = 0
    SCHEDULED = 1
    QUEUED = 2
    RUNNING = 3
    SUCCEEDED = 4
    FAILED = 5
    CANCELLED = 6
    SKIPPED = 7


S = State
NEXT: Final[Mapping[State, frozenset[State]]] = {
    S.HELD: frozenset({S.QUEUED, S.SCHEDULED, S.CANCELLED, S.SKIPPED, S.SUCCEEDED, S.FAILED}),
    S.SCHEDULED: frozenset({S.QUEUED, S.HELD, S.CANCELLED, S.SKIPPED}),
    S.QUEUED: frozenset({S.RUNNING, S.HELD, S.CANCELLED, S.SKIPPED}),
    S.RUNNING: frozenset({S.SUCCEEDED, S.FAILED, S.CANCELLED, S.SKIPPED, S.SCHEDULED, S.QUEUED, S.HELD}),
    S.SUCCEEDED: frozenset(),
    S.FAILED: frozenset(),
    S.CANCELLED: frozenset(),
    S.SKIPPED: frozenset(),
}
FINAL: Final = frozenset(state for state, following in NEXT.items() if not following)
OPEN: Final = frozenset(NEXT) - FINAL
MOST_CRASHES: Final = 3


def sources(target: State) -> frozenset[State]:
    """Return the states from which a run may move to `target`."""
    return frozenset(state for state, following in NEXT.items() if target in following)


class Cause(IntEnum):
    """Why a held run is held; each can end."""

    NONE = 0
    PAUSED = 1
    CONCURRENCY = 2
    GROUP = 3
    PREDECESSOR = 4
    CHILDREN = 5
    BREAKER = 6
    OUTSIDE = 7
    GATE = 8
    OVERLAP = 9
    CATCH_UP = 10
    BATCH = 11


@dataclass(frozen=True, slots=True)
class Open:
    """What `settle` must know of an open run."""

    id: UUID
    state: State
    attempt: int
    failures: int
    crashes: int
    first_due: datetime
    policy: Policy
    restartable: bool = True
    cancel_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """What becomes of a run: its next state with everything that the row and its attempt will say.

    Counters that are None stay as they are.
    """

    state: State
    attempt_outcome: AttemptOutcome
    outcome: RunOutcome | None = None
    due: datetime | None = None
    reason: str = ""
    result: Result | None = None
    error: SafeError | None = None
    failures: int | None = None
    crashes: int | None = None


DONE: Final = Settlement(S.SUCCEEDED, AttemptOutcome.SUCCESS, RunOutcome.SUCCESS)


def succeed(done: Success | PartialSuccess) -> Settlement:
    """Decide a success, which needs nothing of the run: it is succeeded whatever was wished or counted."""
    if isinstance(done, Success) and not done.warnings:
        return DONE if done.result is None else Settlement(S.SUCCEEDED, DONE.attempt_outcome, DONE.outcome, result=done.result)
    kind = RunOutcome.PARTIAL_SUCCESS if isinstance(done, PartialSuccess) else RunOutcome.SUCCESS_WITH_WARNINGS
    return Settlement(S.SUCCEEDED, AttemptOutcome(kind), kind, reason="; ".join(done.warnings), result=done.result)


def settle(run: Open, outcome: Outcome, now: datetime) -> Settlement:
    """Decide what an attempt's outcome makes of its run.  Pure: no clock, no I/O.

    A cancel wish leaves a success succeeded and makes everything else cancelled (model.md, "Cancel").
    Raises Conflict when the run's state does not lead there, such as the success of a run that nobody started.
    """
    if run.cancel_reason is not None and not isinstance(outcome, Success | PartialSuccess | Cancelled):
        outcome = Cancelled(run.cancel_reason)
    settlement = _decide(run, outcome, now)
    if settlement.state not in NEXT[run.state]:
        raise Conflict(f"run {run.id} is {run.state.name.lower()} and cannot become {settlement.state.name.lower()}", code="illegal_move")
    return settlement


def _decide(run: Open, outcome: Outcome, now: datetime) -> Settlement:
    match outcome:
        case Success() | PartialSuccess():
            return _succeeded(run, outcome)
        case Cancelled() | Skipped():
            return _ended(run, outcome)
        case HandedBack():
            return Settlement(S.QUEUED, AttemptOutcome.HANDED_BACK, failures=run.failures, crashes=run.crashes)
        case Snooze(delay, reason):
            return _waiting(run, AttemptOutcome.SNOOZED, later(now, delay), reason)
        case Lost():
            return _after_crash(run, outcome)
        case Failure() | Timeout():
            return _after_failure(run, outcome, now)
        case _:
            assert_never(outcome)


def _succeeded(run: Open, done: Success | PartialSuccess) -> Settlement:
    counted = replace(succeed(done), failures=run.failures, crashes=run.crashes)
    return counted if run.cancel_reason is None else replace(counted, reason="finished before cancel")


def _ended(run: Open, end: Cancelled | Skipped) -> Settlement:
    if isinstance(end, Skipped):
        return Settlement(
            S.SKIPPED, AttemptOutcome.SKIPPED, RunOutcome.SKIPPED, reason=end.reason, failures=run.failures, crashes=run.crashes
        )
    attempt = AttemptOutcome.FORCED if end.forced else AttemptOutcome.CANCELLED
    # What whoever cancelled said comes first; what the attempt has to add follows.
    reason = "; ".join(dict.fromkeys(said for said in (run.cancel_reason, end.reason) if said))
    return Settlement(S.CANCELLED, attempt, RunOutcome.CANCELLED, reason=reason, failures=run.failures, crashes=run.crashes)


def _waiting(run: Open, attempt: AttemptOutcome, due: datetime, reason: str) -> Settlement:
    return Settlement(S.SCHEDULED, attempt, due=due, reason=reason, failures=run.failures, crashes=run.crashes)


def _after_crash(run: Open, lost: Lost) -> Settlement:
    crashes = run.crashes + 1
    if run.restartable and crashes < MOST_CRASHES:
        return Settlement(S.QUEUED, AttemptOutcome.LOST, error=lost.error, failures=run.failures, crashes=crashes)
    reason = "crash limit" if run.restartable else "the worker was lost and the definition is not restartable"
    return Settlement(
        S.FAILED, AttemptOutcome.LOST, RunOutcome.CRASHED, reason=reason, error=lost.error, failures=run.failures, crashes=crashes
    )


def _after_failure(run: Open, failed: Failure | Timeout, now: datetime) -> Settlement:
    failures = run.failures + 1
    outcome = RunOutcome.TIMEOUT if isinstance(failed, Timeout) else RunOutcome.FAILURE
    attempt = AttemptOutcome(outcome)
    permanent = isinstance(failed, Failure) and failed.permanent
    due = None if permanent else run.policy.next_due(failures, _wait(run, failed, failures), first_due=run.first_due, now=now)
    result = failed.result if isinstance(failed, Failure) else None
    if due is None:
        reason = "permanent error" if permanent else ""
        return Settlement(S.FAILED, attempt, outcome, None, reason, result, failed.error, failures, run.crashes)
    state = S.QUEUED if due <= now else S.SCHEDULED
    return Settlement(state, attempt, due=due, result=result, error=failed.error, failures=failures, crashes=run.crashes)


def _wait(run: Open, failed: Failure | Timeout, failures: int) -> timedelta:
    if isinstance(failed, Failure) and failed.retry_after is not None:
        return failed.retry_after
    return run.policy.backoff.delay(failures, roll_for(run.id, run.attempt))
