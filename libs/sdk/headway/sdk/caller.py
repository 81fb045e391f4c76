"""The way from an application to its platform: found in the settings when the first run is enqueued, one client for each event loop."""

import asyncio
from asyncio import AbstractEventLoop, Task
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID
from weakref import WeakKeyDictionary

from headway.core.ask import Ask
from headway.core.batch import BatchAsk
from headway.runtime.tracing import span
from headway.sdk.ambient import ambient_correlation
from headway.sdk.asking import AskOptions
from headway.sdk.handle import Handle
from headway.sdk.portal import PORTAL

T = TypeVar("T")
CREATED_BY: Final = "sdk"


class Made(Protocol):
    """A run that was accepted."""

    @property
    def id(self) -> UUID: ...
    @property
    def existing(self) -> bool: ...


class MadeBatch(Protocol):
    """A batch that was accepted."""

    @property
    def parent(self) -> UUID: ...
    @property
    def existing(self) -> bool: ...


class Lengthened(Protocol):
    """Children that were appended."""

    @property
    def first(self) -> int: ...


class Platform(Protocol):
    """What an application needs of a client."""

    async def enqueue(self, ask: Ask) -> Made:
        """Accept one run."""

    async def enqueue_many(self, asks: Sequence[Ask]) -> Sequence[Made]:
        """Accept all or none."""

    async def enqueue_within(self, tx: Any, asks: Sequence[Ask]) -> Sequence[Made]:
        """Accept all or none inside of the caller's transaction."""

    def transaction(self, connection: Any) -> AbstractAsyncContextManager[Any]:
        """Open a transaction on the caller's connection, after which hints go out."""

    async def cancel(self, ids: Sequence[UUID], *, actor: str, reason: str) -> Mapping[UUID, str]:
        """Cancel runs and say what became of each."""

    async def wait(self, run_id: UUID, within: float | None) -> Mapping[str, Any]:
        """Return the row of a run once it is final."""

    async def again(self, run_id: UUID, *, actor: str, reason: str, replay: bool) -> Made:
        """Rerun or replay a run."""

    async def make_batch(self, wanted: BatchAsk) -> MadeBatch:
        """Accept a batch whole or not at all."""

    async def append(self, parent: UUID, children: Sequence[Ask], *, key: str | None) -> Lengthened:
        """Append children to a batch, all or none."""

    async def close_batch(self, parent: UUID) -> None:
        """Let a batch take no more children."""

    async def batch(self, parent: UUID) -> Mapping[str, Any]:
        """Return the row of a batch."""

    async def close(self) -> None:
        """Publish what waits and close."""


class Caller:
    """Enqueues and follows runs for one application."""

    def __init__(self, database_url: str | None, broker_url: str | None, name: str) -> None:
        self.urls: dict[str, Any] = {"database_url": database_url, "broker_url": broker_url}
        self.name = name or CREATED_BY
        self.correlate: Callable[[], str | None] | None = None
        self._bound: Platform | None = None
        self._opening: WeakKeyDictionary[AbstractEventLoop, Task[Platform]] = WeakKeyDictionary()

    def bind(self, platform: Platform) -> None:
        """Use a client that somebody else opened and will close."""
        self._bound = platform

    def filled(self, options: AskOptions) -> AskOptions:
        """Return options with what the application knows: the id of a running handler wins over the provider's."""
        filled: AskOptions = {"created_by": self.name, **options}
        if not filled.get("correlation"):
            filled["correlation"] = ambient_correlation() or (self.correlate() if self.correlate else None)
        return filled

    async def platform(self) -> Platform:
        """Return the client of this event loop, opened by the first who asks.  Raises Invalid for bad settings, Unavailable."""
        if self._bound is not None:
            return self._bound
        loop = asyncio.get_running_loop()
        opening = self._opening.get(loop)
        if opening is None or (opening.done() and (opening.cancelled() or opening.exception() is not None)):
            opening = self._opening[loop] = loop.create_task(_open(self.urls, self.name))
        return opening.result() if opening.done() else await asyncio.shield(opening)

    async def close(self) -> None:
        """Publish what waits and close the client of this event loop; the next enqueue opens another."""
        opening = self._opening.pop(asyncio.get_running_loop(), None)
        if opening is not None:
            await (await opening).close()

    async def enqueue(self, make: Callable[[], Ask], tx: Any = None) -> Handle:
        """Accept the run that `make` asks for."""
        with span("run.enqueue"):
            ask = make()
            platform = await self.platform()
            made = await platform.enqueue(ask) if tx is None else (await platform.enqueue_within(tx, [ask]))[0]
        return Handle(made.id, made.existing, self)

    async def enqueue_many(self, asks: Sequence[Ask], tx: Any = None) -> list[Handle]:
        """Accept all or none."""
        with span("run.enqueue"):
            platform = await self.platform()
            made = await (platform.enqueue_many(asks) if tx is None else platform.enqueue_within(tx, asks))
        return [Handle(one.id, one.existing, self) for one in made]

    async def make_batch(self, wanted: BatchAsk) -> MadeBatch:
        """Accept a batch whole or not at all."""
        with span("run.enqueue"):
            return await (await self.platform()).make_batch(wanted)

    async def append(self, parent: UUID, children: Sequence[Ask], key: str | None) -> int:
        """Append children to a batch, all or none, and return the index of the first."""
        return (await (await self.platform()).append(parent, children, key=key)).first

    async def close_batch(self, parent: UUID) -> None:
        """Let a batch take no more children."""
        await (await self.platform()).close_batch(parent)

    async def batch(self, parent: UUID) -> Mapping[str, Any]:
        """Return the row of a batch."""
        return await (await self.platform()).batch(parent)

    async def wait(self, run_id: UUID, within: float | None) -> Mapping[str, Any]:
        """Return the row of a run once it is final."""
        return await (await self.platform()).wait(run_id, within)

    async def cancel(self, ids: Sequence[UUID], reason: str) -> Mapping[UUID, str]:
        """Cancel runs and say what became of each."""
        return await (await self.platform()).cancel(ids, actor=self.name, reason=reason)

    async def again(self, run_id: UUID, reason: str, *, replay: bool) -> Handle:
        """Rerun or replay a run."""
        made = await (await self.platform()).again(run_id, actor=self.name, reason=reason, replay=replay)
        return Handle(made.id, made.existing, self)

    def enqueue_sync(self, make: Callable[[], Ask]) -> Handle:
        """Accept the run that `make` asks for, from code that is no coroutine."""
        return self._sync(lambda: self.enqueue(make))

    def wait_sync(self, run_id: UUID, within: float | None) -> Mapping[str, Any]:
        """Do what `wait` does, from code that is no coroutine."""
        return self._sync(lambda: self.wait(run_id, within))

    def cancel_sync(self, ids: Sequence[UUID], reason: str) -> Mapping[UUID, str]:
        """Do what `cancel` does, from code that is no coroutine."""
        return self._sync(lambda: self.cancel(ids, reason))

    def _sync(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return PORTAL.call(work, closing=self.close)


async def _open(urls: Mapping[str, Any], name: str) -> Platform:
    """Import the drivers and connect; a module of jobs does neither."""
    from headway.sdk.client import Client

    return await Client.connect(created_by=name, **urls)
