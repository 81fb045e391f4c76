"""An event loop on a thread of its own, for programs that have none: scripts, Django, Flask."""

import asyncio
import atexit
import os
import threading
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, TypeVar

T = TypeVar("T")
FLUSH_SECONDS: Final = 5.0


class Portal:
    """Runs coroutines for threads; its own thread starts with the first one, again in a process that was forked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: AbstractEventLoop | None = None
        self._process = 0
        self._closing: set[Callable[[], Awaitable[None]]] = set()

    def call(self, work: Callable[[], Coroutine[Any, Any, T]], *, closing: Callable[[], Coroutine[Any, Any, None]]) -> T:
        """Run a coroutine and return what it returns.  `closing` is run once, when the program ends.

        Raises RuntimeError on a thread that runs an event loop, which would stand still meanwhile.
        """
        if _runs_a_loop():
            raise RuntimeError("a coroutine is running here: await the method without _sync")
        loop = self._running()
        self._closing.add(closing)
        return asyncio.run_coroutine_threadsafe(work(), loop).result()

    def close(self) -> None:
        """Run everything that was to be run at the end, and end the thread."""
        if self._loop is None or self._process != os.getpid():
            return
        with suppress(TimeoutError):
            self._submitted(self._close_all()).result(FLUSH_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._loop = None

    def _submitted(self, work: Coroutine[Any, Any, None]) -> Future[None]:
        assert self._loop is not None, "it is running"
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _close_all(self) -> None:
        closing, self._closing = self._closing, set()
        await asyncio.gather(*(close() for close in closing), return_exceptions=True)

    def _running(self) -> AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._process != os.getpid():
                self._closing.clear()
                self._process = os.getpid()
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_serve, args=(self._loop,), name="headway-portal", daemon=True).start()
            return self._loop


def _serve(loop: AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.close()


def _runs_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


PORTAL: Final = Portal()
atexit.register(PORTAL.close)
