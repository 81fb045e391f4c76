"""The API on a socket of its own, over the database of a test, and the command that asks it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from typer.testing import CliRunner, Result

from headway.api.cursors import Cursors
from headway.api.listening import bind, serve_until, server
from headway.api.platform import Platform
from headway.api.surface import surface
from headway.broker import connect
from headway.broker.announcer import Announcer
from headway.cli.main import app
from headway.sdk.client import Client
from headway.store.tx import Database
from tests.store.ledger import Ledger
from tests.store.scene import Scene


class Served:
    """A platform that is looked at by commands; `ledger` brings its slots about."""

    def __init__(self, database: Database, url: str) -> None:
        self.database = database
        self.url = url
        self.ledger = Ledger(Scene(database))

    async def headway(self, *arguments: str) -> Result:
        """Run the command, as in a pipe."""
        return await asyncio.to_thread(CliRunner().invoke, app, [*arguments, "--api", self.url])

    async def said(self, *arguments: str) -> Any:
        """Return the document that the command answers with."""
        result = await self.headway(*arguments, "--output", "json")
        assert result.exit_code in (0, 1), result.output
        return json.loads(result.stdout)


@asynccontextmanager
async def served(database_url: str) -> AsyncIterator[Served]:
    """Serve the API for as long as the block lasts."""
    database = await Database.open(database_url, size=4)
    broker = connect(f"memory://served-{database_url.rpartition('/')[2]}")
    await broker.open()
    listening, stopping = bind("127.0.0.1", 0), asyncio.Event()
    async with Client(database, broker, created_by="api") as client:
        application = surface()
        application.state.platform = Platform(database, broker, Announcer(broker), client, Cursors(b"of this test"))
        serving = asyncio.create_task(serve_until(stopping, server(application, timedelta(seconds=1)), listening))
        yield Served(database, f"http://127.0.0.1:{listening.getsockname()[1]}")
        stopping.set()
        await serving
    listening.close()
    await broker.close()
    await database.close()
