"""Group commit: what many callers want at once is written at once, and nobody waits for company."""

import asyncio
from asyncio import Event, Future, Semaphore, Task
from collections.abc import Sequence
from typing import Final, Generic, Protocol, TypeVar

from headway.core.errors import Unavailable

A = TypeVar("A")
R = TypeVar("R")
A_contra = TypeVar("A_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)
MOST: Final = 1000
MOST_APART: Final = 4


class Write(Protocol[A_contra, R_co]):
    """Writes items and answers each in its place, with an exception where that is the item's own answer."""

    async def __call__(self, items: Sequence[A_contra], /, *, apart: bool) -> Sequence[R_co | BaseException]:
        """`apart` says that the item is alone because a write of several raised, and that nobody waits behind it."""


class Gathering(Generic[A, R]):
    """Hands to `write` whatever was added while the last write was under way, at most 1,000 at a time; each caller gets its own answer.

    After a write that raises each of its items is written apart, so that the culprit stands alone and holds up nobody; Unavailable
    is for all of them.  With `at_once` whoever finds nobody else here writes without a task between.
    """

    def __init__(self, write: Write[A, R], *, at_once: bool = False) -> None:
        self._write = write
        self._at_once = at_once
        self._free = Event()
        self._free.set()
        self._waiting: list[tuple[A, Future[R]]] = []
        self._writing: Task[None] | None = None
        self._apart: set[Task[None]] = set()
        self._room = Semaphore(MOST_APART)

    async def add(self, item: A) -> R:
        """Have an item written and return its answer, or raise it when it is an exception."""
        if self._at_once and self._writing is None and self._free.is_set():
            return await self._add_alone(item)
        answer: Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, answer))
        self._go_on()
        return await answer

    async def _add_alone(self, item: A) -> R:
        self._free.clear()
        try:
            [answer] = await self._write([item], apart=False)
        finally:
            self._free.set()
            self._go_on()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _go_on(self) -> None:
        """Write what waits, unless somebody writes: whoever does looks again when it is done."""
        if self._waiting and self._writing is None and self._free.is_set():
            self._writing = asyncio.create_task(self._write_all())

    async def finish(self) -> None:
        """Wait until everything that was added is answered."""
        await self._free.wait()
        while under_way := [task for task in (self._writing, *self._apart) if task is not None]:
            await asyncio.wait(under_way)

    async def _write_all(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            answers = await self._answers([item for item, _ in batch], apart=False)
            if isinstance(answers, BaseException) and not isinstance(answers, Unavailable):
                self._set_apart(batch)
            else:
                _give(batch, answers)
        self._writing = None

    def _set_apart(self, batch: Sequence[tuple[A, "Future[R]"]]) -> None:
        for one in batch:
            task = asyncio.create_task(self._write_apart(one))
            self._apart.add(task)
            task.add_done_callback(self._apart.discard)

    async def _write_apart(self, one: tuple[A, "Future[R]"]) -> None:
        async with self._room:
            _give([one], await self._answers([one[0]], apart=True))

    async def _answers(self, items: Sequence[A], *, apart: bool) -> Sequence[R | BaseException] | BaseException:
        [answers] = await asyncio.gather(self._write(items, apart=apart), return_exceptions=True)
        return answers


def _give(batch: Sequence[tuple[A, "Future[R]"]], answers: Sequence[R | BaseException] | BaseException) -> None:
    """Answer everybody who still waits; a caller that was cancelled does not."""
    each = [answers] * len(batch) if isinstance(answers, BaseException) else answers
    for (_, future), answer in zip(batch, each, strict=True):
        if future.done():
            continue
        if isinstance(answer, BaseException):
            future.set_exception(answer)
        else:
            future.set_result(answer)
