"""A cron expression: five fields, or six with the seconds in front, as sets of values.

The dialect: names in any case, Sunday 0 or 7, lists, ranges, steps, `?` as `*`.  With both day fields restricted a day matches when
either does; a field is unrestricted only when it is a bare `*` or `?`, so `*/10` restricts.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from headway.core.errors import Invalid, Problem
from headway.core.schedule.fields import DAY, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, read_field

LONGEST: Final = 128
_FIVE: Final = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)
_SIX: Final = (SECOND, *_FIVE)
_UNRESTRICTED: Final = ("*", "?")
_PERIODIC_HOUR: Final = re.compile(r"\?|\*(?:/[0-9]+)?")
_LONGEST_MONTH: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
MACROS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


class DayRule(Enum):
    """Which days match: all, those of the one day field that is restricted, or those of either."""

    EVERY = "every day"
    OF_MONTH = "day of month"
    OF_WEEK = "day of week"
    EITHER = "day of month or day of week"


@dataclass(frozen=True, slots=True)
class Expression:
    """A valid cron expression.  The fields are masks (bit n stands for value n; weekday 0 is Sunday) and never empty.

    `periodic` expressions, whose hour field is a bare `*` or `*/n`, follow the clock's pace: none of their wall times is made up
    in a gap and none is dropped in a fold.
    """

    text: str
    seconds: int
    minutes: int
    hours: int
    days: int
    months: int
    weekdays: int
    day_rule: DayRule
    periodic: bool


@lru_cache(maxsize=16384)
def parse_cron(text: str) -> Expression:
    """Return the expression that a text stands for; raises Invalid on field `cron` with everything that is wrong with it."""
    fields = _split(text)
    layout = _FIVE if len(fields) == len(_FIVE) else _SIX
    readings = [read_field(field, part) for field, part in zip(layout, fields, strict=True)]
    if complaints := [complaint for reading in readings for complaint in reading.complaints]:
        raise Invalid([Problem("cron", complaint) for complaint in complaints])
    seconds = 1 if layout is _FIVE else readings[0].mask
    minutes, hours, days, months, weekdays = (reading.mask for reading in readings[-5:])
    hour, day, _, weekday = fields[-4:]
    rule = _day_rule(day, weekday)
    if rule is DayRule.OF_MONTH and not _ever(days, months):
        raise Invalid.field("cron", "never matches: no such day in any of its months")
    periodic = _PERIODIC_HOUR.fullmatch(hour) is not None
    return Expression(" ".join(fields), seconds, minutes, hours, days, months, weekdays, rule, periodic)


def _split(text: str) -> list[str]:
    if len(text) > LONGEST:
        raise Invalid.field("cron", f"is longer than {LONGEST} characters")
    if not text.isascii():
        raise Invalid.field("cron", "holds characters other than ASCII")
    lowered = text.strip(" \t").lower()
    if lowered in MACROS:
        raise Invalid.field("cron", f"{lowered} is not supported: write {MACROS[lowered]}")
    fields = re.split(r"[ \t]+", lowered)
    if len(fields) not in (len(_FIVE), len(_SIX)):
        count = len(fields) if lowered else 0
        raise Invalid.field("cron", f"has {count} fields: five are needed, or six with the seconds in front")
    return fields


def _day_rule(day: str, weekday: str) -> DayRule:
    by_month, by_week = day not in _UNRESTRICTED, weekday not in _UNRESTRICTED
    if by_month:
        return DayRule.EITHER if by_week else DayRule.OF_MONTH
    return DayRule.OF_WEEK if by_week else DayRule.EVERY


def _ever(days: int, months: int) -> bool:
    """Whether a day of the mask exists in a month of the mask."""
    first_day = (days & -days).bit_length() - 1
    return any(months >> month & 1 and first_day <= length for month, length in enumerate(_LONGEST_MONTH, start=1))
