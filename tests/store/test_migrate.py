"""Bring a schema to the newest version."""

import asyncio
from typing import Any

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import CheckConstraint, Connection, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import create_async_engine

from headway.core.errors import Conflict, Unavailable
from headway.store.migrate import migrate
from headway.store.schema import metadata
from headway.store.tx import Database
from headway.store.version import check_current, current, newest
from tests.store.scene import Scene

# A role that is named like the schema finds it without its name, and Alembic then takes it for nameless.
OUTSIDE = {"search_path": "public"}


async def execute(url: str, sql: str) -> list[Any]:
    """Run plain SQL on a connection of its own."""
    connection = await asyncpg.connect(url)
    try:
        return list(await connection.fetch(sql))
    finally:
        await connection.close()


async def test_an_empty_database_becomes_current(empty_database_url: str) -> None:
    """CFG-05: migrating makes the schema, version by version; before it a process says which command helps."""
    assert await current(empty_database_url) is None
    with pytest.raises(Conflict, match="headway db migrate"):
        await check_current(empty_database_url)
    await migrate(empty_database_url)
    await check_current(empty_database_url)
    assert await current(empty_database_url) == newest()


async def test_migrating_twice_changes_nothing(database_url: str) -> None:
    """CFG-05: a migration can be repeated."""
    relations = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'headway'"
    (before,) = await execute(database_url, relations)
    await migrate(database_url)
    assert await execute(database_url, relations) == [before]


async def test_processes_that_migrate_at_once_agree(empty_database_url: str) -> None:
    """CFG-05: of several that start on an empty database each finds or makes the same schema."""
    await asyncio.gather(*[migrate(empty_database_url) for _ in range(3)])
    await check_current(empty_database_url)


async def test_a_newer_schema_is_left_alone(database_url: str) -> None:
    """A schema that a newer release made is a Conflict that names both versions, for the migration and for every process."""
    await execute(database_url, "UPDATE headway.alembic_version SET version_num = '9999'")
    for check in (migrate, check_current):
        with pytest.raises(Conflict, match="9999, which is newer than this release knows"):
            await check(database_url)
    assert await current(database_url) == "9999"


async def test_the_migrations_make_what_the_metadata_says(database_url: str) -> None:
    """The schema that Alembic makes has no table, column, index, default or key that differs from `schema/`."""
    engine = create_async_engine("postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(database_url, server_settings=OUTSIDE))
    try:
        async with engine.connect() as connection:
            assert await connection.run_sync(_differences) == []
    finally:
        await engine.dispose()


def _differences(connection: Connection) -> list[Any]:
    partitions = {name for (name,) in connection.execute(text("SELECT relname FROM pg_class WHERE relispartition"))}

    def ours(_: Any, name: str | None, kind: str, __: bool, ___: Any) -> bool:
        return not (kind == "table" and name in {*partitions, "alembic_version"})

    options = {
        "include_schemas": True,
        "include_object": ours,
        "include_name": lambda name, kind, _: kind != "schema" or name == "headway",
        "compare_type": True,
        "compare_server_default": True,
        "version_table_schema": "headway",
    }
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


async def test_the_checks_are_those_of_the_metadata(database_url: str) -> None:
    """Alembic compares no CHECK constraints: their names are compared here."""
    rows = await execute(database_url, "SELECT conname FROM pg_constraint WHERE contype = 'c' AND connamespace = 'headway'::regnamespace")
    checks = [one for table in metadata.tables.values() for one in table.constraints if isinstance(one, CheckConstraint)]
    names = postgresql.dialect().identifier_preparer  # type: ignore[no-untyped-call]  # SQLAlchemy leaves dialect constructors untyped
    assert {row["conname"] for row in rows} == {names.format_constraint(one) for one in checks}


async def test_no_extension_is_needed(empty_database_url: str) -> None:
    """A PostgreSQL without a single extension carries the schema."""
    await execute(empty_database_url, "DROP EXTENSION plpgsql")
    await migrate(empty_database_url)
    assert await execute(empty_database_url, "SELECT extname FROM pg_extension") == []


async def test_the_schema_may_have_another_name(empty_database_url: str) -> None:
    """CFG-05: everything works in a schema of another name, beside the usual one, and neither sees the other."""
    await migrate(empty_database_url)
    await migrate(empty_database_url, "jobs")
    database = await Database.open(empty_database_url, schema="jobs")
    scene = Scene(database)
    try:
        await scene.schedule()
        claimed = await scene.started()
        await scene.settle((await scene.run(claimed.id))["session"], claimed)
        assert len(await scene.sql("SELECT 1 FROM jobs.run_done")) == 1
        assert not await scene.sql("SELECT 1 FROM headway.definition")
    finally:
        await database.close()
    await check_current(empty_database_url, "jobs")


async def test_a_server_that_does_not_answer_is_unavailable() -> None:
    """A wrong address is Unavailable, not a driver's exception."""
    with pytest.raises(Unavailable):
        await current("postgresql://postgres@127.0.0.1:1/none")
