"""The `headway` command: every verb by name.  What a verb needs is imported when it runs, so that help is there at once."""

import sys
from typing import Annotated

import typer

from headway.cli.output import Format, Output
from headway.cli.root import Root, example, tell_of_crash
from headway.cli.verbs import broker, db, dead, definitions, doctor, imports, init, run, runs, schedules, services, sync, up

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


for one in (up, init, services, run, sync, doctor):
    one.register(app)
for group in (runs, definitions, schedules, dead, broker, db, imports):
    app.add_typer(group.app, name=group.NAME)


def main() -> None:
    """Run the command line of this process and exit."""
    sys.excepthook = tell_of_crash
    app(prog_name="headway")
