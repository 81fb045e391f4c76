"""A service as a process: from its settings to its exit code."""

import asyncio
import gc
import os
import signal
import sys
import threading
import time
from asyncio import Task
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final, TypeAlias, TypeVar

import structlog
import uvloop

from headway.core.errors import Conflict, Invalid, Problem, Unavailable
from headway.runtime.health import Scope
from headway.runtime.health_server import serve_health
from headway.runtime.life import Life
from headway.runtime.plugins import register_plugins
from headway.runtime.settings import ProcessSettings, load, strangers
from headway.runtime.telemetry import telemetry
from headway.runtime.watchdog import Watchdog, watch_loop

log = structlog.get_logger(__name__)

DONE: Final = 0
DIED: Final = 1
BAD_SETTINGS: Final = 2
UNREACHABLE: Final = 3
LAST_GRACE: Final = 2.0  # seconds that clean-up gets after the second signal

S = TypeVar("S", bound=ProcessSettings)
Run: TypeAlias = Callable[[S, Life], Awaitable[None]]


def serve(name: str, settings_type: type[S], run: Run[S], **code: Any) -> int:
    """Be the process of a service: `run` opens what it needs and lives until `life.stopping` is set.

    `code` holds settings that win over all others.  Answers the exit code: 0 stopped when asked to, 1 died, 2 bad settings or a database
    schema that does not fit (all of it said on stderr), 3 a dependency could not be reached at the start, 128 + n ended at once by a
    second signal n.
    """
    try:
        settings = load(settings_type, **code)
        register_plugins()
        with telemetry(name, settings), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            _tell_of_strangers()
            return _leave(runner.run(_live(name, settings, run)))
    except Invalid as error:
        return _complain(name, error)


def _tell_of_strangers() -> None:
    """Say which variables look like settings and set nothing, once."""
    if ignored := strangers():
        log.warning("environment variables were ignored", names={one.name: one.nearest for one in ignored})


async def _live(name: str, settings: S, run: Run[S]) -> int:
    """Run the service under everything that surrounds it, and make an exit code of how it ended."""
    life = Life(name, drain=timedelta(seconds=settings.drain_seconds))
    watchdog = Watchdog(threading.get_ident())
    life.health.add("event_loop", watchdog.check, Scope.LIVE)
    work = asyncio.create_task(_run(settings, life, run), name=name)
    signals = Signals(life, work)
    with serve_health(life.health, settings.health_host, settings.health_port), watch_loop(watchdog), signals.handled(), _threads():
        return await _outcome(work, signals)


@contextmanager
def _threads() -> Iterator[None]:
    """Threads for `asyncio.to_thread` that are told to end, and not waited for."""
    executor = ThreadPoolExecutor(thread_name_prefix="thread")
    asyncio.get_running_loop().set_default_executor(executor)
    try:
        yield
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


async def _run(settings: S, life: Life, run: Run[S]) -> None:
    freezer = asyncio.create_task(_freeze(life))
    try:
        await run(settings, life)
    finally:
        freezer.cancel()


async def _freeze(life: Life) -> None:
    """Take what stands after the start out of garbage collection: it lives as long as the process."""
    await life.started.wait()
    gc.collect()
    gc.freeze()


async def _outcome(work: Task[None], signals: "Signals") -> int:
    await asyncio.wait([work])
    if signals.forced:
        return signals.forced
    if work.cancelled():
        return DIED
    error = work.exception()
    return _verdict(error) if error else DONE


def _verdict(error: BaseException) -> int:
    """The exit code that an error asks for, said once."""
    causes = list(leaves(error))
    if all(isinstance(cause, Invalid | Conflict) for cause in causes):
        raise Invalid([problem for cause in causes for problem in _problems(cause)])
    if all(isinstance(cause, Unavailable) for cause in causes):
        log.error("dependency could not be reached", error="; ".join(str(cause) for cause in causes))
        return UNREACHABLE
    log.critical("process died", exc_info=error)
    return DIED


def _problems(error: BaseException) -> Sequence[Problem]:
    """What a person has to put right: settings, or a database that is not fit for this release."""
    return error.problems if isinstance(error, Invalid) else [Problem("", str(error))]


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The single errors inside of the groups that task groups make of them."""
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from leaves(part)
    else:
        yield error


class Signals:
    """SIGTERM and SIGINT: the first asks the life to stop, the second ends its work at once."""

    def __init__(self, life: Life, work: Task[None]) -> None:
        self.forced = 0
        self._life = life
        self._work = work

    def receive(self, signum: int) -> None:
        """Act on one signal."""
        if not self._life.stopping.is_set():
            self._life.stop(signal.Signals(signum).name)
        elif not self.forced:
            self.forced = 128 + signum
            log.warning("stop was forced", signal=signal.Signals(signum).name)
            self._work.cancel()
            asyncio.get_running_loop().call_later(LAST_GRACE, os._exit, self.forced)

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Receive signals on the event loop until the block ends."""
        loop = asyncio.get_running_loop()
        for signum in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signum, self.receive, signum)
        try:
            yield
        finally:
            for signum in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(signum)


def _complain(name: str, error: Invalid) -> int:
    for problem in error.problems:
        sys.stderr.write(f"headway {name}: {problem}\n")
    return BAD_SETTINGS


def _leave(code: int) -> int:
    """Let no thread that a handler left behind keep the process from ending."""
    deadline = time.monotonic() + LAST_GRACE
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]
    for thread in others:
        thread.join(max(0.0, deadline - time.monotonic()))
    if left := [thread.name for thread in others if thread.is_alive()]:
        log.warning("threads were left behind", threads=left)
        sys.stderr.flush()
        os._exit(code)
    return code
