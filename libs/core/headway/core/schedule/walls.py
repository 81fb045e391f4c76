"""Local wall times that a rule names, on the naive calendar.

Nothing here knows of zones or of elapsed time: months are skipped, days and times stepped, and the work of a search is bounded by
the number of months between its ends.  Walls are naive datetimes without microseconds.
"""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import lru_cache
from typing import Final, Protocol

from headway.core.schedule.cron import DayRule, Expression
from headway.core.schedule.days import Days
from headway.core.schedule.times import Fields, Listed, Times, highest, lowest

_DAY: Final = 86_400
_LAST: Final = _DAY - 1
_SECOND: Final = timedelta(seconds=1)
_EVERY: Final = -1


class Pattern(Protocol):
    """A set of walls that can be searched both ways and counted."""

    def following(self, wall: datetime, last: datetime) -> datetime | None:
        """Return the first wall of the set in [wall, last], or None."""

    def preceding(self, wall: datetime, first: datetime) -> datetime | None:
        """Return the last wall of the set in [first, wall], or None."""

    def matches(self, wall: datetime) -> bool:
        """Whether a wall is in the set."""

    def count(self, first: datetime, last: datetime) -> int:
        """Return how many walls of the set lie in [first, last], by arithmetic over months."""


@dataclass(frozen=True, slots=True)
class Walls:
    """The same times on each of some days."""

    days: Days
    times: Times

    def following(self, wall: datetime, last: datetime) -> datetime | None:
        """Return the first wall of the set in [wall, last], or None."""
        month = self.days.of_month(wall.year, wall.month)
        if month >> wall.day & 1 and (second := self.times.lowest(_second(wall))) >= 0:
            return _between(_at(wall, second), wall, last)
        year, number, day = wall.year, wall.month, lowest(month, wall.day + 1)
        while day < 0:
            year, number = (year, number + 1) if number < 12 else (year + 1, 1)
            if (year, number) > (last.year, last.month):
                return None
            day = lowest(self.days.of_month(year, number), 1)
        return _between(_at(wall.replace(year=year, month=number, day=day), self.times.lowest(0)), wall, last)

    def preceding(self, wall: datetime, first: datetime) -> datetime | None:
        """Return the last wall of the set in [first, wall], or None."""
        month = self.days.of_month(wall.year, wall.month)
        if month >> wall.day & 1 and (second := self.times.highest(_second(wall))) >= 0:
            return _between(_at(wall, second), first, wall)
        year, number, day = wall.year, wall.month, highest(month, wall.day - 1)
        while day < 0:
            year, number = (year, number - 1) if number > 1 else (year - 1, 12)
            if (year, number) < (first.year, first.month):
                return None
            day = highest(self.days.of_month(year, number), 31)
        return _between(_at(wall.replace(year=year, month=number, day=day), self.times.highest(_LAST)), first, wall)

    def matches(self, wall: datetime) -> bool:
        """Whether a wall is in the set."""
        return (wall.year, wall.month, wall.day) in self.days and self.times.lowest(_second(wall)) == _second(wall)

    def count(self, first: datetime, last: datetime) -> int:
        """Return how many walls of the set lie in [first, last], by arithmetic over months."""
        if first > last:
            return 0
        return self._days_before(first, last) * self.times.total + self._times_before(last, 1) - self._times_before(first, 0)

    def _days_before(self, first: datetime, last: datetime) -> int:
        """How many days lie in [day of first, day of last): the last day itself is counted by its times."""
        total = 0
        year, month = first.year, first.month
        while (year, month) < (last.year, last.month):
            total += self.days.of_month(year, month).bit_count()
            year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        return total + self._days_until(last) - self._days_until(first)

    def _days_until(self, wall: datetime) -> int:
        return (self.days.of_month(wall.year, wall.month) & ((1 << wall.day) - 1)).bit_count()

    def _times_before(self, wall: datetime, more: int) -> int:
        """How many walls of the wall's own day lie before it, or `more` seconds behind it."""
        if (wall.year, wall.month, wall.day) not in self.days:
            return 0
        end = _second(wall) + more
        return self.times.total if end == _DAY else self.times.below(end)


@dataclass(frozen=True, slots=True)
class Either:
    """The walls of two sets that share none."""

    one: Pattern
    other: Pattern

    def following(self, wall: datetime, last: datetime) -> datetime | None:
        """Return the first wall of the set in [wall, last], or None."""
        found = [one for one in (self.one.following(wall, last), self.other.following(wall, last)) if one is not None]
        return min(found, default=None)

    def preceding(self, wall: datetime, first: datetime) -> datetime | None:
        """Return the last wall of the set in [first, wall], or None."""
        found = [one for one in (self.one.preceding(wall, first), self.other.preceding(wall, first)) if one is not None]
        return max(found, default=None)

    def matches(self, wall: datetime) -> bool:
        """Whether a wall is in the set."""
        return self.one.matches(wall) or self.other.matches(wall)

    def count(self, first: datetime, last: datetime) -> int:
        """Return how many walls of the set lie in [first, last], by arithmetic over months."""
        return self.one.count(first, last) + self.other.count(first, last)


@lru_cache(maxsize=4096)
def of_expression(expression: Expression) -> Pattern:
    """Return the walls that match a cron expression."""
    days = Days(expression.months, expression.days, expression.weekdays, expression.day_rule)
    return Walls(days, Fields(expression.hours, expression.minutes, expression.seconds))


@lru_cache(maxsize=4096)
def at_times(times: tuple[time, ...], weekdays: int, months: int) -> Pattern:
    """Return the walls at set times of the days of some weekdays and months."""
    return Walls(Days(months, 0, weekdays, DayRule.OF_WEEK), Listed(tuple(sorted({_second(one) for one in times}))))


@lru_cache(maxsize=4096)
def within(opens: time, closes: time, every: timedelta, weekdays: int) -> Pattern:
    """Return the walls from `opens` on, `every` apart and before `closes`, for windows that open on the weekdays.

    What lies past midnight belongs to the days behind those.
    """
    start, step = _second(opens), every // _SECOND
    end = start + ((_second(closes) - start) % _DAY or _DAY)
    points = range(start, end, step)
    today = points[: len(range(start, min(end, _DAY), step))]
    tomorrow = range(points[len(today)] - _DAY, end - _DAY, step) if len(today) < len(points) else range(0)
    opening = Walls(_on(weekdays), Listed(today))
    return Either(opening, Walls(_on(weekdays << 1 | weekdays >> 6), Listed(tomorrow))) if tomorrow else opening


def _on(weekdays: int) -> Days:
    return Days(_EVERY, 0, weekdays, DayRule.OF_WEEK)


def _second(clock: datetime | time) -> int:
    return clock.hour * 3600 + clock.minute * 60 + clock.second


def _at(wall: datetime, second: int) -> datetime:
    return wall.replace(hour=second // 3600, minute=second // 60 % 60, second=second % 60)


def _between(wall: datetime, first: datetime, last: datetime) -> datetime | None:
    return wall if first <= wall <= last else None
