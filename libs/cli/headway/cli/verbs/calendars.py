"""`headway calendars`: when scheduled work should not run."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from headway.cli.output import output_of
from headway.cli.root import example, verbs

COLUMNS: Final = ("name", "windows", "version", "description", "updated_at")
WINDOW_COLUMNS: Final = ("policy", "window", "start", "end")
MATCHES: Final = ("weekdays", "dates", "month_days", "holiday")
DAYS: Final = ("holiday", "year", "days")
SHAPE: Final = """\b
The file:
  calendars:
    - name: quiet
      windows:
        - {weekdays: [sat, sun]}
        - {holiday: "DE-BE:labor-day"}
        - {dates: {from: 2026-12-24, to: 2026-12-31}}
        - {month_days: [last], start: "18:00", end: "06:00", policy: defer}"""

app = verbs("When scheduled work should not run.", "headway calendars list", "headway calendars apply calendars.yaml")
Name = Annotated[str, typer.Argument(help="The calendar's name.")]


class Policy(StrEnum):
    """What a window does to a slot."""

    SKIP = "skip"
    DEFER = "defer"


@app.command("list", epilog=example("headway calendars list --output json"))
def list_(ctx: typer.Context) -> None:
    """List shared calendars by name."""
    from headway.cli.client import api_of

    output = output_of(ctx)
    found = api_of(output).items("/v1/calendars")
    rows = found if output.json else [{**one, "windows": len(one["windows"])} for one in found]
    output.table(rows, COLUMNS, none="no calendars")


@app.command(epilog=example("headway calendars show quiet"))
def show(ctx: typer.Context, name: Name) -> None:
    """Show a calendar with its windows and the dates of its holidays."""
    from headway.cli.client import api_of, path_of

    output = output_of(ctx)
    document = api_of(output).get(path_of("calendars", name))
    if output.json:
        output.document(document)
        return
    output.fields(document, [field for field in document if field not in ("windows", "resolved")])
    output.heading("windows")
    output.table([row_of(window) for window in document["windows"]], WINDOW_COLUMNS, none="no windows")
    if document["resolved"]:
        output.heading("holidays")
        output.table(dates(document["resolved"]), DAYS, none="no dates")


@app.command(epilog="\n\n".join([SHAPE, example("headway calendars apply calendars.yaml", "headway calendars apply - --dry-run")]))
def apply(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help="YAML or JSON with `calendars`; - reads stdin.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
) -> None:
    """Create and update the calendars of a file, all of them or none; what is due already is decided as it was."""
    from headway.cli.client import api_of
    from headway.cli.inputs import read_document
    from headway.cli.verbs.definitions import summary

    output = output_of(ctx)
    answer = api_of(output).post("/v1/calendars:apply", read_document(file, "calendars"), dry_run=dry_run)
    changes = [{**one, "change": one["change"] or "unchanged"} for one in answer["changes"]]
    output.table(changes, ("change", "name", "version"), none="no calendars")
    if not output.json:
        output.say(summary(changes, dry_run=dry_run))


@app.command(epilog=example("headway calendars delete quiet"))
def delete(ctx: typer.Context, name: Name) -> None:
    """Delete a calendar that nothing uses."""
    from headway.cli.client import api_of, path_of

    output = output_of(ctx)
    answer = api_of(output).change("DELETE", path_of("calendars", name))
    if output.json:
        output.document(answer)
    else:
        output.say(f"{name} deleted")


@app.command("import", epilog=example("headway calendars import holidays.ics --name quiet --zone Europe/Berlin"))
def import_(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help="An iCalendar file; - reads stdin.")],
    name: Annotated[str, typer.Option(help="The calendar to create or replace.")],
    policy: Annotated[Policy, typer.Option(help="What its windows do to a slot.")] = Policy.SKIP,
    zone: Annotated[str, typer.Option(help="Zone of the schedules that use it; otherwise that of the file.")] = "",
    years: Annotated[int, typer.Option(min=1, max=10, help="Years that recurrences are followed, this one included.")] = 5,
) -> None:
    """Make a calendar of the events of an iCalendar file; importing it again changes nothing."""
    from headway.cli.client import api_of, path_of
    from headway.cli.inputs import read_text

    output = output_of(ctx)
    wanted = {"ics": read_text(file), "policy": policy.value, "zone": zone, "years": years}
    answer = api_of(output).post(path_of("calendars", name, ":import"), wanted)
    if output.json:
        output.document(answer)
    else:
        count = len(answer["windows"])
        output.say(f"{name}: {count} window{'' if count == 1 else 's'}, {answer['description']}, version {answer['version']}")


def row_of(window: Mapping[str, Any]) -> dict[str, Any]:
    """Return a window as a line of a table, its days in one column."""
    return {**window, "window": next((_days(window[match]) for match in MATCHES if window.get(match)), "")}


def dates(resolved: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the dates of holidays, a line for each of them and year."""
    return [
        {"holiday": slug, "year": year, "days": ", ".join(days) or "none"}
        for slug, years in sorted(resolved.items())
        for year, days in sorted(years.items())
    ]


def _days(match: Any) -> str:
    if isinstance(match, Mapping):
        return str(match["from"]) if match["from"] == match.get("to") else f"{match['from']} to {match['to']}"
    return ", ".join(map(str, match)) if isinstance(match, list) else str(match)
