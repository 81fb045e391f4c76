"""The workflow engine as a process: the only module of the service that builds adapters."""

from contextlib import AsyncExitStack
from typing import Any, Final

from headway.broker.connect import connect
from headway.broker.port import Broker
from headway.runtime.life import Life
from headway.runtime.process import serve as serve_process
from headway.runtime.settings import WorkflowEngineSettings
from headway.runtime.vault import vault_of
from headway.store.tx import Database
from headway.store.version import check_current
from headway.workflow_engine.react import Engine

NAME: Final = "workflow-engine"


async def run(settings: WorkflowEngineSettings, life: Life, *, database: Database | None = None, broker: Broker | None = None) -> None:
    """React until `life` is asked to stop.  Adapters that are given are used and left open."""
    async with AsyncExitStack() as stack:
        if database is None:
            url, schema = settings.database_url.reveal(), settings.database_schema
            await check_current(url, schema)
            database = await Database.open(url, schema=schema, size=4, name="headway workflow-engine", vault=vault_of(settings.secrets))
            stack.push_async_callback(database.close)
        if broker is None:
            broker = connect(settings.broker_url.reveal(), prefix=settings.broker_prefix)
            await broker.open()
            stack.push_async_callback(broker.close)
        await Engine(settings, database, broker).run(life)


def serve(**code: Any) -> int:
    """Be the workflow-engine process; answers the exit code."""
    return serve_process(NAME, WorkflowEngineSettings, run, **code)
