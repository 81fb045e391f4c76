"""The worker as a process: the only module of the service that builds adapters."""

from contextlib import AsyncExitStack
from typing import Final

from headway.broker.connect import connect
from headway.broker.port import Broker
from headway.runtime.life import Life
from headway.runtime.process import serve as serve_process
from headway.runtime.settings import WorkerSettings
from headway.runtime.vault import vault_of
from headway.sdk.app import Headway
from headway.sdk.loading import load_app
from headway.store.tx import Database
from headway.store.version import check_current
from headway.worker.work import Worker

NAME: Final = "worker"


async def run(
    settings: WorkerSettings,
    life: Life,
    *,
    app: Headway,
    database: Database | None = None,
    broker: Broker | None = None,
) -> None:
    """Work until `life` is asked to stop.  Adapters that are given are used and left open."""
    async with AsyncExitStack() as stack:
        if database is None:
            await check_current(settings.database_url.reveal(), settings.database_schema)
            database = await Database.open(
                settings.database_url.reveal(),
                schema=settings.database_schema,
                size=6,
                name="headway worker",
                hot=True,
                vault=vault_of(settings.secrets),
            )
            stack.push_async_callback(database.close)
        if broker is None:
            broker = connect(settings.broker_url.reveal(), prefix=settings.broker_prefix)
            await broker.open()
            stack.push_async_callback(broker.close)
        await Worker(settings, app, database, broker).run(life)


def serve(app: str, **code: object) -> int:
    """Be the worker process of an application, `module:attribute` or a file; answers the exit code."""
    return serve_process(NAME, WorkerSettings, lambda settings, life: run(settings, life, app=load_app(app)), **code)
