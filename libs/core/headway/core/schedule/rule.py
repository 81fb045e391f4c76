"""What a schedule says: a rule, as a value that can be read from a mapping and written to one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Final, TypeVar

from headway.core.durations import format_duration, parse_duration
from headway.core.errors import Invalid, Problem
from headway.core.schedule.cron import Expression, parse_cron
from headway.core.schedule.policies import Fold, Gap
from headway.core.schedule.zones import zone_name

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
SHORTEST: Final = timedelta(milliseconds=200)
CRON_FIELDS: Final = frozenset({"cron", "zone", "gap", "fold", "starts_at", "ends_at"})
INTERVAL_FIELDS: Final = frozenset({"every", "anchor", "zone", "starts_at", "ends_at"})
MILLISECOND: Final = timedelta(milliseconds=1)
_Policy = TypeVar("_Policy", bound=Enum)
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Cron:
    """Local times of a zone that match a cron expression, from `starts_at` to `ends_at`, both inclusive."""

    expression: Expression
    zone: str = "UTC"
    gap: Gap = Gap.NEXT_VALID
    fold: Fold = Fold.FIRST
    starts_at: datetime | None = None
    ends_at: datetime | None = None

    @property
    def effective_gap(self) -> Gap:
        """The gap policy that counts: a periodic expression has none of its times made up."""
        return Gap.SKIP if self.expression.periodic else self.gap

    @property
    def effective_fold(self) -> Fold:
        """The fold policy that counts: a periodic expression has both of its times."""
        return Fold.BOTH if self.expression.periodic else self.fold


@dataclass(frozen=True, slots=True)
class Interval:
    """Instants `anchor + n x every`, from `starts_at` to `ends_at`, both inclusive; the zone is for display and calendars."""

    every: timedelta
    anchor: datetime = EPOCH
    zone: str = "UTC"
    starts_at: datetime | None = None
    ends_at: datetime | None = None


Rule = Cron | Interval


def parse_rule(given: Mapping[str, Any], *, default_zone: str = "UTC") -> Rule:
    """Return the rule that a mapping describes; fields that are None count as absent.

    `cron` makes a cron rule (with `gap` and `fold`), `every` an interval (with `anchor`); `zone`, `starts_at` and `ends_at` belong
    to both.  Instants are aware datetimes or ISO 8601 texts with an offset.  Raises Invalid with every problem, each with its field.
    """
    reader = _Reader(given)
    zone = reader.read("zone", _zone, default_zone)
    bounds = (reader.read("starts_at", _instant, None), reader.read("ends_at", _instant, None))
    reader.check_bounds(*bounds)
    if "every" in reader.given:
        reader.refuse_others(INTERVAL_FIELDS, "an interval")
        interval = Interval(reader.read("every", _every, SHORTEST), reader.read("anchor", _instant, EPOCH), zone, *bounds)
        return reader.finish(interval)
    reader.refuse_others(CRON_FIELDS, "a cron rule")
    expression = reader.read("cron", _expression, None)
    gap, fold = reader.read("gap", _gap, Gap.NEXT_VALID), reader.read("fold", _fold, Fold.FIRST)
    return reader.finish(Cron(expression, zone, gap, fold, *bounds) if expression is not None else None)


def to_mapping(rule: Rule) -> dict[str, str]:
    """Return the mapping, of texts only, that `parse_rule` reads back to an equal rule."""
    bounds = {name: at.isoformat() for name in ("starts_at", "ends_at") if (at := getattr(rule, name)) is not None}
    match rule:
        case Cron():
            policies = {"gap": rule.gap.value, "fold": rule.fold.value}
            return {"cron": rule.expression.text, "zone": rule.zone, **policies, **bounds}
        case Interval():
            return {"every": format_duration(rule.every), "anchor": rule.anchor.isoformat(), "zone": rule.zone, **bounds}


class _Reader:
    """Reads fields one by one and keeps what is wrong with them, so that one answer names every problem."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = {name: value for name, value in given.items() if value is not None}
        self.problems: list[Problem] = []
        if "cron" not in self.given and "every" not in self.given:
            self.problems.append(Problem("cron", "is needed, or 'every' in its place"))

    def read(self, name: str, convert: Callable[[str, Any], _Value], default: _Value) -> _Value:
        if name not in self.given:
            return default
        try:
            return convert(name, self.given[name])
        except Invalid as error:
            self.problems.extend(error.problems)
            return default

    def check_bounds(self, starts_at: datetime | None, ends_at: datetime | None) -> None:
        if starts_at is not None and ends_at is not None and starts_at > ends_at:
            self.problems.append(Problem("ends_at", "lies before starts_at"))

    def refuse_others(self, known: frozenset[str], kind: str) -> None:
        self.problems.extend(Problem(name, f"is not a field of {kind}") for name in sorted(self.given.keys() - known))

    def finish(self, rule: Rule | None) -> Rule:
        if self.problems or rule is None:
            raise Invalid(self.problems)
        return rule


def _text(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise Invalid.field(field, "must be a text")
    return value


def _zone(field: str, value: object) -> str:
    return zone_name(_text(field, value))


def _expression(field: str, value: object) -> Expression:
    return parse_cron(_text(field, value))


def _gap(field: str, value: object) -> Gap:
    return _policy(Gap, field, value)


def _fold(field: str, value: object) -> Fold:
    return _policy(Fold, field, value)


def _policy(kind: type[_Policy], field: str, value: object) -> _Policy:
    try:
        return value if isinstance(value, kind) else kind(value)
    except ValueError:
        raise Invalid.field(field, f"must be one of {', '.join(str(policy.value) for policy in kind)}") from None


def _every(field: str, value: object) -> timedelta:
    if isinstance(value, bool) or not isinstance(value, str | int | float | timedelta):
        raise Invalid.field(field, "must be a duration such as 90s, 5m, 2h or 1d")
    every = parse_duration(value, field)
    if every <= timedelta():
        raise Invalid.field(field, "must be longer than zero")
    if every < SHORTEST or every % MILLISECOND:
        raise Invalid.field(field, "must be at least 200ms, in whole milliseconds")
    return every


def _instant(field: str, value: object) -> datetime:
    try:
        instant = value if isinstance(value, datetime) else datetime.fromisoformat(_text(field, value))
        if instant.tzinfo is not None:
            return instant.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Invalid.field(field, "must be an instant with its offset, such as 2026-01-31T07:00:00Z")
