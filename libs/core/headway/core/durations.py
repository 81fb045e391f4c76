"""Lengths of time as people write them: `90s`, `5m`, `2h`, `1d`, `1h30m`."""

import re
from datetime import timedelta
from typing import Final

from headway.core.errors import Invalid

_UNITS: Final = {
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
}
_TEXT: Final = re.compile(r"(?:[0-9]{1,15}(?:ms|[dhms]))+")
_PART: Final = re.compile(r"([0-9]+)(ms|[dhms])")
_MICROSECOND: Final = timedelta(microseconds=1)


def parse_duration(value: str | float | timedelta, field: str = "duration") -> timedelta:
    """Return a duration from `90s`-like text, a number of seconds, or a timedelta; raises Invalid on the given field."""
    if isinstance(value, timedelta):
        return value
    try:
        if not isinstance(value, str):
            return timedelta(seconds=value)
        if _TEXT.fullmatch(value):
            return sum((int(amount) * _UNITS[unit] for amount, unit in _PART.findall(value)), timedelta())
    except (OverflowError, TypeError, ValueError):
        pass
    raise Invalid.field(field, f"{str(value)[:40]!r} is not a duration: write 90s, 5m, 2h or 1d")


def format_duration(value: timedelta) -> str:
    """Return the shortest text in one unit that parses to the same duration, which is >= 0; fractions under 1 ms are lost."""
    for unit, size in _UNITS.items():
        if value >= size and value % size < _MICROSECOND:
            return f"{value // size}{unit}"
    return f"{value // _UNITS['ms']}ms" if value else "0s"
