"""A migrated database for what is imported."""

from collections.abc import AsyncIterator

import pytest

from headway.store.tx import Database


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """The database, open."""
    opened = await Database.open(database_url)
    yield opened
    await opened.close()
