"""One field of a cron expression, from text to the set of its values.

croniter expands; this module first holds the text to our dialect, because croniter also takes what we refuse: ranges that wrap
around, `5-5` as the whole field, `L W #`, random and hashed values.  A set of values is a bit mask: bit n stands for value n.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from croniter import croniter
from croniter.croniter import CroniterError

_ITEM: Final = re.compile(r"(?:\*|(?P<low>[0-9]+|[a-z]{3})(?:-(?P<high>[0-9]+|[a-z]{3}))?)(?:/(?P<step>[0-9]+))?")
_SPECIAL: Final = re.compile(r"[lw#]")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
SUNDAY: Final = 7


@dataclass(frozen=True, slots=True)
class Field:
    """What one field may hold: values from `low` to `high`, `names` for them from `low` on, its column in croniter's order."""

    name: str
    low: int
    high: int
    column: int
    names: tuple[str, ...] = ()

    def value(self, token: str, *, ends_range: bool = False) -> int:
        """Return the number that a token stands for; raises ValueError with the reason."""
        if not token.isdigit():
            return self._named(token, ends_range=ends_range)
        value = int(token)
        if not self.low <= value <= self.high:
            raise ValueError(f"{token} is out of range, {self.low} to {self.high}")
        return value

    def _named(self, token: str, *, ends_range: bool) -> int:
        if token not in self.names:
            raise ValueError(f"'{token}' is not a number" + (f" or one of {', '.join(self.names)}" if self.names else ""))
        value = self.low + self.names.index(token)
        return SUNDAY if ends_range and self is WEEKDAY and value == 0 else value


SECOND: Final = Field("second", 0, 59, 5)
MINUTE: Final = Field("minute", 0, 59, 0)
HOUR: Final = Field("hour", 0, 23, 1)
DAY: Final = Field("day of month", 1, 31, 2)
MONTH: Final = Field("month", 1, 12, 3, _MONTHS)
WEEKDAY: Final = Field("day of week", 0, SUNDAY, 4, _WEEKDAYS)


@dataclass(frozen=True, slots=True)
class Reading:
    """A field that was read: its values as a mask, or what is wrong with it."""

    mask: int
    complaints: tuple[str, ...] = ()


@lru_cache(maxsize=4096)
def read_field(field: Field, text: str) -> Reading:
    """Return the values of a field's text, which is lower case; every item that is wrong is complained about."""
    if text in ("*", "?"):
        return Reading(_whole(field))
    items: list[str] = []
    complaints: list[str] = []
    for item in text.split(","):
        try:
            items.extend(_canonical(field, item))
        except ValueError as error:
            complaints.append(f"{field.name}: {error}")
    if complaints:
        return Reading(0, tuple(complaints))
    return _expanded(field, ",".join(items))


def _expanded(field: Field, text: str) -> Reading:
    columns = ["*"] * 6
    columns[field.column] = text
    try:
        values = croniter.expand(" ".join(columns))[0][field.column]
    except CroniterError:
        return Reading(0, (f"{field.name}: '{text}' cannot be read",))
    if "*" in values:
        return Reading(_whole(field))
    return Reading(sum(1 << int(value) for value in values))


def _whole(field: Field) -> int:
    return sum(1 << value for value in range(field.low, min(field.high, 6 if field is WEEKDAY else field.high) + 1))


def _canonical(field: Field, item: str) -> Iterator[str]:
    """Yield items of the same meaning that croniter reads as we do."""
    match = _ITEM.fullmatch(item)
    if match is None:
        raise ValueError(_unreadable(item))
    step = match["step"]
    if step is not None and int(step) == 0:
        raise ValueError(f"the step of '{item}' is 0")
    suffix = "" if step is None else f"/{int(step)}"
    if match["low"] is None:
        yield "*" + suffix
    elif match["high"] is None:
        yield f"{_start(field, match['low'])}{suffix}"
    else:
        yield from _range(field, match["low"], match["high"], int(step or 1))


def _unreadable(item: str) -> str:
    if item == "":
        return "an item of the list is empty"
    if _SPECIAL.search(item):
        return f"'{item}': L, W and # are not supported"
    return f"'{item}' is not a value, a range or a step"


def _start(field: Field, token: str) -> int:
    value = field.value(token)
    return 0 if field is WEEKDAY and value == SUNDAY else value


def _range(field: Field, low_token: str, high_token: str, step: int) -> Iterator[str]:
    low, high = field.value(low_token), field.value(high_token, ends_range=True)
    if low > high:
        raise ValueError(f"the range {low_token}-{high_token} wraps around: write {_unwrapped(field, low, high)}")
    if field is WEEKDAY and high == SUNDAY:
        if (high - low) % step == 0:
            yield "0"
        high = 6
    if low < high:
        yield f"{low}-{high}/{step}"
    elif low == high:
        yield str(low)


def _unwrapped(field: Field, low: int, high: int) -> str:
    if field is WEEKDAY and low == SUNDAY:
        return _span(0, high)
    last = 6 if field is WEEKDAY else field.high
    return f"{_span(low, last)},{_span(field.low, high)}"


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"
