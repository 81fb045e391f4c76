"""Days of the calendar that a rule takes, a month at a time, as masks: bit n stands for the day n of the month."""

from calendar import monthrange
from dataclasses import dataclass
from functools import lru_cache

from headway.core.schedule.cron import DayRule


@dataclass(frozen=True, slots=True)
class Days:
    """Days of some months: all of them, or those of a set of days of the month, of a set of weekdays (0 is Sunday), or of either."""

    months: int
    days: int
    weekdays: int
    rule: DayRule

    def of_month(self, year: int, month: int) -> int:
        """Return the days of a month."""
        if not self.months >> month & 1:
            return 0
        weekday, every_day = _month(year, month)
        match self.rule:
            case DayRule.EVERY:
                return every_day
            case DayRule.OF_MONTH:
                return self.days & every_day
            case DayRule.OF_WEEK:
                return _weekly(self.weekdays, weekday) & every_day
            case DayRule.EITHER:
                return (self.days | _weekly(self.weekdays, weekday)) & every_day

    def __contains__(self, day: tuple[int, int, int]) -> bool:
        year, month, number = day
        return bool(self.of_month(year, month) >> number & 1)


@lru_cache(maxsize=4096)
def _month(year: int, month: int) -> tuple[int, int]:
    """The weekday of the first (Sunday is 0), and a mask of all days."""
    weekday, length = monthrange(year, month)
    return (weekday + 1) % 7, (2 << length) - 2


@lru_cache(maxsize=1024)
def _weekly(weekdays: int, first: int) -> int:
    """The days 1 to 31 that fall on the weekdays, in a month whose first day is the weekday `first`."""
    return sum(1 << day for day in range(1, 32) if weekdays >> ((first + day - 1) % 7) & 1)
