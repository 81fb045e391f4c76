"""How long a failed run waits before its next attempt, and whether it gets one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from math import log
from typing import Final
from uuid import UUID

DAY: Final = timedelta(hours=24)
CENTURY: Final = timedelta(days=36_500)
_GOLDEN: Final = 0x9E3779B97F4A7C15
_MASK: Final = (1 << 64) - 1


class BackoffKind(Enum):
    """The four shapes of a backoff."""

    FIXED = "fixed"
    LINEAR = "linear"
    EXPONENTIAL = "exponential"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Backoff:
    """The delay after failure n, n from 1: fixed `base`, linear `base x n`, exponential `base x factor^(n-1)`, or a list.

    `cap` bounds every delay and is applied before the power can overflow.  `jitter` is the fraction of the delay that may be
    taken away, 0 to 1; 1 is full jitter.  The last value of `delays` repeats.
    """

    kind: BackoffKind = BackoffKind.LINEAR
    base: timedelta = timedelta(seconds=15)
    factor: float = 2.0
    cap: timedelta = DAY
    jitter: float = 0.0
    delays: Sequence[timedelta] = ()

    def delay(self, failures: int, roll: float) -> timedelta:
        """Return the delay after the given number of failures, >= 1; `roll` in [0, 1) places it inside the jitter."""
        whole = min(self._uncapped(max(1, failures)), self.cap)
        return whole * (1.0 - self.jitter * roll)

    def _uncapped(self, failures: int) -> timedelta:
        if self.kind is BackoffKind.FIXED:
            return self.base
        if self.kind is BackoffKind.LINEAR:
            return self.base * min(failures, self._enough(self.cap))
        if self.kind is BackoffKind.LIST:
            return self.delays[min(failures, len(self.delays)) - 1]
        return self._power(failures - 1)

    def _enough(self, limit: timedelta) -> int:
        return max(1, -(-limit // self.base)) if self.base > timedelta() else 1

    def _power(self, exponent: int) -> timedelta:
        if self.base <= timedelta() or self.factor <= 1:
            return self.base
        ratio = self.cap / self.base
        if ratio <= 1 or exponent >= log(ratio) / log(self.factor):
            return self.cap
        return self.base * self.factor**exponent


@dataclass(frozen=True, slots=True)
class Policy:
    """When a definition's runs are tried again: `attempts` in total, inside `horizon` after the run was first due."""

    attempts: int = 1
    backoff: Backoff = Backoff()
    horizon: timedelta | None = None

    def next_due(self, failures: int, wanted: timedelta, *, first_due: datetime, now: datetime) -> datetime | None:
        """Return the instant of the next attempt after `failures` failures, or None when there is none left."""
        due = later(now, wanted)
        if failures >= self.attempts:
            return None
        if self.horizon is not None and due > first_due + self.horizon:
            return None
        return due


def later(now: datetime, delay: timedelta) -> datetime:
    """Return `now` plus a delay that somebody asked for: never before now, and at most a century ahead, so that it can be stored."""
    return now + min(max(delay, timedelta()), CENTURY)


def roll_for(run: UUID, attempt: int) -> float:
    """Return the jitter of one attempt, uniform in [0, 1): a hash, so that deciding twice decides the same."""
    mixed = ((run.int ^ (run.int >> 64)) + attempt * _GOLDEN) & _MASK
    mixed = ((mixed ^ (mixed >> 31)) * 0x94D049BB133111EB) & _MASK
    return (mixed >> 11) / float(1 << 53)
