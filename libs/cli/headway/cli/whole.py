"""The whole platform as one process: database, broker, every service, and a worker with the handlers of an application."""

import os
import socket
from asyncio import Event
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

import typer

from headway.cli import welcome
from headway.cli.application import application, queues_of
from headway.cli.embedded.cluster import EmbeddedPostgres
from headway.cli.ground import home_of, secrets_of
from headway.cli.installed import SERVICES, service
from headway.core.errors import Invalid
from headway.runtime import process
from headway.runtime.life import Life
from headway.runtime.settings import (
    ApiSettings,
    MaintenanceSettings,
    SchedulerSettings,
    SecretsGroup,
    Settings,
    UpSettings,
    Url,
    WorkerSettings,
    WorkflowEngineSettings,
    load,
)
from headway.sdk import Headway
from headway.sdk.client import Client
from headway.sdk.sync import sync
from headway.store.migrate import migrate
from headway.store.tx import Database

ACTOR: Final = "up"
SAMPLE: Final = "headway.cli.sample:app"
YET_UNKNOWN: Final = "postgresql://"
NAMELESS: Final = "memory://"
IN_MEMORY: Final = Url.parse("memory://up", ("memory",))
AFTER_DRAIN: Final = timedelta(seconds=1)  # for what services do once their work has ended
KINDS: Final[Mapping[str, type[Settings]]] = {
    "api": ApiSettings,
    "scheduler": SchedulerSettings,
    "workflow-engine": WorkflowEngineSettings,
    "maintenance": MaintenanceSettings,
    "worker": WorkerSettings,
}


class Parts(NamedTuple):
    """What is run together: an application, named as somebody named it, and the module of each service."""

    target: str
    app: Headway
    modules: Mapping[str, ModuleType]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is decided before anything is started."""

    parts: Parts
    services: Mapping[str, Settings]

    @property
    def app(self) -> Headway:
        return self.parts.app

    @property
    def api(self) -> ApiSettings:
        found = self.services["api"]
        assert isinstance(found, ApiSettings)
        return found

    def at(self, url: Url, secrets: SecretsGroup) -> "Plan":
        """The same plan with the database that was found or started, and the keys of its secrets."""
        known = {"database_url": url, "secrets": secrets}
        return Plan(self.parts, {name: one.model_copy(update=known) for name, one in self.services.items()})


def serve(target: str | None, port: int | None, data: Path | None) -> int:
    """Be the whole platform until a signal; answers the exit code.  Raises Invalid for an application that cannot be used."""
    target = target or SAMPLE
    modules = {name: service(name) for name in SERVICES}  # a second's work that no event loop should stand still for
    parts = Parts(target, application(target), modules)
    return process.serve("up", UpSettings, partial(_run, parts, port), home=data)


def plan(settings: UpSettings, parts: Parts, port: int | None) -> Plan:
    """Decide everything.  Raises Invalid for settings or a port that cannot be used."""
    app = parts.app
    shared = {
        "database_url": settings.database_url or YET_UNKNOWN,
        "broker_url": shared_broker(settings.broker_url),
        "drain_seconds": settings.drain_seconds,
    }
    groups: Mapping[str, Any] = {"api": {"port": port} if port else None, "worker": queues_of(app, load(WorkerSettings, **shared))}
    services = {name: load(KINDS[name], **shared, **({name: groups[name]} if name in groups else {})) for name in SERVICES}
    made = Plan(parts, services)
    require_free(made.api.api.host, made.api.api.port)
    return made


def shared_broker(url: Url) -> Url:
    """Return the URL of one broker for all services; a memory broker without a name would be a new one for each of them."""
    return IN_MEMORY if url.reveal() == NAMELESS else url


def require_free(host: str, port: int) -> None:
    """Raise Invalid when somebody else listens there."""
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        raise Invalid.field(
            "--port", f"cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}; name another port with --port"
        ) from None


async def _run(parts: Parts, port: int | None, settings: UpSettings, life: Life) -> None:
    made = plan(settings, parts, port)
    async with AsyncExitStack() as stack:
        url = settings.database_url
        if url is None:
            url = await stack.enter_async_context(_embedded(home_of(settings)))
        if life.stopping.is_set():  # somebody changed their mind while a database was made
            return
        made = made.at(url, secrets_of(settings))
        await migrate(url.reveal(), made.api.database_schema)
        client = await Client.connect(
            created_by=ACTOR, database_url=url.reveal(), broker_url=made.api.broker_url.reveal(), secrets=made.api.secrets
        )
        stack.push_async_callback(client.close)
        made.app.bind(client)
        await sync(client.database, made.app, ACTOR, announcer=client.announcer)
        await _live(made, settings, life, client.database)
    typer.echo("stopped; everything is kept")


async def _live(made: Plan, settings: UpSettings, life: Life, database: Database) -> None:
    whole = Life("up", stopping=life.stopping, health=life.health, clock=life.clock, drain=life.drain + AFTER_DRAIN)
    lives = {name: life.child(name) for name in SERVICES}
    async with whole:
        for name, child in lives.items():
            more = {"app": made.app} if name == "worker" else {}
            whole.start(name, made.parts.modules[name].run(made.services[name], child, **more), drains=True)
        whole.start("welcome", _welcome(made, settings, life, database, [child.started for child in lives.values()]))


async def _welcome(made: Plan, settings: UpSettings, life: Life, database: Database, started: list[Event]) -> None:
    """Say where everything is, once it is, and when the first run has ended."""
    for event in started:
        await event.wait()
    life.started.set()
    where = str(settings.database_url) if settings.database_url else f"{home_of(settings)} (embedded)"
    typer.echo(welcome.greeting(made.api.api, where, settings.broker_url, made.parts.target, sorted(made.app.jobs)))
    typer.echo(await welcome.first_ended(database, life))


@asynccontextmanager
async def _embedded(home: Path) -> AsyncIterator[Url]:
    server = EmbeddedPostgres(home)
    url = Url.parse(await server.start(), ("postgresql",))
    try:
        yield url
    finally:
        await server.stop()
