"""Connections of a pool, lent one at a time; the last one given back is kept at hand.

A pool's own lending costs a task and several turns of the event loop, which is most of what a lone statement costs this process.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from headway.core.errors import Unavailable
from headway.store.faults import translated

Lent: TypeAlias = "PoolConnectionProxy[Any]"


class Lending:
    """Lends connections.  One that comes back whole while nobody waits is kept for the next borrower, all others go to the pool."""

    def __init__(self, pool: "asyncpg.Pool[Any]") -> None:
        self.pool = pool
        self._at_hand: Lent | None = None
        self._waiting = 0
        self._closed = False

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[Lent]:
        """Lend a connection for the length of a block.  Raises Unavailable."""
        connection = await self._take()
        try:
            yield connection
        except BaseException:
            await self._give_back(connection)
            raise
        if self._at_hand is None and not self._waiting and not self._closed and _whole(connection):
            self._at_hand = connection
        else:
            await self._give_back(connection)

    async def close(self) -> None:
        """Return every connection, at most five seconds late."""
        self._closed = True
        at_hand, self._at_hand = self._at_hand, None
        if at_hand is not None:
            await self._give_back(at_hand)
        try:
            await asyncio.wait_for(self.pool.close(), 5)
        except TimeoutError:
            self.pool.terminate()

    async def _take(self) -> Lent:
        connection, self._at_hand = self._at_hand, None
        if connection is not None:
            if _whole(connection):
                return connection
            await self._give_back(connection)
        self._waiting += 1
        try:
            with translated():
                return await self.pool.acquire()
        finally:
            self._waiting -= 1

    async def _give_back(self, connection: Lent) -> None:
        """Return a connection to the pool; one that cannot be returned is closed by it."""
        with suppress(Unavailable), translated():
            await self.pool.release(connection, timeout=5)


def _whole(connection: Lent) -> bool:
    return not connection.is_closed() and not connection.is_in_transaction()
