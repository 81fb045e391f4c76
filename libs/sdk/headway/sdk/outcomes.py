"""What a handler's return value, or the exception that left it, makes of the attempt."""

from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from datetime import timedelta
from typing import Any, Final, get_args

from pydantic import BaseModel

from headway.core.errors import Invalid, Unavailable
from headway.core.outcome import (
    Cancelled,
    Failure,
    Outcome,
    PartialSuccess,
    Result,
    SafeError,
    Snooze,
    Success,
)
from headway.core.safe import safe_error, safe_text
from headway.sdk.storable import plain_json
from headway.sdk.verdicts import PermanentError, RetryAfter

AWAY: Final = timedelta(seconds=1)
NOT_STORABLE: Final = "result_not_storable"
TEXT_LIMIT: Final = 2000
LONGEST: Final = timedelta(days=3650)
_NOTHING: Final = Success()
_VERDICTS: Final = frozenset(get_args(Outcome))


def outcome_of(value: Any) -> Outcome:
    """Return the outcome that a returned value means: a verdict is itself, None is a success without result, anything else a result."""
    if value is None:
        return _NOTHING
    try:
        return _of(value) if type(value) in _VERDICTS else Success(_result(value))
    except Invalid as error:
        return Failure(SafeError(NOT_STORABLE, safe_text(error.message, TEXT_LIMIT)), permanent=True)


def failure_of(error: BaseException) -> Outcome:
    """Return the outcome that an exception means.  A platform that was away when the handler asked it charges nothing."""
    if isinstance(error, Unavailable):
        return Snooze(AWAY, "the store or the broker was unavailable")
    delay = error.delay if isinstance(error, RetryAfter) else None
    permanent = isinstance(error, PermanentError)
    return Failure(safe_error(error), permanent, delay if delay is None else _bounded(delay), _kept(error))


def _of(value: Outcome) -> Outcome:
    match value:
        case Success() | PartialSuccess():
            warnings = tuple(safe_text(str(one), TEXT_LIMIT) for one in value.warnings)
            return replace(value, result=None if value.result is None else _result(value.result), warnings=warnings)
        case Snooze():
            return Snooze(_bounded(value.delay), safe_text(value.reason, TEXT_LIMIT))
        case Cancelled():
            return replace(value, reason=safe_text(value.reason, TEXT_LIMIT))
        case _:
            return value


def _result(value: Any) -> Result:
    plain: Result = plain_json(value if _is_named(value) else {"value": value}, "result")
    return plain


def _is_named(value: Any) -> bool:
    if type(value) is dict:
        return True
    return isinstance(value, Mapping | BaseModel) or (is_dataclass(value) and not isinstance(value, type))


def _kept(error: BaseException) -> Result | None:
    """What an exception carries as its result, if that is storable."""
    carried = getattr(error, "result", None)
    if not isinstance(carried, Mapping):
        return None
    try:
        return _result(carried)
    except Invalid:
        return None


def _bounded(delay: timedelta) -> timedelta:
    return min(max(delay, timedelta()), LONGEST)
