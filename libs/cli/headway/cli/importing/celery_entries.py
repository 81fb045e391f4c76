"""Entries of a beat schedule, from wherever they were read."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from headway.cli.importing.translation import Refused

FIELDS: Final = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
_FULL_NAME: Final = re.compile(r"\b([A-Za-z]{3})[A-Za-z]+\b")  # friday, which cron knows as fri


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its schedule is a Crontab or a timedelta, all else is plain data."""

    line: int
    name: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Crontab:
    """A crontab of Celery as five fields of cron, and its own zone if it has one."""

    text: str
    zone: str = ""

    @classmethod
    def of(cls, fields: Mapping[str, Any], zone: str = "") -> "Crontab":
        """Put fields into cron's order; one that is missing is a star.  Raises ValueError for a field that is none of them."""
        if strange := sorted(fields.keys() - set(FIELDS)):
            raise ValueError(f"a crontab has no {strange[0]} that is known here")
        return cls(_FULL_NAME.sub(r"\1", " ".join(_field(fields.get(name, "*")) for name in FIELDS)), zone)


@dataclass
class Found:
    """What a file holds: entries, its zone, what could not be read, and the parameters of the functions that it declares."""

    entries: list[Entry] = field(default_factory=list)
    zone: str = ""
    refused: list[Refused] = field(default_factory=list)
    functions: Mapping[str, Sequence[str]] = field(default_factory=dict)


def _field(value: Any) -> str:
    """A field as cron writes it: Celery also takes numbers, and lists of them."""
    if isinstance(value, str):
        return value.replace(" ", "")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, Iterable) and not isinstance(value, Mapping):
        return ",".join(_field(one) for one in value)
    raise ValueError("a crontab's field is a number, text, or a list of numbers")
