"""Local wall times that match a cron expression, on the naive calendar.

Nothing here knows of zones or of elapsed time: fields are stepped, months skipped, and the work of a search is bounded by the
number of months between its ends.  Walls are naive datetimes without microseconds.
"""

from calendar import monthrange
from datetime import datetime
from functools import lru_cache

from headway.core.schedule.cron import DayRule, Expression

_Time = tuple[int, int, int]


def following(expression: Expression, wall: datetime, last: datetime) -> datetime | None:
    """Return the first matching wall in [wall, last], or None."""
    days = days_of(expression, wall.year, wall.month)
    if days >> wall.day & 1 and (time := _time_from(expression, wall.hour, wall.minute, wall.second)):
        return _between(_at(wall, time), wall, last)
    year, month, day = wall.year, wall.month, lowest(days, wall.day + 1)
    while day < 0:
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        if (year, month) > (last.year, last.month):
            return None
        day = lowest(days_of(expression, year, month), 1)
    return _between(_at(wall.replace(year=year, month=month, day=day), _earliest(expression)), wall, last)


def preceding(expression: Expression, wall: datetime, first: datetime) -> datetime | None:
    """Return the last matching wall in [first, wall], or None."""
    days = days_of(expression, wall.year, wall.month)
    if days >> wall.day & 1 and (time := _time_to(expression, wall.hour, wall.minute, wall.second)):
        return _between(_at(wall, time), first, wall)
    year, month, day = wall.year, wall.month, highest(days, wall.day - 1)
    while day < 0:
        year, month = (year, month - 1) if month > 1 else (year - 1, 12)
        if (year, month) < (first.year, first.month):
            return None
        day = highest(days_of(expression, year, month), 31)
    return _between(_at(wall.replace(year=year, month=month, day=day), _latest(expression)), first, wall)


def matches(expression: Expression, wall: datetime) -> bool:
    """Whether a wall is one of the expression's."""
    return bool(
        days_of(expression, wall.year, wall.month) >> wall.day & 1
        and expression.hours >> wall.hour & 1
        and expression.minutes >> wall.minute & 1
        and expression.seconds >> wall.second & 1
    )


def count(expression: Expression, first: datetime, last: datetime) -> int:
    """Return how many walls match in [first, last], by arithmetic over months."""
    if first > last:
        return 0
    whole_days = _days_before(expression, first, last)
    a_day = expression.hours.bit_count() * expression.minutes.bit_count() * expression.seconds.bit_count()
    return whole_days * a_day + _times_of_day(expression, last, inclusive=True) - _times_of_day(expression, first, inclusive=False)


def days_of(expression: Expression, year: int, month: int) -> int:
    """Return the days of a month on which the expression matches, as a mask."""
    if not expression.months >> month & 1:
        return 0
    weekday, all_days = _month(year, month)
    match expression.day_rule:
        case DayRule.EVERY:
            return all_days
        case DayRule.OF_MONTH:
            return expression.days & all_days
        case DayRule.OF_WEEK:
            return _weekly(expression.weekdays, weekday) & all_days
        case DayRule.EITHER:
            return (expression.days | _weekly(expression.weekdays, weekday)) & all_days


@lru_cache(maxsize=4096)
def _month(year: int, month: int) -> tuple[int, int]:
    """The weekday of the first (Sunday is 0), and a mask of all days."""
    weekday, length = monthrange(year, month)
    return (weekday + 1) % 7, (2 << length) - 2


@lru_cache(maxsize=1024)
def _weekly(weekdays: int, first: int) -> int:
    """The days 1 to 31 that fall on the weekdays, in a month whose first day is the weekday `first`."""
    return sum(1 << day for day in range(1, 32) if weekdays >> ((first + day - 1) % 7) & 1)


def _days_before(expression: Expression, first: datetime, last: datetime) -> int:
    """How many matching days lie in [day of first, day of last): the last day itself is counted by its times."""
    total = 0
    year, month = first.year, first.month
    while (year, month) < (last.year, last.month):
        total += days_of(expression, year, month).bit_count()
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return total + _days_until(expression, last) - _days_until(expression, first)


def _days_until(expression: Expression, wall: datetime) -> int:
    return (days_of(expression, wall.year, wall.month) & ((1 << wall.day) - 1)).bit_count()


def _times_of_day(expression: Expression, wall: datetime, *, inclusive: bool) -> int:
    """How many matching times of the wall's day lie before it, or up to it."""
    if not days_of(expression, wall.year, wall.month) >> wall.day & 1:
        return 0
    hours, minutes, seconds = expression.hours, expression.minutes, expression.seconds
    total = _below(hours, wall.hour) * minutes.bit_count() * seconds.bit_count()
    if hours >> wall.hour & 1:
        total += _below(minutes, wall.minute) * seconds.bit_count()
        if minutes >> wall.minute & 1:
            total += _below(seconds, wall.second + inclusive)
    return total


def _below(mask: int, value: int) -> int:
    return (mask & ((1 << value) - 1)).bit_count()


def _between(wall: datetime, first: datetime, last: datetime) -> datetime | None:
    return wall if first <= wall <= last else None


def _at(wall: datetime, time: _Time) -> datetime:
    hour, minute, second = time
    return wall.replace(hour=hour, minute=minute, second=second)


def _earliest(expression: Expression) -> _Time:
    return lowest(expression.hours, 0), lowest(expression.minutes, 0), lowest(expression.seconds, 0)


def _latest(expression: Expression) -> _Time:
    return highest(expression.hours, 23), highest(expression.minutes, 59), highest(expression.seconds, 59)


def _time_from(expression: Expression, hour: int, minute: int, second: int) -> _Time | None:
    """The first matching time of a day at or after the one given."""
    if expression.hours >> hour & 1:
        if expression.minutes >> minute & 1 and (found := lowest(expression.seconds, second)) >= 0:
            return hour, minute, found
        if (found := lowest(expression.minutes, minute + 1)) >= 0:
            return hour, found, lowest(expression.seconds, 0)
    if (found := lowest(expression.hours, hour + 1)) >= 0:
        return found, lowest(expression.minutes, 0), lowest(expression.seconds, 0)
    return None


def _time_to(expression: Expression, hour: int, minute: int, second: int) -> _Time | None:
    """The last matching time of a day at or before the one given."""
    if expression.hours >> hour & 1:
        if expression.minutes >> minute & 1 and (found := highest(expression.seconds, second)) >= 0:
            return hour, minute, found
        if (found := highest(expression.minutes, minute - 1)) >= 0:
            return hour, found, highest(expression.seconds, 59)
    if (found := highest(expression.hours, hour - 1)) >= 0:
        return found, highest(expression.minutes, 59), highest(expression.seconds, 59)
    return None


def lowest(mask: int, value: int) -> int:
    """Return the lowest member of a mask that is at least `value`, or -1."""
    rest = mask >> value
    return value + (rest & -rest).bit_length() - 1 if rest else -1


def highest(mask: int, value: int) -> int:
    """Return the highest member of a mask that is at most `value`, or -1."""
    return (mask & ((2 << value) - 1)).bit_length() - 1 if value >= 0 else -1
