"""Batches as an application makes and follows them, and as a handler opens one."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self, TypedDict
from uuid import UUID

from pydantic import BaseModel

from headway.core.ask import Ask
from headway.core.batch import BatchAsk, Mixed, batch_problems, children_problems, percent, told
from headway.core.errors import HeadwayError, Invalid, Problem
from headway.core.parameters import merged
from headway.core.reading import demand
from headway.sdk.handle import Follower, Handle
from headway.sdk.pending import Pending

MakeAsk = Callable[[Any], Ask]
Asked = Callable[[Coroutine[Any, Any, Any]], Pending[Any]]


class BatchOptions(TypedDict, total=False):
    """What a batch may say of itself beside its children.

    At most `max_concurrent` children are let in at a time; 0, as when it is left out, is no limit.  `mixed` says what successes beside
    failures make: the `worst` of them, or a `partial` success.  `counted` children of the parent's own job count against its limit of
    concurrent runs.  With `triggers` the end of each child fires triggers.
    """

    max_concurrent: int
    mixed: Literal["worst", "partial"]
    counted: bool
    triggers: bool


class BatchProgress(NamedTuple):
    """How far a batch is: children that have ended, of all; `closed` when there will be no more, `ended` when the parent has ended."""

    done: int
    total: int
    closed: bool
    ended: bool

    @property
    def percent(self) -> int:
        """The share of children that have ended, in per cent."""
        return percent(self.done, self.total)

    def __str__(self) -> str:
        return told(self.done, self.total)


class BatchFollower(Follower, Protocol):
    """What follows, extends and closes batches."""

    async def append(self, parent: UUID, children: Sequence[Ask], key: str | None) -> int:
        """Append children and return the index of the first."""

    async def close_batch(self, parent: UUID) -> None:
        """Take no more children."""

    async def batch(self, parent: UUID) -> Mapping[str, Any]:
        """Return the row of a batch."""


class BatchHandle(Handle):
    """A batch that was accepted: `id` is its parent's.  `result` waits for all children and returns how many ended in which way."""

    __slots__ = ("_batches", "_make_ask", "_parameters")

    def __init__(
        self, parent: UUID, existing: bool, follower: BatchFollower, make_ask: MakeAsk, parameters: Mapping[str, Any] | None
    ) -> None:
        super().__init__(parent, existing, follower)
        self._batches = follower
        self._make_ask = make_ask
        self._parameters = parameters

    def __repr__(self) -> str:
        return f"<batch {self.id}>"

    async def progress(self) -> BatchProgress:
        """Return how far it is."""
        row = await self._batches.batch(self.id)
        return BatchProgress(row["done"], row["total"], row["closed"], row["ended_at"] is not None)

    async def append(self, children: Sequence[Any], *, key: str | None = None) -> int:
        """Append children, all or none, and return the index of the first; a repetition under a key appends nothing.

        Raises Invalid with every child that is wrong, Conflict when the batch is closed.
        """
        return await self._batches.append(self.id, asks_of(self._make_ask, children, self._parameters), key)

    async def close(self) -> None:
        """Take no more children: the batch ends with those that it has."""
        await self._batches.close_batch(self.id)


class BatchLink(Protocol):
    """The way from a handler to batches of its own, under its fence."""

    async def open_batch(self, claimed: Any, wanted: BatchAsk) -> UUID:
        """Open a batch that is closed at the latest when the attempt ends, and return its parent's id."""

    async def append(self, claimed: Any, parent: UUID, children: Sequence[Ask]) -> int:
        """Append children and return the index of the first."""

    async def close_batch(self, claimed: Any, parent: UUID) -> None:
        """Take no more children."""


class RunBatch:
    """A batch that a handler opens: `async with run.batch() as batch`, in a thread `with`; leaving the block closes it.

    It is closed at the latest when the attempt ends, however that is; the next attempt opens another.
    """

    def __init__(self, link: BatchLink, facts: Any, wanted: BatchAsk, make_ask: MakeAsk, asked: Asked) -> None:
        demand(list(batch_problems(wanted)))
        self._link = link
        self._facts = facts
        self._wanted = wanted
        self._make_ask = make_ask
        self._asked = asked
        self.id = UUID(int=0)

    def append(self, children: Sequence[Any]) -> Pending[int]:
        """Append children, all or none, and answer the index of the first.

        A child is what `job.ask` gives, or parameters for the batch's own job.  Raises Invalid with every child that is wrong, Conflict
        when the batch is closed, LeaseLost when the attempt is not held.
        """
        asks = asks_of(self._make_ask, children, None)
        demand(list(children_problems(asks)))
        named = [ask._replace(created_by=self._wanted.parent.created_by) for ask in asks]
        return self._asked(self._link.append(self._facts, self.id, named))

    async def __aenter__(self) -> Self:
        self.id = await self._link.open_batch(self._facts, self._wanted)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._close(error)

    def __enter__(self) -> Self:
        self._asked(self.__aenter__()).result()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._asked(self._close(error)).result()

    async def _close(self, error: BaseException | None) -> None:
        """Close; what made the block end is not hidden by a close that fails, for it is closed in any case."""
        with suppress(*(() if error is None else (HeadwayError,))):
            await self._link.close_batch(self._facts, self.id)


def batch_ask(parent: Ask, children: Sequence[Ask], *, closed: bool, options: BatchOptions) -> BatchAsk:
    """Return the batch that options describe.  Raises Invalid for a `mixed` that is none."""
    given: dict[str, Any] = dict(options)
    if (mixed := given.pop("mixed", Mixed.WORST)) not in list(Mixed):
        raise Invalid.field("mixed", f"must be one of {', '.join(Mixed)}")
    return BatchAsk(parent, children, closed, mixed=Mixed(mixed), **given)


def asks_of(make_ask: MakeAsk, children: Sequence[Any], inherited: Mapping[str, Any] | None) -> list[Ask]:
    """Return the asks for children, their own parameters over those that they inherit.  Raises Invalid with every child that is wrong."""
    problems: list[Problem] = []
    asks: list[Ask] = []
    for index, child in enumerate(children):
        try:
            asks.append(child if isinstance(child, Ask) else make_ask(_over(inherited, child)))
        except Invalid as error:
            problems += [Problem(f"children[{index}].{one.field}", one.message) for one in error.problems]
    demand(problems)
    return asks


def _over(inherited: Mapping[str, Any] | None, own: Any) -> Any:
    if not inherited:
        return own
    given = own.model_dump(exclude_unset=True) if isinstance(own, BaseModel) else own
    if given is not None and not isinstance(given, Mapping):
        raise Invalid.field("parameters", "must be a mapping")
    return merged(inherited, given)
