"""A crontab as definitions and schedules.

Each command becomes one definition, named after it, with a schedule for each line that runs it; translating the same crontab again
gives the same document.  What cannot be taken is listed with its line and the reason, never guessed at.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from headway.cli.importing.crontab_lines import Entry, Line, Setting, lines, read_line
from headway.cli.importing.translation import ATTEMPTS, LONGEST_SLUG, Refused, Translation, digest, slugged
from headway.core.errors import Invalid
from headway.core.schedule.cron import MACROS, DayRule, parse_cron
from headway.core.schedule.zones import zone_name

_LONGEST: Final = 128
_FIXED: Final = {
    "LOGNAME": "is set by cron itself and cannot be changed",
    "RANDOM_DELAY": "has no counterpart: slots are not delayed at random",
}


def translate(text: str, *, zone: str = "UTC", user_column: bool = False) -> Translation:
    """Translate a crontab whose times are in `zone`, with a user in front of each command if `user_column`.

    Raises Invalid for a zone that does not exist.
    """
    translator = _Translator(zone_name(zone), user_column)
    for line in lines(text):
        translator.take(line)
    return Translation({"definitions": list(translator.definitions.values())}, tuple(translator.refused))


@dataclass
class _Translator:
    """What stands at a line of the file: the zone and environment in force, and what the lines above it gave."""

    zone: str
    user_column: bool
    named_zone: bool = False
    bad_zone: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    _seen: dict[tuple[str, str], int] = field(default_factory=dict)

    def take(self, line: Line) -> None:
        try:
            match read_line(line.text, user_column=self.user_column):
                case Setting() as setting:
                    self._set(setting)
                case Entry() as entry:
                    self._add(entry, line.number)
        except Invalid as error:
            self.refused.append(Refused(line.number, line.text, "; ".join(problem.message for problem in error.problems)))
        except ValueError as error:
            self.refused.append(Refused(line.number, line.text, str(error)))

    def _set(self, setting: Setting) -> None:
        if setting.name == "CRON_TZ":
            self._set_zone(setting.value)
            return
        if setting.name in _FIXED:
            raise ValueError(f"{setting.name} {_FIXED[setting.name]}")
        self.environment[setting.name] = setting.value
        if setting.name == "MAILTO" and setting.value:
            raise ValueError("no mail is sent: the output is kept with each run")

    def _set_zone(self, name: str) -> None:
        self.bad_zone = name
        self.zone, self.named_zone = zone_name(name), True
        self.bad_zone = ""

    def _add(self, entry: Entry, number: int) -> None:
        if self.bad_zone:
            raise ValueError(f"its zone is not known: CRON_TZ is {self.bad_zone!r}")
        schedule = {"name": self._schedule_name(entry.when), "cron": cron_expression(entry.when), "zone": self.zone}
        identity = {"command": entry.command} | _given(user=entry.user, stdin=entry.stdin)
        name = _definition_name(identity)
        if before := self._seen.setdefault((name, schedule["name"]), number) - number:
            raise ValueError(f"runs the same at the same times as line {number + before}: taken once")
        parameters = identity | self._surroundings()
        definition = self.definitions.setdefault(name, _definition(name, parameters))
        definition["schedules"].append(schedule | _overrides(definition["parameters"], parameters))

    def _schedule_name(self, when: str) -> str:
        fields = when.lower().lstrip("@").replace("*", "any").replace("?", "any").replace(",", ".").replace(" ", "_")
        name = f"{fields}@{self.zone.replace('+', '_')}" if self.named_zone else fields
        return name if len(name) <= _LONGEST else f"{name[:LONGEST_SLUG]}-{digest(name)}"

    def _surroundings(self) -> dict[str, Any]:
        """The parameters that settings above an entry give it; a command starts in HOME, as under cron."""
        return {"env": dict(self.environment)} | _given(
            shell=self.environment.get("SHELL") or None, cwd=self.environment.get("HOME") or None
        )


def cron_expression(when: str) -> str:
    """Return the expression of an entry.  Raises Invalid or ValueError for what means nothing here, or something else than to cron."""
    if when.startswith("@"):
        return _macro(when.lower())
    expression = parse_cron(when)
    day, _, weekday = expression.text.split(" ")[2:]
    if expression.day_rule is DayRule.EITHER and (day.startswith("*") or weekday.startswith("*")):
        raise ValueError("cron runs it when both day fields match, Headway when either does: write the days without a star")
    return expression.text


def _macro(name: str) -> str:
    if name == "@reboot":
        raise ValueError("@reboot has no counterpart: nothing here starts with the machine")
    if name not in MACROS:
        raise ValueError(f"{name} is not known")
    return MACROS[name]


def _definition_name(identity: dict[str, str]) -> str:
    """A name that depends on nothing but the command, its user and its input: readable, and told apart by a hash."""
    return slugged(identity["command"], "\0".join(f"{name}={identity[name]}" for name in sorted(identity)), "cron")


def _definition(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "description": f"From a crontab: {parameters['command']}"[:1000],
        "handler": "shell",
        "attempts": ATTEMPTS,
        "parameters": parameters,
        "schedules": [],
    }


def _overrides(common: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """What a schedule must say for itself: the parameters in which it differs from its definition's."""
    differing = {name: wanted.get(name) for name in common.keys() | wanted.keys() if wanted.get(name) != common.get(name)}
    return {"parameters": dict(sorted(differing.items()))} if differing else {}


def _given(**parameters: str | None) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}
