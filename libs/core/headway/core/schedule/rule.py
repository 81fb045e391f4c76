"""What a schedule says: a rule, as a value that can be read from a mapping and written to one."""

from collections.abc import Mapping
from typing import Any

from headway.core.schedule.kinds import EPOCH, AfterCompletion, Cron, Daily, Interval, Local, Once, Plugin, Rule, Within
from headway.core.schedule.reading import RULE_FIELDS, read_rule
from headway.core.schedule.writing import write_rule

__all__ = [
    "EPOCH",
    "RULE_FIELDS",
    "AfterCompletion",
    "Cron",
    "Daily",
    "Interval",
    "Local",
    "Once",
    "Plugin",
    "Rule",
    "Within",
    "parse_rule",
    "to_mapping",
]


def parse_rule(given: Mapping[str, Any], *, default_zone: str = "UTC") -> Rule:
    """Return the rule that a mapping describes; fields that are None count as absent.

    What makes the kind, and what belongs to it:

    - `cron`: an expression (with `gap`, `fold`)
    - `times`: local times such as `["07:00", "19:30"]` (with `weekdays: [mon, ...]`, `months: [1, ...]`, `gap`, `fold`)
    - `every` with `from` and `to`: local times from `from` on, before `to` (with `weekdays`, `gap`, `fold`)
    - `every` alone: a fixed interval (with `anchor`)
    - `at`: one instant
    - `after_completion`: a duration from a finish to the next slot, or `never`
    - `plugin`: a registered name (with `plugin_parameters`)

    `zone`, `starts_at`, `ends_at` and `jitter` belong to all.  Instants are aware datetimes or ISO 8601 texts with an offset,
    durations texts such as `90s` or numbers of seconds.  Raises Invalid with every problem, each with its field.
    """
    return read_rule(given, default_zone)


def to_mapping(rule: Rule) -> dict[str, Any]:
    """Return the mapping, of JSON values only, that `parse_rule` reads back to an equal rule."""
    return write_rule(rule)
