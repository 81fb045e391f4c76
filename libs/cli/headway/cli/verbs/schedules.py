"""`headway schedules`: when definitions run."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from headway.cli.naming import identity_of
from headway.cli.output import output_of
from headway.cli.root import example, verbs

COLUMNS: Final = ("id", "definition", "name", "cron", "every", "zone", "enabled", "paused", "decided_until", "broken")
SLOT_COLUMNS: Final = ("slot_at", "decision", "reason", "effective_at", "run")
SLOTS: Final = 10

app = verbs("When definitions run.", "headway schedules list --definition hello", "headway schedules show hello/default")


@app.command("list", epilog=example("headway schedules list --definition hello"))
def list_(ctx: typer.Context, definition: Annotated[str | None, typer.Option(help="Schedules of this definition.")] = None) -> None:
    """List schedules."""
    from headway.cli.client import api_of

    output = output_of(ctx)
    found = api_of(output).items("/v1/schedules", definition=definition)
    output.table(found if output.json else [with_pause(one) for one in found], COLUMNS, none="no schedules")


@app.command(epilog=example("headway schedules show hello/default"))
def show(ctx: typer.Context, schedule: Annotated[str, typer.Argument(help="Its id, or DEFINITION/NAME.")]) -> None:
    """Show a schedule and what was decided of its newest slots."""
    from headway.cli.client import api_of, path_of_id

    output, api = output_of(ctx), api_of(output_of(ctx))
    document = api.get(path_of_id("schedules", identity(api, schedule)))
    slots = api.items(path_of_id("schedules", document["id"], "/slots"), SLOTS)
    if output.json:
        output.document({**document, "slots": slots})
        return
    output.fields(document, list(document))
    output.heading("newest slots")
    output.table(slots, SLOT_COLUMNS, none="no slot was decided yet")


def identity(api: Any, schedule: str) -> str:
    """Return the id of a schedule that is named by its id or as DEFINITION/NAME.  Raises NotFound."""
    return identity_of(api, schedule, "schedules", "definition")


def with_pause(schedule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schedule with what a table says of its pause: nothing, or yes with who it was."""
    by = f", by {schedule['paused_by']}" if schedule["paused_by"] else ""
    return {**schedule, "paused": f"yes{by}" if schedule["paused_at"] else ""}
