"""What a definition says is watched about its runs, as SQL."""

from datetime import timedelta

from sqlalchemy import ColumnElement, Double, Integer, Interval, cast, literal_column

from headway.store.schema import definition


def _told(name: str) -> ColumnElement[str]:
    return definition.c.watch.op("->>")(literal_column(f"'{name}'"))


def whole(name: str) -> ColumnElement[int]:
    """Return a whole number that is watched."""
    return cast(_told(name), Integer)


def span(name: str) -> ColumnElement[timedelta]:
    """Return a length of time that is watched, NULL when it is not."""
    return cast(_told(name), Double) * literal_column("interval '1 second'", Interval)
