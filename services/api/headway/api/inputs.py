"""The kinds of value that requests carry, each checked once."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Annotated, Any, Final

from fastapi import Header
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from headway.core.durations import parse_duration
from headway.core.errors import Invalid, Problem

DEEPEST: Final = 64
LONGEST_DELAY: Final = timedelta(days=36_500)
LEAST_NUMBER, GREATEST_NUMBER = -(2**63), 2**63 - 1
NOT_STORABLE: Final = "must be text without NUL and without half of a character"


class Asked(BaseModel):
    """The manner of all bodies: a field that is not known, or of another kind, is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Narrowed(BaseModel):
    """The manner of all sets of query parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _instant(value: object) -> datetime:
    try:
        instant = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        if instant.tzinfo is not None:
            return instant.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ValueError("must be an instant with its offset, such as 2026-01-31T07:00:00Z")


def _delay(value: object) -> timedelta:
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            found = parse_duration(value)
            if timedelta() <= found <= LONGEST_DELAY:
                return found
    except Invalid:
        pass
    raise ValueError("must be a duration such as 90s, 5m, 2h or 1d, or a number of seconds; not negative, at most a century")


def is_storable(text: str) -> bool:
    """Whether PostgreSQL takes a text: no NUL in it, and no half of a character."""
    return "\x00" not in text and (text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text))


def storable(value: str) -> str:
    """Return text that PostgreSQL takes.  Raises ValueError for any other."""
    if not is_storable(value):
        raise ValueError(NOT_STORABLE)
    return value


def _printable(value: str) -> str:
    if not value.isprintable():
        raise ValueError("must be printable characters")
    return value


Instant = Annotated[datetime, BeforeValidator(_instant), WithJsonSchema({"type": "string", "format": "date-time"})]
Delay = Annotated[timedelta, BeforeValidator(_delay), WithJsonSchema({"type": ["string", "number"], "examples": ["90s", "5m", 7200]})]
Text = Annotated[str, AfterValidator(storable), Field(max_length=256)]
Key = Annotated[str, AfterValidator(_printable), Field(min_length=1, max_length=128)]
Correlation = Annotated[str, AfterValidator(_printable), Field(min_length=1, max_length=256)]
IdempotencyKey = Annotated[Key | None, Header(description="The same key with the same request is the same run, for at least 24 hours.")]
XCorrelationId = Annotated[Correlation | None, Header(description="Kept with everything that this request makes, and given back.")]
IfMatch = Annotated[str | None, Header(description="The version that the change builds on, as its ETag.")]
Limit = Annotated[int, Field(ge=1, le=200)]


class Page(Narrowed):
    """A page of a listing: at most `limit` things that follow the cursor of an earlier page."""

    cursor: Annotated[str, Field(max_length=2000)] | None = None
    limit: Limit = 50


def value_problems(value: Any, path: str, depth: int = 1) -> Iterator[Problem]:
    """Name everything in a JSON value that cannot be kept: what is nested too deeply, numbers out of range, text that is none."""
    if isinstance(value, dict | list):
        yield from _inner_problems(value, path, depth)
    elif complaint := _complaint(value):
        yield Problem(path, complaint)


def _inner_problems(value: dict[str, Any] | list[Any], path: str, depth: int) -> Iterator[Problem]:
    if depth > DEEPEST:
        yield Problem(path, f"is nested deeper than {DEEPEST}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from value_problems(inner, f"{path}[{index}]", depth + 1)
    else:
        for name, inner in value.items():
            yield from value_problems(name, path)
            yield from value_problems(inner, f"{path}.{name}" if path else name, depth + 1)


def _complaint(value: object) -> str:
    match value:
        case str():
            return "" if is_storable(value) else NOT_STORABLE
        case float() if not isfinite(value):
            return "must be a finite number"
        case int() if not LEAST_NUMBER <= value <= GREATEST_NUMBER:
            return "must be a whole number of at most 64 bits"
        case _:
            return ""
