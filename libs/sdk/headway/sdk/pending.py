"""Something that was asked of the platform from inside a handler, on whatever thread the handler runs."""

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Coroutine, Generator
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Pending(Generic[T]):
    """`await` it in a coroutine; in a thread it is under way already, and `result()` waits for it."""

    __slots__ = ("_future", "_work")

    def __init__(self, work: Coroutine[Any, Any, T], loop: AbstractEventLoop | None) -> None:
        self._work = work
        self._future: Future[T] | None = None
        if loop is not None and not _inside_a_loop():
            self._future = asyncio.run_coroutine_threadsafe(work, loop)

    def __await__(self) -> Generator[Any, None, T]:
        if self._future is not None:
            return asyncio.wrap_future(self._future).__await__()
        return self._work.__await__()

    def result(self, timeout: float | None = None) -> T:
        """Wait, in a thread, for the answer, at most `timeout` seconds."""
        if self._future is None:
            self._work.close()
            raise RuntimeError("inside of a coroutine, await this")
        return self._future.result(timeout)


def _inside_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
