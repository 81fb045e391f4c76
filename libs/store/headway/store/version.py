"""Which version a database's schema has, and whether this release can work with it.

Every process asks at its start, so this loads neither Alembic nor a migration: a step's version is the beginning of its file's name.
"""

from importlib.resources import files
from typing import Final

import asyncpg

from headway.core.errors import Conflict, Unavailable
from headway.store.faults import translated
from headway.store.statement import DEFAULT_SCHEMA

CONNECT_SECONDS: Final = 10


def versions() -> list[str]:
    """Return the versions of all steps that this release knows, in order."""
    steps = files("headway.store.migrations.versions").iterdir()
    return sorted(step.name.partition("_")[0] for step in steps if step.name[:1].isdigit())


def newest() -> str:
    """Return the version that this release works with."""
    return versions()[-1]


async def current(url: str, schema: str = DEFAULT_SCHEMA) -> str | None:
    """Return the version of a database's schema, or None when it has none.  Raises Unavailable."""
    try:
        with translated():
            connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS)
            try:
                found: str | None = await connection.fetchval(f"SELECT version_num FROM {schema}.alembic_version")
            finally:
                await connection.close()
        return found
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
        return None
    except asyncpg.PostgresError as error:
        raise Unavailable(f"database: {error}") from error


async def check_not_newer(url: str, schema: str = DEFAULT_SCHEMA) -> str | None:
    """Return the version of a schema; raises Conflict when this release does not know it."""
    version = await current(url, schema)
    if version is not None and version not in versions():
        raise Conflict(
            f"database schema {schema!r} has version {version}, which is newer than this release knows ({newest()}): upgrade Headway",
            code="schema_too_new",
        )
    return version


async def check_current(url: str, schema: str = DEFAULT_SCHEMA) -> None:
    """Raise Conflict unless the schema has exactly this release's version; the message says which command helps."""
    version = await check_not_newer(url, schema)
    if version != newest():
        raise Conflict(
            f"database schema {schema!r} has version {version or 'none'}, this release needs {newest()}: run `headway db migrate`",
            code="schema_too_old",
        )
