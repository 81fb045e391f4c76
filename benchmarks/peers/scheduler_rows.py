"""Schedules by the hundred thousand: a few due at one second, the others hours away, written as a bulk import would leave them."""

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Sydney")
WEEKDAYS = ("*", "1-5", "0-6")
AWAY = range(2, 22)
FIRST = 20
EARLIER = timedelta(seconds=5)


def rule(number: int, due: int, due_at: datetime) -> dict[str, str]:
    """The rule of the schedule with a number: of the first `due` ones that of the instant, of the others one that is hours away.

    A few are due a little before: no process that has been up for longer meets its first slot.
    """
    if number < due + FIRST:
        at = due_at if number < due else due_at - EARLIER
        return {"cron": f"{at.second} {at.minute} {at.hour} * * *", "zone": "UTC"}
    zone = ZONES[number % len(ZONES)]
    hour = (due_at + timedelta(hours=AWAY[number // 60 % len(AWAY)])).astimezone(ZoneInfo(zone)).hour
    return {"cron": f"{number % 60} {hour} * * {WEEKDAYS[number // 1200 % len(WEEKDAYS)]}", "zone": zone}


def rows(count: int, due: int, due_at: datetime, definitions: list[uuid.UUID]) -> Iterator[tuple[object, ...]]:
    """What the table of schedules holds."""
    hour_ago = datetime.now(UTC) - timedelta(hours=1)
    for number in range(count):
        text = json.dumps({**rule(number, due, due_at), "gap": "next_valid", "fold": "first"})
        now = datetime.now(UTC)
        yield uuid.UUID(int=(7 << 76) + number), definitions[number % len(definitions)], f"s{number}", text, now, hour_ago, hour_ago
