"""Calendars from iCalendar files: what the events take becomes dated windows."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from headway.core.calendar.reading import MOST_WINDOWS
from headway.core.errors import Invalid
from headway.core.schedule.zones import load_zone, zone_name
from headway.store.ics_events import File, Span, read_file

MOST_YEARS: Final = 10
_DAY: Final = timedelta(days=1)
_MIDNIGHT: Final = time()


class Import(NamedTuple):
    """How a file is taken: what its windows do, for how many years its recurrences are followed, and whose clock the windows show.

    Without a zone it is the one that the file names, or the only one in which its events stand.
    """

    policy: str = "skip"
    years: int = 5
    zone: str = ""


class Imported(NamedTuple):
    """The windows of a file as documents, the zone whose clock they show (empty where none matters), and the last day of recurrences."""

    windows: list[dict[str, Any]]
    zone: str
    until: date | None


class _Piece(NamedTuple):
    first: date
    last: date
    start: time
    end: time


def windows_of(text: str, wanted: Import, today: date) -> Imported:
    """Return the windows of all events that are not over when the year of `today` begins, in their order.

    Windows are read by the clock of each schedule that uses the calendar, so events of other zones are moved to `zone`.  Raises
    Invalid on `ics` or `zone`.
    """
    begin, last = date(today.year, 1, 1), date(today.year + wanted.years - 1, 12, 31)
    file = read_file(text, last)
    zone = _zone_for(file, wanted.zone)
    place = load_zone(zone) if zone else None
    pieces = {piece for span in file.spans for piece in _pieces(*_local(span, place)) if piece.last >= begin - _DAY}
    windows = _merged(pieces)
    if not 1 <= len(windows) <= MOST_WINDOWS:
        raise Invalid.field("ics", f"must give 1 to {MOST_WINDOWS} windows, and gives {len(windows)} from {begin} to {last}")
    return Imported([_document(piece, wanted.policy) for piece in windows], zone, last if file.goes_on else None)


def _zone_for(file: File, wanted: str) -> str:
    """The zone whose clock the windows show; empty when all events are of no zone or take whole days."""
    named = sorted({str(span.zone) for span in file.spans if span.zone is not None})
    if wanted or not named:
        return zone_name(wanted) if wanted else ""
    if file.zone or len(named) == 1:
        return zone_name(file.zone or named[0])
    raise Invalid.field("zone", f"is needed: the events are of {', '.join(named)}; give the zone of the schedules that are to use them")


def _local(span: Span, place: ZoneInfo | None) -> tuple[datetime, datetime]:
    if span.zone is None or place is None:
        return span.start, span.end
    start, end = (wall.replace(tzinfo=span.zone).astimezone(place).replace(tzinfo=None, fold=0) for wall in (span.start, span.end))
    return start, end


def _pieces(start: datetime, end: datetime) -> Iterator[_Piece]:
    """One window for a stretch of at most a day; of a longer one, the rest of its first day, the days between, and part of its last."""
    if end <= start:
        return
    if end.date() == start.date() or (end.date() == start.date() + _DAY and end.time() <= start.time()):
        yield _Piece(start.date(), start.date(), start.time(), end.time())
        return
    first = start.date()
    if start.time() != _MIDNIGHT:
        yield _Piece(first, first, start.time(), _MIDNIGHT)
        first += _DAY
    if first < end.date():
        yield _Piece(first, end.date() - _DAY, _MIDNIGHT, _MIDNIGHT)
    if end.time() != _MIDNIGHT:
        yield _Piece(end.date(), end.date(), _MIDNIGHT, end.time())


def _merged(pieces: set[_Piece]) -> Sequence[_Piece]:
    """Pieces in order; whole days that follow one another are one."""
    days = sorted(piece for piece in pieces if _whole(piece))
    merged: list[_Piece] = []
    for piece in days:
        if merged and piece.first <= merged[-1].last + _DAY:
            merged[-1] = merged[-1]._replace(last=max(merged[-1].last, piece.last))
        else:
            merged.append(piece)
    return sorted([*merged, *(piece for piece in pieces if not _whole(piece))])


def _whole(piece: _Piece) -> bool:
    return piece.start == piece.end == _MIDNIGHT


def _document(piece: _Piece, policy: str) -> dict[str, Any]:
    dates = {"from": piece.first.isoformat(), "to": piece.last.isoformat()}
    times = {} if _whole(piece) else {"start": piece.start.isoformat(), "end": piece.end.isoformat()}
    return {"dates": dates, **times, "policy": policy}
