"""`headway db`: the schema of the database."""

from typing import TYPE_CHECKING, Any, Final

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

    async def work(found: "Connections") -> str:
        await bring_up(found.database_url.reveal(), found.database_schema)
        return _newest()

    _tell(output_of(ctx), _with(work), _newest())


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
