"""The same services from container images, for a machine with Docker."""

import asyncio
from contextlib import suppress
from pathlib import Path

import docker
from docker.errors import DockerException
from testcontainers.community.postgres import PostgresContainer
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from tests.harness.rabbit import NodeOptions, advanced, configuration, free_port, wait_ready
from tests.harness.rundir import RunDir

POSTGRES = "postgres:17.6-bookworm"
RABBIT = "rabbitmq:4.1.4-management"
testcontainers_config.ryuk_disabled = True  # the guardian outlives the worker that started a container; Ryuk does not
FAST = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=300"


def docker_answers() -> bool:
    """Whether the Docker daemon can be reached."""
    with suppress(DockerException):
        client = docker.from_env(timeout=5)
        try:
            return bool(client.ping())
        finally:
            client.close()
    return False


def start_postgres(run: RunDir) -> str:
    """Start a PostgreSQL container that the run's guardian removes; returns its URL."""
    container = PostgresContainer(POSTGRES, username="headway", password="headway", dbname="headway", driver=None)
    container.with_command(f"postgres {FAST}").start()
    run.register_container(container.get_container_id())
    return str(container.get_connection_url())


class DockerRabbit:
    """A RabbitMQ container; removing it is what deletes its data."""

    def __init__(self, run: RunDir, options: NodeOptions | None = None) -> None:
        self._run, self._options = run, options or NodeOptions()
        self._port = free_port()
        self._api_port = free_port() if self._options.management else 0
        self._container: DockerContainer | None = None
        self.url = f"amqp://guest:guest@127.0.0.1:{self._port}/"
        self.api = f"http://guest:guest@127.0.0.1:{self._api_port}" if self._api_port else ""

    async def start(self) -> None:
        await asyncio.to_thread(self.start_now)

    async def stop(self) -> None:
        if self._container:
            await asyncio.to_thread(self._container.get_wrapped_container().stop)

    async def kill(self) -> None:
        if self._container:
            await asyncio.to_thread(self._container.get_wrapped_container().kill)

    async def wipe(self) -> None:
        if self._container:
            await asyncio.to_thread(self._container.stop)
            self._container = None

    async def freeze(self) -> None:
        assert self._container
        await asyncio.to_thread(self._container.get_wrapped_container().pause)

    async def thaw(self) -> None:
        assert self._container
        await asyncio.to_thread(self._container.get_wrapped_container().unpause)

    def start_now(self) -> None:
        """`start`, blocking."""
        if self._container is None:
            self._container = self._prepare().start()
            self._run.register_container(self._container.get_container_id())
        else:
            self._container.get_wrapped_container().start()
        wait_ready(self._port, self._api_port)

    def entrust(self) -> None:
        """Leave the container to the run's guardian, which knows it since its start."""

    def _prepare(self) -> DockerContainer:
        container = DockerContainer(RABBIT).with_bind_ports(5672, self._port)
        if self._api_port:
            container.with_bind_ports(15672, self._api_port)
        for name, text in (("conf.d/90-tests.conf", configuration(self._options)), ("advanced.config", advanced(self._options))):
            file = self._run.path / f"{self._port}-{Path(name).name}"
            file.write_text(text)
            file.chmod(0o644)
            container.with_volume_mapping(file, f"/etc/rabbitmq/{name}")
        return container
