"""One transaction, one connection, one now; and the border to the driver."""

import asyncio
from datetime import timedelta
from functools import partial

import asyncpg
import pytest
from sqlalchemy import Integer, select

from headway.core.errors import Invalid, Unavailable
from headway.store import audit, clock
from headway.store.faults import Contested
from headway.store.statement import REGISTRY, Statement, const, now, param, statement
from headway.store.tx import HOT_SETTINGS, Database, Tx
from tests.store.scene import Scene

WRITE = "INSERT INTO headway.audit (at, actor, action, subject) VALUES (now(), 'a', 'b', $1)"


async def subjects(database: Database) -> list[str]:
    """What was committed."""
    async with database.begin() as tx:
        return [row["subject"] for row in await tx.connection.fetch("SELECT subject FROM headway.audit ORDER BY id")]


async def test_a_transaction_commits_or_leaves_nothing(database: Database) -> None:
    """A block that ends commits, a block that raises rolls back, and the connection is whole afterwards."""
    async with database.begin() as tx:
        await tx.run(WRITE, "kept")
    with pytest.raises(LookupError):
        async with database.begin() as tx:
            await tx.run(WRITE, "lost")
            raise LookupError
    assert await subjects(database) == ["kept"]


async def test_now_is_read_once(scene: Scene) -> None:
    """`now` stands still inside of a transaction; a Tx of one statement has none."""
    async with scene.database.begin() as tx:
        before = tx.now
        await tx.connection.fetch("SELECT pg_sleep(0.01)")
        assert tx.now == before
    async with scene.database.once() as tx:
        with pytest.raises(RuntimeError, match="no now"):
            _ = tx.now


async def test_tests_can_step_the_clock(scene: Scene) -> None:
    """CAL-15: the database's now goes where a test puts it, forward and back, for every connection."""
    async with scene.database.begin() as tx:
        before = tx.now
    for hours in (5, -5):
        async with scene.database.begin() as tx:
            await clock.set_offset(tx, timedelta(hours=hours))
        async with scene.database.begin() as tx:
            assert abs(tx.now - before - timedelta(hours=hours)) < timedelta(minutes=1)


async def test_a_contested_transaction_is_tried_again(database: Database) -> None:
    """A deadlock and a serialization failure run the operation again, from its start; the loser wrote nothing."""
    tries: list[int] = []

    async def contested(tx: Tx) -> int:
        tries.append(1)
        await tx.run(WRITE, str(len(tries)))
        if len(tries) < 3:
            raise Contested("lost")
        return len(tries)

    assert await database.transact(contested) == 3
    assert await subjects(database) == ["3"]


async def test_what_is_always_contested_is_given_up(database: Database) -> None:
    """After five tries the caller is told: Contested, which is Unavailable."""
    tries: list[int] = []

    async def contested(_: Tx) -> None:
        tries.append(1)
        raise Contested("lost")

    with pytest.raises(Unavailable):
        await database.transact(contested)
    assert len(tries) == 5


async def test_a_real_deadlock_is_one_of_them(database: Database) -> None:
    """Two transactions that lock in a ring both get through: PostgreSQL ends one, and the policy tries it again."""
    async with database.begin() as tx:
        for subject in ("x", "y"):
            await tx.run(WRITE, subject)
    barrier = asyncio.Barrier(2)
    again: list[int] = []

    async def lock(tx: Tx, order: str) -> None:
        await tx.run("SET LOCAL deadlock_timeout = '20ms'")
        await tx.run("UPDATE headway.audit SET actor = 'c' WHERE subject = $1", order[0])
        if not again:
            async with asyncio.timeout(5):
                await barrier.wait()
        try:
            await tx.run("UPDATE headway.audit SET actor = 'c' WHERE subject = $1", order[1])
        except Contested:
            again.append(1)
            raise

    await asyncio.gather(database.transact(lambda tx: lock(tx, "xy")), database.transact(lambda tx: lock(tx, "yx")))
    assert again == [1]


async def test_a_lost_connection_is_unavailable(database: Database) -> None:
    """A connection that is cut under a transaction comes out as Unavailable, and the next transaction has another one."""
    with pytest.raises(Unavailable):
        async with database.begin() as tx:
            tx.connection.terminate()
            await tx.run("SELECT 1")
    assert await subjects(database) == []


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    """Opening a pool where nobody listens says so."""
    with pytest.raises(Unavailable):
        await Database.open("postgresql://postgres@127.0.0.1:1/none")


async def test_a_value_that_the_database_refuses_is_invalid(scene: Scene) -> None:
    """BB-058: NUL, halves of characters and numbers out of range are the caller's fault."""
    entries = [
        audit.Entry("a", "b", "a\x00b"),
        audit.Entry("a", "b", "\ud800"),
        audit.Entry("a", "b", "c", new={"text": "a\x00b"}),
        audit.Entry("a", "b", "c", old={"text": "\ud800"}),
    ]
    for entry in entries:
        with pytest.raises(Invalid):
            await scene.database.transact(partial(audit.write, entry=entry))


async def test_a_mistake_of_ours_is_no_unavailability(database: Database) -> None:
    """A statement that is wrong comes out as it is: nobody tries it again."""
    with pytest.raises(asyncpg.UndefinedTableError):
        async with database.begin() as tx:
            await tx.run("SELECT 1 FROM headway.nothing")


async def test_hot_connections_forbid_plans_without_a_key(database_url: str) -> None:
    """Workers' connections are opened with the settings of the hot path; all have UTC and no jit."""
    hot = await Database.open(database_url, hot=True)
    try:
        async with hot.once() as tx:
            shown = {name: await tx.connection.fetchval(f"SHOW {name}") for name in (*HOT_SETTINGS, "jit", "timezone")}
    finally:
        await hot.close()
    assert shown == {**HOT_SETTINGS, "jit": "off", "timezone": "UTC"}


def test_a_statement_is_entered_once() -> None:
    """Two statements of one name would overwrite each other's rendering."""
    with pytest.raises(ValueError, match="registered twice"):
        statement("run_create", select(const(1)))
    assert "run_create" in REGISTRY


def test_a_statement_holds_no_values() -> None:
    """A value that slipped into a statement would be sought among its arguments: it is refused where it is built."""
    with pytest.raises(ValueError, match="holds values"):
        Statement("leak", select(const(1)).where(param("a", Integer) == 5))


def test_a_statement_says_what_it_misses() -> None:
    """An argument that is missing is named."""
    with pytest.raises(KeyError, match="limit"):
        Statement("one", select(param("limit", Integer))).arguments({})


def test_a_statement_is_written_for_its_schema() -> None:
    """CFG-05: the text names the schema that it is for."""
    one = Statement("clock", select(now()))
    assert "jobs.headway_now()" in one.text("jobs")
    assert "headway.headway_now()" in one.text("headway")
