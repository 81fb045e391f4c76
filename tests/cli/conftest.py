"""What tests of the verbs share."""

from collections.abc import AsyncIterator

import pytest

from tests.cli.served import Served, served


@pytest.fixture
async def platform(database_url: str) -> AsyncIterator[Served]:
    """A platform of this test alone, served over HTTP."""
    async with served(database_url) as found:
        yield found
