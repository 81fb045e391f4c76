"""Calendars to documents of JSON values, and windows to words."""

from typing import Any

from headway.core.calendar.window import Calendar, Dates, Holiday, Match, MonthDays, Weekdays, Window
from headway.core.schedule.writing import write_clock, write_weekdays


def calendar_document(calendar: Calendar) -> dict[str, Any]:
    """Return the document that `parse_calendar` reads back to the same name and windows."""
    return {"name": calendar.name, "windows": [window_document(window) for window in calendar.windows]}


def window_document(window: Window) -> dict[str, Any]:
    """Return a window as a document has it."""
    times = (
        {"start": write_clock(window.start), "end": write_clock(window.end)} if window.start is not None and window.end is not None else {}
    )
    return {**_match(window.match), **times, "policy": window.policy.value}


def describe(window: Window) -> str:
    """Return a window in words that a person recognises, such as `sat, sun 18:00-06:00`."""
    days = _days(window.match)
    if window.start is None or window.end is None:
        return days
    return f"{days} {write_clock(window.start)}-{write_clock(window.end)}"


def _match(match: Match) -> dict[str, Any]:
    match match:
        case Weekdays():
            return {"weekdays": write_weekdays(match.weekdays)}
        case Dates():
            return {"dates": {"from": match.first.isoformat(), "to": match.last.isoformat()}}
        case MonthDays():
            return {"month_days": _month_days(match)}
        case Holiday():
            return {"holiday": match.slug}


def _days(match: Match) -> str:
    match match:
        case Weekdays():
            return ", ".join(write_weekdays(match.weekdays))
        case Dates():
            return f"{match.first}" if match.first == match.last else f"{match.first} to {match.last}"
        case MonthDays():
            return f"day {', '.join(str(day) for day in _month_days(match))} of the month"
        case Holiday():
            return match.slug


def _month_days(match: MonthDays) -> list[Any]:
    return [day for day in range(1, 32) if match.days >> day & 1] + (["last"] if match.last else [])
