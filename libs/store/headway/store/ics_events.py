"""The events of an iCalendar file (RFC 5545), each with all of its occurrences up to a day.

A recurrence is followed by the clock of the event's own zone, so that it keeps its local time over clock changes.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import islice
from typing import Any, Final, NamedTuple

from dateutil.rrule import rrulestr
from icalendar import Calendar as IcsCalendar
from icalendar import vBroken, vRecur

from headway.core.errors import Invalid, Problem
from headway.core.reading import demand
from headway.core.schedule.zones import load_zone, zone_names

MOST_EVENTS: Final = 2_000
_FIRST_YEAR: Final = 1970
_DAY: Final = timedelta(days=1)
_RATES: Final = frozenset({"DAILY", "WEEKLY", "MONTHLY", "YEARLY"})
_WITHIN_A_DAY: Final = frozenset({"BYHOUR", "BYMINUTE", "BYSECOND"})
_KINDS: Final[Mapping[str, type]] = {"DTSTART": date, "DTEND": date, "DURATION": timedelta, "RECURRENCE-ID": date}
_LISTS: Final = ("EXDATE", "RDATE")


class Span(NamedTuple):
    """One occurrence, its end excluded: walls of `zone`, of no zone in particular (None), or whole days."""

    start: datetime
    end: datetime
    all_day: bool
    zone: tzinfo | None


class File(NamedTuple):
    """The occurrences of a file, whether a recurrence goes on behind the last day, and the zone that the file itself names."""

    spans: list[Span]
    goes_on: bool
    zone: str


class _Event(NamedTuple):
    start: datetime
    length: timedelta
    all_day: bool
    zone: tzinfo | None
    component: Any


def read_file(text: str, last: date) -> File:
    """Return what a file holds, recurrences up to a day; events that are cancelled or take no time are left out.

    Raises Invalid on `ics` with everything that cannot be read.
    """
    calendars = _parsed(text)
    components = [event for calendar in calendars for event in calendar.walk("VEVENT")]
    if not components or len(components) > MOST_EVENTS:
        raise Invalid.field("ics", f"must hold 1 to {MOST_EVENTS} events, and holds {len(components)}")
    try:
        spans, goes_on = _spans(components, datetime.combine(last, time.max).replace(microsecond=0))
    except OverflowError:
        raise Invalid.field("ics", "holds a date that lies before the year 1 or behind 9999") from None
    zones = (str(calendar.get("X-WR-TIMEZONE", "")) for calendar in calendars)
    return File(spans, goes_on, next(filter(None, zones), ""))


def _spans(components: Sequence[Any], last: datetime) -> tuple[list[Span], bool]:
    problems: list[Problem] = []
    events = [event for one in components if (event := _event(one, problems)) is not None]
    demand(problems)
    found = _occurrences(events, last, problems)
    demand(problems)
    return found


def _parsed(text: str) -> Sequence[Any]:
    try:
        return list(IcsCalendar.from_ical(text, multiple=True))
    except (ValueError, OSError) as error:  # the latter for a zone that is named like a folder of the zones
        raise Invalid.field("ics", f"is not an iCalendar file: {str(error)[:200]}") from None


def _event(component: Any, problems: list[Problem]) -> _Event | None:
    """Read an event; None for one that is of no use, with a problem where it cannot be read."""
    start, end = _first(component.get("DTSTART")), _first(component.get("DTEND"))
    broken = list(_broken(component))
    if broken or start is None:
        _note(problems, component, f"has {', '.join(broken)} that cannot be read" if broken else "has no DTSTART")
        return None
    if any(unzoned := [one for one in _listed(start, end) if _zone_unknown(one)]):
        _note(problems, component, f"is in the zone {unzoned[0].params['TZID']}, which is not known")
        return None
    all_day, zone = not isinstance(start.dt, datetime), _pinned(getattr(start.dt, "tzinfo", None))
    begin = _wall(start.dt, zone)
    length = _wall(end.dt, zone) - begin if end is not None else _duration(component, _DAY if all_day else timedelta())
    if all_day:
        length = max(length, _DAY)
    return _Event(begin, length, all_day, zone, component)


def _occurrences(events: Sequence[_Event], last: datetime, problems: list[Problem]) -> tuple[list[Span], bool]:
    moved: dict[str, set[datetime]] = defaultdict(set)
    for event in events:
        for instead_of in _listed(event.component.get("RECURRENCE-ID")):
            moved[_uid(event)].add(_wall(instead_of.dt, event.zone))
    spans: list[Span] = []
    goes_on = False
    for event in events:
        if event.length <= timedelta() or str(event.component.get("STATUS", "")).upper() == "CANCELLED":
            continue
        alone = event.component.get("RECURRENCE-ID") is not None
        starts = _Starts(event, last, problems)
        spans += starts.spans(frozenset() if alone else moved[_uid(event)])
        goes_on = goes_on or starts.goes_on
    return spans, goes_on


class _Starts:
    """When an event begins, again and again."""

    def __init__(self, event: _Event, last: datetime, problems: list[Problem]) -> None:
        self._event = event
        self._last = last
        self._problems = problems
        self.goes_on = False

    def spans(self, moved: Collection[datetime]) -> list[Span]:
        """Return the occurrences, without those that another event stands for."""
        event, component = self._event, self._event.component
        lengths = {event.start: event.length}
        for rule in _listed(component.get("RRULE")):
            lengths.update(dict.fromkeys(self._of_rule(rule), event.length))
        lengths.update(self._dates(component.get("RDATE")))
        without = self._dates(component.get("EXDATE"))
        days = {one.date() for one in without} if not event.all_day and _whole_days(component.get("EXDATE")) else set[date]()
        kept = sorted((start, length) for start, length in lengths.items() if start not in without and start not in moved)
        return [Span(start, start + length, event.all_day, event.zone) for start, length in kept if start.date() not in days]

    def _of_rule(self, rule: Mapping[str, Any]) -> Iterator[datetime]:
        start = self._event.start
        if reason := _refused(rule, start):
            _note(self._problems, self._event.component, reason)
            return
        counted, until = _first(rule.get("COUNT")), _first(rule.get("UNTIL"))
        last = self._last if until is None else min(self._last, _until(until, self._event.zone))
        self.goes_on = self.goes_on or (counted is None and last == self._last)
        text = vRecur({name: value for name, value in rule.items() if name not in ("COUNT", "UNTIL")}).to_ical().decode()  # type: ignore[no-untyped-call]  # its stub does not say
        try:
            # With an end, a rule that matches nothing any more ends, too.
            found = rrulestr(text, dtstart=start).replace(until=last)  # type: ignore[union-attr]  # one line is one rule, never a set
            yield from islice(found, counted)
        except ValueError as error:
            _note(self._problems, self._event.component, f"has an RRULE that cannot be followed: {error}")

    def _dates(self, given: Any) -> dict[datetime, timedelta]:
        """Single dates, each with how long an occurrence takes that begins there."""
        found: dict[datetime, timedelta] = {}
        for one in (date_.dt for dates in _listed(given) for date_ in dates.dts):
            first = one[0] if isinstance(one, tuple) else one
            start = _wall(first, self._event.zone)
            found[start] = _length(one, self._event) if isinstance(one, tuple) else self._event.length
        return found


def _refused(rule: Mapping[str, Any], start: datetime) -> str:
    if str(_first(rule.get("FREQ"))).upper() not in _RATES or _WITHIN_A_DAY & {name.upper() for name in rule}:
        return "recurs within a day: only DAILY, WEEKLY, MONTHLY and YEARLY are taken, without BYHOUR, BYMINUTE and BYSECOND"
    if start.year < _FIRST_YEAR:
        return f"recurs since before {_FIRST_YEAR}"
    if not isinstance(_first(rule.get("UNTIL")), date | None):
        return "has an UNTIL that cannot be read"
    return "" if _first(rule.get("INTERVAL", 1)) >= 1 else "has an RRULE with an INTERVAL below 1"


def _until(until: date, zone: tzinfo | None) -> datetime:
    return _wall(until, zone) if isinstance(until, datetime) else datetime.combine(until, time(23, 59, 59))


def _wall(value: date, zone: tzinfo | None) -> datetime:
    """What the clock of a zone shows at an instant; a day is its midnight, and what is of no zone stays."""
    if not isinstance(value, datetime):
        return datetime.combine(value, time())
    seen = value.astimezone(zone) if value.tzinfo is not None and zone is not None else value
    return seen.replace(tzinfo=None, microsecond=0, fold=0)


def _length(period: tuple[Any, Any], event: _Event) -> timedelta:
    first, then = period
    return then if isinstance(then, timedelta) else _wall(then, event.zone) - _wall(first, event.zone)


def _duration(component: Any, otherwise: timedelta) -> timedelta:
    given = component.get("DURATION")
    return otherwise if given is None else given.dt


def _broken(component: Any) -> Iterator[str]:
    """The names under which something stands that is not what it should be."""
    for name, kind in _KINDS.items():
        if not all(isinstance(_part(one, "dt"), kind) for one in _listed(component.get(name))):
            yield name
    for name in _LISTS:
        given = _listed(component.get(name))
        if not all(_is_date(_part(one, "dt")) for dates in given for one in _part(dates, "dts") or [None]):
            yield name
    if not all(isinstance(one, vRecur) for one in _listed(component.get("RRULE"))):
        yield "RRULE"


def _is_date(value: Any) -> bool:
    """Whether a value is a date, an instant or a period."""
    first, then = value if isinstance(value, tuple) else (value, timedelta())
    return isinstance(first, date) and isinstance(then, date | timedelta)


def _part(value: Any, name: str) -> Any:
    """A part of a parsed value; None where it has none, or could not be parsed."""
    return None if isinstance(value, vBroken) else getattr(value, name, None)


def _pinned(zone: tzinfo | None) -> tzinfo | None:
    """The zone by the rules that schedules keep to; one that the file itself defines is what it says."""
    name = str(zone)
    return load_zone(name) if name in zone_names() else zone


def _zone_unknown(value: Any) -> bool:
    """Whether a time names a zone that the parser did not find: it then reads as of no zone at all."""
    return isinstance(value.dt, datetime) and value.dt.tzinfo is None and "TZID" in value.params


def _whole_days(given: Any) -> bool:
    return any(not isinstance(one.dt, datetime | tuple) for dates in _listed(given) for one in dates.dts)


def _uid(event: _Event) -> str:
    return str(event.component.get("UID", ""))


def _first(given: Any) -> Any:
    return given[0] if isinstance(given, list) and given else given


def _listed(*given: Any) -> list[Any]:
    """What stands under a name, none, one or several, as a list."""
    return [one for value in given if value is not None for one in (value if isinstance(value, list) else [value])]


def _note(problems: list[Problem], component: Any, what: str) -> None:
    name = str(component.get("SUMMARY") or component.get("UID") or "without a name")
    problems.append(Problem("ics", f"the event {name[:60]!r} {what}"))
