"""The API as a process: the only module of the service that builds adapters."""

from contextlib import AsyncExitStack, closing
from datetime import timedelta
from typing import Any, Final

from headway.api.cursors import Cursors
from headway.api.listening import bind, serve_until, server
from headway.api.origin import gatekeeper, require_closed
from headway.api.platform import Platform
from headway.api.surface import surface
from headway.broker.announcer import Announcer
from headway.broker.connect import connect
from headway.broker.port import Broker
from headway.runtime.health import Scope
from headway.runtime.life import Life
from headway.runtime.loops import Loop
from headway.runtime.process import serve as serve_process
from headway.runtime.settings import ApiSettings
from headway.runtime.vault import vault_of
from headway.sdk.client import Client
from headway.store.tx import Database
from headway.store.version import check_current

NAME: Final = "api"
PROBE: Final = timedelta(seconds=5)


async def run(settings: ApiSettings, life: Life, *, database: Database | None = None, broker: Broker | None = None) -> None:
    """Answer requests until `life` is asked to stop.  Adapters that are given are used and left open."""
    require_closed(settings.api)
    async with AsyncExitStack() as stack:
        listening = stack.enter_context(closing(bind(settings.api.host, settings.api.port)))
        database = database or await _database(settings, stack)
        broker = broker or await _broker(settings, stack)
        platform = await _platform(settings, life, database, broker, stack)
        app = surface()
        app.state.platform = platform
        http = server(gatekeeper(app, settings.api), life.drain)
        async with life:
            _watch(life, database, broker)
            life.health.add("http", lambda: (http.started, {"host": settings.api.host, "port": listening.getsockname()[1]}))
            life.start("announce", platform.announcer.run())
            life.start("http", serve_until(life.stopping, http, listening), drains=True)
        await platform.announcer.flush()


def serve(**code: Any) -> int:
    """Be the API's process; answers the exit code."""
    return serve_process(NAME, ApiSettings, run, **code)


async def _platform(settings: ApiSettings, life: Life, database: Database, broker: Broker, stack: AsyncExitStack) -> Platform:
    client = await stack.enter_async_context(Client(database, broker, created_by=NAME))
    # Every instance of one platform has the same database, and so the same secret: each reads the cursors of the others.
    cursors = Cursors(settings.database_url.reveal().encode())
    return Platform(database, broker, Announcer(broker), client, cursors, life.health, settings.api.max_body_bytes)


def _watch(life: Life, database: Database, broker: Broker) -> None:
    """Tell readiness whether the database answers; without the broker the API goes on, and says so."""

    async def probe() -> int:
        async with database.begin():
            return 0

    loop = life.start_loop("probe", probe, PROBE, limit=PROBE)
    life.health.add("database", lambda: _answers(loop))
    life.health.add("broker", lambda: (broker.connected, {}), Scope.REPORT)


def _answers(loop: Loop) -> tuple[bool, dict[str, Any]]:
    return loop.failures == 0, {"last_error": loop.last_error}


async def _database(settings: ApiSettings, stack: AsyncExitStack) -> Database:
    url, schema = settings.database_url.reveal(), settings.database_schema
    await check_current(url, schema)
    database = await Database.open(url, schema=schema, size=8, name="headway api", vault=vault_of(settings.secrets))
    stack.push_async_callback(database.close)
    return database


async def _broker(settings: ApiSettings, stack: AsyncExitStack) -> Broker:
    broker = connect(settings.broker_url.reveal(), prefix=settings.broker_prefix)
    await broker.open()
    stack.push_async_callback(broker.close)
    return broker
