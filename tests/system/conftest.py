"""Fixtures of the system tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.fleet import Fleet, fleet_in


@pytest.fixture
def fleet(tmp_path: Path, database_url: str, broker_url: str) -> Iterator[Fleet]:
    """A fleet over a fresh database and a virtual host of its own."""
    with fleet_in(tmp_path, database_url, broker_url) as members:
        yield members
