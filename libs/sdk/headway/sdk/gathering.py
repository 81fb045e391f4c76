"""Group commit: what many callers want at once is written at once, and nobody waits for company."""

import asyncio
from asyncio import Future, Task
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from headway.core.errors import Unavailable

A = TypeVar("A")
R = TypeVar("R")
MOST: Final = 1000


class Gathering(Generic[A, R]):
    """Hands to `write` whatever was added while the last write was under way, at most 1,000 at a time; each caller gets its own answer.

    A write that raises is repeated for each of its items alone, so that the culprit stands alone; Unavailable is for all of them.
    """

    def __init__(self, write: Callable[[Sequence[A]], Awaitable[Sequence[R | BaseException]]]) -> None:
        self._write = write
        self._waiting: list[tuple[A, Future[R]]] = []
        self._writing: Task[None] | None = None

    async def add(self, item: A) -> R:
        """Have an item written and return its answer, or raise it when it is an exception."""
        answer: Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, answer))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        return await answer

    async def finish(self) -> None:
        """Wait until everything that was added is answered."""
        if self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write_all(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            items = [item for item, _ in batch]
            for answer, (_, future) in zip(await self._answers(items), batch, strict=True):
                _give(future, answer)
        self._writing = None

    async def _answers(self, items: Sequence[A]) -> Sequence[R | BaseException]:
        [answers] = await asyncio.gather(self._write(items), return_exceptions=True)
        if not isinstance(answers, BaseException):
            return answers
        if len(items) == 1 or isinstance(answers, Unavailable):
            return [answers] * len(items)
        alone = await asyncio.gather(*(self._answers([item]) for item in items))
        return [answer for [answer] in alone]


def _give(future: "Future[R]", answer: R | BaseException) -> None:
    if future.done():
        return  # its caller was cancelled meanwhile
    if isinstance(answer, BaseException):
        future.set_exception(answer)
    else:
        future.set_result(answer)
