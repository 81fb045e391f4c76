"""Whether a calendar leaves any time at all."""

from collections.abc import Iterator, Sequence
from datetime import date, time, timedelta
from itertools import pairwise
from operator import itemgetter
from typing import Final

from headway.core.calendar.days import opens_on
from headway.core.calendar.window import Calendar, Holiday, Window

_DAYS: Final = 8 * 365 + 2 + 1
_DAY: Final = timedelta(days=1)
_MIDNIGHT: Final = time()
_ANY_DAY: Final = date(2001, 1, 1)


def blocks_everything(calendar: Calendar, since: date = _ANY_DAY) -> bool:
    """Whether windows cover every time of the eight years from a day on; holidays, which come once a year, are left out of it."""
    windows = [window for window in calendar.windows if not isinstance(window.match, Holiday)]
    days = [since + number * _DAY for number in range(-1, _DAYS)]
    return all(_covered(windows, yesterday, today) for yesterday, today in pairwise(days))


def _covered(windows: Sequence[Window], yesterday: date, today: date) -> bool:
    """Whether the windows that open on two days cover the second of them."""
    spans = sorted([*_opening(windows, today), *_running_over(windows, yesterday)], key=itemgetter(0))
    reached: time | None = _MIDNIGHT
    for start, end in spans:
        if reached is None or start > reached:
            break
        reached = None if end is None else max(reached, end)
    return reached is None


def _opening(windows: Sequence[Window], day: date) -> Iterator[tuple[time, time | None]]:
    """The times, until midnight as None, of the windows that open on a day."""
    for window in windows:
        start, end = window.start or _MIDNIGHT, window.end or _MIDNIGHT
        if opens_on(window.match, day, {}):
            yield start, (end if end > start else None)


def _running_over(windows: Sequence[Window], day: date) -> Iterator[tuple[time, time | None]]:
    """The times of the next day that windows take that open on a day."""
    for window in windows:
        start, end = window.start or _MIDNIGHT, window.end or _MIDNIGHT
        if _MIDNIGHT < end <= start and opens_on(window.match, day, {}):
            yield _MIDNIGHT, end
