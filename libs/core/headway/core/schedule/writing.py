"""Rules to mappings of JSON values, in the one spelling that is stored."""

from collections.abc import Iterable
from datetime import time, timedelta
from typing import Any

from headway.core.durations import format_duration
from headway.core.schedule.fields import WEEKDAY
from headway.core.schedule.kinds import (
    EVERY_MONTH,
    EVERY_WEEKDAY,
    AfterCompletion,
    Cron,
    Daily,
    Interval,
    Local,
    Once,
    Plugin,
    Rule,
    Within,
)
from headway.core.schedule.values import NEVER, WEEKDAYS


def write_rule(rule: Rule) -> dict[str, Any]:
    """Return the mapping that reads back to an equal rule; what a rule leaves open is not in it."""
    return {**_own(rule), "zone": rule.zone, **_shared(rule)}


def write_clock(clock: time) -> str:
    """Return a time of day as `07:30`, with seconds when it has them."""
    return clock.isoformat("seconds" if clock.second else "minutes")


def write_weekdays(weekdays: int) -> list[str]:
    """Return the names of a set of weekdays, Monday first."""
    return [name for name in WEEKDAYS if weekdays >> WEEKDAY.names.index(name) & 1]


def _own(rule: Rule) -> dict[str, Any]:
    match rule:
        case Cron() | Daily() | Within():
            return {**_walls(rule), "gap": rule.gap.value, "fold": rule.fold.value}
        case Interval():
            return {"every": format_duration(rule.every), "anchor": rule.anchor.isoformat()}
        case Once():
            return {"at": rule.at.isoformat()}
        case AfterCompletion():
            return {"after_completion": NEVER if rule.gap is None else format_duration(rule.gap)}
        case Plugin():
            return {"plugin": rule.name, "plugin_parameters": dict(rule.parameters)}


def _walls(rule: Local) -> dict[str, Any]:
    match rule:
        case Cron():
            return {"cron": rule.expression.text}
        case Daily():
            months = {} if rule.months == EVERY_MONTH else {"months": [month for month in range(1, 13) if rule.months >> month & 1]}
            return {"times": _clocks(rule.times), **_weekdays(rule.weekdays), **months}
        case Within():
            window = {"from": write_clock(rule.opens), "to": write_clock(rule.closes)}
            return {"every": format_duration(rule.every), **window, **_weekdays(rule.weekdays)}


def _shared(rule: Rule) -> dict[str, Any]:
    bounds = {name: at.isoformat() for name in ("starts_at", "ends_at") if (at := getattr(rule, name)) is not None}
    return {**bounds, "jitter": format_duration(rule.jitter)} if rule.jitter > timedelta() else bounds


def _clocks(times: Iterable[time]) -> list[str]:
    return [write_clock(one) for one in times]


def _weekdays(weekdays: int) -> dict[str, Any]:
    return {} if weekdays == EVERY_WEEKDAY else {"weekdays": write_weekdays(weekdays)}
