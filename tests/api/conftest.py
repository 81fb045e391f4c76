"""The API over a real database and the memory broker, asked without a socket."""

from collections.abc import AsyncIterator

import httpx
import pytest

from headway.api.cursors import Cursors
from headway.api.platform import Platform
from headway.api.surface import surface
from headway.broker import connect
from headway.broker.announcer import Announcer
from headway.broker.port import Broker
from headway.sdk.client import Client
from headway.store.tx import Database
from tests.api.rows import Rows


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """The database of this test."""
    opened = await Database.open(database_url, size=4)
    yield opened
    await opened.close()


@pytest.fixture
async def broker(database_url: str) -> AsyncIterator[Broker]:
    """A memory broker of this test alone."""
    node = connect(f"memory://{database_url.rpartition('/')[2]}")
    await node.open()
    yield node
    await node.close()


@pytest.fixture
async def platform(database: Database, broker: Broker) -> AsyncIterator[Platform]:
    """What the routes are given."""
    async with Client(database, broker, created_by="api") as client:
        yield Platform(database, broker, Announcer(broker), client, Cursors(b"of this test"))


@pytest.fixture
async def api(platform: Platform) -> AsyncIterator[httpx.AsyncClient]:
    """The API: errors that it did not mean to raise are answers here, too."""
    app = surface()
    app.state.platform = platform
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
def rows(database: Database) -> Rows:
    """Reads and writes rows beside the API."""
    return Rows(database)
