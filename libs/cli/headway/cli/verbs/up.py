"""`headway up`: the whole platform in this process."""

from pathlib import Path
from typing import Annotated

import typer

from headway.cli.root import example


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(epilog=example("headway up", "headway up my.jobs:app --port 8081 --data ./data"))(up)


def up(
    app: Annotated[str | None, typer.Argument(help="The application: module:attribute, or a file; else the built-in sample.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port of the API; else HEADWAY_API__PORT, else 8080.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the embedded database; else HEADWAY_HOME, else .headway, for root /var/lib/headway.")
    ] = None,
) -> None:
    """Run everything in this process: database, broker, all services and a worker.  Ctrl-C stops it; data stays."""
    from headway.cli.whole import serve

    raise typer.Exit(serve(app, port, data))
