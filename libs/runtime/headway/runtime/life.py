"""The life of a service inside its process: its loops and tasks, and the event that ends them."""

import asyncio
from asyncio import Event, Task, TaskGroup
from collections.abc import Coroutine
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

import structlog

from headway.runtime.health import Health, Scope
from headway.runtime.loops import CLOCK, Clock, Loop, Step, Wake

log = structlog.get_logger(__name__)

DRAIN = timedelta(seconds=30)


class Life:
    """Owns tasks: as a context it ends when every one of them has, so that what they use can be closed after it.

        async with connect(settings) as database, life:
            life.start_loop("decide", step, timedelta(seconds=10))

    `stopping` asks everything to end: loops finish their pass, tasks that drain finish what they hold, all others are cancelled; after
    `drain` whatever is left is cancelled.  A task that dies ends the life and all its children, and its error comes out of the context.
    """

    def __init__(
        self,
        name: str,
        *,
        stopping: Event | None = None,
        health: Health | None = None,
        clock: Clock = CLOCK,
        drain: timedelta = DRAIN,
    ) -> None:
        self.name = name
        self.stopping = stopping or Event()
        self.started = Event()
        self.health = health or Health()
        self.clock = clock
        self.drain = drain
        self._group = TaskGroup()
        self._tasks: dict[Task[None], bool] = {}  # and whether it drains
        self._killed: list[str] = []
        self._reaper: Task[None] | None = None
        self.health.add(f"{name}.life", self._check)

    def child(self, name: str, *, stopping: Event | None = None) -> "Life":
        """A life under a name of its own that shares health and clock, and the stop event unless it is to outlast its siblings."""
        return Life(name, stopping=stopping or self.stopping, health=self.health, clock=self.clock, drain=self.drain)

    def stop(self, reason: str) -> None:
        """Ask everything to end.  Only the first call has an effect."""
        if not self.stopping.is_set():
            log.info("stop requested", service=self.name, reason=reason)
            self.stopping.set()

    def start(self, name: str, work: Coroutine[Any, Any, None], *, drains: bool = False) -> Task[None]:
        """Run a task of this life.  One that drains watches `stopping` itself; any other is cancelled when it is set."""
        task = self._group.create_task(work, name=f"{self.name}.{name}")
        self._tasks[task] = drains
        task.add_done_callback(self._ended)
        if self.stopping.is_set() and not drains:
            task.cancel()
        return task

    def start_loop(
        self,
        name: str,
        step: Step,
        period: timedelta,
        *,
        wake: Wake | None = None,
        full: int | None = None,
        limit: timedelta = timedelta(minutes=1),
    ) -> Loop:
        """Start a Loop (its meaning of the arguments), and watch its pulse, and whether its passes succeed, in the process's health."""
        loop = Loop(f"{self.name}.{name}", step, period, wake=wake or Wake(), full=full, limit=limit, clock=self.clock)
        succeeds = f"{loop.name}.succeeds"
        self.health.add(loop.name, loop.check, Scope.LIVE)
        self.health.add(succeeds, loop.succeeds, Scope.READY)
        task = self.start(name, loop.run(self.stopping), drains=True)
        task.add_done_callback(lambda _: self.health.remove(loop.name))
        task.add_done_callback(lambda _: self.health.remove(succeeds))
        return loop

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        self._reaper = asyncio.create_task(self._reap())
        self.started.set()
        log.info("service started", service=self.name)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            await self._group.__aexit__(kind, error, trace)
        finally:
            if self._reaper:
                self._reaper.cancel()
        if self._killed:
            raise RuntimeError(f"cancelled from outside: {', '.join(self._killed)}")
        log.info("service stopped", service=self.name)

    def _check(self) -> tuple[bool, dict[str, Any]]:
        running = self.started.is_set() and not self.stopping.is_set()
        return running, {"is_running": running, "tasks": sorted(task.get_name() for task in tuple(self._tasks))}

    def _ended(self, task: Task[None]) -> None:
        del self._tasks[task]
        if self.stopping.is_set():
            return
        if task.cancelled():
            self._killed.append(task.get_name())
        if task.cancelled() or task.exception():
            self.stopping.set()

    async def _reap(self) -> None:
        await self.stopping.wait()
        for task in [task for task, drains in self._tasks.items() if not drains]:
            task.cancel()
        await self.clock.wait(Event(), self.drain.total_seconds())
        for task in tuple(self._tasks):
            log.warning("task was cut off", task=task.get_name(), drain_seconds=self.drain.total_seconds())
            task.cancel()
