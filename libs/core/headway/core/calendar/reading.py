"""Calendars from documents, with everything that is wrong at once."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Any, Final, TypeVar

from headway.core.calendar.slug import read_slug
from headway.core.calendar.window import Calendar, Dates, Holiday, Match, MonthDays, Policy, Resolved, Weekdays, Window
from headway.core.errors import Invalid, Problem
from headway.core.reading import Reader, demand
from headway.core.schedule.values import read_clock, read_items, read_text, read_weekdays

LAST: Final = "last"
MOST_WINDOWS: Final = 500
_MATCHES: Final = ("dates", "holiday", "month_days", "weekdays")
_ANY_DAY: Final = Weekdays(0)
_Value = TypeVar("_Value")


def parse_calendar(document: Any, *, version: int = 1, resolved: Resolved | None = None) -> Calendar:
    """Return the calendar that `{name, windows: [...]}` describes.

    A window matches by one of `weekdays: [sat, sun]`, `dates: {from: 2026-12-24, to: 2026-12-26}` (which overrides weekdays beside
    it), `month_days: [1, last]` and `holiday: US:labor-day`; `start` and `end` are local times such as `"18:00"`, without them (or
    with `all_day: true`) it takes whole days; `policy` is skip or defer.  Raises Invalid with every problem, each with its path.
    """
    problems: list[Problem] = []
    reader = Reader.of(document, "", problems)
    name = reader.name("name")
    windows = read_windows(reader, "windows")
    reader.finish()
    demand(problems)
    return Calendar(name, version, windows, resolved if resolved is not None else {})


def read_windows(reader: Reader, field: str) -> tuple[Window, ...]:
    """Return the windows of a list in a document, noting every problem; at least one and at most 500 are needed."""
    items = reader.items(field)
    if not 1 <= len(items) <= MOST_WINDOWS:
        reader.wrong(field, f"must be a list of 1 to {MOST_WINDOWS} windows")
        return ()
    return tuple(_window(Reader.of(item, f"{reader.at(field)}[{index}]", reader.problems)) for index, item in enumerate(items))


def _window(reader: Reader) -> Window:
    match = _match(reader)
    start, end = _times(reader)
    policy = Policy(reader.choice("policy", Policy.SKIP.value, [policy.value for policy in Policy]))
    reader.finish()
    return Window(match, start, end, policy)


def _match(reader: Reader) -> Match:
    """What the window matches by; a dated range overrides weekdays, any other two contradict each other."""
    given = {name: value for name in _MATCHES if (value := reader.take(name)) is not None}
    found = {name: _MAKERS[name](reader, value) for name, value in given.items()}
    rivals = [name for name in found if name != "weekdays" or "dates" not in found]
    if len(rivals) > 1:
        reader.problems.append(Problem(reader.path, f"matches by {' and '.join(rivals)}: choose one"))
    if not found:
        reader.problems.append(Problem(reader.path, f"needs one of {', '.join(_MATCHES)}"))
    return next(iter(found.values()), _ANY_DAY)


def _weekdays(reader: Reader, value: object) -> Match:
    return Weekdays(_read(reader, "weekdays", value, read_weekdays, 0))


def _dates(reader: Reader, value: object) -> Match:
    inner = Reader.of(value, reader.at("dates"), reader.problems)
    first = _read(inner, "from", inner.take("from"), _date, date.min)
    last = _read(inner, "to", to, _date, first) if (to := inner.take("to")) is not None else first
    inner.finish()
    if last < first and not inner.problems:
        inner.wrong("to", "lies before from")
    return Dates(first, last)


def _month_days(reader: Reader, value: object) -> Match:
    days = _read(reader, "month_days", value, _days_of_month, list[int]())
    mask = 0
    for day in days:
        mask |= 1 << day
    return MonthDays(mask & ~1, bool(mask & 1))


def _holiday(reader: Reader, value: object) -> Match:
    return Holiday(_read(reader, "holiday", value, read_slug, ""))


_MAKERS: Final[Mapping[str, Callable[[Reader, Any], Match]]] = {
    "dates": _dates,
    "holiday": _holiday,
    "month_days": _month_days,
    "weekdays": _weekdays,
}


def _times(reader: Reader) -> tuple[time | None, time | None]:
    all_day, given = reader.take("all_day"), {name: reader.take(name) for name in ("start", "end")}
    start, end = (None if value is None else _read(reader, name, value, read_clock, None) for name, value in given.items())
    if all_day is not None and not isinstance(all_day, bool):
        reader.wrong("all_day", "must be true or false")
    elif all_day is not None and all_day is (given["start"] is not None):
        reader.wrong("all_day", "contradicts start and end")
    for name, other in (("start", "end"), ("end", "start")):
        if given[name] is None and given[other] is not None:
            reader.wrong(name, f"is needed beside {other}")
    return start, end


def _read(reader: Reader, name: str, value: Any, convert: Callable[[str, Any], _Value], stand_in: _Value) -> _Value:
    try:
        return convert(reader.at(name), value)
    except Invalid as error:
        reader.problems.extend(error.problems)
        return stand_in


def _days_of_month(field: str, value: object) -> list[int]:
    """The days of a list, 0 for the last."""
    return read_items(field, value, _day_of_month)


def _day_of_month(field: str, value: object) -> int:
    if value == LAST:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 31:
        raise Invalid.field(field, f"must be a day from 1 to 31, or {LAST}")
    return value


def _date(field: str, value: object) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        text = read_text(field, value)
        if (day := date.fromisoformat(text)).isoformat() == text:
            return day
    except (Invalid, ValueError):
        pass
    raise Invalid.field(field, "must be a date such as 2026-12-24")
