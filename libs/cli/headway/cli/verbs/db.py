"""`headway db`: the schema of the database."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from headway.cli.output import Output, output_of
from headway.cli.root import NO, complain, example, verbs

if TYPE_CHECKING:
    from headway.runtime.settings import Connections

URL: Final = "HEADWAY_DATABASE_URL=postgresql://user:password@localhost/headway"

app = verbs("The schema of the database.", f"{URL} headway db migrate")


@app.command(epilog=example(f"{URL} headway db migrate"))
def migrate(ctx: typer.Context) -> None:
    """Create the schema, or bring it to the version of this release; safe to repeat."""
    from headway.store.migrate import migrate as bring_up

    output = output_of(ctx)

    async def work(found: "Connections") -> None:
        await bring_up(found.database_url.reveal(), found.database_schema)
        if not output.json:
            typer.echo(f"migrated {found.database_url}", err=True)

    _with(work)
    _tell(output, _newest(), _newest())


@app.command(epilog=example("headway db current"))
def current(ctx: typer.Context) -> None:
    """Say which version the schema has."""
    _tell(output_of(ctx), _version(), _newest())


@app.command(epilog=example("headway db check"))
def check(ctx: typer.Context) -> None:
    """Say whether the schema has the version of this release; exit code 1 if not."""
    version = _version()
    _tell(output_of(ctx), version, _newest())
    if version != _newest():
        complain("the schema is not that of this release: run `headway db migrate`")
        raise typer.Exit(NO)


@app.command(epilog=example('eval "$(headway db url)"', "headway db url --data ./data"))
def url(
    ctx: typer.Context,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the embedded database; else HEADWAY_HOME, else .headway, for root /var/lib/headway.")
    ] = None,
) -> None:
    """Print, for a shell to take over, how other programs reach the database of the `headway up` that runs here.

    Its memory broker is that process's own: what they ask for is found in the database."""
    from headway.cli.embedded.cluster import url_of_running
    from headway.cli.embedded.home import Home
    from headway.cli.ground import home_of
    from headway.runtime.settings import UpSettings, load

    settings = load(UpSettings, home=data)
    found = {"HEADWAY_DATABASE_URL": url_of_running(home_of(settings)), "HEADWAY_BROKER_URL": settings.broker_url.reveal()}
    if (key := Home(home_of(settings).absolute()).key).exists() and not settings.secrets.keys:
        found["HEADWAY_SECRETS__KEYS_FILE"] = str(key)
    output = output_of(ctx)
    if output.json:
        output.document(found)
        return
    for name, value in found.items():
        typer.echo(f"export {name}={quote(value)}")


def _version() -> str | None:
    from headway.store.version import check_not_newer

    async def work(found: "Connections") -> str | None:
        return await check_not_newer(found.database_url.reveal(), found.database_schema)

    version: str | None = _with(work)
    return version


def _newest() -> str:
    from headway.store.version import newest

    return newest()


def _with(work: Any) -> Any:
    import asyncio

    from headway.cli.ground import connections

    async def run() -> Any:
        async with connections() as found:
            return await work(found)

    return asyncio.run(run())


def _tell(output: Output, version: str | None, newest: str) -> None:
    if output.json:
        output.document({"version": version, "newest": newest})
    else:
        output.say(f"{version or 'none'}{'' if version == newest else f', this release has {newest}'}")
