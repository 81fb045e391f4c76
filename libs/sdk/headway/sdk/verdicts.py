"""What a handler may return or raise, beside a plain value and an ordinary exception."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from headway.core.outcome import Cancelled, PartialSuccess, Snooze, Success

__all__ = ["Cancelled", "PartialSuccess", "PermanentError", "RetryAfter", "Snooze", "Success"]


class PermanentError(Exception):
    """The attempt failed and another one would fail as well: no retry.  `result` is kept with the failure."""

    def __init__(self, message: str = "", *, result: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.result = result


class RetryAfter(Exception):
    """The attempt failed; the next one, if there is one left, comes after `delay` in the place of the backoff's."""

    def __init__(self, delay: timedelta, message: str = "", *, result: Mapping[str, Any] | None = None) -> None:
        super().__init__(message or f"to be tried again after {delay}")
        self.delay = delay
        self.result = result
