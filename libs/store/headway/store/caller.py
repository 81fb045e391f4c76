"""The caller's own transaction: what is asked for in it exists if and only if it commits."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol, runtime_checkable

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from headway.core.errors import Invalid
from headway.store.faults import translated
from headway.store.tx import Connection, Database, Tx

FORMS = "must be an asyncpg connection, a SQLAlchemy AsyncConnection or AsyncSession"


@runtime_checkable
class AlchemySession(Protocol):
    """What is used of a SQLAlchemy AsyncSession."""

    async def connection(self) -> Any:
        """The connection of its transaction."""

    def in_transaction(self) -> bool:
        """Whether it is inside of one."""

    def sync_session(self) -> Any:
        """Tells it from everything else that has connections."""


@runtime_checkable
class AlchemyConnection(Protocol):
    """What is used of a SQLAlchemy AsyncConnection."""

    def in_transaction(self) -> bool:
        """Whether it is inside of one."""

    async def exec_driver_sql(self, statement: str) -> Any:
        """Run the driver's own SQL."""

    async def get_raw_connection(self) -> Any:
        """The driver's connection, wrapped."""


async def callers_tx(connection: Any, database: Database) -> Tx:
    """Return the caller's transaction as ours, with its now.  Raises Invalid for anything that is not inside of a transaction."""
    if isinstance(connection, AlchemyConnection):
        _require(connection.in_transaction())
        connection = await _driver_connection(connection)
    elif isinstance(connection, AlchemySession):
        _require(connection.in_transaction())
        connection = await _driver_connection(await connection.connection())
    if not isinstance(connection, asyncpg.Connection | PoolConnectionProxy):
        raise Invalid.field("tx", FORMS)
    _require(connection.is_in_transaction())
    return await _with_now(connection, database)


@asynccontextmanager
async def begun(connection: Any) -> AsyncIterator[None]:
    """Open a transaction on the caller's connection; it commits when the block ends and rolls back when the block raises."""
    begin = connection.transaction if isinstance(connection, asyncpg.Connection | PoolConnectionProxy) else connection.begin
    async with begin():
        yield


@asynccontextmanager
async def all_or_none(tx: Tx) -> AsyncIterator[None]:
    """Undo what the block did when it raises, and nothing else of the transaction: the caller may go on with it."""
    async with tx.connection.transaction():
        yield


def _require(inside: bool) -> None:
    if not inside:
        raise Invalid.field("tx", "is not inside of a transaction: begin one, so that the run stands or falls with it")


async def _driver_connection(connection: AlchemyConnection) -> Any:
    """SQLAlchemy begins the driver's transaction with the first statement that goes through it."""
    with translated():
        await connection.exec_driver_sql("SELECT 1")
    raw = (await connection.get_raw_connection()).driver_connection
    if not isinstance(raw, asyncpg.Connection):
        raise Invalid.field("tx", "must use the driver asyncpg: postgresql+asyncpg://")
    return raw


async def _with_now(connection: Connection, database: Database) -> Tx:
    with translated():
        now = await connection.fetchval(f"SELECT {database.schema}.headway_now()")
    return Tx(connection, database.schema, now, database.vault)
