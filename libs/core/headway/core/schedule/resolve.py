"""Local wall times to instants: a zone's year as stretches of constant offset, with gaps and folds already settled.

A rule's slots are the union, over the stretches of the years concerned, of its matching walls minus the stretch's offset.
"""

from calendar import isleap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final

from headway.core.schedule.policies import Fold, Gap
from headway.core.schedule.zones import Shift, load_zone, offset_at, shifts

FIRST_YEAR: Final = 2
LAST_YEAR: Final = 9997
_SECOND: Final = timedelta(seconds=1)
_MARGIN: Final = timedelta(days=2)
_NOTHING: Final = timedelta()
_MODELS: Final = range(2101, 2129)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Instants in [start, end) and the walls [first, last] that stand for them; `offset` = wall minus instant.

    A stretch behind a gap holds the walls that the gap removed; `shift` is then how far the clock jumped, else zero.
    A `collapsed` one has a single instant, `start`, and every wall in it stands for that.
    """

    start: datetime
    end: datetime
    offset: timedelta
    first: datetime
    last: datetime
    shift: timedelta = timedelta()
    collapsed: bool = False

    @property
    def real_offset(self) -> timedelta:
        """The offset that is truly in force in the stretch."""
        return self.offset + self.shift

    def first_from(self, floor: datetime) -> datetime:
        """Return the first of the walls whose instant is not before `floor`."""
        return self.first if self.start >= floor else floor.replace(tzinfo=None) + self.offset

    def last_until(self, ceiling: datetime) -> datetime:
        """Return the last of the walls whose instant is not after `ceiling`."""
        if self.collapsed or self.end <= ceiling:
            return self.last
        return min(self.last, ceiling.replace(tzinfo=None) + self.offset)

    def instant(self, wall: datetime) -> datetime:
        """Return the instant that one of the stretch's walls stands for."""
        return self.start if self.collapsed else (wall - self.offset).replace(tzinfo=UTC)


@lru_cache(maxsize=4096)
def stretches(zone: str, year: int, gap: Gap, fold: Fold) -> tuple[Stretch, ...]:
    """Return the stretches of a zone's UTC year, by start; they overlap only behind a gap.  `year` is in [FIRST_YEAR, LAST_YEAR]."""
    model = _model(year)
    if model != year:
        later = _year(year)[0] - _year(model)[0]
        return tuple(_moved(stretch, later) for stretch in stretches(zone, model, gap, fold))
    begin, end = _year(year)
    return tuple(clipped for stretch in _all_stretches(zone, year, gap, fold) if (clipped := _clip(stretch, begin, end)))


@lru_cache(maxsize=4096)
def changes_near(zone: str, year: int) -> tuple[Shift, ...]:
    """Return a zone's changes of offset in a UTC year and the two days on either side of it, in order.

    From 2100 on every zone repeats one rule of weekdays and dates, so later years are copies of one that begins and ends alike.
    """
    model = _model(year)
    if model != year:
        later = _year(year)[0] - _year(model)[0]
        return tuple(replace(change, at=change.at + later) for change in changes_near(zone, model))
    begin, end = _year(year)
    return tuple(shifts(zone, begin - _MARGIN, end + _MARGIN))


@lru_cache(maxsize=16384)
def _model(year: int) -> int:
    """The first year from 2101 on of the same length and first weekday; a year before 2129 stands for itself."""
    if year <= _MODELS[-1]:
        return year
    first, length = date(year, 1, 1).weekday(), isleap(year)
    return next(model for model in _MODELS if date(model, 1, 1).weekday() == first and isleap(model) is length)


def _year(year: int) -> tuple[datetime, datetime]:
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)


def _all_stretches(zone: str, year: int, gap: Gap, fold: Fold) -> Iterator[Stretch]:
    begin, end = _year(year)
    first, last = begin - _MARGIN, end + _MARGIN
    changes = changes_near(zone, year)
    offset = changes[0].before if changes else offset_at(load_zone(zone), first)
    edge_offset = changes[-1].after if changes else offset
    edges = [Shift(first, offset, offset), *changes, Shift(last, edge_offset, edge_offset)]
    for entry, leaving in pairwise(edges):
        yield from _behind_gap(entry, gap)
        yield _regular(entry, leaving, fold)


def _behind_gap(shift: Shift, gap: Gap) -> Iterator[Stretch]:
    """The walls that a gap removed, as the policy reads them: with the offset that was in force before it."""
    length = shift.after - shift.before
    if length <= _NOTHING or gap is Gap.SKIP:
        return
    removed = replace(_stretch(shift.at, shift.at + length, shift.before), shift=length)
    yield removed if gap is Gap.SHIFT_FORWARD else replace(removed, end=shift.at + _SECOND, collapsed=True)


def _regular(entry: Shift, leaving: Shift, fold: Fold) -> Stretch:
    """The instants between two shifts, less the pass through a fold that the policy leaves out."""
    second_pass = max(entry.before - entry.after, _NOTHING) if fold is Fold.FIRST else _NOTHING
    first_pass = max(leaving.before - leaving.after, _NOTHING) if fold is Fold.SECOND else _NOTHING
    return _stretch(entry.at + second_pass, leaving.at - first_pass, entry.after)


def _stretch(start: datetime, end: datetime, offset: timedelta) -> Stretch:
    first = start.replace(tzinfo=None) + offset
    return Stretch(start, end, offset, first, first + (end - start) - _SECOND)


def _moved(stretch: Stretch, by: timedelta) -> Stretch:
    start, end, first, last = stretch.start + by, stretch.end + by, stretch.first + by, stretch.last + by
    return Stretch(start, end, stretch.offset, first, last, stretch.shift, stretch.collapsed)


def _clip(stretch: Stretch, begin: datetime, end: datetime) -> Stretch | None:
    """The part of a stretch that lies in a year; a collapsed one lies where its instant does."""
    if stretch.end <= begin or stretch.start >= end:
        return None
    if stretch.collapsed:
        return stretch
    return replace(_stretch(max(stretch.start, begin), min(stretch.end, end), stretch.offset), shift=stretch.shift)
