"""Time zones by name, from the pinned `tzdata` package alone, and the moments at which their offsets change.

The machine's own zone files are never read: two hosts with different ones would decide different slots.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo

from headway.core.errors import Invalid
from headway.core.schedule.windows import WINDOWS_ZONES

_NOT_PLACES: Final = frozenset({"Factory", "localtime", "posixrules"})
APART: Final = timedelta(days=6)
_SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Shift:
    """At the instant `at` the offset from UTC goes from `before` to `after`: a gap when it grows, a fold when it shrinks."""

    at: datetime
    before: timedelta
    after: timedelta


def tzdata_version() -> str:
    """Return the IANA release that every decision is made with, such as `2026f`."""
    return str(import_module("tzdata").IANA_VERSION)


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return every IANA id that a schedule may have."""
    listed = (files("tzdata") / "zones").read_text(encoding="ascii").split()
    return frozenset(name for name in listed if name not in _NOT_PLACES)


def zone_name(wanted: str) -> str:
    """Return the IANA id for an IANA or Windows id; raises Invalid on field `zone` for any other text."""
    name = wanted if wanted in zone_names() else WINDOWS_ZONES.get(wanted)
    if name is None:
        raise Invalid.field("zone", f"{wanted[:40]!r} is not a time zone: give an IANA id such as 'Europe/Berlin' or 'UTC'")
    return name


@lru_cache(maxsize=1024)
def load_zone(name: str) -> ZoneInfo:
    """Return the zone of an IANA id; raises Invalid on field `zone` for a name that is not one."""
    path = files("tzdata").joinpath("zoneinfo", *zone_name(name).split("/"))
    with path.open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def offset_at(zone: ZoneInfo, instant: datetime) -> timedelta:
    """Return the zone's offset from UTC at an instant."""
    offset = instant.astimezone(zone).utcoffset()
    assert offset is not None
    return offset


def shifts(name: str, first: datetime, last: datetime) -> Iterator[Shift]:
    """Yield the changes of offset in (first, last], in order.

    One look in six days suffices: in all of tzdata no two changes of a zone are as close as that.
    """
    zone = load_zone(name)
    start, before = first, offset_at(zone, first)
    while start < last:
        end = min(start + APART, last)
        after = offset_at(zone, end)
        if after != before:
            yield Shift(_moment(zone, start, end, before), before, after)
        start, before = end, after


def _moment(zone: ZoneInfo, start: datetime, end: datetime, before: timedelta) -> datetime:
    """The first second in (start, end] at which the offset is no longer `before`."""
    while end - start > _SECOND:
        middle = start + (end - start) // _SECOND // 2 * _SECOND
        if offset_at(zone, middle) == before:
            start = middle
        else:
            end = middle
    return end
