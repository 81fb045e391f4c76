"""One transaction, one connection, one now."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Any, Final, TypeAlias, TypeVar

import asyncpg
import orjson
from asyncpg.pool import PoolConnectionProxy
from asyncpg.transaction import Transaction

from headway.core.errors import Unavailable
from headway.core.secret import Vault
from headway.store.faults import Contested, retrying, translated
from headway.store.lending import Lending
from headway.store.reckoning import Reckoning
from headway.store.statement import DEFAULT_SCHEMA, Row, Statement

__all__ = ["Connection", "Database", "Row", "Tx"]

T = TypeVar("T")
Connection: TypeAlias = "asyncpg.Connection[Any] | PoolConnectionProxy[Any]"
# A plan for these arguments weighs the batch against statistics that may have been taken while a table was empty; a plan for any
# arguments goes by the key (performance.md, "The planner trap").
SETTINGS: Final = {
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
    "idle_in_transaction_session_timeout": "60000",
    "statement_timeout": "60000",
    "timezone": "UTC",
}
# A worker runs a handful of statements, all of them by key: it forbids every plan that is not.
HOT_SETTINGS: Final = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",
}


class Tx:
    """What every operation takes first: one connection and one now.

    Operations never open transactions and never read a clock.  `now` is the database's instant at the start, `vault` what seals secrets.
    """

    __slots__ = ("_now", "connection", "schema", "vault")

    def __init__(self, connection: Connection, schema: str, now: datetime | None = None, vault: Vault | None = None) -> None:
        self.connection = connection
        self.schema = schema
        self.vault = vault
        self._now = now

    @property
    def now(self) -> datetime:
        """The database's instant, read once.  A single-statement Tx has none: its statement reads the clock itself."""
        if self._now is None:
            raise RuntimeError("this Tx is one statement and has no now")
        return self._now

    async def fetch(self, statement: Statement, **values: Any) -> Sequence[Row]:
        """Run a statement and return its rows.  Raises Unavailable."""
        with translated():
            return await self.connection.fetch(statement.text(self.schema), *statement.arguments(values))

    async def fetch_one(self, statement: Statement, **values: Any) -> Row | None:
        """Run a statement and return its first row, or None."""
        with translated():
            return await self.connection.fetchrow(statement.text(self.schema), *statement.arguments(values))

    async def fetch_value(self, statement: Statement, **values: Any) -> Any:
        """Run a statement and return the first value of its first row, or None."""
        with translated():
            return await self.connection.fetchval(statement.text(self.schema), *statement.arguments(values))

    async def execute(self, statement: Statement, **values: Any) -> int:
        """Run a statement and return how many rows it wrote."""
        with translated():
            done = await self.connection.execute(statement.text(self.schema), *statement.arguments(values))
        tail = str(done).rpartition(" ")[2]
        return int(tail) if tail.isdigit() else 0

    async def run(self, sql: str, *values: Any) -> None:
        """Run plain SQL that no statement builder writes: settings and data definition."""
        with translated():
            await self.connection.execute(sql, *values)


async def prepare_connection(connection: Connection) -> None:
    """Teach a connection that JSON documents are Python values; the binary format of jsonb begins with its version, 1."""
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        format="binary",
        encoder=lambda value: b"\x01" + orjson.dumps(value),
        decoder=lambda raw: orjson.loads(raw[1:]),
    )


async def end_transaction(connection: Connection) -> None:
    """Ready a connection for whoever is next.

    Nothing here sets anything for longer than a transaction, so only one that was left open needs the round trip of a reset.
    """
    if connection.is_in_transaction():
        await connection.reset()


class Database:
    """A pool of connections to one schema of one database."""

    def __init__(self, pool: "asyncpg.Pool[Any]", schema: str, vault: Vault | None = None) -> None:
        self.pool = pool
        self.schema = schema
        self.vault = vault
        self.reckoning = Reckoning()
        self._lending = Lending(pool)

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        schema: str = DEFAULT_SCHEMA,
        size: int = 8,
        name: str = "headway",
        hot: bool = False,
        vault: Vault | None = None,
    ) -> "Database":
        """Connect, at least once.  `hot` is for whoever claims and settles, without a `vault` no secret can be written.

        Raises Unavailable when the server does not answer.
        """
        settings = {**SETTINGS, **(HOT_SETTINGS if hot else {}), "application_name": name}
        with translated():
            pool = await asyncpg.create_pool(
                url,
                min_size=1,
                max_size=size,
                init=prepare_connection,
                reset=end_transaction,
                server_settings=settings,
                command_timeout=60,
                timeout=10,
            )
        return cls(pool, schema, vault)

    async def close(self) -> None:
        """Return every connection, at most five seconds late."""
        await self._lending.close()

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Tx]:
        """Open a transaction with one now; it commits when the block ends and rolls back when the block raises."""
        async with self._lending.borrow() as connection:
            with translated():
                transaction = connection.transaction()
                await transaction.start()
                now = await connection.fetchval(f"SELECT {self.schema}.headway_now()")
            self.reckoning.note(now)
            try:
                yield Tx(connection, self.schema, now, self.vault)
            except BaseException:
                await _roll_back(transaction)
                raise
            with translated():
                await transaction.commit()

    @asynccontextmanager
    async def once(self) -> AsyncIterator[Tx]:
        """Give a connection for one statement that is its own transaction."""
        async with self._lending.borrow() as connection:
            yield Tx(connection, self.schema, vault=self.vault)

    async def transact(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        """Run an operation in a transaction, again when it was contested (40P01, 40001).  Raises Unavailable."""
        with suppress(Contested):  # the usual case costs no policy
            async with self.begin() as tx:
                return await operation(tx)
        async for trial in retrying():
            with trial:
                async with self.begin() as tx:
                    return await operation(tx)
        raise AssertionError("unreachable: the policy reraises")


async def _roll_back(transaction: Transaction) -> None:
    """Roll back; a connection that is gone has rolled back by itself."""
    with suppress(Unavailable), translated():
        await transaction.rollback()
