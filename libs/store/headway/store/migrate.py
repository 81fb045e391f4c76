"""Bring a schema to the newest version."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import asyncpg
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from headway.core.errors import Unavailable
from headway.store.faults import translated
from headway.store.partitions import ensure_partitions
from headway.store.statement import DEFAULT_SCHEMA
from headway.store.tx import Database
from headway.store.version import check_not_newer

T = TypeVar("T")
_LOCK: Final = 0x68656164


def _config(connection: Connection | None = None, schema: str = DEFAULT_SCHEMA) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    config.attributes["schema"] = schema
    return config


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
