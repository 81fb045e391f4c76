"""An independent answer to "which instants are slots": a scan over UTC minutes.  Shares no code with the evaluator."""

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Protocol
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
NAMES = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
NAMES |= {name: n for n, name in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], start=1)}
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


@lru_cache
def zone(name: str) -> ZoneInfo:
    with (files("tzdata") / "zoneinfo" / name).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@lru_cache(maxsize=1)
def zones() -> list[str]:
    listed = (files("tzdata") / "zones").read_text().split()
    return [name for name in listed if name != "Factory"]


def transitions(name: str) -> Iterator[tuple[datetime, int, int]]:
    """Every instant at which a zone's offset changes, with the offsets in seconds, read from the TZif file's 64-bit block."""
    data = (files("tzdata") / "zoneinfo" / name).read_bytes()
    sizes = struct.unpack(">6l", data[20:44])
    at = 44 + _block(sizes, 4)
    sizes = struct.unpack(">6l", data[at + 20 : at + 44])
    count, kinds = sizes[3], sizes[4]
    at += 44
    moments = struct.unpack(f">{count}q", data[at : at + 8 * count])
    indices = data[at + 8 * count : at + 9 * count]
    table = at + 9 * count
    offsets = [struct.unpack(">l", data[table + 6 * n : table + 6 * n + 4])[0] for n in range(kinds)]
    before = offsets[0]
    for moment, index in zip(moments, indices, strict=True):
        if offsets[index] != before and moment > -(10**10):
            yield datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=moment), before, offsets[index]
        before = offsets[index]


def _block(sizes: tuple[int, ...], width: int) -> int:
    utc, standard, leaps, count, kinds, letters = sizes
    return count * width + count + kinds * 6 + letters + leaps * (width + 4) + standard + utc


class Matcher(Protocol):
    """Says of any wall whether it matches."""

    periodic: bool

    def matches(self, wall: datetime) -> bool: ...


class PlainDaily:
    """Set times, spelled `HH:MM`, on days given by names of weekdays and numbers of months."""

    periodic = False

    def __init__(self, times: list[str], weekdays: list[str], months: list[int]) -> None:
        self.times, self.weekdays, self.months = times, weekdays, months

    def matches(self, wall: datetime) -> bool:
        return f"{wall:%H:%M}" in self.times and f"{wall:%a}".lower() in self.weekdays and wall.month in self.months


class PlainWithin:
    """Every so many minutes of windows that open on the named weekdays: each wall is measured from the last two openings."""

    periodic = False

    def __init__(self, minutes: int, opens: time, closes: time, weekdays: list[str]) -> None:
        self.minutes, self.opens, self.weekdays = minutes, opens, weekdays
        self.length = timedelta(hours=closes.hour - opens.hour, minutes=closes.minute - opens.minute)
        if self.length <= timedelta():
            self.length += timedelta(days=1)

    def matches(self, wall: datetime) -> bool:
        for days in (0, 1):
            opening = datetime.combine(wall.date() - timedelta(days=days), self.opens)
            inside = timedelta() <= wall - opening < self.length
            if inside and f"{opening:%a}".lower() in self.weekdays and (wall - opening) % timedelta(minutes=self.minutes) == timedelta():
                return True
        return False


class Plain:
    """A five-field expression, read in the most naive way."""

    def __init__(self, text: str) -> None:
        self.fields = text.lower().split()
        parts = [self._values(field, *limits) for field, limits in zip(self.fields, RANGES, strict=True)]
        self.minutes, self.hours, self.days, self.months = parts[:4]
        self.weekdays = {day % 7 for day in parts[4]}
        hour = self.fields[1]
        self.periodic = hour in ("*", "?") or (hour.startswith("*/") and hour[2:].isdigit())

    @staticmethod
    def _values(field: str, low: int, high: int) -> set[int]:
        found: set[int] = set()
        for item in field.split(","):
            body, _, step = item.partition("/")
            if body in ("*", "?"):
                first, last = low, high if high != 7 else 6
            elif "-" in body:
                first, last = (int(NAMES.get(end, end)) for end in body.split("-"))
            else:
                first = int(NAMES.get(body, body))
                last = (high if high != 7 else 6) if step else first
            found.update(range(first, last + 1, int(step or 1)))
        return found

    def on(self, day: datetime) -> bool:
        free = ("*", "?")
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        if self.fields[2] not in free and self.fields[4] not in free:
            return day.month in self.months and (in_month or in_week)
        return day.month in self.months and in_month and in_week

    def matches(self, wall: datetime) -> bool:
        return wall.minute in self.minutes and wall.hour in self.hours and self.on(wall)


@lru_cache(maxsize=64)
def walls(name: str, start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    """Each UTC minute in [start, end) with the wall that a clock shows."""
    place, found, now = zone(name), [], start
    while now < end:
        found.append((now, now.astimezone(place).replace(tzinfo=None, fold=0)))
        now += MINUTE
    return found


def scan(expression: Matcher, name: str, gap: str, fold: str, window: tuple[datetime, datetime]) -> list[datetime]:
    """The slots in [start, end); looks a day and a bit beyond both ends, so that folds at the edges are seen whole."""
    margin = timedelta(hours=26)
    seen = walls(name, window[0] - margin, window[1] + margin)
    shown: dict[datetime, list[datetime]] = {}
    for instant, wall in seen:
        shown.setdefault(wall, []).append(instant)
    slots: set[datetime] = set()
    for wall, instants in shown.items():
        if expression.matches(wall):
            slots.update(instants if expression.periodic or fold == "both" else [instants[0] if fold == "first" else instants[-1]])
    if not expression.periodic and gap != "skip":
        slots.update(_made_up(expression, seen, gap))
    return sorted(slot for slot in slots if window[0] <= slot < window[1])


def _made_up(expression: Matcher, seen: list[tuple[datetime, datetime]], gap: str) -> Iterator[datetime]:
    for (_, before), (instant, after) in pairwise(seen):
        missing, steps = before + MINUTE, 0
        while missing + steps * MINUTE < after:
            if expression.matches(missing + steps * MINUTE):
                yield instant if gap == "next_valid" else instant + steps * MINUTE
            steps += 1
