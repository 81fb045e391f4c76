"""The store's tests have a migrated database each."""

from collections.abc import AsyncIterator

import pytest

from headway.store.tx import Database
from tests.store.scene import Scene


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A pool of connections to a database of this test alone."""
    opened = await Database.open(database_url)
    yield opened
    await opened.close()


@pytest.fixture
async def scene(database: Database) -> Scene:
    """The same database, with what tests do to it."""
    return Scene(database)
