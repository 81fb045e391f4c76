"""The circuit breaker of a definition: what failures, successes and time make of it (RTY-10).  Pure."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import IntEnum
from typing import NamedTuple


class BreakerState(IntEnum):
    """Closed lets everything through, open nothing, half-open one run at a time; the numbers are what rows hold."""

    CLOSED = 0
    OPEN = 1
    HALF_OPEN = 2


@dataclass(frozen=True, slots=True)
class Breaker:
    """Where a breaker stands: `failures` have been counted since `since`; an open one is tried again at `reopen_at`."""

    state: BreakerState
    since: datetime
    failures: int = 0
    opened_at: datetime | None = None
    reopen_at: datetime | None = None


class BreakerKnobs(NamedTuple):
    """How many failed attempts in a row open it (0 is off), and how long until it is tried again."""

    threshold: int
    reset: timedelta


def counted_from(breaker: Breaker, success: datetime | None) -> datetime:
    """Return the instant after which failures count: the last success, or for a half-open one the begin of its trial."""
    if breaker.state is BreakerState.CLOSED and success is not None:
        return max(breaker.since, success)
    return breaker.since


def hear(breaker: Breaker, knobs: BreakerKnobs, success: datetime | None, failures: int, now: datetime) -> Breaker:
    """Return the breaker after the end of an attempt: `success` is when it succeeded, `failures` how many stand since `counted_from`.

    At the threshold a closed one opens.  A half-open one closes with a success and opens again with a failure.  An open one waits.
    """
    heard = replace(breaker, since=counted_from(breaker, success), failures=failures)
    match breaker.state:
        case _ if knobs.threshold <= 0:
            return _closed(heard, now) if breaker.state is not BreakerState.CLOSED else heard
        case BreakerState.CLOSED if failures >= knobs.threshold:
            return _open(heard, knobs, now)
        case BreakerState.HALF_OPEN if success is not None and success > breaker.since:
            return _closed(replace(heard, failures=0), success)
        case BreakerState.HALF_OPEN if failures:
            return _open(heard, knobs, now)
        case BreakerState.OPEN:
            return replace(breaker, failures=failures)
        case _:
            return heard


def look(breaker: Breaker, knobs: BreakerKnobs, now: datetime) -> Breaker:
    """Return the breaker as time has it: an open one is tried when its reset time has passed; one that was switched off closes."""
    if breaker.state is BreakerState.CLOSED:
        return breaker
    if knobs.threshold <= 0:
        return _closed(breaker, now)
    if breaker.state is BreakerState.OPEN and breaker.reopen_at is not None and breaker.reopen_at <= now:
        return replace(breaker, state=BreakerState.HALF_OPEN, since=now, failures=0, reopen_at=None)
    return breaker


def _open(breaker: Breaker, knobs: BreakerKnobs, now: datetime) -> Breaker:
    return replace(breaker, state=BreakerState.OPEN, opened_at=now, reopen_at=now + knobs.reset)


def _closed(breaker: Breaker, since: datetime) -> Breaker:
    return Breaker(BreakerState.CLOSED, max(breaker.since, since), breaker.failures)
