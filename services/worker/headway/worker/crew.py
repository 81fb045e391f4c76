"""The attempts that this worker is executing: started from a claim, ended into the outbox, cancelled for a reason."""

import asyncio
from asyncio import CancelledError, Event, Task
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

import structlog

from headway.core.hiding import hidden_in
from headway.core.outcome import Cancelled, HandedBack, Outcome, Timeout
from headway.core.secret import Vault
from headway.runtime.logs import log_hiding
from headway.runtime.loops import CLOCK
from headway.runtime.tracing import span
from headway.sdk.execute import execute
from headway.sdk.handler import Handler
from headway.sdk.middleware import Middleware
from headway.sdk.run import Link, Run
from headway.store.claim import Claimed
from headway.worker.opening import DiscreetLink, opening
from headway.worker.outbox import Ended, Outbox

log = structlog.get_logger(__name__)


class Why(Enum):
    """Why an attempt was cancelled by its worker."""

    TIMEOUT = "timeout"
    WISH = "wish"
    DRAIN = "drain"
    LOST = "lost"


class Execution:
    """One attempt under way."""

    __slots__ = ("claimed", "deadline", "session", "task", "why")

    def __init__(self, claimed: Claimed, session: UUID, deadline: float) -> None:
        self.claimed = claimed
        self.session = session
        self.deadline = deadline
        self.why: Why | None = None
        self.task: Task[None]


class Tools(NamedTuple):
    """What every execution is given."""

    handlers: Mapping[str, Handler]
    middleware: Sequence[Middleware]
    threads: Executor
    link: Link
    vault: Vault | None = None
    grace: float = 30.0


class Crew:
    """Runs handlers, each in a task of its own."""

    def __init__(self, tools: Tools, outbox: Outbox) -> None:
        self.tools = tools
        self.outbox = outbox
        self.executions: dict[UUID, Execution] = {}
        self.idle = Event()
        self.idle.set()
        self.names = sorted(tools.handlers)
        self.lingering = 0
        self.on_linger: Callable[[str, int], None] = lambda queue, change: None

    def start(self, claimed: Iterable[Claimed], session: UUID) -> None:
        """Begin an attempt for each claimed run."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for run in claimed:
            execution = Execution(run, session, now + (run.deadline_at - run.started_at).total_seconds())
            self.executions[run.id] = execution
            execution.task = loop.create_task(self._execute(execution))
        if self.executions:
            self.idle.clear()

    def cancel(self, ids: Iterable[UUID], why: Why) -> int:
        """Ask attempts to end, and say how many of them are here; the first reason stays."""
        found = [execution for id_ in ids if (execution := self.executions.get(id_)) is not None and execution.why is None]
        for execution in found:
            execution.why = why
            execution.task.cancel()
        return len(found)

    def wish(self, ids: Iterable[UUID]) -> None:
        """Pass on that somebody wants attempts cancelled."""
        self.cancel(ids, Why.WISH)

    def cancel_all(self, why: Why) -> int:
        """Ask every attempt to end."""
        return self.cancel(list(self.executions), why)

    def abandon(self, session: UUID) -> None:
        """Cancel what was held under a session that is lost: nothing of it is written."""
        mine = [id_ for id_, execution in self.executions.items() if execution.session == session]
        for id_ in mine:
            self.executions[id_].why = None
        self.cancel(mine, Why.LOST)

    async def sweep(self) -> int:
        """Cancel attempts that outlived their deadline, and say how many."""
        now = asyncio.get_running_loop().time()
        late = [id_ for id_, execution in self.executions.items() if execution.deadline <= now and execution.why is None]
        return self.cancel(late, Why.TIMEOUT)

    async def _execute(self, execution: Execution) -> None:
        given = opening(execution.claimed, self.tools.vault)
        run = Run(given.claimed, DiscreetLink(self.tools.link, given.words) if given.words else self.tools.link)
        outcome: Outcome | None = None
        try:
            with span("run.execute", parent=given.claimed.traceparent), log_hiding(given.words):
                outcome = given.refusal or hidden_in(await self._executed(run), given.words)
        except CancelledError:
            await self._outlast(execution, run)
            outcome = _after_cancel(execution, lingering=run.lingering is not None)
        finally:
            self._ended(execution, outcome)
            if run.lingering is not None:
                self._linger(execution, run.lingering)

    async def _executed(self, run: Run) -> Outcome:
        handler = self.tools.handlers[run.facts.handler]
        return await execute(handler, run, middleware=self.tools.middleware, threads=self.tools.threads)

    async def _outlast(self, execution: Execution, run: Run) -> None:
        """A thread cannot be stopped: a run that is to be cancelled stays open until its thread has ended, for the grace at most."""
        thread, ended = run.lingering, Event()
        if thread is None or execution.why is not Why.WISH:
            return
        loop = asyncio.get_running_loop()
        thread.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
        with suppress(CancelledError):  # it is abandoned meanwhile: `why` says so
            await CLOCK.wait(ended, self.tools.grace)
        if thread.done():
            run.lingering = None

    def _linger(self, execution: Execution, thread: Future[Any]) -> None:
        """A thread that outlives its attempt keeps a slot: it still uses what the slot stands for."""
        queue = execution.claimed.queue
        self.lingering += 1
        self.on_linger(queue, 1)
        log.warning("thread outlived its attempt", handler=execution.claimed.handler, run=str(execution.claimed.id), threads=self.lingering)
        loop = asyncio.get_running_loop()
        thread.add_done_callback(lambda _: loop.call_soon_threadsafe(self._left, queue))

    def _left(self, queue: str) -> None:
        self.lingering -= 1
        self.on_linger(queue, -1)

    def _ended(self, execution: Execution, outcome: Outcome | None) -> None:
        if self.executions.get(execution.claimed.id) is execution:
            del self.executions[execution.claimed.id]
        if not self.executions:
            self.idle.set()
        self.outbox.put(Ended(execution.claimed, execution.session, None if execution.why is Why.LOST else outcome))


def _after_cancel(execution: Execution, *, lingering: bool) -> Outcome | None:
    match execution.why:
        case Why.TIMEOUT:
            return Timeout()
        case Why.WISH:
            return Cancelled("its thread cannot be stopped and works on to its end" if lingering else "")
        case Why.DRAIN:
            return HandedBack()
        case _:
            return None
