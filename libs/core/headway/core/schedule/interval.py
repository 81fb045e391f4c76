"""Instants on a fixed grid: anchor + n x every, for every whole n.  Elapsed time alone counts; no clock change moves the grid."""

from datetime import datetime, timedelta


def following(anchor: datetime, every: timedelta, after: datetime) -> datetime | None:
    """Return the first instant of the grid after `after`, or None at the end of the calendar."""
    return _point(anchor, every, (after - anchor) // every + 1)


def preceding(anchor: datetime, every: timedelta, before: datetime) -> datetime | None:
    """Return the last instant of the grid before `before`, or None at the start of the calendar."""
    return _point(anchor, every, -((anchor - before) // every) - 1)


def count(anchor: datetime, every: timedelta, after: datetime, until: datetime) -> int:
    """Return how many instants of the grid lie in (after, until]."""
    return max(0, (until - anchor) // every - (after - anchor) // every)


def _point(anchor: datetime, every: timedelta, steps: int) -> datetime | None:
    try:
        return anchor + steps * every
    except OverflowError:
        return None
