"""Bring a schema to the newest version, and say which version it has."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from headway.core.errors import Conflict, Unavailable
from headway.store.faults import translated
from headway.store.partitions import ensure_partitions
from headway.store.statement import DEFAULT_SCHEMA
from headway.store.tx import Database

T = TypeVar("T")
_LOCK: Final = 0x68656164


def _config(connection: Connection | None = None, schema: str = DEFAULT_SCHEMA) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    config.attributes["schema"] = schema
    return config


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def newest() -> str:
    """Return the version that this release works with."""
    head = _scripts().get_current_head()
    assert head is not None, "there is always a first migration"
    return head


async def migrate(url: str, schema: str = DEFAULT_SCHEMA) -> None:
    """Create the schema if it is missing and apply every step that it lacks; safe to run twice and at once.

    Needs a direct connection (no transaction pooler).  Raises Unavailable, and Conflict when the schema is newer than this release.
    """
    await check_not_newer(url, schema)

    def upgrade(connection: Connection) -> None:
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {schema}"))
        command.upgrade(_config(connection, schema), "head")

    await _with_connection(url, upgrade)
    database = await Database.open(url, schema=schema, size=1, name="headway migrate")
    try:
        async with database.begin() as tx:
            await ensure_partitions(tx)
    finally:
        await database.close()


async def current(url: str, schema: str = DEFAULT_SCHEMA) -> str | None:
    """Return the version of a database's schema, or None when it has none.  Raises Unavailable."""

    def read(connection: Connection) -> str | None:
        return MigrationContext.configure(connection, opts={"version_table_schema": schema}).get_current_revision()

    return await _with_connection(url, read)


async def check_not_newer(url: str, schema: str = DEFAULT_SCHEMA) -> None:
    """Raise Conflict when the schema has a version that this release does not know."""
    version = await current(url, schema)
    known = {script.revision for script in _scripts().walk_revisions()}
    if version is not None and version not in known:
        raise Conflict(
            f"database schema {schema!r} has version {version}, which is newer than this release knows ({newest()}): upgrade Headway",
            code="schema_too_new",
        )


async def check_current(url: str, schema: str = DEFAULT_SCHEMA) -> None:
    """Raise Conflict unless the schema has exactly this release's version; the message says which command helps."""
    await check_not_newer(url, schema)
    version = await current(url, schema)
    if version != newest():
        raise Conflict(
            f"database schema {schema!r} has version {version or 'none'}, this release needs {newest()}: run `headway db migrate`",
            code="schema_too_old",
        )


async def _with_connection(url: str, work: Callable[[Connection], T]) -> T:
    async def connect() -> "asyncpg.Connection[Any]":
        return await asyncpg.connect(url, timeout=10)

    engine: AsyncEngine = create_async_engine("postgresql+asyncpg://", async_creator=connect)
    try:
        with translated():
            async with engine.begin() as connection:
                return await connection.run_sync(work)
    except asyncpg.PostgresError as error:
        raise Unavailable(f"database: {error}") from error
    finally:
        await engine.dispose()
