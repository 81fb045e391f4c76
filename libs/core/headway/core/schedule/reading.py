"""Rules from mappings: which fields make which kind, and everything that is wrong with them at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, Final, TypedDict, TypeVar

from headway.core.document import problems_of
from headway.core.errors import Invalid, Problem
from headway.core.schedule import values
from headway.core.schedule.cron import Expression, parse_cron
from headway.core.schedule.kinds import (
    EPOCH,
    EVERY_MONTH,
    EVERY_WEEKDAY,
    SHORTEST,
    AfterCompletion,
    Cron,
    Daily,
    Interval,
    Once,
    Plugin,
    Rule,
    Within,
)
from headway.core.schedule.plugins import make_source
from headway.core.schedule.policies import Fold, Gap

_Value = TypeVar("_Value")
_SHARED: Final = frozenset({"zone", "starts_at", "ends_at", "jitter"})
_MIDNIGHT: Final[tuple[time, ...]] = (time(),)
_ANY_MINUTE: Final = parse_cron("* * * * *")


class Reader:
    """Reads fields one by one and keeps what is wrong with them, so that one answer names every problem."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = {name: value for name, value in given.items() if value is not None}
        self.problems: list[Problem] = []

    def optional(self, name: str, convert: Callable[[str, Any], _Value], default: _Value) -> _Value:
        """Return a field's value, or the default when it is absent or wrong."""
        if name not in self.given:
            return default
        try:
            return convert(name, self.given[name])
        except Invalid as error:
            self.problems.extend(error.problems)
            return default

    def needed(self, name: str, convert: Callable[[str, Any], _Value], stand_in: _Value) -> _Value:
        """Return a field's value; a problem is noted, and the stand-in returned, when it is absent or wrong."""
        if name not in self.given:
            self.wrong(name, "is needed")
        return self.optional(name, convert, stand_in)

    def wrong(self, name: str, message: str) -> None:
        """Note a problem with a field."""
        self.problems.append(Problem(name, message))


class _Common(TypedDict):
    zone: str
    starts_at: datetime | None
    ends_at: datetime | None
    jitter: timedelta


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of rule: how problems name it, the fields beside the shared ones, and how it is made from what could be read."""

    named: str
    fields: frozenset[str]
    make: Callable[[Reader, _Common], Rule | None]


def read_rule(given: Mapping[str, Any], default_zone: str) -> Rule:
    """Return the rule that a mapping describes; raises Invalid with every problem, each with its field."""
    reader = Reader(given)
    kind = _kind(reader)
    shared = _shared(reader, default_zone)
    for name in sorted(reader.given.keys() - kind.fields - _SHARED):
        reader.wrong(name, f"is not a field of {kind.named}")
    rule = kind.make(reader, shared)
    if reader.problems or rule is None:
        raise Invalid(reader.problems)
    return rule


def _kind(reader: Reader) -> _Kind:
    for names, kind in _KINDS:
        if names & reader.given.keys():
            return kind
    reader.wrong("cron", "is needed, or one of every, times, at, after_completion, plugin in its place")
    return _CRON


def _shared(reader: Reader, default_zone: str) -> _Common:
    zone = reader.optional("zone", values.read_zone, default_zone)
    starts_at, ends_at = (reader.optional(name, _maybe_instant, None) for name in ("starts_at", "ends_at"))
    if starts_at is not None and ends_at is not None and starts_at > ends_at:
        reader.wrong("ends_at", "lies before starts_at")
    jitter = reader.optional("jitter", values.read_jitter, timedelta())
    return {"zone": zone, "starts_at": starts_at, "ends_at": ends_at, "jitter": jitter}


def _cron(reader: Reader, shared: _Common) -> Rule:
    expression = reader.optional("cron", _expression, _ANY_MINUTE)
    return Cron(expression, *_policies(reader), **shared)


def _interval(reader: Reader, shared: _Common) -> Rule:
    every = reader.needed("every", values.read_interval, SHORTEST)
    return Interval(every, reader.optional("anchor", values.read_instant, EPOCH), **shared)


def _daily(reader: Reader, shared: _Common) -> Rule:
    times = reader.needed("times", values.read_clocks, _MIDNIGHT)
    weekdays = reader.optional("weekdays", values.read_weekdays, EVERY_WEEKDAY)
    months = reader.optional("months", values.read_months, EVERY_MONTH)
    return Daily(times, weekdays, months, *_policies(reader), **shared)


def _within(reader: Reader, shared: _Common) -> Rule:
    every = reader.needed("every", values.read_step, SHORTEST)
    opens, closes = (reader.needed(name, values.read_clock, time()) for name in ("from", "to"))
    weekdays = reader.optional("weekdays", values.read_weekdays, EVERY_WEEKDAY)
    return Within(every, opens, closes, weekdays, *_policies(reader), **shared)


def _once(reader: Reader, shared: _Common) -> Rule:
    at = reader.needed("at", values.read_instant, EPOCH)
    starts_at, ends_at = shared["starts_at"], shared["ends_at"]
    outside = (starts_at is not None and at < starts_at) or (ends_at is not None and at > ends_at)
    if outside and not reader.problems:
        reader.wrong("at", "lies outside of starts_at and ends_at")
    return Once(at, **shared)


def _after_completion(reader: Reader, shared: _Common) -> Rule:
    return AfterCompletion(reader.needed("after_completion", values.read_completion_gap, None), **shared)


def _plugin(reader: Reader, shared: _Common) -> Rule | None:
    name = reader.needed("plugin", values.read_text, "")
    parameters = reader.optional("plugin_parameters", _mapping, dict[str, Any]())
    try:
        return None if reader.problems else Plugin(name, parameters, make_source(name, parameters), **shared)
    except Invalid as error:
        reader.problems.extend(error.problems)
        return None


def _maybe_instant(field: str, value: object) -> datetime | None:
    return values.read_instant(field, value)


def _expression(field: str, value: object) -> Expression:
    return parse_cron(values.read_text(field, value))


def _policies(reader: Reader) -> tuple[Gap, Fold]:
    return reader.optional("gap", values.read_gap, Gap.NEXT_VALID), reader.optional("fold", values.read_fold, Fold.FIRST)


def _mapping(field: str, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise Invalid.field(field, "must be a mapping")
    if problems := list(problems_of(value, field)):
        raise Invalid(problems)
    return dict(value)


_LOCAL: Final = frozenset({"gap", "fold"})
_CRON: Final = _Kind("a cron rule", frozenset({"cron"}) | _LOCAL, _cron)
# The first kind counts of which a naming field is given; `every` alone is an interval, with a window it is not.
_KINDS: Final = (
    (frozenset({"times"}), _Kind("set times of a day", frozenset({"times", "weekdays", "months"}) | _LOCAL, _daily)),
    (frozenset({"at"}), _Kind("a single instant", frozenset({"at"}), _once)),
    (frozenset({"after_completion"}), _Kind("an interval after completion", frozenset({"after_completion"}), _after_completion)),
    (frozenset({"plugin"}), _Kind("a plug-in", frozenset({"plugin", "plugin_parameters"}), _plugin)),
    (
        frozenset({"from", "to"}),
        _Kind("an interval inside a daily window", frozenset({"every", "from", "to", "weekdays"}) | _LOCAL, _within),
    ),
    (frozenset({"every"}), _Kind("an interval", frozenset({"every", "anchor"}), _interval)),
    (frozenset({"cron"}), _CRON),
)
RULE_FIELDS: Final = tuple(sorted(_SHARED.union(*(kind.fields for _, kind in _KINDS))))
