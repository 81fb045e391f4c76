"""The options that say when a schedule fires."""

from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """The rule of a schedule, as options."""

    cron: Annotated[str | None, typer.Option(help="Five cron fields, or six with the seconds in front.")] = None
    every: Annotated[str | None, typer.Option(help="A fixed interval, such as 15m.")] = None
    anchor: Annotated[str | None, typer.Option(help="The instant that the intervals are counted from.")] = None
    times: Annotated[list[str] | None, typer.Option("--time", help="A local time of day, such as 07:30; may be repeated.")] = None
    weekdays: Annotated[list[str] | None, typer.Option("--weekday", help="A weekday for --time, such as mon; may be repeated.")] = None
    at: Annotated[str | None, typer.Option(help="One instant.")] = None
    after_completion: Annotated[str | None, typer.Option(help="How long after a run has ended the next slot is.")] = None
    zone: Annotated[str | None, typer.Option(help="Time zone, such as Europe/Berlin.")] = None
    gap: Annotated[str | None, typer.Option(help="skip, next_valid or shift_forward: a local time that does not exist.")] = None
    fold: Annotated[str | None, typer.Option(help="first, second or both: a local time that happens twice.")] = None
    starts_at: Annotated[str | None, typer.Option(help="No slot before this instant.")] = None
    ends_at: Annotated[str | None, typer.Option(help="No slot after this instant.")] = None
    jitter: Annotated[str | None, typer.Option(help="Spread the starts over this long.")] = None

    @property
    def rule(self) -> dict[str, Any]:
        """What was said of the rule, and nothing of what was not."""
        return said(self, RuleOptions)


def said(options: RuleOptions, kind: type[RuleOptions]) -> dict[str, Any]:
    """Return what was said under the options of a kind, and nothing of what was not."""
    return {one.name: value for one in fields(kind) if (value := getattr(options, one.name)) not in (None, [])}
