"""`headway schedules create|update|enable|disable|pause|resume|delete`: change when definitions run."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from headway.cli.options import spread
from headway.cli.output import Output, output_of
from headway.cli.root import example
from headway.cli.verbs.rule_options import RuleOptions, said
from headway.cli.verbs.schedules import app as schedules
from headway.cli.verbs.schedules import identity

__all__ = ["schedules"]

Schedule = Annotated[str, typer.Argument(help="Its id, or DEFINITION/NAME.")]


@dataclass(frozen=True, slots=True)
class Wanted(RuleOptions):
    """What a schedule is to be, as options."""

    misfire: Annotated[str | None, typer.Option(help="skip, run_once or run_all: slots that nobody decided in time.")] = None
    overlap: Annotated[str | None, typer.Option(help="skip, delay, allow or cancel_previous: a slot while a run is open.")] = None
    calendars: Annotated[list[str] | None, typer.Option("--calendar", help="A calendar to keep; may be repeated.")] = None
    parameters: Annotated[str | None, typer.Option("--json", help="Parameters of the runs, a JSON object.")] = None
    payload: Annotated[str | None, typer.Option(help="Opaque text that the handler gets as it is.")] = None
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None
    owner: Annotated[str | None, typer.Option(help="Who is asked about it.")] = None

    def document(self) -> dict[str, Any]:
        """Return what was said, and nothing of what was not."""
        from headway.cli.strict import read_json

        document = said(self, Wanted)
        if self.parameters is not None:
            document["parameters"] = read_json(self.parameters, "--json")
        return document


@schedules.command(epilog=example("headway schedules create report nightly --cron '30 2 * * *' --zone Europe/Berlin"))
@spread
def create(
    ctx: typer.Context,
    definition: Annotated[str, typer.Argument(help="The definition that it runs.")],
    name: Annotated[str, typer.Argument(help="Its name among the definition's schedules.")],
    wanted: Wanted,
) -> None:
    """Create a schedule of a definition."""
    from headway.cli.client import api_of

    output = output_of(ctx)
    _tell(output, api_of(output).post("/v1/schedules", {"definition": definition, "name": name, **wanted.document()}), "created")


@schedules.command(epilog=example("headway schedules update report/nightly --cron '0 3 * * *'"))
@spread
def update(ctx: typer.Context, schedule: Schedule, wanted: Wanted) -> None:
    """Change a schedule; what is due already is decided as it was."""
    from headway.cli.client import api_of, path_of_id

    output = output_of(ctx)
    api = api_of(output)
    path = path_of_id("schedules", identity(api, schedule))
    _tell(output, api.change("PATCH", path, wanted.document(), version=api.get(path)["version"]), "updated")


@schedules.command(epilog=example("headway schedules enable report/nightly"))
def enable(ctx: typer.Context, schedule: Schedule) -> None:
    """Let a schedule fire again from now on."""
    _switch(output_of(ctx), schedule, "enable")


@schedules.command(epilog=example("headway schedules disable report/nightly"))
def disable(ctx: typer.Context, schedule: Schedule) -> None:
    """Let a schedule fire no more."""
    _switch(output_of(ctx), schedule, "disable")


@schedules.command(epilog=example("headway schedules pause report/nightly --reason 'stocktaking'"))
def pause(ctx: typer.Context, schedule: Schedule, reason: Annotated[str, typer.Option(help="Why; it is kept.")] = "") -> None:
    """Pause a schedule until it is resumed; its slots are recorded as paused."""
    _switch(output_of(ctx), schedule, "pause", {"reason": reason})


@schedules.command(epilog=example("headway schedules resume report/nightly"))
def resume(ctx: typer.Context, schedule: Schedule) -> None:
    """Resume a schedule; what fell due while it was paused is no missed time."""
    _switch(output_of(ctx), schedule, "resume")


@schedules.command(epilog=example("headway schedules delete report/nightly"))
def delete(ctx: typer.Context, schedule: Schedule) -> None:
    """Delete a schedule; what was decided of its slots stays."""
    from headway.cli.client import api_of, path_of_id

    output = output_of(ctx)
    api = api_of(output)
    api.change("DELETE", path_of_id("schedules", identity(api, schedule)))
    if output.json:
        output.document({"deleted": schedule})
    else:
        output.say(f"{schedule} deleted")


def _switch(output: Output, schedule: str, verb: str, document: dict[str, Any] | None = None) -> None:
    from headway.cli.client import api_of, path_of_id

    api = api_of(output)
    _tell(output, api.post(path_of_id("schedules", identity(api, schedule), f":{verb}"), document), f"{verb}d")


def _tell(output: Output, schedule: dict[str, Any], done: str) -> None:
    if output.json:
        output.document(schedule)
    else:
        output.say(f"{schedule['definition']}/{schedule['name']} {done}, version {schedule['version']}")
