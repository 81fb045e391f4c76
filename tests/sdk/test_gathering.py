"""Group commit."""

import asyncio
from collections.abc import Sequence

import pytest

from headway.core.errors import Conflict, Unavailable
from headway.sdk.gathering import Gathering


class Writer:
    """Writes numbers: 13 is refused for itself, 99 breaks the whole write; it waits while it is told to."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.away = False

    async def __call__(self, items: Sequence[int], *, apart: bool) -> Sequence[int | BaseException]:
        """Answer each number with its double."""
        self.batches.append(list(items))
        await self.open.wait()
        if self.away:
            raise Unavailable("away")
        if 99 in items:
            raise ValueError("99")
        return [Conflict("13") if item == 13 else 2 * item for item in items]


async def test_what_waits_while_a_write_is_under_way_is_the_next_batch() -> None:
    """The first caller is written at once and alone; those who come meanwhile are written together."""
    writer = Writer()
    writer.open.clear()
    gathering = Gathering[int, int](writer)
    first = asyncio.ensure_future(gathering.add(1))
    while not writer.batches:
        await asyncio.wait([first], timeout=0)
    others = [asyncio.ensure_future(gathering.add(number)) for number in range(2, 6)]
    await asyncio.wait(others, timeout=0)
    writer.open.set()
    assert await asyncio.gather(first, *others) == [2, 4, 6, 8, 10]
    assert writer.batches == [[1], [2, 3, 4, 5]]


async def test_each_caller_gets_its_own_answer() -> None:
    """An item's own error is its caller's; one that breaks the write is found by writing each apart."""
    writer = Writer()
    gathering = Gathering[int, int](writer)
    answers = await asyncio.gather(*(gathering.add(number) for number in (1, 13, 99, 2)), return_exceptions=True)
    assert [answers[0], answers[3]] == [2, 4]
    assert isinstance(answers[1], Conflict) and isinstance(answers[2], ValueError)


async def test_unavailable_is_for_all() -> None:
    """A database that is away is asked once, not once for each caller."""
    writer = Writer()
    writer.away = True
    gathering = Gathering[int, int](writer)
    answers = await asyncio.gather(*(gathering.add(number) for number in range(5)), return_exceptions=True)
    assert all(isinstance(answer, Unavailable) for answer in answers)
    assert len(writer.batches) == 1
    writer.away = False
    assert await gathering.add(1) == 2


async def test_a_caller_that_leaves_disturbs_nobody() -> None:
    """A cancelled caller's item is written and its answer dropped; finish waits for everything."""
    writer = Writer()
    writer.open.clear()
    gathering = Gathering[int, int](writer)
    leaving, staying = asyncio.ensure_future(gathering.add(1)), asyncio.ensure_future(gathering.add(2))
    await asyncio.wait([leaving, staying], timeout=0)
    leaving.cancel()
    finishing = asyncio.ensure_future(gathering.finish())
    writer.open.set()
    await finishing
    assert await staying == 4
    with pytest.raises(asyncio.CancelledError):
        await leaving


async def test_whoever_is_alone_writes_at_once_and_others_gather_behind() -> None:
    """With nobody else there no task stands between; who comes meanwhile is written together, also when the first one is cancelled."""
    written: list[list[int]] = []
    entered, go = asyncio.Event(), asyncio.Event()

    async def write(items: Sequence[int], *, apart: bool) -> list[int]:
        written.append(list(items))
        entered.set()
        await go.wait()
        return list(items)

    gathering = Gathering(write, at_once=True)
    first = asyncio.create_task(gathering.add(1))
    await entered.wait()
    others = [asyncio.create_task(gathering.add(number)) for number in (2, 3)]
    ending = asyncio.create_task(gathering.finish())
    await asyncio.wait(others, timeout=0)
    first.cancel()
    go.set()
    assert await asyncio.gather(*others) == [2, 3]
    await ending
    assert (written, first.cancelled()) == ([[1], [2, 3]], True)


async def test_whoever_is_alone_gets_its_own_error() -> None:
    """An answer that is an exception, and a write that raises, reach the caller, and the next one is written."""

    async def write(items: Sequence[int], *, apart: bool) -> list[int | BaseException]:
        if items == [1]:
            raise ValueError("all")
        return [LookupError("this") if item == 2 else item for item in items]

    gathering = Gathering(write, at_once=True)
    with pytest.raises(ValueError, match="all"):
        await gathering.add(1)
    with pytest.raises(LookupError, match="this"):
        await gathering.add(2)
    assert await gathering.add(3) == 3
