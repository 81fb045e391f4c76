"""A database whose connection is killed before its n-th statement or commit, as if the process had died there."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from headway.core.errors import Unavailable
from headway.store.faults import translated
from headway.store.statement import Statement
from headway.store.tx import Connection, Database, Row, Tx


class Killed(Tx):
    """A transaction each statement of which is a point at which it may die."""

    __slots__ = ("step",)

    def __init__(self, tx: Tx, step: Callable[[Connection], Awaitable[None]]) -> None:
        super().__init__(tx.connection, tx.schema, tx.now)
        self.step = step

    async def fetch(self, statement: Statement, **values: Any) -> Sequence[Row]:
        """Run a statement, if there is a connection."""
        await self.step(self.connection)
        return await super().fetch(statement, **values)

    async def fetch_one(self, statement: Statement, **values: Any) -> Row | None:
        """Run a statement, if there is a connection."""
        await self.step(self.connection)
        return await super().fetch_one(statement, **values)

    async def fetch_value(self, statement: Statement, **values: Any) -> Any:
        """Run a statement, if there is a connection."""
        await self.step(self.connection)
        return await super().fetch_value(statement, **values)

    async def execute(self, statement: Statement, **values: Any) -> int:
        """Run a statement, if there is a connection."""
        await self.step(self.connection)
        return await super().execute(statement, **values)


class KillPoints(Database):
    """The same database, which lives for so many statements and commits; then the server ends the connection."""

    def __init__(self, database: Database, left: int) -> None:
        super().__init__(database.pool, database.schema)
        self.left = left

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Tx]:
        """Open a transaction that may die on its way."""
        async with super().begin() as tx:
            yield Killed(tx, self._step)
            await self._step(tx.connection)

    async def _step(self, connection: Connection) -> None:
        """Count a point; at the last the connection is ended by the server, in the middle of its transaction."""
        if self.left == 0:
            with translated():
                await connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        self.left -= 1


async def at_every_point(database: Database, act: Callable[[Database], Awaitable[object]]) -> int:
    """Let `act` die before each of its statements and commits in turn, then let it live; returns how often it died."""
    deaths = 0
    while True:
        try:
            await act(KillPoints(database, deaths))
        except Unavailable:
            deaths += 1
        else:
            return deaths
