"""The scheduler as a process: the only module of the service that builds adapters."""

from contextlib import AsyncExitStack
from typing import Any, Final

from headway.broker.connect import connect
from headway.broker.port import Broker
from headway.runtime.life import Life
from headway.runtime.process import serve as serve_process
from headway.runtime.settings import SchedulerSettings
from headway.runtime.vault import vault_of
from headway.scheduler.work import Scheduler
from headway.store.tx import Database
from headway.store.version import check_current

NAME: Final = "scheduler"


async def run(settings: SchedulerSettings, life: Life, *, database: Database | None = None, broker: Broker | None = None) -> None:
    """Schedule until `life` is asked to stop.  Adapters that are given are used and left open."""
    async with AsyncExitStack() as stack:
        if database is None:
            url, schema = settings.database_url.reveal(), settings.database_schema
            await check_current(url, schema)
            database = await Database.open(url, schema=schema, size=4, name="headway scheduler", vault=vault_of(settings.secrets))
            stack.push_async_callback(database.close)
        if broker is None:
            broker = connect(settings.broker_url.reveal(), prefix=settings.broker_prefix)
            await broker.open()
            stack.push_async_callback(broker.close)
        await Scheduler(settings, database, broker).run(life)


def serve(**code: Any) -> int:
    """Be the scheduler process; answers the exit code."""
    return serve_process(NAME, SchedulerSettings, run, **code)
