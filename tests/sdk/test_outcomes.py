"""What a handler's return value or exception makes of its attempt."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from headway.core.errors import Unavailable
from headway.core.outcome import Outcome
from headway.sdk import (
    Cancelled,
    PartialSuccess,
    PermanentError,
    RetryAfter,
    Snooze,
    Success,
)
from tests.sdk.attempts import Report, failure, outcome, raising, returning

LOOSE: Any = 7
NAN: Any = float("nan")


@dataclass
class Point:
    """A dataclass to return."""

    x: int


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, Success()),
        ({"sent": 3}, Success({"sent": 3})),
        (5, Success({"value": 5})),
        ([1, 2], Success({"value": [1, 2]})),
        (Report(customer="x"), Success({"customer": "x", "pages": 1})),
        (Point(1), Success({"x": 1})),
        ({"at": datetime(2030, 1, 1, tzinfo=UTC), "sum": Decimal("1.5")}, Success({"at": "2030-01-01T00:00:00+00:00", "sum": "1.5"})),
        (Success(LOOSE, warnings=("slow",)), Success({"value": 7}, ("slow",))),
        (PartialSuccess({"done": 1}), PartialSuccess({"done": 1})),
        (Snooze(timedelta(minutes=1), "later"), Snooze(timedelta(minutes=1), "later")),
        (Snooze(timedelta(seconds=-1)), Snooze(timedelta())),
        (Cancelled("not needed"), Cancelled("not needed")),
    ],
    ids=str,
)
async def test_what_a_handler_returns(value: object, expected: Outcome) -> None:
    """RUN-02, RUN-19: a mapping's keys are results, anything else is one result `value`; a verdict is itself."""
    assert await outcome(returning(value)) == expected


@pytest.mark.parametrize(
    "value",
    [float("nan"), {"a": [1.0, float("inf")]}, {"a": "\ud800"}, {"a": object()}, {"a": "x" * 300_000}, b"\xff", Success(NAN)],
    ids=["nan", "infinity", "surrogate", "object", "large", "bytes", "verdict"],
)
async def test_what_cannot_be_stored_fails_for_good(value: object) -> None:
    """RUN-19: a result that JSON or the limits refuse is a permanent failure of its own kind."""
    found = failure(await outcome(returning(value)))
    assert (found.error.kind, found.permanent) == ("result_not_storable", True)


async def test_depth_is_limited_to_64() -> None:
    """RUN-19: 64 levels are stored, 65 are not."""

    def nested(levels: int) -> object:
        return {} if levels == 1 else {"in": nested(levels - 1)}

    assert isinstance(await outcome(returning(nested(64))), Success)
    assert failure(await outcome(returning(nested(65)))).error.kind == "result_not_storable"


async def test_what_a_handler_raises() -> None:
    """RUN-14: an exception is a failure with a safe text; permanent and retry-after are heard, a carried result is kept."""
    plain = failure(await outcome(raising(ValueError("password=hunter2 is wrong"))))
    assert (plain.error.kind, plain.error.message, plain.permanent) == ("ValueError", "password=*** is wrong", False)
    assert "in handler" in plain.error.stack
    permanent = failure(await outcome(raising(PermanentError("never", result={"step": 3}))))
    assert (permanent.permanent, permanent.result) == (True, {"step": 3})
    later = failure(await outcome(raising(RetryAfter(timedelta(seconds=9), "busy"))))
    assert (later.retry_after, later.error.message) == (timedelta(seconds=9), "busy")
    assert failure(await outcome(raising(PermanentError(result={"bad": float("nan")})))).result is None
    assert failure(await outcome(raising(SystemExit(3)))).error.kind == "SystemExit"
    assert failure(await outcome(raising(BaseExceptionGroupOf()))).error.kind == "ExceptionGroup"


def BaseExceptionGroupOf() -> ExceptionGroup[ValueError]:  # noqa: N802  # reads as the value that it makes
    return ExceptionGroup("two", [ValueError("one"), ValueError("other")])


async def test_a_platform_that_is_away_charges_nothing() -> None:
    """A handler that fails because the store or the broker was away is snoozed, not failed."""
    assert isinstance(await outcome(raising(Unavailable("database: gone"))), Snooze)
