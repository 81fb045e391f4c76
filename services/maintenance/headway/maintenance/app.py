"""Maintenance as a process: the only module of the service that builds adapters."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Final

from headway.broker import hints
from headway.broker.announcer import Announcer
from headway.broker.connect import connect
from headway.broker.port import Broker
from headway.core.errors import Invalid
from headway.maintenance.pulse import Pulse
from headway.maintenance.rehearsal import Rehearsal
from headway.maintenance.scans import STEPS, Ground, scans
from headway.runtime.broker_watch import watch_broker
from headway.runtime.life import Life
from headway.runtime.process import serve as serve_process
from headway.runtime.settings import MaintenanceSettings
from headway.runtime.vault import vault_of
from headway.store.gates import Placed
from headway.store.tx import Database
from headway.store.version import check_current

NAME: Final = "maintenance"


async def run(settings: MaintenanceSettings, life: Life, *, database: Database | None = None, broker: Broker | None = None) -> None:
    """Scan until `life` is asked to stop.  Adapters that are given are used and left open."""
    async with AsyncExitStack() as stack:
        database = database or await _database(settings, stack)
        broker = broker or await _broker(settings, stack)
        announcer = Announcer(broker)
        ground = Ground(database, settings, lambda queued: announcer.put(hints.created(map(_hint, queued))))
        async with life:
            life.start("announce", announcer.run())
            watch_broker(life, broker)
            pulse = Pulse()
            life.health.add("maintenance", pulse.check)
            for scan in scans(ground):
                life.start_loop(scan.name, pulse.watched(scan), scan.period)


async def scan_once(settings: MaintenanceSettings, name: str, *, dry_run: bool = False) -> Mapping[str, int]:
    """Run one scan, or `all`, once and say how many rows each moved on, or in a dry run would move; Invalid for one that there is not."""
    if name != "all" and name not in STEPS:
        raise Invalid.field("scan", f"{name!r} is not a scan: choose all, {', '.join(STEPS)}")
    async with AsyncExitStack() as stack:
        database = await _database(settings, stack)
        if dry_run:
            return await _pass(Ground(Rehearsal(database.pool, database.schema), settings, lambda queued: None), name)
        broker = await _broker(settings, stack)
        announcer = Announcer(broker)
        found = await _pass(Ground(database, settings, lambda queued: announcer.put(hints.created(map(_hint, queued)))), name)
        await announcer.flush()
        return found


def serve(**code: Any) -> int:
    """Be the maintenance process; answers the exit code."""
    return serve_process(NAME, MaintenanceSettings, run, **code)


async def _pass(ground: Ground, name: str) -> Mapping[str, int]:
    return {scan.name: (await scan.step()).found for scan in scans(ground) if name in ("all", scan.name)}


async def _database(settings: MaintenanceSettings, stack: AsyncExitStack) -> Database:
    url, schema = settings.database_url.reveal(), settings.database_schema
    await check_current(url, schema)
    database = await Database.open(url, schema=schema, size=6, name="headway maintenance", vault=vault_of(settings.secrets))
    stack.push_async_callback(database.close)
    return database


async def _broker(settings: MaintenanceSettings, stack: AsyncExitStack) -> Broker:
    broker = connect(settings.broker_url.reveal(), prefix=settings.broker_prefix)
    await broker.open()
    stack.push_async_callback(broker.close)
    return broker


def _hint(run: Placed) -> hints.Queued:
    return hints.Queued(run.id, run.queue, run.priority)
