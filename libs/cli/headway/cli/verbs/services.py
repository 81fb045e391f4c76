"""The services, each as this process: `headway api`, `scheduler`, `workflow-engine`, `maintenance`, `worker`."""

from typing import Annotated, Any, Final

import typer

from headway.cli.installed import service
from headway.cli.output import Output, output_of
from headway.cli.root import example

ABOUT: Final = {
    "api": "Serve the HTTP interface.",
    "scheduler": "Decide every slot of every schedule.",
    "workflow-engine": "React to runs that ended.",
}
BOTH_URLS: Final = "HEADWAY_DATABASE_URL=postgresql://... HEADWAY_BROKER_URL=amqp://..."

maintenance = typer.Typer(
    help="Release what is due, rescue what was lost, prune what is old.",
    epilog=example("headway maintenance", "headway maintenance scan rescue --dry-run"),
    invoke_without_command=True,
    rich_markup_mode=None,
)


def register(app: typer.Typer) -> None:
    """Add a verb for each service."""
    for name, about in ABOUT.items():
        app.command(name, help=about, epilog=example(f"{BOTH_URLS} headway {name}"))(_process(name))
    app.command("worker", epilog=example("headway worker my.jobs:app --queue default --queue reports --concurrency 50"))(worker)
    app.add_typer(maintenance, name="maintenance")


def _process(name: str) -> Any:
    def be() -> None:
        raise typer.Exit(service(name).serve())

    return be


def worker(
    app: Annotated[str, typer.Argument(help="The application: module:attribute, or a file.")],
    queue: Annotated[
        list[str] | None, typer.Option(help="A queue to take runs from; else HEADWAY_WORKER__QUEUES, else the application's.")
    ] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Most runs at once; else HEADWAY_WORKER__CONCURRENCY.")] = None,
    reload: Annotated[bool, typer.Option("--reload", help="Start again when a Python file changes: for development.")] = False,
) -> None:
    """Run the handlers of an application."""
    if reload:
        from headway.cli.reload import run_again

        raise typer.Exit(run_again(app, _arguments(app, queue or [], concurrency)))
    raise typer.Exit(service("worker").serve(app, worker=_knobs(app, queue or [], concurrency)))


def _knobs(app: str, queues: list[str], concurrency: int | None) -> dict[str, Any]:
    from headway.cli.application import application, queues_of
    from headway.runtime.settings import WorkerSettings, load

    found = {"queues": queues} if queues else queues_of(application(app), load(WorkerSettings))
    return found if concurrency is None else {**found, "concurrency": concurrency}


def _arguments(app: str, queues: list[str], concurrency: int | None) -> list[str]:
    given = [part for queue in queues for part in ("--queue", queue)]
    return ["worker", app, *given, *([] if concurrency is None else ["--concurrency", str(concurrency)])]


@maintenance.callback()
def _maintain(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None:
        raise typer.Exit(service("maintenance").serve())


@maintenance.command(epilog=example("headway maintenance scan all", "headway maintenance scan rescue --dry-run"))
def scan(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME|all", help="The scan.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say how many rows each would move, and move none.")] = False,
) -> None:
    """Run one scan, or all, once."""
    scan_now(output_of(ctx), name, dry_run=dry_run)


def scan_now(output: Output, name: str, *, dry_run: bool) -> None:
    """Run the scan and say how many rows it moved on."""
    import asyncio

    from headway.runtime.logs import configure_logs
    from headway.runtime.settings import MaintenanceSettings, load

    settings = load(MaintenanceSettings)
    configure_logs("warning", settings.log_format)
    found = asyncio.run(service("maintenance").scan_once(settings, name, dry_run=dry_run))
    output.table([{"scan": scan, "found": count} for scan, count in found.items()], ("scan", "found"), none="nothing was scanned")
