"""What calendars make of an instant: free, skipped, or deferred until it is free.

Each day that matches opens a window of its own.  An instant lies in it when the clock of the schedule's zone then shows one of its
times, so a window that a clock change shortens, repeats or removes is what the clock says.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from headway.core.calendar.days import opens_on
from headway.core.calendar.window import Calendar, Dates, Policy, Resolved, Window
from headway.core.schedule.zones import APART, load_zone, shifts

HOPS: Final = 100
_DAY: Final = timedelta(days=1)
_MIDNIGHT: Final = time()


class VerdictKind(Enum):
    """What becomes of an instant."""

    FREE = "free"
    DEFERRED = "deferred"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What calendars make of an instant: its kind, when its run is due, and the window that decided first.

    A skipped instant is due never, and its window is the one that skips it; `exhausted` says that it was deferred without end.
    """

    kind: VerdictKind
    effective_at: datetime | None
    calendar: str = ""
    window: Window | None = None
    exhausted: bool = False


class Step(NamedTuple):
    """The window that an instant lies in, its calendar's name, and the first instant behind the window."""

    calendar: str
    window: Window
    end: datetime


Look = Callable[[datetime], Step | None]


def judge(calendars: Sequence[Calendar], zone: str, instant: datetime) -> Verdict:
    """Judge an instant.  A dated window speaks before all others, then they speak in the order of calendars and windows.

    A deferral leads to the window's end, which is judged in its turn, at most 100 times; then the instant is skipped.  Raises
    Invalid naming holiday and year when a year has to be known that nobody resolved.
    """
    return follow(looker(calendars, zone), instant)


def looker(calendars: Sequence[Calendar], zone: str) -> Look:
    """Return what finds the window that decides an instant, or None where it is free."""
    place = load_zone(zone)
    windows = sorted(((one, each) for one in calendars for each in one.windows), key=lambda pair: not isinstance(pair[1].match, Dates))

    def look(instant: datetime) -> Step | None:
        wall = _wall(place, instant)
        for calendar, window in windows:
            if (opened := _opened(window, wall, calendar.resolved)) is not None:
                return Step(calendar.name, window, _end(window, zone, instant, opened, calendar.resolved))
        return None

    return look


def follow(look: Look, instant: datetime) -> Verdict:
    """Judge an instant by what finds the window of any; several judgements may share one that remembers."""
    at, first = instant.astimezone(UTC), None
    for _ in range(HOPS + 1):
        step = look(at)
        if step is None:
            return Verdict(VerdictKind.FREE, at) if first is None else Verdict(VerdictKind.DEFERRED, at, first.calendar, first.window)
        if step.window.policy is Policy.SKIP:
            return Verdict(VerdictKind.SKIPPED, None, step.calendar, step.window)
        at, first = step.end, first or step
    return Verdict(VerdictKind.SKIPPED, None, first.calendar if first else "", first.window if first else None, exhausted=True)


def _opened(window: Window, wall: datetime, resolved: Resolved) -> date | None:
    """The day on which the window opened that a wall lies in, or None when it lies in none."""
    opened = next((day for day in _openings(window, wall) if opens_on(window.match, day, resolved)), None)
    # A dated range that leaves no time between its days is one window, which closes with its last day.
    if opened is not None and window.start == window.end and isinstance(window.match, Dates):
        return window.match.last
    return opened


def _openings(window: Window, wall: datetime) -> Iterator[date]:
    """The days on which the window has to open for a wall to lie in it."""
    start, end = window.start or _MIDNIGHT, window.end or _MIDNIGHT
    clock = wall.time()
    if clock >= start and (clock < end or end <= start):
        yield wall.date()
    if end <= start and clock < end and wall.date() > date.min:
        yield wall.date() - _DAY


def _closing(window: Window, opened: date) -> datetime:
    """The wall at which the window closes that opened on a day."""
    start, end = window.start or _MIDNIGHT, window.end or _MIDNIGHT
    past_midnight = end <= start and opened < date.max
    return datetime.combine(opened + _DAY if past_midnight else opened, end)


def _end(window: Window, zone: str, instant: datetime, opened: date, resolved: Resolved) -> datetime:
    """The first instant behind an instant at which the clock does not show the times of the window that opened on a day."""
    place, last = load_zone(zone), _closing(window, opened)
    while True:
        end = instant + (last - _wall(place, instant))
        if end - instant <= APART and _wall(place, end) == last:
            return end
        change = next(shifts(zone, instant.replace(microsecond=0), end), None)
        if change is None:
            return end
        if _opened(window, _wall(place, change.at), resolved) != opened:
            return change.at
        instant = change.at


def _wall(zone: ZoneInfo, instant: datetime) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)
