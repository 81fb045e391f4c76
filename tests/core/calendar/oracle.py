"""An independent answer to "what do windows make of an instant": the clock is read minute by minute.  Shares no code with the calendars."""

from calendar import monthrange
from datetime import date, datetime, timedelta
from typing import Any

from tests.core.schedule.oracle import zone

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
DEFERRALS = 100


def on(window: dict[str, Any], day: date, holidays: dict[str, list[date]]) -> bool:
    """Whether a window of a document opens on a day."""
    if "dates" in window:
        return str(window["dates"]["from"]) <= day.isoformat() <= str(window["dates"]["to"])
    if "month_days" in window:
        last = monthrange(day.year, day.month)[1]
        return any((last if number == "last" else number) == day.day for number in window["month_days"])
    if "holiday" in window:
        return day in holidays[window["holiday"]]
    return f"{day:%a}".lower() in window["weekdays"]


def inside(window: dict[str, Any], wall: datetime, holidays: dict[str, list[date]]) -> date | None:
    """The day that opened the window that a clock is in when it shows a wall; dated whole days count as opened on the first of them."""
    clock, start, end = f"{wall:%H:%M}", window.get("start", "00:00"), window.get("end", "00:00")
    evening = clock >= start and (clock < end or end <= start) and on(window, wall.date(), holidays)
    morning = end <= start and clock < end and on(window, wall.date() - DAY, holidays)
    if (evening or morning) and "dates" in window and start == end:
        return date.fromisoformat(window["dates"]["from"])
    if evening:
        return wall.date()
    return wall.date() - DAY if morning else None


def judged(windows: list[dict[str, Any]], name: str, instant: datetime, holidays: dict[str, list[date]]) -> tuple[str, datetime | None]:
    """What becomes of an instant on a whole minute, and when its run is due."""
    place, now, deferred = zone(name), instant, False
    ordered = [one for one in windows if "dates" in one] + [one for one in windows if "dates" not in one]

    def shows(window: dict[str, Any]) -> date | None:
        return inside(window, now.astimezone(place).replace(tzinfo=None), holidays)

    for _ in range(DEFERRALS + 1):
        decider = next((window for window in ordered if shows(window) is not None), None)
        if decider is None:
            return ("deferred" if deferred else "free"), now
        if decider["policy"] == "skip":
            return "skipped", None
        deferred, opened = True, shows(decider)
        while shows(decider) == opened:
            now += MINUTE
    return "skipped", None
