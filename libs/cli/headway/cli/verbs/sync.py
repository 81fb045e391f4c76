"""`headway sync`: what code declares, written down."""

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from headway.cli.output import output_of
from headway.cli.root import example

if TYPE_CHECKING:
    from headway.sdk import Headway

ACTOR: Final = "sync"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(epilog=example("headway sync my.jobs:app", "headway sync jobs.py"))(sync)


def sync(ctx: typer.Context, app: Annotated[str, typer.Argument(help="The application: module:attribute, or a file.")]) -> None:
    """Write the definitions and schedules that an application declares; what an operator changed stays."""
    import asyncio

    from headway.cli.application import application
    from headway.cli.verbs.definitions import summary

    output = output_of(ctx)
    changes = asyncio.run(write(application(app)))
    output.table(changes, ("change", "name", "version"), none=f"{app} declares no jobs")
    if not output.json:
        output.say(summary(changes, dry_run=False))


async def write(app: "Headway") -> list[dict[str, Any]]:
    """Sync the application, tell the schedulers, and return what that made of each definition."""
    from headway.cli.ground import connections
    from headway.sdk.client import Client
    from headway.sdk.sync import sync
    from headway.store.version import check_current

    async with connections() as found:
        url = found.database_url.reveal()
        await check_current(url, found.database_schema)
        client = await Client.connect(created_by=ACTOR, database_url=url, broker_url=found.broker_url.reveal(), secrets=found.secrets)
        try:
            saved = await sync(client.database, app, ACTOR, announcer=client.announcer, strict_schedules=found.strict_schedules)
        finally:
            await client.close()
    return [{"name": one.name, "change": one.change or "unchanged", "version": one.version} for one in saved]
