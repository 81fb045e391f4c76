"""A whole platform inside of a test: a real database, a memory broker, every service, and a clock that the test moves."""

import asyncio
import secrets
from asyncio import Event
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from importlib.metadata import entry_points
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from headway.core.durations import parse_duration
from headway.core.errors import Invalid
from headway.core.run import State
from headway.core.schedule.rule import parse_rule
from headway.core.schedule.timeline import Timeline
from headway.runtime.life import Life
from headway.runtime.loops import CLOCK, Clock
from headway.runtime.settings import (
    Connections,
    MaintenanceSettings,
    SchedulerSettings,
    SecretsGroup,
    Settings,
    WorkerSettings,
    WorkflowEngineSettings,
    load,
)
from headway.runtime.vault import new_key
from headway.sdk.app import Headway
from headway.sdk.client import Client
from headway.sdk.sync import sync
from headway.store import advance, reactions, runs
from headway.store.clock import set_offset
from headway.store.migrate import migrate
from headway.store.tx import Database, Tx

GROUP: Final = "headway.services"
SERVICES: Final[dict[str, type[Settings]]] = {
    "scheduler": SchedulerSettings,
    "workflow-engine": WorkflowEngineSettings,
    "maintenance": MaintenanceSettings,
    "worker": WorkerSettings,
}
LOOK: Final = 0.01
LEASE_SECONDS: Final = 365 * 86_400
NOTHING: Final = timedelta()


class MovedClock(Clock):
    """The real clock, whose sleepers all wake when the database's clock was moved."""

    def __init__(self) -> None:
        self._moved = Event()

    def moved(self) -> None:
        """Wake everybody."""
        self._moved.set()
        self._moved = Event()

    async def wait(self, event: Event, seconds: float) -> bool:
        """Wait for the event, for the clock to be moved, or this long."""
        waiting = [asyncio.create_task(one.wait()) for one in (event, self._moved)]
        try:
            await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waiting:
                one.cancel()
        return event.is_set()


class Standing(NamedTuple):
    """Whether something is under way, and when the next thing is due."""

    now: datetime
    busy: bool
    due: datetime | None


class Platform:
    """Runs an application: `async with Platform(app) as platform`, then enqueue, `advance` and `run_until_idle`.

    It lives in a schema of its own, in the database of `database_url` or HEADWAY_DATABASE_URL, with a key of its own for secrets, and drops
    that schema at the end.
    """

    def __init__(self, app: Headway, *, database_url: str | None = None) -> None:
        self.app = app
        name = f"headway_test_{secrets.token_hex(6)}"
        self._urls = {"database_url": database_url, "broker_url": f"memory://{name}", "database_schema": name}
        self._secrets = SecretsGroup.model_validate({"keys": new_key()})
        self._clock = MovedClock()
        self._offset = self._ahead = NOTHING
        self._closing = AsyncExitStack()
        self._life = Life("platform", clock=self._clock, drain=timedelta(seconds=5))
        self.client: Client

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as closing:
            connections = load(Connections, **self._urls)
            url, schema = connections.database_url.reveal(), connections.database_schema
            await migrate(url, schema)
            self.client = await Client.connect(created_by="test", secrets=self._secrets, **self._urls)
            closing.push_async_callback(self.client.close)
            closing.push_async_callback(_drop, self.client.database)
            self.app.bind(self.client)
            await sync(self.client.database, self.app, "test")
            await self._start(closing)
            self._closing = closing.pop_all()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool | None:
        return await self._closing.__aexit__(kind, error, trace)

    def advance(self, by: timedelta | str) -> None:
        """Have the next `run_until_idle` move the clock on by `2h` or a timedelta, through everything that is due on the way."""
        self._ahead += parse_duration(by, "by")

    async def run_until_idle(self, within: timedelta = timedelta(seconds=30)) -> None:
        """Wait until no run is queued or running, nothing is due, and the clock has moved as far as it was asked to.

        Raises TimeoutError when that takes longer than `within` of real time.
        """
        async with asyncio.timeout(within.total_seconds()):
            while (standing := await self._look()).busy or self._ahead:
                if standing.busy:
                    await CLOCK.wait(Event(), LOOK)
                else:
                    await self._move(self._step(standing))

    async def now(self) -> datetime:
        """The platform's instant."""
        return (await self._look()).now

    def _step(self, standing: Standing) -> timedelta:
        """How far the clock goes now: to the next thing that is due, at most as far as was asked."""
        return self._ahead if standing.due is None else min(self._ahead, standing.due - standing.now)

    async def _move(self, by: timedelta) -> None:
        self._ahead -= by
        self._offset += by
        async with self.client.database.begin() as tx:
            await set_offset(tx, self._offset)
        self._clock.moved()

    async def _look(self) -> Standing:
        return await self.client.database.transact(_standing)

    async def _start(self, closing: AsyncExitStack) -> None:
        """Start every service; at the end they drain before what they use is closed."""
        await closing.enter_async_context(self._life)
        closing.callback(self._life.stop, "the test is over")
        queues = sorted({draft.queue for draft in self.app.drafts()} | {"default"})
        for name, kind in SERVICES.items():
            mine: dict[str, Any] = {"worker": {"queues": queues, "concurrency": 10}} if name == "worker" else {}
            settings = load(kind, **self._urls, secrets=self._secrets, lease_seconds=LEASE_SECONDS, health_port=0, **mine)
            child = self._life.child(name)
            more = {"app": self.app} if name == "worker" else {}
            self._life.start(name, _service(name).run(settings, child, **more), drains=True)
            await child.started.wait()


def _service(name: str) -> Any:
    found = entry_points(group=GROUP, name=name)
    if not found:
        raise Invalid.field("platform", f"needs the service {name}: install headway-{name}")
    return next(iter(found)).load()


async def _standing(tx: Tx) -> Standing:
    backlog = await runs.backlog(tx)
    due = [tx.now - row["age"] for row in backlog if row["state"] == State.SCHEDULED] + await _slots(tx)
    earliest = min(due, default=None)
    working = any(row["state"] in (State.QUEUED, State.RUNNING) for row in backlog)
    owed = any(row["owed"] > row["parked"] for row in await reactions.backlog(tx))
    return Standing(tx.now, working or owed or (earliest is not None and earliest <= tx.now), earliest)


async def _slots(tx: Tx) -> list[datetime]:
    """The next slot of each schedule that can fire, not yet decided."""
    rows = await advance.load(tx)
    following = [Timeline(parse_rule(row["rule"]), row["chained_at"]).next(row["decided_until"]) for row in rows]
    return [slot for slot in following if slot is not None]


async def _drop(database: Database) -> None:
    async with database.begin() as tx:
        await tx.run(f"DROP SCHEMA {database.schema} CASCADE")
