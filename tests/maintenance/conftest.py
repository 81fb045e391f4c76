"""A migrated database for each test of the maintenance."""

from collections.abc import AsyncIterator

import pytest

from headway.store.tx import Database
from tests.store.scene import Scene


@pytest.fixture
async def scene(database_url: str) -> AsyncIterator[Scene]:
    """What a test does with its database."""
    database = await Database.open(database_url, size=8)
    yield Scene(database)
    await database.close()
