"""Single values of a schedule or calendar, read from what a document holds.

Every reader takes the field's name and its value, and raises Invalid with everything that is wrong with it.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, time, timedelta
from enum import Enum
from typing import Any, Final, TypeVar

from headway.core.durations import parse_duration
from headway.core.errors import Invalid, Problem
from headway.core.schedule.fields import WEEKDAY
from headway.core.schedule.kinds import SHORTEST
from headway.core.schedule.policies import Fold, Gap
from headway.core.schedule.zones import zone_name

WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NEVER: Final = "never"
_NUMBER_OF_WEEKDAY: Final = {name: WEEKDAY.names.index(name) for name in WEEKDAYS}
_CLOCK: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_WIDEST_JITTER: Final = timedelta(days=1)
_MILLISECOND: Final = timedelta(milliseconds=1)
_SECOND: Final = timedelta(seconds=1)
_Policy = TypeVar("_Policy", bound=Enum)
_Item = TypeVar("_Item")


def read_text(field: str, value: object) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise Invalid.field(field, "must be a text")
    return value


def read_zone(field: str, value: object) -> str:
    """Return the IANA id of a zone."""
    return zone_name(read_text(field, value))


def read_gap(field: str, value: object) -> Gap:
    """Return a gap policy."""
    return _policy(Gap, field, value)


def read_fold(field: str, value: object) -> Fold:
    """Return a fold policy."""
    return _policy(Fold, field, value)


def read_instant(field: str, value: object) -> datetime:
    """Return an instant in UTC, from an aware datetime or an ISO 8601 text with an offset."""
    try:
        instant = value if isinstance(value, datetime) else datetime.fromisoformat(read_text(field, value))
        if instant.tzinfo is not None:
            return instant.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Invalid.field(field, "must be an instant with its offset, such as 2026-01-31T07:00:00Z")


def read_interval(field: str, value: object) -> timedelta:
    """Return the length of a fixed interval."""
    every = _span(field, value)
    if every <= timedelta():
        raise Invalid.field(field, "must be longer than zero")
    if every < SHORTEST or every % _MILLISECOND:
        raise Invalid.field(field, "must be at least 200ms, in whole milliseconds")
    return every


def read_step(field: str, value: object) -> timedelta:
    """Return the distance of local times."""
    every = _span(field, value)
    if every < _SECOND or every % _SECOND:
        raise Invalid.field(field, "must be at least 1s, in whole seconds, inside a daily window")
    return every


def read_completion_gap(field: str, value: object) -> timedelta | None:
    """Return the time from a finish to the next slot, of which 200 ms is the floor; None when there is to be no next slot."""
    if value == NEVER:
        return None
    gap = _span(field, value)
    if gap < timedelta() or gap % _MILLISECOND:
        raise Invalid.field(field, f"must not be negative, in whole milliseconds; or {NEVER!r}, which means once")
    return max(gap, SHORTEST)


def read_jitter(field: str, value: object) -> timedelta:
    """Return the length of the window over which starts are spread."""
    jitter = _span(field, value)
    if not timedelta() <= jitter <= _WIDEST_JITTER or jitter % _MILLISECOND:
        raise Invalid.field(field, "must be from 0s to 1d, in whole milliseconds")
    return jitter


def read_clock(field: str, value: object) -> time:
    """Return a local time of day, with seconds when they are given."""
    if isinstance(value, time) and value.tzinfo is None and not value.microsecond:
        return value
    if isinstance(value, str) and (found := _CLOCK.fullmatch(value)):
        hour, minute, second = (int(part or 0) for part in found.groups())
        return time(hour, minute, second)
    raise Invalid.field(field, "must be a local time in quotes, such as '07:30'")


def read_clocks(field: str, value: object) -> tuple[time, ...]:
    """Return times of day in order, each once."""
    return tuple(sorted(set(read_items(field, value, read_clock))))


def read_weekdays(field: str, value: object) -> int:
    """Return a set of weekdays as a mask, Sunday 0."""
    return _mask(read_items(field, value, _weekday))


def read_months(field: str, value: object) -> int:
    """Return a set of months as a mask."""
    return _mask(read_items(field, value, _month))


def read_items(field: str, value: object, read: Callable[[str, Any], _Item]) -> list[_Item]:
    """Return what each item of a list reads as; an empty list is refused, and every item that is wrong is named."""
    if not isinstance(value, list | tuple | set | frozenset) or not value:
        raise Invalid.field(field, "must be a list with at least one item")
    items: list[_Item] = []
    problems: list[Problem] = []
    for index, item in enumerate(value):
        try:
            items.append(read(f"{field}[{index}]", item))
        except Invalid as error:
            problems.extend(error.problems)
    if problems:
        raise Invalid(problems)
    return items


def _policy(kind: type[_Policy], field: str, value: object) -> _Policy:
    try:
        return value if isinstance(value, kind) else kind(value)
    except ValueError:
        raise Invalid.field(field, f"must be one of {', '.join(str(policy.value) for policy in kind)}") from None


def _span(field: str, value: object) -> timedelta:
    if isinstance(value, bool) or not isinstance(value, str | int | float | timedelta):
        raise Invalid.field(field, "must be a duration such as 90s, 5m, 2h or 1d")
    return parse_duration(value, field)


def _weekday(field: str, value: object) -> int:
    number = _NUMBER_OF_WEEKDAY.get(value.lower()) if isinstance(value, str) else None
    if number is None:
        raise Invalid.field(field, f"must be one of {', '.join(WEEKDAYS)}")
    return number


def _month(field: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 12:
        raise Invalid.field(field, "must be a month from 1 to 12")
    return value


def _mask(values: Iterable[int]) -> int:
    mask = 0
    for value in values:
        mask |= 1 << value
    return mask
