"""The database that verbs work on directly: the one of the settings, or else the embedded one that `headway up` made."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from headway.cli.embedded.cluster import EmbeddedPostgres
from headway.cli.embedded.home import Home, default_home
from headway.runtime.settings import Connections, UpSettings, load
from headway.store.tx import Database

IN_MEMORY: Final = "memory"


def home_of(settings: UpSettings) -> Path:
    """Return the folder of the embedded database."""
    return settings.home if "home" in settings.model_fields_set else default_home()


@asynccontextmanager
async def connections() -> AsyncIterator[Connections]:
    """Give the connections of the settings; an embedded database is adopted, or started for as long as the block lasts.

    Raises Invalid where no database is named and none was made.
    """
    settings = load(UpSettings)
    if settings.database_url is not None or Home(home_of(settings).absolute()).major is None:
        yield load(Connections, broker_url=settings.broker_url)
        return
    server = EmbeddedPostgres(home_of(settings))
    try:
        yield load(Connections, database_url=await server.start(), broker_url=settings.broker_url)
    finally:
        await server.stop()


@asynccontextmanager
async def database(name: str) -> AsyncIterator[Database]:
    """Open that database, at the version of this release.  Raises Conflict for any other, Unavailable."""
    from headway.store.migrate import check_current

    async with connections() as found:
        url = found.database_url.reveal()
        await check_current(url, found.database_schema)
        opened = await Database.open(url, schema=found.database_schema, size=1, name=f"headway {name}")
        try:
            yield opened
        finally:
            await opened.close()
