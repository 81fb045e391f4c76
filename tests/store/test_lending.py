"""Connections that are lent."""

import asyncio

import pytest

from headway.core.errors import Unavailable
from headway.store.tx import Database
from tests.store.scene import Scene


async def _pid(database: Database) -> int:
    async with database.once() as tx:
        return int(await tx.connection.fetchval("SELECT pg_backend_pid()"))


async def test_one_borrower_after_another_gets_the_same_connection(scene: Scene) -> None:
    """The connection that came back last is the next one lent."""
    assert len({await _pid(scene.database) for _ in range(5)}) == 1


async def test_a_connection_that_was_ended_is_not_lent_again(scene: Scene) -> None:
    """LSE-10: after its server process is gone a connection is replaced, and only who held it notices."""
    pid = await _pid(scene.database)
    with pytest.raises(Unavailable):
        async with scene.database.once() as tx:
            await tx.run(f"SELECT pg_terminate_backend({pid})")
    assert await _pid(scene.database) != pid


async def test_whoever_waits_is_served_before_a_connection_is_kept(database_url: str) -> None:
    """No connection lies at hand while somebody waits for one."""
    database = await Database.open(database_url, size=1)
    entered, leave = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with database.once():
            entered.set()
            await leave.wait()

    holder = asyncio.create_task(hold())
    await entered.wait()
    waiters = [asyncio.create_task(_pid(database)) for _ in range(3)]
    leave.set()
    async with asyncio.timeout(5):
        assert len(set(await asyncio.gather(*waiters))) == 1
        await holder
    await database.close()
