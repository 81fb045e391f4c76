"""The fixtures that tests ask for services by, and the hooks that end a run in order."""

import os
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from tests.harness import databases, services, vhosts
from tests.harness.guardian import Guardian
from tests.harness.postgres import PostgresNode
from tests.harness.rabbit import NodeOptions, RabbitNode
from tests.harness.rundir import RunDir

RUN = pytest.StashKey[RunDir]()
GUARDIAN = pytest.StashKey[Guardian]()
RUN_VARIABLE = "HEADWAY_TEST_RUN"

T = TypeVar("T")
MakeNode = Callable[..., RabbitNode]


def pytest_configure(config: pytest.Config) -> None:
    """The first process makes the run's folder and its guardian; xdist's workers inherit the folder."""
    if hasattr(config, "workerinput"):
        config.stash[RUN] = RunDir(Path(os.environ[RUN_VARIABLE]))
        return
    config.stash[RUN] = RunDir.create()
    config.stash[GUARDIAN] = Guardian(config.stash[RUN].path)
    os.environ[RUN_VARIABLE] = str(config.stash[RUN].path)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what the run started."""
    if GUARDIAN in config.stash:
        if services.DATABASE_VARIABLE in os.environ:
            databases.forget_template(config.stash[RUN])
        config.stash[GUARDIAN].finish()
        os.environ.pop(RUN_VARIABLE, None)


@pytest.fixture(scope="session")
def test_run(request: pytest.FixtureRequest) -> RunDir:
    """The folder of this run, shared by its workers."""
    return request.config.stash[RUN]


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest, test_run: RunDir) -> str:
    """A PostgreSQL server: the URL of a database whose role may create databases.  fsync may be off."""
    return _found(lambda: services.postgres(test_run), request.session)["url"]


@pytest.fixture(scope="session")
def database_template(test_run: RunDir, postgres_url: str) -> str:
    """The name of a migrated, empty database; nobody connects to it."""
    return databases.template(test_run, postgres_url)


@pytest.fixture
async def database_url(postgres_url: str, database_template: str) -> AsyncIterator[str]:
    """A migrated database of this test alone."""
    url = await databases.create(postgres_url, database_template)
    yield url
    await databases.drop(url, postgres_url)


@pytest.fixture
async def empty_database_url(postgres_url: str) -> AsyncIterator[str]:
    """A database of this test alone that nobody has migrated."""
    url = await databases.create(postgres_url)
    yield url
    await databases.drop(url, postgres_url)


@pytest.fixture
async def postgres_node(test_run: RunDir) -> AsyncIterator[PostgresNode]:
    """A running, durable server of this test alone, to be stopped and killed; its database is empty."""
    node = PostgresNode(test_run)
    await node.start()
    yield node
    await node.stop()


@pytest.fixture(scope="session")
def rabbit(request: pytest.FixtureRequest, test_run: RunDir) -> dict[str, str]:
    """The RabbitMQ node that tests share: `url` and `api` (management; may be empty)."""
    return _found(lambda: services.rabbit(test_run), request.session)


@pytest.fixture
def broker_url(test_run: RunDir, rabbit: dict[str, str]) -> Iterator[str]:
    """A virtual host of this test alone, on the shared node."""
    with vhosts.vhost(test_run, rabbit) as url:
        yield url


@pytest.fixture
async def make_rabbit_node(request: pytest.FixtureRequest, test_run: RunDir) -> AsyncIterator[MakeNode]:
    """Makes nodes (not started): `make_rabbit_node(consumer_timeout=..., management=...)`.  They end with the test."""
    made: list[RabbitNode] = []

    def make(*, consumer_timeout: timedelta | None = None, management: bool = False) -> RabbitNode:
        made.append(_found(lambda: services.rabbit_node(test_run, NodeOptions(consumer_timeout, management)), request.session))
        return made[-1]

    yield make
    for node in made:
        await node.wipe()


@pytest.fixture
async def rabbit_node(make_rabbit_node: MakeNode) -> RabbitNode:
    """A running node of this test alone, to be stopped, killed, frozen and wiped."""
    node = make_rabbit_node()
    await node.start()
    return node


def _found(find: Callable[[], T], session: pytest.Session) -> T:
    """What `find` finds; where a service is missing the run ends with the line that says what to install."""
    try:
        return find()
    except services.Missing as missing:
        if not hasattr(session.config, "workerinput"):
            pytest.exit(str(missing), returncode=4)
        session.shouldfail = str(missing)
        pytest.fail(str(missing), pytrace=False)
