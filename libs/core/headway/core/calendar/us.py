"""Holidays of the United States, by arithmetic alone, for every year alike.

A holiday with an observed shift stands on the day on which it is observed: Friday for a Saturday, Monday for a Sunday.  So the
New Year's Day of a year that begins on a Saturday is a day of the year before.
"""

from collections.abc import Callable
from datetime import MAXYEAR, MINYEAR, date, timedelta
from functools import lru_cache
from typing import Final

from headway.core.errors import Invalid

_MON, _THU, _SAT, _SUN = 0, 3, 5, 6
_DAY: Final = timedelta(days=1)
_Rule = Callable[[int], date]


def _fixed(month: int, day: int) -> _Rule:
    return lambda year: date(year, month, day)


def _observed(month: int, day: int) -> _Rule:
    return lambda year: _shifted(date(year, month, day))


def _nth(month: int, weekday: int, number: int) -> _Rule:
    def rule(year: int) -> date:
        first = date(year, month, 1)
        return first + ((weekday - first.weekday()) % 7 + 7 * (number - 1)) * _DAY

    return rule


def _last_monday_of_may(year: int) -> date:
    last = date(year, 5, 31)
    return last - last.weekday() * _DAY


def _shifted(day: date) -> date:
    if day.weekday() == _SAT:
        return day - _DAY
    return day + _DAY if day.weekday() == _SUN else day


def easter(year: int) -> date:
    """Return Easter Sunday of the Gregorian calendar (source: the anonymous algorithm that Nature printed in 1876)."""
    century, of_century = divmod(year, 100)
    golden = year % 19
    correction = (century - (century + 8) // 25 + 1) // 3
    moon = (19 * golden + century - century // 4 - correction + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (of_century // 4) - moon - of_century % 4) % 7
    late = (golden + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)


_RULES: Final[dict[str, _Rule]] = {
    "new-years-day": _observed(1, 1),
    "martin-luther-king-jr-day": _nth(1, _MON, 3),
    "valentines-day": _fixed(2, 14),
    "presidents-day": _nth(2, _MON, 3),
    "st-patricks-day": _fixed(3, 17),
    "easter-sunday": easter,
    "mothers-day": _nth(5, _SUN, 2),
    "memorial-day": _last_monday_of_may,
    "juneteenth": _observed(6, 19),
    "fathers-day": _nth(6, _SUN, 3),
    "independence-day": _observed(7, 4),
    "labor-day": _nth(9, _MON, 1),
    "columbus-day": _nth(10, _MON, 2),
    "halloween": _fixed(10, 31),
    "veterans-day": _observed(11, 11),
    "thanksgiving-day": _nth(11, _THU, 4),
    "christmas-day": _observed(12, 25),
    "new-years-eve": _fixed(12, 31),
}
FEDERAL: Final = (
    "new-years-day",
    "martin-luther-king-jr-day",
    "presidents-day",
    "memorial-day",
    "juneteenth",
    "independence-day",
    "labor-day",
    "columbus-day",
    "veterans-day",
    "thanksgiving-day",
    "christmas-day",
)
ALL_FEDERAL: Final = "federal"
US_SLUGS: Final = (*_RULES, ALL_FEDERAL)


@lru_cache(maxsize=4096)
def resolve_us(slug: str, year: int) -> tuple[date, ...]:
    """Return the days of a year on which a holiday stands, in order: usually one, at times none or two around New Year.

    `federal` stands for the eleven federal holidays together.  Raises Invalid on `holiday` for a slug that is not in US_SLUGS.
    """
    if slug not in US_SLUGS:
        raise Invalid.field("holiday", f"US:{slug[:60]} is not known: known are {', '.join(US_SLUGS)}")
    names = FEDERAL if slug == ALL_FEDERAL else (slug,)
    years = range(max(year, MINYEAR), min(year + 1, MAXYEAR) + 1)
    found = {_RULES[name](one) for name in names for one in years}
    return tuple(sorted(day for day in found if day.year == year))
