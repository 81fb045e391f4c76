"""A whole worker in this process: real PostgreSQL, memory broker."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from headway.broker.connect import connect
from headway.broker.port import Broker
from headway.core.ask import Ask
from headway.core.outcome import RunOutcome
from headway.core.run import State
from headway.runtime.life import Life
from headway.runtime.settings import WorkerSettings, load
from headway.sdk import Headway, Retry, Run
from headway.sdk.client import Client
from headway.sdk.sync import sync
from headway.store.last_runs import of_definitions
from headway.store.tx import Database
from headway.worker.work import Worker
from tests.store.scene import Scene

app = Headway()


class Number(BaseModel):
    """A number."""

    value: int


@app.job(name="double")
async def double(number: Number) -> int:
    """Twice the number."""
    return 2 * number.value


@app.job(name="wait")
async def wait(run: Run) -> None:
    """Report progress, then wait for ever."""
    await run.progress(0.5, "half")
    await asyncio.Event().wait()


THREAD = threading.Event()


@app.job(name="in_thread")
def in_thread() -> None:
    """Wait for the test, on a thread."""
    THREAD.wait(30)


@app.job(name="family")
async def family(run: Run) -> list[str]:
    """Enqueue a child."""
    return [str(await run.enqueue("double", params={"value": 4}))]


@app.job(name="second_time", retry=Retry(attempts=2, backoff="fixed", base=timedelta()))
async def second_time(run: Run) -> int:
    """Fail once."""
    if run.attempt == 1:
        raise ValueError("not yet")
    return run.attempt


@app.job(name="poison")
async def poison() -> str:
    """Return what no database stores."""
    return "\ud800"


@pytest.fixture
def broker() -> Broker:
    """A broker of this test alone."""
    return connect(f"memory://{UUID(int=id(object()))}")


Working = Callable[..., AbstractAsyncContextManager[Worker]]


@pytest.fixture
async def working(database_url: str, broker: Broker) -> AsyncIterator[Working]:
    """Starts a worker with some settings and stops it in order."""
    database = await Database.open(database_url, hot=True)
    await broker.open()

    @asynccontextmanager
    async def start(**knobs: Any) -> AsyncIterator[Worker]:
        settings = load(WorkerSettings, database_url=database_url, broker_url="memory://", **{"drain_seconds": 1, **knobs})
        life = Life("worker")
        worker = Worker(settings, app, database, broker)
        task = asyncio.create_task(worker.run(life))
        await life.started.wait()
        try:
            yield worker
        finally:
            life.stop("test is over")
            await task

    yield start
    await broker.close()
    await database.close()


@pytest.fixture
async def client(scene: Scene, broker: Broker) -> AsyncIterator[Client]:
    """Asks for runs as an application does; the application's definitions stand."""
    await sync(scene.database, app, actor="test")
    client = Client(scene.database, broker, created_by="test")
    yield client
    await client.close()


async def ended(client: Client, scene: Scene, definition: str, params: str | None = None) -> Any:
    """Ask for one run, wait for its end, and return its row."""
    accepted = await client.enqueue(Ask(definition, params=params))
    await client.wait(accepted.id, 20)
    return await scene.run(accepted.id)


async def test_a_run_is_done_and_can_be_read_back(scene: Scene, client: Client, working: Working) -> None:
    """A run goes from the ask to its result, and PostgreSQL tells of it (RUN-02, RUN-16)."""
    async with working():
        run = await ended(client, scene, "double", '{"value": 21}')
    assert (run["state"], run["outcome"], run["result"], run["attempt"]) == (State.SUCCEEDED, RunOutcome.SUCCESS, '{"value":42}', 1)
    assert run["created_by"] == "test"
    async with scene.database.begin() as tx:
        assert (await of_definitions(tx, ["double"]))["double"]["succeeded"] == run["id"]


async def test_parameters_of_the_wrong_type_fail_for_good(scene: Scene, client: Client, working: Working) -> None:
    """A parameter error names the field and is not tried again (RTY-06)."""
    async with working():
        run = await ended(client, scene, "double", '{"value": "many"}')
    assert run["state"] == State.FAILED
    assert "value" in run["error"]["message"]


async def test_a_failed_attempt_is_tried_again(scene: Scene, client: Client, working: Working) -> None:
    """A retry without delay runs at once; both attempts can be read (RTY-01, RUN-14)."""
    async with working():
        run = await ended(client, scene, "second_time")
    assert (run["state"], run["attempt"], run["failures"]) == (State.SUCCEEDED, 2, 1)
    attempts = await scene.sql("SELECT attempt, outcome FROM headway.attempt ORDER BY attempt")
    assert [(row["attempt"], row["outcome"]) for row in attempts] == [(1, 4), (2, 1)]


async def test_what_cannot_be_stored_fails_alone(scene: Scene, client: Client, working: Working) -> None:
    """A result that PostgreSQL refuses fails its own run and no other (BB-058, RUN-19)."""
    async with working():
        bad, good = await asyncio.gather(ended(client, scene, "poison"), ended(client, scene, "double", '{"value": 1}'))
    assert (bad["state"], bad["error"]["kind"]) == (State.FAILED, "result_not_storable")
    assert good["state"] == State.SUCCEEDED


async def test_a_handler_reports_progress_and_is_cancelled(scene: Scene, client: Client, working: Working) -> None:
    """Progress is readable while the run runs; a cancel reaches the holder by broadcast and ends it (RUN-06, RUN-08, MSG-11)."""
    async with working():
        accepted = await client.enqueue(Ask("wait"))
        while not await scene.sql("SELECT 1 FROM headway.run_progress WHERE percent = 50 AND message = 'half'"):
            pass
        await client.cancel([accepted.id], actor="ann", reason="enough")
        await client.wait(accepted.id, 20)
    run = await scene.run(accepted.id)
    assert (run["state"], run["cancel_by"], run["reason"]) == (State.CANCELLED, "ann", "enough")


async def test_a_thread_that_is_cancelled_keeps_its_run_open(scene: Scene, client: Client, working: Working) -> None:
    """RUN-06: a thread cannot be stopped, so its run is cancelling until it has ended, and nothing starts that waits behind it."""
    THREAD.clear()
    async with working():
        accepted = await client.enqueue(Ask("in_thread"))
        while await scene.state(accepted.id) is not State.RUNNING:
            pass
        await client.cancel([accepted.id], actor="ann", reason="enough")
        with pytest.raises(TimeoutError):
            await client.wait(accepted.id, 0.5)
        THREAD.set()
        run = await client.wait(accepted.id, 20)
    assert (run["state"], run["reason"]) == (State.CANCELLED, "enough")


async def test_a_child_carries_its_parent(scene: Scene, client: Client, working: Working) -> None:
    """What a handler enqueues is its child (COR-06, RUN-16)."""
    async with working():
        run = await ended(client, scene, "family")
    (child,) = await scene.sql("SELECT * FROM headway.all_runs WHERE definition = 'double'")
    assert child["parent"] == run["id"]


async def test_a_lost_lease_writes_nothing(scene: Scene, client: Client, working: Working) -> None:
    """A worker whose session was stopped cancels its handlers, writes nothing for them, and goes on under a new session (LSE-03,
    LSE-05)."""
    async with working(lease_seconds=2, heartbeat_seconds=0.2) as worker:
        accepted = await client.enqueue(Ask("wait"))
        while not await scene.sql("SELECT 1 FROM headway.run WHERE state = 3"):
            pass
        old = worker.lease.session.id
        await scene.sql("UPDATE headway.session SET state = 3 WHERE id = $1", old)
        while worker.lease.session.id == old or not worker.lease.live.is_set():
            await scene.sql("SELECT 1")
        await asyncio.wait_for(worker.crew.idle.wait(), 10)
        run = await scene.run(accepted.id)
        assert (run["state"], run["session"]) == (State.RUNNING, old)


async def test_a_draining_worker_hands_back(scene: Scene, client: Client, working: Working) -> None:
    """A stop hands back what does not end in time, charging nothing (COR-07, LSE-11, RUN-07)."""
    async with working():
        accepted = await client.enqueue(Ask("wait"))
        while not await scene.sql("SELECT 1 FROM headway.run WHERE state = 3"):
            pass
    run = await scene.run(accepted.id)
    assert (run["state"], run["failures"], run["crashes"], run["session"]) == (State.QUEUED, 0, 0, None)
    assert [row["state"] for row in await scene.sql("SELECT state FROM headway.session")] == [3]
