"""`headway schedules preview`: what a schedule will do, slot by slot, and what a change of it would change."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from headway.cli.options import spread
from headway.cli.output import Output, output_of
from headway.cli.root import example
from headway.cli.verbs.rule_options import RuleOptions
from headway.cli.verbs.schedule_edits import schedules
from headway.cli.verbs.schedules import identity
from headway.core.errors import Invalid

if TYPE_CHECKING:
    from headway.core.calendar.window import Calendar
    from headway.core.schedule.preview import Previewed

__all__ = ["schedules"]

COLUMNS: Final = ("slot_at", "local", "decision", "effective_at", "reason")
ICS: Final = ".ics"


@dataclass(frozen=True, slots=True)
class Asked(RuleOptions):
    """A draft, or what is to be different about a stored schedule, and the slots that are looked at."""

    calendars: Annotated[list[str] | None, typer.Option("--calendar", help="A YAML, JSON or .ics file of windows; may be repeated.")] = None
    begin: Annotated[str | None, typer.Option("--from", help="Only slots behind this instant; else behind now.")] = None
    until: Annotated[str | None, typer.Option(help="Only slots up to this instant.")] = None
    count: Annotated[int, typer.Option(min=1, max=1000, help="At most so many lines.")] = 20

    @property
    def bounds(self) -> dict[str, Any]:
        """The slots that are looked at, as the API takes them.  Raises Invalid."""
        from headway.cli.inputs import instant

        given = {"from": instant(self.begin, "--from"), "until": instant(self.until, "--until"), "count": self.count}
        return {name: value for name, value in given.items() if value is not None}


@schedules.command(
    epilog=example(
        "headway schedules preview report/nightly --count 50",
        "headway schedules preview report/nightly --cron '30 3 * * *'",
        "headway schedules preview --cron '30 2 * * *' --zone Europe/Berlin --from 2026-03-28T00:00:00Z --calendar office.yaml",
    )
)
@spread
def preview(
    ctx: typer.Context, schedule: Annotated[str | None, typer.Argument(help="Its id, or DEFINITION/NAME.")] = None, *, asked: Asked
) -> None:
    """Say what a schedule will do: a stored one, a change of one, or a draft, which needs no platform."""
    output = output_of(ctx)
    if schedule is None:
        tell(output, drafted(asked))
    else:
        tell(output, stored(output, schedule, asked))


def stored(output: Output, schedule: str, asked: Asked) -> dict[str, Any]:
    """Return the preview of a stored schedule, or of what the options would make of it."""
    from headway.cli.client import api_of, path_of_id
    from headway.core.calendar.writing import calendar_document

    api = api_of(output)
    path = path_of_id("schedules", identity(api, schedule), "/preview")
    if not asked.rule and not asked.calendars:
        return dict(api.get(path, **asked.bounds))
    windows = [window for calendar in _calendars(asked) for window in calendar_document(calendar)["windows"]]
    draft = {**asked.rule, **({"calendars": [], "calendar": {"windows": windows}} if windows else {})}
    return dict(api.post("/v1/schedules:preview", {"schedule": path.split("/")[3], "draft": draft, **asked.bounds}))


def drafted(asked: Asked) -> dict[str, Any]:
    """Return the preview of a draft, reckoned here.  Raises Invalid with every problem."""
    from headway.core.schedule.preview import preview as reckoned
    from headway.core.schedule.rule import Cron, parse_rule

    if not asked.rule:
        raise Invalid.field("SCHEDULE", "name one, or say --cron, --every, --time or --at: headway schedules list shows all")
    rule, bounds = parse_rule(asked.rule), asked.bounds
    after = datetime.fromisoformat(bounds["from"]) if "from" in bounds else now()
    until = datetime.fromisoformat(bounds["until"]) if "until" in bounds else None
    lines = reckoned(rule, calendars_of(asked, after.year), after=after, until=until, count=asked.count)
    day_rule = rule.expression.day_rule.value if isinstance(rule, Cron) else None
    return {"zone": rule.zone, "day_rule": day_rule, "items": [_line(line) for line in lines], "added": [], "removed": []}


def now() -> datetime:
    """Return the instant by this machine's clock: a draft has no platform whose clock it could ask."""
    return datetime.now(UTC)  # noqa: TID251 - nothing is decided by it, it is where a person begins to look


def calendars_of(asked: Asked, year: int) -> "list[Calendar]":
    """Return the calendars of the files, with the dates of their holidays around a year.  Raises Invalid."""
    import asyncio

    from headway.store.previews import resolved

    return [asyncio.run(resolved(one.windows, year, one.name)) for one in _calendars(asked)]


def _calendars(asked: Asked) -> "list[Calendar]":
    from headway.core.calendar.reading import parse_calendar

    return [parse_calendar(document) for document in _documents(asked)]


def _documents(asked: Asked) -> Iterator[Any]:
    """The calendars that the files hold, each with a name: that of its file if it says none."""
    from pathlib import PurePath

    from headway.cli.inputs import read_document, read_text
    from headway.store.ics import Import, windows_of

    for file in asked.calendars or ():
        name = PurePath(file).stem
        if file.endswith(ICS):
            yield {"name": name, "windows": windows_of(read_text(file), Import(zone=asked.zone or ""), now().date()).windows}
        else:
            document = read_document(file)
            given = document.get("calendars", [document])
            yield from ({"name": name, **one} if isinstance(one, dict) else one for one in (given if isinstance(given, list) else [given]))


def tell(output: Output, found: Mapping[str, Any]) -> None:
    """Write a preview: a list of lines for programs, a table with what is worth knowing for people."""
    lines = changed(found)
    if output.json:
        output.document(lines)
        return
    if found["day_rule"] == "day of month or day of week":
        output.say("both day fields are restricted: a day matches when either of them does")
    columns = ("change", *COLUMNS) if found["added"] or found["removed"] else COLUMNS
    output.table(lines, columns, none="no slot")


def changed(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the lines of a preview in order; where a stored schedule is changed each says whether it is added, removed or neither."""
    items: Sequence[dict[str, Any]] = found["items"]
    if not found["added"] and not found["removed"]:
        return list(items)
    added = [_key(one) for one in found["added"]]
    lines = [{**one, "change": "added" if _key(one) in added else ""} for one in items]
    lines += [{**one, "change": "removed"} for one in found["removed"]]
    return sorted(lines, key=lambda line: str(line["slot_at"]))


def _key(line: Mapping[str, Any]) -> tuple[Any, Any]:
    return line["slot_at"], line["effective_at"]


def _line(line: "Previewed") -> dict[str, Any]:
    instants = {"slot_at": line.slot_at, "effective_at": line.effective_at}
    shown = {name: None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z") for name, at in instants.items()}
    return {**line._asdict(), **shown}
