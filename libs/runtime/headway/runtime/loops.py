"""Loops: the only place where the platform waits for time to pass.

A step is a function that does one pass and says how much it found.  A loop calls it for as long as the process lives: at once when a
pass came back full, otherwise when it is woken or its period is over.  Only the stop event ends a loop; an error never does.
"""

import asyncio
import secrets
import time
from asyncio import CancelledError, Event, Task
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, TypeAlias

import structlog

from headway.core.errors import Unavailable
from headway.runtime.metrics import LOOP_PASS_DURATION, LOOP_PASSES

log = structlog.get_logger(__name__)

FIRST_BACKOFF: Final = 0.1
UNAVAILABLE_BACKOFF: Final = 3.0  # a database that is back is noticed within 5 s
ERROR_BACKOFF: Final = 30.0
QUIET: Final = 30.0  # seconds between two warnings about the same unavailable dependency
JITTER: Final = 0.1
LASTING: Final = 5  # failures in a row

_random = secrets.SystemRandom()


class Clock:
    """The monotonic clock that loops go by.  Tests give another one, in which no time is spent."""

    def now(self) -> float:
        """Seconds since some instant; never steps back."""
        return time.monotonic()

    async def wait(self, event: Event, seconds: float) -> bool:
        """Wait for the event, at most this long; says whether it came.  Gives way to other tasks at least once."""
        try:
            async with asyncio.timeout(seconds):
                return await event.wait()
        except TimeoutError:
            return False

    async def give_way(self) -> None:
        """Let every task that is ready have its turn."""
        turn = Event()
        asyncio.get_running_loop().call_soon(turn.set)
        await turn.wait()

    def jitter(self, seconds: float) -> float:
        """The same time, give or take a tenth, so that processes started together do not stay in step."""
        return seconds * _random.uniform(1 - JITTER, 1 + JITTER)


CLOCK: Final = Clock()


class Wake:
    """Ends a loop's sleep.  Any number of calls before the next pass, or during it, make one further pass: none is lost."""

    def __init__(self) -> None:
        self.event = Event()

    def set(self) -> None:
        """Ask for a pass.  To be called on the event loop's own thread."""
        self.event.set()

    def take(self) -> None:
        """Begin a pass: what woke the loop until now is answered by it."""
        self.event.clear()


@dataclass(frozen=True, slots=True)
class Next:
    """What a step found, and when it wants to be called again.

    `again`: at once, there was more than one pass could take.  `sleep`: after exactly this long if that is less than the period.
    """

    found: int = 0
    again: bool = False
    sleep: timedelta | None = None


Step: TypeAlias = Callable[[], Awaitable[int | Next]]


def backoff(failures: int, longest: float) -> float:
    """Seconds to wait after this many failures in a row: doubling from a tenth of a second up to `longest`."""
    return min(longest, FIRST_BACKOFF * 2.0 ** min(failures - 1, 20))


@dataclass(eq=False)
class Loop:
    """Calls `step` for ever.

    `period` is the longest sleep between two passes.  A pass that finds `full` or more is followed by the next one at once.
    A pass that takes longer than `limit` is cancelled and counts as failed.
    """

    name: str
    step: Step
    period: timedelta
    wake: Wake = field(default_factory=Wake)
    full: int | None = None
    limit: timedelta = timedelta(minutes=1)
    clock: Clock = CLOCK
    failures: int = field(default=0, init=False)
    last_error: str | None = field(default=None, init=False)
    last_pulse: float = field(init=False)
    _overdue_at: float = field(init=False)
    _warned_at: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._pulse(0.0)

    async def run(self, stopping: Event) -> None:
        """Step until `stopping` is set; the pass under way is finished.  A cancellation of the loop's own task ends it, too."""
        with _woken_by(stopping, self.wake):
            while not stopping.is_set():
                wait = await self._pass()
                if self.failures:
                    await self._rest(stopping, wait)
                else:
                    await self._rest(self.wake.event, wait)

    def check(self) -> tuple[bool, dict[str, Any]]:
        """Whether the loop still turns: its last pulse is younger than three periods and one pass's limit (HLT-06).  For any thread."""
        now = self.clock.now()
        facts = {"last_pulse_seconds_ago": round(now - self.last_pulse, 3), "failures": self.failures, "last_error": self.last_error}
        return now <= self._overdue_at, facts

    def succeeds(self) -> tuple[bool, dict[str, Any]]:
        """Whether the loop does its work: it turns also while every pass fails, and a few in a row are no reason yet.  For any thread."""
        return self.failures < LASTING, {"failures": self.failures, "last_error": self.last_error}

    async def _rest(self, until: Event, seconds: float) -> None:
        self._pulse(seconds)
        await self.clock.wait(until, seconds)

    def _pulse(self, rest: float) -> None:
        self.last_pulse = self.clock.now()
        self._overdue_at = self.last_pulse + 3 * max(rest, self.period.total_seconds()) + self.limit.total_seconds()

    async def _pass(self) -> float:
        """One pass; answers how many seconds to rest."""
        self.wake.take()
        self._pulse(0.0)
        began = self.clock.now()
        try:
            async with asyncio.timeout(self.limit.total_seconds()):
                result = await self.step()
        except Unavailable as error:
            return self._unavailable(error)
        except CancelledError as error:
            if _is_ours():
                raise
            return self._failed(error)
        except Exception as error:
            return self._failed(error)
        finally:
            LOOP_PASS_DURATION.observe(self.clock.now() - began, self.name)
        self._succeeded()
        return self._pause(result)

    def _pause(self, result: int | Next) -> float:
        following = result if isinstance(result, Next) else Next(result)
        if following.again or (self.full is not None and following.found >= self.full):
            return 0.0
        if following.sleep is not None:
            return max(0.0, min(following.sleep, self.period).total_seconds())
        return self.clock.jitter(self.period.total_seconds())

    def _succeeded(self) -> None:
        LOOP_PASSES.labels(self.name, "ok").inc()
        if self.failures:
            log.info("loop recovered", loop=self.name, failures=self.failures)
            self.failures = 0
            self.last_error = None
            self._warned_at = None

    def _unavailable(self, error: Unavailable) -> float:
        LOOP_PASSES.labels(self.name, "unavailable").inc()
        wait = self._count(error, UNAVAILABLE_BACKOFF)
        now = self.clock.now()
        if self._warned_at is None or now - self._warned_at >= QUIET:
            self._warned_at = now
            log.warning("dependency was unavailable", loop=self.name, failures=self.failures, error=str(error))
        return wait

    def _failed(self, error: BaseException) -> float:
        LOOP_PASSES.labels(self.name, "error").inc()
        wait = self._count(error, ERROR_BACKOFF)
        log.error("step failed", loop=self.name, failures=self.failures, retry_in=round(wait, 3), exc_info=error)
        return wait

    def _count(self, error: BaseException, longest: float) -> float:
        self.failures += 1
        self.last_error = type(error).__name__
        return self.clock.jitter(backoff(self.failures, longest))


def _is_ours() -> bool:
    """Whether somebody asked this task to end; if nobody did, the cancellation comes from inside a driver and is an error like others."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@contextmanager
def _woken_by(stopping: Event, wake: Wake) -> Iterator[None]:
    watch: Task[bool] = asyncio.create_task(stopping.wait())
    watch.add_done_callback(lambda _: wake.set())
    try:
        yield
    finally:
        watch.cancel()
