"""What the tests of the SDK share: a database, a memory broker, and an application bound to both."""

from collections.abc import AsyncIterator

import pytest

from headway.broker import Broker, connect
from headway.sdk import Client, Headway
from headway.store.tx import Database


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """An open, migrated database of this test alone."""
    database = await Database.open(database_url, name="test sdk")
    yield database
    await database.close()


@pytest.fixture
async def broker(request: pytest.FixtureRequest) -> AsyncIterator[Broker]:
    """A memory broker of this test alone."""
    broker = connect(f"memory://{request.node.name.replace('[', '-').replace(']', '')}")
    await broker.open()
    yield broker
    await broker.close()


@pytest.fixture
async def client(database: Database, broker: Broker) -> AsyncIterator[Client]:
    """An entered client."""
    async with Client(database, broker, created_by="test") as client:
        yield client


@pytest.fixture
def app(client: Client) -> Headway:
    """An application that enqueues through the client."""
    app = Headway(name="test")
    app.bind(client)
    return app
