"""The `headway` command: every verb by name.  What a verb needs is imported when it runs, so that help is there at once."""

import sys
from typing import Annotated

import typer

from headway.cli.output import Format, Output
from headway.cli.root import Root, example, tell_of_crash
from headway.cli.verbs.backfill import schedules
from headway.cli.verbs.batches import app as batches
from headway.cli.verbs.broker import app as broker
from headway.cli.verbs.calendars import app as calendars
from headway.cli.verbs.db import app as db
from headway.cli.verbs.dead import app as dead
from headway.cli.verbs.definition_edits import definitions
from headway.cli.verbs.doctor import register as doctor
from headway.cli.verbs.imports import app as imports
from headway.cli.verbs.init import register as init
from headway.cli.verbs.restrictions import app as restrictions
from headway.cli.verbs.run import register as run
from headway.cli.verbs.runs import app as runs
from headway.cli.verbs.services import register as services
from headway.cli.verbs.slots import app as slots
from headway.cli.verbs.sync import register as sync
from headway.cli.verbs.triggers import app as triggers
from headway.cli.verbs.up import register as up

app = typer.Typer(
    cls=Root,
    name="headway",
    help="Headway: jobs on schedules, on demand and after one another.",
    epilog=example("headway up", "headway run hello --wait", "headway runs list --state failed --output json"),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def _globals(
    ctx: typer.Context,
    api: Annotated[str | None, typer.Option(help="Address of the API; else HEADWAY_API_URL, else http://127.0.0.1:8080.")] = None,
    output: Annotated[Format, typer.Option(help="How answers are written.")] = Format.TABLE,
    no_color: Annotated[bool, typer.Option("--no-color", help="Write without colours.")] = False,
) -> None:
    ctx.obj = Output(output, colour=not no_color, api=api)


for register in (up, init, services, run, sync, doctor):
    register(app)
for name, group in {
    "runs": runs,
    "definitions": definitions,
    "schedules": schedules,
    "slots": slots,
    "calendars": calendars,
    "restrictions": restrictions,
    "batches": batches,
    "triggers": triggers,
    "dead": dead,
    "broker": broker,
    "db": db,
    "import": imports,
}.items():
    app.add_typer(group, name=name)


def main() -> None:
    """Run the command line of this process and exit."""
    sys.excepthook = tell_of_crash
    app(prog_name="headway")
