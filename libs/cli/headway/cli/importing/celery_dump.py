"""A beat schedule as JSON or YAML: entries by name, as RedBeat keeps them, or fixtures of django-celery-beat."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from headway.cli.importing.celery_entries import FIELDS, Crontab, Entry, Found
from headway.cli.importing.celery_source import SCHEDULES, ZONES, interval
from headway.cli.importing.translation import Refused
from headway.cli.importing.yaml_lines import Document, documents

MODELS: Final = "django_celery_beat."
OPTIONS: Final = ("queue", "priority", "exchange", "routing_key")
_PERIODS: Final = ("days", "hours", "minutes", "seconds", "microseconds")


def read(text: str) -> Found:
    """Return the entries of a dump.  Raises Invalid for what is neither YAML nor JSON."""
    found = Found()
    for document in documents(text):
        if isinstance(document.value, list):
            _fixtures(found, document)
        elif isinstance(document.value, Mapping):
            _mapping(found, document)
        else:
            found.refused.append(Refused(document.line, str(document.value), "is no beat schedule"))
    return found


def _mapping(found: Found, document: Document) -> None:
    """Entries by name, at the top or under the name of the setting."""
    entries: Any = document.value
    for name in sorted(SCHEDULES & entries.keys()):
        entries = document.value[name]
    found.zone = next((str(document.value[name]) for name in sorted(ZONES & document.value.keys())), found.zone)
    for name, fields in entries.items() if isinstance(entries, Mapping) else [("beat_schedule", entries)]:
        if entries is not document.value or name not in ZONES:
            _entry(found, document.lines.get(name, document.line), str(name), fields)


def _entry(found: Found, line: int, name: str, fields: Any) -> None:
    try:
        if not isinstance(fields, Mapping):
            raise ValueError("an entry is a name and a mapping")
        found.entries.append(Entry(line, name, {**fields, "schedule": _when(fields.get("schedule"))}))
    except (ValueError, TypeError, OverflowError) as error:
        found.refused.append(Refused(line, name, str(error)))


def _when(value: Any) -> Any:
    """A schedule that is a number of seconds, an interval, or the fields of a crontab."""
    if not isinstance(value, Mapping):
        return interval(value)
    fields = {name: one for name, one in value.items() if name not in ("__type__", "relative", "timezone")}
    kind = value.get("__type__") or ("crontab" if fields.keys() <= set(FIELDS) else "interval")
    if kind == "crontab":
        return Crontab.of(fields, str(value.get("timezone") or ""))
    if kind == "interval" and fields.keys() <= {"every", "period"}:
        return _interval(fields)
    raise ValueError(f"{str(kind)[:40]} is no schedule that is known here")


def _interval(fields: Mapping[str, Any]) -> timedelta:
    period = fields.get("period", "seconds")
    if period not in _PERIODS:
        raise ValueError(f"{str(period)[:40]} is no period: {', '.join(_PERIODS)}")
    every: Any = fields.get("every")
    return timedelta(**{period: every})


def _fixtures(found: Found, document: Document) -> None:
    """Rows of tables, where an entry names the row that holds its schedule."""
    rows = [row for row in document.value if isinstance(row, Mapping) and isinstance(row.get("fields"), Mapping)]
    tables = {(row.get("model"), str(row.get("pk"))): row["fields"] for row in rows}
    for index, row in enumerate(document.value):
        line = document.lines[index]
        if not isinstance(row, Mapping) or not isinstance(row.get("fields"), Mapping):
            found.refused.append(Refused(line, str(row), "is no row of a fixture"))
        elif row.get("model") == f"{MODELS}periodictask":
            _task(found, line, row["fields"], tables)


def _task(found: Found, line: int, fields: Mapping[str, Any], tables: Mapping[tuple[Any, str], Mapping[str, Any]]) -> None:
    name = str(fields.get("name"))
    try:
        kinds = [kind for kind in ("crontab", "interval", "solar", "clocked") if fields.get(kind) is not None]
        if fields.get("one_off") or kinds not in (["crontab"], ["interval"]):
            raise ValueError("runs once or by the sun: that has no counterpart")
        row = tables[f"{MODELS}{kinds[0]}schedule", str(fields[kinds[0]])]
        options = {option: fields[option] for option in OPTIONS if fields.get(option) not in (None, "")}
        entry = {
            "task": fields.get("task"),
            "schedule": _when(row),
            "args": json.loads(fields.get("args") or "[]"),
            "kwargs": json.loads(fields.get("kwargs") or "{}"),
            "options": options | ({"expires": fields["expire_seconds"]} if fields.get("expire_seconds") else {}),
            "enabled": fields.get("enabled", True),
            "starts_at": fields.get("start_time"),
            "description": fields.get("description"),
        }
    except KeyError:
        found.refused.append(Refused(line, name, "the row of its schedule is not in the fixture"))
    except (ValueError, TypeError, OverflowError) as error:
        found.refused.append(Refused(line, name, str(error)))
    else:
        found.entries.append(Entry(line, name, entry))
