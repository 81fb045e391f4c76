"""The beat schedule of Celery as definitions and schedules.

Each entry becomes one definition whose handler has the task's name, with one schedule; translating the same file again gives the same
document.  A Python file is read and never executed.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from headway.cli.importing import celery_dump, celery_source
from headway.cli.importing.celery_entries import Crontab, Entry, Found
from headway.cli.importing.translation import ATTEMPTS, Gathering, Translation, definition_name
from headway.core.document import problems_of
from headway.core.durations import format_duration
from headway.core.errors import Invalid
from headway.core.schedule.cron import DayRule, parse_cron
from headway.core.schedule.zones import zone_name

URGENT: Final = 9
_KNOWN: Final = frozenset({"task", "schedule", "args", "kwargs", "options", "enabled", "relative", "starts_at", "name", "description"})


def translate(text: str, *, zone: str = "UTC", dump: bool = False) -> Translation:
    """Translate a Python file, or a dump as JSON or YAML; local times are in the zone that the file names, else in `zone`.

    Raises Invalid for a zone that does not exist and for a text that cannot be read.
    """
    found = celery_dump.read(text) if dump else celery_source.read(text)
    gathering, zone = Gathering(refused=list(found.refused)), zone_name(found.zone or zone)
    for entry in found.entries:
        _take(gathering, entry, found, zone)
    return gathering.translation()


def _take(gathering: Gathering, entry: Entry, found: Found, zone: str) -> None:
    made = _Definition(entry, found.functions, zone)
    try:
        definition = made.build()
    except Invalid as error:
        gathering.refuse(entry.line, entry.name, "; ".join(one.message for one in error.problems))
        return
    except (ValueError, OverflowError) as error:
        gathering.refuse(entry.line, entry.name, str(error))
        return
    if gathering.add(entry.line, entry.name, definition):
        for note in made.notes:
            gathering.refuse(entry.line, entry.name, note)


@dataclass
class _Definition:
    """One entry on its way to a definition, and what of it is left out."""

    entry: Entry
    functions: Mapping[str, Sequence[str]]
    zone: str
    notes: list[str] = field(default_factory=list)

    def build(self) -> dict[str, Any]:
        """Return the definition.  Raises Invalid or ValueError with the reason why there is none."""
        fields = self.entry.fields
        task = fields.get("task")
        if not isinstance(task, str) or not task:
            raise ValueError("names no task")
        schedule = {"name": "default", **self._rule(fields.get("schedule"))}
        schedule |= {"enabled": False} if fields.get("enabled") is False else {}
        schedule |= {"starts_at": fields["starts_at"]} if fields.get("starts_at") else {}
        definition = {
            "name": definition_name(self.entry.name),
            "description": f"From Celery's beat: {self.entry.name}, {fields.get('description') or task}"[:1000],
            "handler": task,
            "attempts": ATTEMPTS,
            "parameters": self._parameters(task),
            "schedules": [schedule],
        }
        self._options(definition, schedule)
        self.notes += [f"{name} has no counterpart" for name in sorted(fields.keys() - _KNOWN)]
        return definition

    def _rule(self, when: Any) -> dict[str, Any]:
        match when:
            case Crontab():
                return {"cron": _cron(when), "zone": zone_name(when.zone) if when.zone else self.zone}
            case timedelta():
                if self.entry.fields.get("relative"):
                    self.notes.append("relative: slots are multiples of the interval from midnight UTC")
                return {"every": _span(when)}
            case _:
                raise ValueError("has no schedule that is known here: seconds, a timedelta, or a crontab")

    def _parameters(self, task: str) -> dict[str, Any]:
        args, kwargs = self.entry.fields.get("args") or [], self.entry.fields.get("kwargs") or {}
        if not isinstance(args, list) or not isinstance(kwargs, Mapping):
            raise ValueError("args must be a list, and kwargs a mapping")
        names = self.functions.get(task.rpartition(".")[2], ())
        if args and len(names) < len(args):
            raise ValueError("positional arguments have no names here: write them as kwargs")
        parameters = {**dict(zip(names, args, strict=False)), **kwargs}
        if problems := list(problems_of(parameters, "")):
            raise Invalid(problems)
        return parameters

    def _options(self, definition: dict[str, Any], schedule: dict[str, Any]) -> None:
        options = self.entry.fields.get("options") or {}
        if not isinstance(options, Mapping):
            raise ValueError("options must be a mapping")
        for name, value in options.items():
            if (take := _TAKEN.get(name)) is None:
                self.notes.append(f"options.{name} has no counterpart")
            elif value is not None and (note := take(value, definition, schedule)):
                self.notes.append(note)


def _queue(value: Any, definition: dict[str, Any], _schedule: dict[str, Any]) -> str:
    definition["queue"] = value
    return ""


def _priority(value: Any, definition: dict[str, Any], _schedule: dict[str, Any]) -> str:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return "options.priority is no whole number: left out"
    definition["priority"] = min(value, URGENT)
    return f"options.priority {value} is taken as {URGENT}, the most urgent" if value > URGENT else ""


def _expires(value: Any, _definition: dict[str, Any], schedule: dict[str, Any]) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = timedelta(seconds=value)
    if not isinstance(value, timedelta):
        return "options.expires is no length of time: left out"
    schedule["allowed_delay"] = _span(value)
    return "options.expires is taken as allowed_delay: a later start is told of, not left out"


_TAKEN: Final[Mapping[str, Callable[[Any, dict[str, Any], dict[str, Any]], str]]] = {
    "queue": _queue,
    "priority": _priority,
    "expires": _expires,
}


def _cron(when: Crontab) -> str:
    expression = parse_cron(when.text)
    if expression.day_rule is DayRule.EITHER:
        raise ValueError("Celery runs it when both day fields match, Headway when either does: check one of them in the job")
    return expression.text


def _span(span: timedelta) -> str | float:
    return span.total_seconds() if span % timedelta(milliseconds=1) else format_duration(span)


def is_dump(file: str, text: str) -> bool:
    """Whether a text is JSON or YAML rather than Python, by the name of its file, or where that says nothing by itself."""
    if file.endswith((".json", ".yaml", ".yml")):
        return True
    try:
        return not file.endswith(".py") and isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False
