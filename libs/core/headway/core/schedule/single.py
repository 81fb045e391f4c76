"""Rules of which the clock knows one slot at most."""

from datetime import datetime


def following(at: datetime | None, after: datetime) -> datetime | None:
    """Return the slot when it lies after `after`, else None."""
    return at if at is not None and at > after else None


def preceding(at: datetime | None, before: datetime) -> datetime | None:
    """Return the slot when it lies before `before`, else None."""
    return at if at is not None and at < before else None


def count(at: datetime | None, after: datetime, until: datetime) -> int:
    """Return how many slots lie in (after, until]: none or one."""
    return int(at is not None and after < at <= until)
