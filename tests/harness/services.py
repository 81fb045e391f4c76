"""Which PostgreSQL and which RabbitMQ the tests use: named by the environment, in Docker, installed, or installed now."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from headway.cli.embedded.binaries import installed, wheel
from headway.cli.embedded.cluster import EmbeddedPostgres
from tests.harness.packages import install_rabbitmq
from tests.harness.rabbit import LocalRabbit, NodeOptions, RabbitNode, server_program
from tests.harness.rundir import RunDir

if TYPE_CHECKING:
    from tests.harness.containers import DockerRabbit

T = TypeVar("T")
DATABASE_VARIABLE = "HEADWAY_TEST_DATABASE_URL"
BROKER_VARIABLE = "HEADWAY_TEST_BROKER_URL"
BROKER_API_VARIABLE = "HEADWAY_TEST_BROKER_API_URL"
NO_POSTGRES = f"tests need PostgreSQL: set {DATABASE_VARIABLE}, start Docker, or run `make setup`, which brings a server along"
NO_RABBIT = f"tests need RabbitMQ: set {BROKER_VARIABLE}, start Docker, or install the package rabbitmq-server"
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "300"}


class Missing(Exception):
    """A service can be had in no way; the message says what to install."""


def postgres(run: RunDir) -> dict[str, str]:
    """The run's PostgreSQL server: `url` of a database whose role may create others."""
    return run.shared("postgres", lambda: {"url": _postgres(run)})


def rabbit(run: RunDir) -> dict[str, str]:
    """The run's shared RabbitMQ node: `url`, and `api` of its management, empty when it has none."""
    return run.shared("rabbit", lambda: _rabbit(run))


def rabbit_node(run: RunDir, options: NodeOptions) -> RabbitNode:
    """A node of its own, not started.  Raises Missing."""
    return _node(run, options)


def apart(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in an event loop of its own thread, whatever loop this thread has."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def _postgres(run: RunDir) -> str:
    named = os.environ.get(DATABASE_VARIABLE)
    if named:
        return named
    if _docker():
        from tests.harness.containers import start_postgres

        return start_postgres(run)
    candidates = [*installed(), *wheel()]
    if not candidates:
        raise Missing(NO_POSTGRES)
    server = EmbeddedPostgres(run.path / "cluster", candidates=candidates, settings=FAST)
    url = apart(server.start())
    assert server.pid
    run.register_group(server.pid, signal.SIGQUIT)
    return url


def _rabbit(run: RunDir) -> dict[str, str]:
    named = os.environ.get(BROKER_VARIABLE)
    if named:
        return {"url": named, "api": os.environ.get(BROKER_API_VARIABLE, "")}
    node = _node(run, NodeOptions(management=True))
    node.start_now()
    node.entrust()
    return {"url": node.url, "api": node.api}


def _node(run: RunDir, options: NodeOptions) -> "LocalRabbit | DockerRabbit":
    if _docker():
        from tests.harness.containers import DockerRabbit

        return DockerRabbit(run, options)
    program = server_program() or (server_program() if install_rabbitmq() else None)
    if program is None:
        raise Missing(NO_RABBIT)
    return LocalRabbit(run, program, options)


@cache
def _docker() -> bool:
    """Whether a daemon answers; the client is imported only where a socket or DOCKER_HOST says that one may."""
    if not (os.environ.get("DOCKER_HOST") or Path("/var/run/docker.sock").exists()):
        return False
    from tests.harness.containers import docker_answers

    return docker_answers()
