"""`make chaos ARGS="--seed 7"` replays one scenario."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.rabbit import RabbitNode
from tests.system.fleet import Fleet, fleet_in


def pytest_addoption(parser: pytest.Parser) -> None:
    """Choose the scenario."""
    parser.addoption("--seed", type=int, default=1, help="the scenario: the same seed makes the same faults in the same order")


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The scenario's seed."""
    return int(request.config.getoption("--seed"))


@pytest.fixture
def fleet(tmp_path: Path, database_url: str, rabbit_node: RabbitNode) -> Iterator[Fleet]:
    """A fleet whose broker and processes a scenario may end."""
    with fleet_in(tmp_path, database_url, rabbit_node.url) as members:
        yield members
