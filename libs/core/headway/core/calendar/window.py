"""What a calendar holds, as values: windows of local time, each with the days that it is open on and what it does to a slot."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from enum import Enum

Resolved = Mapping[str, Mapping[int, Collection[date]]]


class Policy(Enum):
    """What becomes of a slot in the window: no run, or a run when the window ends."""

    SKIP = "skip"
    DEFER = "defer"


@dataclass(frozen=True, slots=True)
class Weekdays:
    """Days of the week as a mask: bit n stands for weekday n, Sunday is 0."""

    weekdays: int


@dataclass(frozen=True, slots=True)
class Dates:
    """Every day from the first to the last, both included."""

    first: date
    last: date


@dataclass(frozen=True, slots=True)
class MonthDays:
    """Days of every month as a mask (bit n stands for day n), and perhaps its last day, whichever that is."""

    days: int
    last: bool = False


@dataclass(frozen=True, slots=True)
class Holiday:
    """The days on which a holiday stands."""

    slug: str


Match = Weekdays | Dates | MonthDays | Holiday


@dataclass(frozen=True, slots=True)
class Window:
    """Local times `[start, end)` of the days that match; without times the whole days, of 23, 24 or 25 hours.

    Each day that matches opens a window of its own, which with `end` at or before `start` runs to the day behind it; only a dated
    range without times, or with `end` at `start`, is one window from its first day to its last.
    """

    match: Match
    start: time | None = None
    end: time | None = None
    policy: Policy = Policy.SKIP


@dataclass(frozen=True, slots=True)
class Calendar:
    """A named set of windows.  `resolved` has the dates of each holiday that is not of the United States, by slug and year."""

    name: str
    version: int = 1
    windows: Sequence[Window] = ()
    resolved: Resolved = field(default_factory=dict)
