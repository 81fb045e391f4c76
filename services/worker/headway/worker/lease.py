"""The worker's session: registered, renewed, and given up the moment it may no longer be ours."""

import asyncio
import os
import socket
from asyncio import Event, TimerHandle
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from importlib.metadata import version
from uuid import UUID, uuid4

import structlog

from headway.core.errors import LeaseLost
from headway.store import sessions
from headway.store.sessions import Session
from headway.store.tx import Database

log = structlog.get_logger(__name__)
SAFE_PART = 2 / 3


class Lease:
    """One session at a time.  `on_lost` is called with the session that was lost; `on_wish` with runs that should be cancelled.

    A lease that is not renewed counts as lost at two thirds of its length, on the monotonic clock, from when the renewal was sent: by
    then every handler must be on its way out, before anybody else may start its run.
    """

    def __init__(
        self,
        database: Database,
        length: timedelta,
        *,
        queues: Sequence[str],
        handlers: Sequence[str],
        capacity: int,
    ) -> None:
        self.database = database
        self.length = length
        self.live = Event()
        self.on_lost: Callable[[UUID], None] = lambda session: None
        self.on_wish: Callable[[Iterable[UUID]], None] = lambda ids: None
        self.in_flight: Callable[[], int] = lambda: 0
        self._shape = (tuple(queues), tuple(handlers), capacity)
        self._expiry: TimerHandle | None = None
        self.session = self._new()

    async def begin(self) -> None:
        """Register the session.  Raises Unavailable."""
        sent = asyncio.get_running_loop().time()
        async with self.database.begin() as tx:
            await sessions.register(tx, self.session, self.length)
        self._extended(sent)
        log.info("session began", session=str(self.session.id), queues=self.session.queues, capacity=self.session.capacity)

    async def renew(self) -> int:
        """Extend the lease, or begin a new session in the place of a lost one, and pass on cancel wishes; says how many."""
        if not self.live.is_set():
            await self.begin()
            return 0
        mine = self.session
        sent = asyncio.get_running_loop().time()
        try:
            async with self.database.once() as tx:
                renewal = await sessions.renew(tx, mine.id, self.length, in_flight=self.in_flight())
        except LeaseLost:
            self.lose(mine.id)
            return 0
        if mine is self.session and self.live.is_set():
            self._extended(sent)
            self.on_wish(renewal.wishes)
        return len(renewal.wishes)

    def lose(self, session: UUID) -> None:
        """Give a session up: nothing is written under it any more.  Only the first call for a session has an effect."""
        if session != self.session.id or not self.live.is_set():
            return
        log.warning("lease was lost", session=str(session))
        self._forget()
        self.session = self._new()
        self.on_lost(session)

    async def drain(self) -> None:
        """Stop claiming under this session; it is still renewed."""
        async with self.database.begin() as tx:
            await sessions.drain(tx, self.session.id)

    async def end(self) -> None:
        """Stop the session for good."""
        self._forget()
        async with self.database.begin() as tx:
            await sessions.stop(tx, self.session.id)

    def _extended(self, sent: float) -> None:
        self._forget()
        self.live.set()
        self._expiry = asyncio.get_running_loop().call_at(sent + self.length.total_seconds() * SAFE_PART, self.lose, self.session.id)

    def _forget(self) -> None:
        self.live.clear()
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None

    def _new(self) -> Session:
        queues, handlers, capacity = self._shape
        return Session(uuid4(), "worker", socket.gethostname(), os.getpid(), queues, handlers, capacity, version("headway-worker"))
