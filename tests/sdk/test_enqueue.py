"""Enqueuing from an application: jobs, names, the caller's own transaction, scripts, and what a handle knows."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

from headway.broker import Broker
from headway.core.errors import Conflict, Invalid, NotFound
from headway.core.outcome import Cancelled
from headway.core.run import State
from headway.messages import RunCreated, parse
from headway.sdk import Client, Headway, RunFailed
from headway.sdk.portal import PORTAL
from headway.sdk.sync import sync
from headway.store.tx import Database
from tests.sdk.rows import all_rows, end, row_of, succeed


@pytest.fixture
async def app(app: Headway, database: Database) -> Headway:
    """An application whose jobs are synced."""
    declare(app)
    await sync(database, app, "test")
    return app


def declare(app: Headway) -> None:
    """A job with a typed parameter, one without, and one that is limited."""

    @app.job
    async def report(customer: str, pages: int = 1) -> None: ...

    @app.job
    async def empty() -> None: ...

    @app.job(max_concurrent_runs=1)
    async def single() -> None: ...


async def test_a_job_is_enqueued(app: Headway, database: Database) -> None:
    """RUN-16, RUN-17: parameters are validated, options stored; a repeated key answers with the run that stands."""
    handle = await app.jobs["report"].enqueue({"customer": "acme"}, delay=timedelta(minutes=5), key="k", priority=4, correlation="c")
    row = await row_of(database, handle.id)
    assert (row["params"], row["priority"], row["correlation"], row["created_by"]) == ('{"customer":"acme"}', 4, "c", "test")
    assert row["state"] == State.SCHEDULED
    assert (await app.enqueue("report", {"customer": "acme"}, key="k")).existing
    with pytest.raises(Invalid):
        await app.enqueue("report", {"pages": 1})
    with pytest.raises(NotFound):
        await app.enqueue("unknown", payload="opaque")
    assert len(await all_rows(database)) == 1


async def test_many_are_enqueued_at_once(app: Headway, database: Database) -> None:
    """RUN-17: asks of several jobs, made beforehand, are accepted in one transaction."""
    asks = [app.jobs["report"].ask({"customer": str(number)}) for number in range(10)] + [app.ask("empty")]
    handles = await app.enqueue_many(asks)
    rows = await all_rows(database)
    assert {handle.id for handle in handles} == {row["id"] for row in rows}
    assert len({row["created_at"] for row in rows}) == 1


async def test_a_handle_follows_its_run(app: Headway, database: Database) -> None:
    """A handle gives the results of a run that succeeded, raises RunFailed for any other end, and cancels."""
    done = await app.enqueue("empty")
    waiting = asyncio.ensure_future(done.result(10))
    await succeed(database, done.id, {"sent": 3})
    assert await waiting == {"sent": 3}
    gone = await app.enqueue("empty")
    assert await gone.cancel("not needed") == "cancelled"
    assert await gone.cancel() == "final"
    with pytest.raises(RunFailed, match="CANCELLED: not needed"):
        await gone.result(timedelta(seconds=5))
    assert await app.cancel(uuid4()) == "final"


async def test_a_run_stands_or_falls_with_the_callers_transaction(app: Headway, database: Database, database_url: str) -> None:
    """RUN-17: with tx= the run exists if and only if the caller commits; a limited one waits for the due step, without a lock of ours."""
    connection = await asyncpg.connect(database_url)
    try:
        transaction = connection.transaction()
        await transaction.start()
        await app.enqueue("empty", tx=connection)
        await transaction.rollback()
        assert await all_rows(database) == []
        async with connection.transaction():
            handle = await app.enqueue("empty", tx=connection)
            limited = await app.enqueue("single", tx=connection)
            assert await connection.fetchval("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0
            assert await all_rows(database) == []
        assert (await row_of(database, handle.id))["state"] == State.QUEUED
        assert (await row_of(database, limited.id))["state"] == State.SCHEDULED
        with pytest.raises(Invalid, match="transaction"):
            await app.enqueue("empty", tx=connection)
        with pytest.raises(Invalid, match="asyncpg"):
            await app.enqueue("empty", tx=object())
    finally:
        await connection.close()


async def test_a_refusal_leaves_the_callers_transaction_usable(app: Headway, database: Database, database_url: str) -> None:
    """RUN-09: a refused enqueue undoes itself only; its caller may go on, with its own lock timeout."""
    connection = await asyncpg.connect(database_url)
    async with connection.transaction():
        await connection.execute("SET LOCAL lock_timeout = '7s'")
        await app.enqueue("empty", key="k", tx=connection)
        with pytest.raises(Conflict):
            await app.enqueue("empty", payload="other", key="k", tx=connection)
        with pytest.raises(Invalid):
            await app.enqueue_many([app.ask("empty"), app.ask("unknown")], tx=connection)
        assert await connection.fetchval("SHOW lock_timeout") == "7s"
    await connection.close()
    assert sorted(row["definition"] for row in await all_rows(database)) == ["empty"]


@pytest.mark.parametrize("ends", ["commits", "rolls back"])
async def test_sqlalchemy_connections_and_sessions_are_taken(app: Headway, database: Database, database_url: str, ends: str) -> None:
    """RUN-17: an AsyncConnection and an AsyncSession are taken as they are, even when nothing was executed in them before."""
    engine = create_async_engine(database_url.replace("postgresql://", "postgresql+asyncpg://"))
    async with engine.connect() as connection:
        transaction = await connection.begin()
        await app.enqueue("empty", tx=connection)
        assert await all_rows(database) == []
        await (transaction.commit() if ends == "commits" else transaction.rollback())
    async with AsyncSession(engine) as session:
        await session.begin()
        await app.enqueue("report", {"customer": "a"}, tx=session)
        await (session.commit() if ends == "commits" else session.rollback())
        with pytest.raises(Invalid, match="transaction"):
            await app.enqueue("empty", tx=session)
    await engine.dispose()
    assert len(await all_rows(database)) == (2 if ends == "commits" else 0)


async def test_a_transaction_of_the_app_commits_and_then_hints(app: Headway, broker: Broker, database_url: str) -> None:
    """`app.transaction` tells workers once the caller's transaction has committed, and nobody when it has not."""
    await broker.declare_run_queues(["default"])
    consumer = await broker.consume("run.default", prefetch=10)
    connection = await asyncpg.connect(database_url)
    with pytest.raises(ZeroDivisionError):
        async with app.transaction(connection) as tx:
            await app.enqueue("empty", tx=tx)
            raise ZeroDivisionError
    async with app.transaction(connection) as tx:
        handle = await app.enqueue("empty", tx=tx)
    [delivery] = await consumer.receive()
    assert parse(delivery.body) == RunCreated(queue="default", runs=(handle.id,))
    await consumer.close()
    await connection.close()


async def test_an_application_finds_its_platform_by_itself(database: Database, database_url: str) -> None:
    """The first enqueue connects by the URLs given, from coroutines and from scripts alike; closing and enqueuing again connects again."""
    async with Headway(name="shop", database_url=database_url, broker_url="memory://alone") as app:
        declare(app)
        await sync(database, app, "test")
        first = await app.enqueue("empty")
        await app.close()
        await asyncio.gather(*(app.enqueue("empty") for _ in range(5)))
        script = await asyncio.to_thread(app.jobs["report"].enqueue_sync, {"customer": "a"})
        by_name = await asyncio.to_thread(app.enqueue_sync, "empty")
        with pytest.raises(RuntimeError, match="await"):
            app.enqueue_sync("empty")
        await succeed(database, script.id, {"a": 1}, "report")
        assert await asyncio.to_thread(script.result_sync, 10) == {"a": 1}
        assert await asyncio.to_thread(by_name.cancel_sync) == "cancelled"
        await asyncio.to_thread(PORTAL.close)
    rows = await all_rows(database)
    assert {row["created_by"] for row in rows} == {"shop"} and len(rows) == 8
    assert (await row_of(database, first.id))["state"] == State.QUEUED


async def test_wrong_settings_are_named() -> None:
    """CFG-02: an application without a platform says which settings are missing or wrong."""
    app = Headway(database_url="mysql://x", broker_url="http://x")
    declare(app)
    with pytest.raises(Invalid) as refused:
        await app.enqueue("empty")
    assert sorted(problem.field for problem in refused.value.problems) == ["HEADWAY_BROKER_URL", "HEADWAY_DATABASE_URL"]


async def test_large_and_small_inputs_are_kept_as_they_are(app: Headway, client: Client, database: Database) -> None:
    """RUN-16: parameters beyond the inline limit and opaque payloads are stored byte for byte; beyond 256 KiB they are refused."""
    large = {"customer": "x" * 5000}
    handle = await app.enqueue("report", large)
    opaque = await app.enqueue("empty", payload=b"\x00\xff")
    async with database.once() as tx:
        inputs = {row["run"]: row for row in await tx.connection.fetch("SELECT * FROM headway.run_input")}
    assert inputs[handle.id]["params"] == app.jobs["report"].ask(large).params
    assert inputs[opaque.id]["payload"] == b"\x00\xff"
    too_large: list[dict[str, Any]] = [{"payload": b"x" * 300_000}, {"params": {"customer": "x" * 300_000}}]
    for ask in too_large:
        with pytest.raises(Invalid):
            await app.enqueue("report", **ask)
    await end(database, handle.id, Cancelled("test"))
