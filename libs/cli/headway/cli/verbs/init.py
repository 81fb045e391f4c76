"""`headway init`: a small application to begin with."""

from typing import Annotated

import typer

from headway.cli.output import output_of
from headway.cli.root import example


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(epilog=example("headway init reports", "cd reports && headway up jobs.py"))(init)


def init(ctx: typer.Context, name: Annotated[str, typer.Argument(help="The folder that is made.")]) -> None:
    """Make a folder with a file of jobs, a test and a README."""
    from headway.cli.scaffold import scaffold

    output = output_of(ctx)
    files = scaffold(name)
    if output.json:
        output.document([str(file) for file in files])
        return
    for file in files:
        output.say(str(file))
    output.say(f"next: cd {name} && headway up jobs.py")
