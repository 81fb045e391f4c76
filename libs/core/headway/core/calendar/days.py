"""Which days a window opens on."""

from calendar import monthrange
from datetime import date

from headway.core.calendar.slug import US
from headway.core.calendar.us import resolve_us
from headway.core.calendar.window import Dates, Holiday, Match, MonthDays, Resolved, Weekdays
from headway.core.errors import Invalid


def opens_on(match: Match, day: date, resolved: Resolved) -> bool:
    """Whether a day matches; raises Invalid on `holiday` for a holiday of a year that nobody resolved."""
    match match:
        case Weekdays():
            return bool(match.weekdays >> day.isoweekday() % 7 & 1)
        case Dates():
            return match.first <= day <= match.last
        case MonthDays():
            return bool(match.days >> day.day & 1) or (match.last and day.day == monthrange(day.year, day.month)[1])
        case Holiday():
            return day in holidays(match.slug, day.year, resolved)


def holidays(slug: str, year: int, resolved: Resolved) -> tuple[date, ...]:
    """Return the days of a year on which a holiday stands; raises Invalid on `holiday` when nobody resolved that year."""
    country, _, name = slug.partition(":")
    if country == US:
        return resolve_us(name, year)
    days = resolved.get(slug, {}).get(year)
    if days is None:
        raise Invalid.field("holiday", f"{slug} is not resolved for {year}", code="holiday_not_resolved")
    return tuple(days)
