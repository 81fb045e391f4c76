"""A fresh database for each test: a copy of one that was migrated once in the run."""

import secrets
from urllib.parse import urlsplit

import asyncpg

from tests.harness.rundir import RunDir
from tests.harness.services import apart


def named(url: str, database: str) -> str:
    """The same server's URL with another database."""
    return urlsplit(url)._replace(path=f"/{database}").geturl()


def template(run: RunDir, server: str) -> str:
    """The name of the migrated database that copies are made of; made by the first worker that asks."""
    return run.shared("template", lambda: apart(_make_template(server)))["name"]


def forget_template(run: RunDir) -> None:
    """Remove the template from a server that outlives the run."""
    server, made = run.found("postgres"), run.found("template")
    if server and made:
        apart(drop(named(server["url"], made["name"]), server["url"]))


async def create(server: str, original: str | None = None) -> str:
    """Make a database, a copy of `original` or an empty one, and return its URL."""
    name = f"headway_test_{secrets.token_hex(6)}"
    await _execute(server, f'CREATE DATABASE "{name}"' + (f' TEMPLATE "{original}"' if original else ""))
    return named(server, name)


async def drop(url: str, server: str) -> None:
    """Remove a database, whoever is still connected to it."""
    await _execute(server, f'DROP DATABASE IF EXISTS "{urlsplit(url).path[1:]}" WITH (FORCE)')


async def _make_template(server: str) -> dict[str, str]:
    from headway.store.migrate import migrate  # it brings alembic along, which most runs of a few tests have no use for

    url = await create(server)
    await migrate(url)
    return {"name": urlsplit(url).path[1:]}


async def _execute(server: str, statement: str) -> None:
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
