"""A thread that sees when the event loop stands still, and says where."""

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import structlog

from headway.runtime.metrics import PROCESS_BLOCKED, PROCESS_LAG

log = structlog.get_logger(__name__)

BLOCKED: Final = 1.0
BEAT: Final = 0.25


class Watchdog:
    """Compares the event loop's beat with the clock.  `beat` is called on the loop, `look` and `check` by any other thread."""

    def __init__(self, thread: int, *, now: Callable[[], float] = time.monotonic, blocked_after: float = BLOCKED) -> None:
        self._thread = thread
        self._now = now
        self._blocked_after = blocked_after
        self._beaten_at = now()
        self._reported = False

    def beat(self) -> None:
        """Say that the event loop turns."""
        now = self._now()
        PROCESS_LAG.set(max(0.0, now - self._beaten_at - BEAT))
        self._beaten_at = now

    def look(self) -> bool:
        """Report a blocked loop once, with the stack of its thread, and once that it goes on; says whether it is blocked."""
        still = self._now() - self._beaten_at
        blocked = still > self._blocked_after
        if blocked and not self._reported:
            PROCESS_BLOCKED.inc()
            log.error("event loop was blocked", seconds=round(still, 3), stack=self._stack())
        if self._reported and not blocked:
            log.info("event loop went on")
        self._reported = blocked
        return blocked

    def check(self) -> tuple[bool, Mapping[str, Any]]:
        """The liveness check `event_loop`."""
        still = self._now() - self._beaten_at
        return still <= self._blocked_after, {"last_beat_seconds_ago": round(still, 3)}

    def _stack(self) -> str:
        frame = sys._current_frames().get(self._thread)
        return "".join(traceback.format_stack(frame)) if frame else ""


@contextmanager
def watch_loop(watchdog: Watchdog) -> Iterator[None]:
    """Let the running event loop beat, and a thread look, until the block ends."""
    loop = asyncio.get_running_loop()
    ended = threading.Event()
    handle: asyncio.TimerHandle

    def beat() -> None:
        nonlocal handle
        watchdog.beat()
        handle = loop.call_later(BEAT, beat)

    def look() -> None:
        while not ended.wait(BEAT):
            watchdog.look()

    handle = loop.call_later(0, beat)
    thread = threading.Thread(target=look, name="watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        handle.cancel()
        thread.join()
