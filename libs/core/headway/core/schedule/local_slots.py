"""The slots of a rule that names local times: its walls, read through the stretches of its zone."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from heapq import merge
from typing import Final

from headway.core.schedule.kinds import Local
from headway.core.schedule.resolve import FIRST_YEAR, LAST_YEAR, Stretch, stretches

HORIZON: Final = timedelta(days=8 * 365 + 2 + 1)
_HORIZON_YEARS: Final = 9
_SECOND: Final = timedelta(seconds=1)
_MARGIN: Final = timedelta(days=2)
_TICK: Final = timedelta(microseconds=1)


def following(rule: Local, after: datetime) -> datetime | None:
    """Return the first slot after `after`, or None when there is none within the horizon of 8 years and a day."""
    if after.year > LAST_YEAR:
        return None
    floor = after.replace(microsecond=0) + _SECOND
    for year in range(max(floor.year, FIRST_YEAR), min(floor.year + _HORIZON_YEARS, LAST_YEAR) + 1):
        if _empty(rule, year):
            continue
        if (found := _first_of_year(rule, year, floor)) is not None:
            return found if found - after <= HORIZON else None
    return None


def preceding(rule: Local, before: datetime) -> datetime | None:
    """Return the last slot before `before`, or None when there is none within the horizon."""
    if before.year < FIRST_YEAR:
        return None
    ceiling = (before - _TICK).replace(microsecond=0)
    for year in range(min(ceiling.year, LAST_YEAR), max(ceiling.year - _HORIZON_YEARS, FIRST_YEAR) - 1, -1):
        if _empty(rule, year):
            continue
        if (found := _last_of_year(rule, year, ceiling)) is not None:
            return found if before - found <= HORIZON else None
    return None


def count(rule: Local, after: datetime, until: datetime) -> int:
    """Return how many slots lie in (after, until]; the work grows with the months between, not with the slots."""
    floor, ceiling = after.replace(microsecond=0) + _SECOND, until.replace(microsecond=0)
    years = range(max(floor.year, FIRST_YEAR), min(ceiling.year, LAST_YEAR) + 1)
    return sum(_count_of_year(rule, year, floor, ceiling) for year in years)


def walk(rule: Local, after: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the slots in (after, until] that iterating `following` finds, in a fraction of its time."""
    floor, ceiling = after.replace(microsecond=0) + _SECOND, until.replace(microsecond=0)
    for year in range(max(floor.year, FIRST_YEAR), min(ceiling.year, LAST_YEAR) + 1):
        if _empty(rule, year):
            continue
        for slot in merge(*(_of_stretch(rule, stretch, floor, ceiling) for stretch in _stretches(rule, year))):
            if slot - after > HORIZON:
                return
            if slot > after:  # two nominal times that share an instant are one slot
                yield slot
            after = slot


def _of_stretch(rule: Local, stretch: Stretch, floor: datetime, ceiling: datetime) -> Iterator[datetime]:
    if stretch.end <= floor or stretch.start > ceiling:
        return
    first, last = stretch.first_from(floor), stretch.last_until(ceiling)
    wall = rule.pattern.following(first, last) if first <= last else None
    while wall is not None:
        yield stretch.instant(wall)
        wall = None if stretch.collapsed or wall == last else rule.pattern.following(wall + _SECOND, last)


def _empty(rule: Local, year: int) -> bool:
    """Whether no wall that may stand for an instant of a UTC year matches; offsets and gaps are shorter than two days."""
    begin, end = datetime.combine(date(year, 1, 1), time()), datetime.combine(date(year + 1, 1, 1), time())
    return rule.pattern.following(begin - _MARGIN, end + _MARGIN) is None


def _stretches(rule: Local, year: int) -> tuple[Stretch, ...]:
    return stretches(rule.zone, year, rule.effective_gap, rule.effective_fold)


def _first_of_year(rule: Local, year: int, floor: datetime) -> datetime | None:
    best: datetime | None = None
    for stretch in _stretches(rule, year):
        if stretch.end <= floor:
            continue
        if best is not None and stretch.start >= best:
            break
        wall = rule.pattern.following(stretch.first_from(floor), stretch.last)
        if wall is not None:
            found = stretch.instant(wall)
            best = found if best is None else min(best, found)
    return best


def _last_of_year(rule: Local, year: int, ceiling: datetime) -> datetime | None:
    best: datetime | None = None
    for stretch in reversed(_stretches(rule, year)):
        if stretch.start > ceiling:
            continue
        if best is not None and stretch.end <= best:
            break
        wall = rule.pattern.preceding(stretch.last_until(ceiling), stretch.first)
        if wall is not None:
            found = stretch.instant(wall)
            best = found if best is None else max(best, found)
    return best


def _count_of_year(rule: Local, year: int, floor: datetime, ceiling: datetime) -> int:
    """The slots of a year in [floor, ceiling]; where two nominal times share an instant they count once."""
    total = 0
    for stretch in _stretches(rule, year):
        if stretch.end <= floor or stretch.start > ceiling:
            continue
        if stretch.shift:
            total += sum(1 for instant in _made_up(rule, stretch) if floor <= instant <= ceiling)
        else:
            total += rule.pattern.count(stretch.first_from(floor), stretch.last_until(ceiling))
    return total


def _made_up(rule: Local, stretch: Stretch) -> Iterator[datetime]:
    """The instants that only a stretch behind a gap has: those that the clock also shows as a matching time are its own."""
    wall = rule.pattern.following(stretch.first, stretch.last)
    while wall is not None:
        instant = stretch.instant(wall)
        if not rule.pattern.matches(instant.replace(tzinfo=None) + stretch.real_offset):
            yield instant
        wall = None if stretch.collapsed else rule.pattern.following(wall + _SECOND, stretch.last)
