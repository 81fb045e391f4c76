"""What a handler made of an attempt: values, never exceptions.

`Outcome` is what the worker or maintenance hands to `settle`; `AttemptOutcome` and `RunOutcome` are how rows remember it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum
from typing import Any, Final

Result = Mapping[str, Any]


class RunOutcome(IntEnum):
    """How a run ended, for good."""

    SUCCESS = 1
    SUCCESS_WITH_WARNINGS = 2
    PARTIAL_SUCCESS = 3
    FAILURE = 4
    TIMEOUT = 5
    CRASHED = 6
    CANCELLED = 7
    SKIPPED = 8

    @property
    def word(self) -> str:
        """The outcome as conditions and templates say it, such as `SuccessWithWarnings`."""
        return self.name.title().replace("_", "")


class AttemptOutcome(IntEnum):
    """How one attempt ended: the outcomes of a run and four that end no run."""

    SUCCESS = 1
    SUCCESS_WITH_WARNINGS = 2
    PARTIAL_SUCCESS = 3
    FAILURE = 4
    TIMEOUT = 5
    CRASHED = 6
    CANCELLED = 7
    SKIPPED = 8
    LOST = 9
    HANDED_BACK = 10
    SNOOZED = 11
    FORCED = 12


SUCCESSES: Final = frozenset({RunOutcome.SUCCESS, RunOutcome.SUCCESS_WITH_WARNINGS, RunOutcome.PARTIAL_SUCCESS})
FAILURES: Final = frozenset({RunOutcome.FAILURE, RunOutcome.TIMEOUT, RunOutcome.CRASHED})
# What breaker and alert thresholds count, whether the run goes on or not.
FAILED_ATTEMPTS: Final = frozenset({AttemptOutcome.FAILURE, AttemptOutcome.TIMEOUT, AttemptOutcome.LOST})


@dataclass(frozen=True, slots=True)
class SafeError:
    """An error that may be stored and shown: limited, without secrets, without values that PostgreSQL refuses."""

    kind: str
    message: str
    stack: str = ""


@dataclass(frozen=True, slots=True)
class Success:
    """The work is done; `warnings` make it SuccessWithWarnings."""

    result: Result | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartialSuccess:
    """Part of the work is done, and that is the end of it."""

    result: Result | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """The attempt failed; `permanent` forbids a retry, `retry_after` replaces the backoff of this one."""

    error: SafeError
    permanent: bool = False
    retry_after: timedelta | None = None
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class Timeout:
    """The attempt outlived its deadline; `forced` when maintenance ended it in its worker's place."""

    error: SafeError = field(default_factory=lambda: SafeError("Timeout", "the attempt outlived its deadline"))
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """The session or child process that held the attempt died."""

    error: SafeError = field(default_factory=lambda: SafeError("Lost", "the worker that held this attempt was lost"))


@dataclass(frozen=True, slots=True)
class HandedBack:
    """A draining worker returns the run unfinished; nothing is charged."""


@dataclass(frozen=True, slots=True)
class Snooze:
    """The handler asks to be called again after `delay`; nothing is charged."""

    delay: timedelta
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The attempt ended because somebody asked for it, or because the handler said so."""

    reason: str = ""
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """The run is given up before it ran: definition disabled, start-by passed, predecessor given up."""

    reason: str


Outcome = Success | PartialSuccess | Failure | Timeout | Lost | HandedBack | Snooze | Cancelled | Skipped
