"""Two of each service: every slot fires once, runs are shared, and no single death loses or doubles anything."""

import asyncio
import random
import signal
import socket
from collections import Counter
from itertools import pairwise

import pytest

from headway.broker.connect import connect
from headway.core.ask import Ask
from headway.sdk.client import Client
from headway.store.tx import Database
from tests.system.fleet import LEASE_SECONDS, Fleet

pytestmark = [pytest.mark.system, pytest.mark.timeout(150)]
ROLES = ("scheduler", "maintenance", "workflow-engine", "worker", "api")
OPEN = "SELECT count(*) = 0 FROM headway.run WHERE definition <> 'tick'"
SEED = 20


async def enqueue(fleet: Fleet, definition: str, count: int, params: str | None = None) -> float:
    """Create runs as an application does, hint at them, and say how many seconds the create took."""
    database = await Database.open(fleet.database_url, size=2)
    broker = connect(fleet.broker_url)
    await broker.open()
    try:
        client = Client(database, broker, created_by="test")
        loop = asyncio.get_running_loop()
        began = loop.time()
        await client.enqueue_many([Ask(definition, params=params) for _ in range(count)])
        took = loop.time() - began
        await client.close()
        return took
    finally:
        await broker.close()
        await database.close()


def start_two_of_each(fleet: Fleet) -> None:
    """Start the whole platform twice."""
    for role in ROLES:
        for _ in range(2):
            start_one(fleet, role)


def start_one(fleet: Fleet, role: str) -> None:
    """Start one service as the platform runs it."""
    few = ("--queue", "default", "--concurrency", "10")
    fleet.start(role, *(few if role == "worker" else ()), HEADWAY_API__PORT=str(free_port()))


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_fleet_survives_the_death_of_any_process(fleet: Fleet) -> None:
    """With two of each service and `kill -9` of one of every kind in turn: nothing is lost, nothing finishes twice, every slot fires
    once, and both workers share the runs (LSE-12, DEF-13, MSG-10)."""
    fleet.sync()
    start_two_of_each(fleet)
    await fleet.until("SELECT count(*) >= 2 FROM headway.session WHERE kind = 'worker' AND state = 1")
    chance = random.Random(SEED)  # noqa: S311  # a seed that can be replayed is the point
    for role in ROLES:
        await enqueue(fleet, "nap", 40, '{"seconds": 0.1}')
        victim = chance.choice([member for member in fleet.members if member.role == role])
        victim.kill()
        fleet.members.remove(victim)
        start_one(fleet, role)
    await enqueue(fleet, "flaky", 10)
    await fleet.until(OPEN, within=60)
    assert await fleet.value("SELECT count(*) FROM headway.run_done WHERE definition = 'nap' AND state = 4") == 40 * len(ROLES)
    assert await fleet.value("SELECT count(*) FROM headway.run_done WHERE definition = 'flaky' AND state = 4 AND attempt = 3") == 10
    shared = await fleet.rows("SELECT session, count(*) FROM headway.run_done WHERE definition = 'nap' GROUP BY session")
    assert len(shared) >= 2, shared
    await every_slot_is_decided_once(fleet)
    done = fleet.run("doctor")
    assert done.returncode == 0, done.stdout + done.stderr


async def every_slot_is_decided_once(fleet: Fleet) -> None:
    """No gap and no double in the ledger of a schedule that is due every second, and one run for each fired slot."""
    slots = await fleet.rows("SELECT slot_at, decision, run FROM headway.slot ORDER BY slot_at")
    instants = [slot["slot_at"] for slot in slots]
    assert len(instants) > 5
    assert {(after - before).total_seconds() for before, after in pairwise(instants)} == {1.0}
    fired = [slot["run"] for slot in slots if slot["decision"] == 1]
    assert None not in fired
    runs = await fleet.rows("SELECT id FROM headway.all_runs WHERE definition = 'tick' AND slot_at <= $1", instants[-1])
    assert Counter(row["id"] for row in runs) == Counter(fired)


async def test_a_frozen_worker_writes_nothing_when_it_wakes(fleet: Fleet) -> None:
    """A worker that is stopped past its lease and woken writes nothing and claims nothing under its old session; its runs run
    elsewhere (LSE-03 to 06, BB-055)."""
    fleet.sync()
    fleet.start("maintenance")
    frozen = fleet.start("worker", "--queue", "default", "--concurrency", "4")
    await fleet.until("SELECT count(*) = 1 FROM headway.session WHERE kind = 'worker'")
    await enqueue(fleet, "nap", 4, '{"seconds": 1.0}')
    await fleet.until("SELECT count(*) = 4 FROM headway.run WHERE state = 3")
    old = await fleet.value("SELECT id FROM headway.session WHERE kind = 'worker'")
    frozen.signal(signal.SIGSTOP)
    fleet.start("worker", "--queue", "default")
    await fleet.until("SELECT state = 3 FROM headway.session WHERE id = $1", old, within=LEASE_SECONDS + 5)
    frozen.signal(signal.SIGCONT)
    await fleet.until("SELECT count(*) = 4 FROM headway.run_done WHERE state = 4")
    assert await fleet.value("SELECT count(*) FROM headway.run_done WHERE session = $1", old) == 0
    assert {row["attempt"] for row in await fleet.rows("SELECT attempt FROM headway.run_done")} == {2}
    await fleet.until("SELECT count(*) >= 2 FROM headway.session WHERE kind = 'worker' AND state = 1")
    assert await fleet.value("SELECT count(*) FROM headway.run WHERE session = $1", old) == 0


async def test_a_handler_that_kills_its_process_ends_as_crashed(fleet: Fleet) -> None:
    """A run whose handler kills the worker each time fails as Crashed after three crashes, and others go on (BB-057)."""
    fleet.sync()
    fleet.start("maintenance")
    fleet.start("worker", "--queue", "default")
    deadly = fleet.start("worker", "--queue", "deadly")
    await enqueue(fleet, "suicide", 1)
    await enqueue(fleet, "nap", 20)
    for _ in range(2):
        await fleet.until("SELECT count(*) = 0 FROM headway.run WHERE state = 3 AND definition = 'suicide'", within=20)
        deadly.process.wait(20)
        deadly = fleet.start("worker", "--queue", "deadly")
    await fleet.until("SELECT count(*) = 1 FROM headway.run_done WHERE definition = 'suicide' AND outcome = 6 AND crashes = 3", within=30)
    assert await fleet.value("SELECT reason FROM headway.run_done WHERE definition = 'suicide'") == "crash limit"
    assert await fleet.value("SELECT count(*) FROM headway.run_done WHERE definition = 'nap' AND state = 4") == 20


async def test_a_worker_drains(fleet: Fleet) -> None:
    """SIGTERM stops claiming at once, finishes what is short, hands back what is long without charging it, and exits 0 (COR-07, RUN-07)."""
    fleet.sync()
    worker = fleet.start("worker", "--queue", "default")
    await enqueue(fleet, "nap", 1, '{"seconds": 1.0}')
    await enqueue(fleet, "nap", 1, '{"seconds": 60.0}')
    await fleet.until("SELECT count(*) = 2 FROM headway.run WHERE state = 3")
    assert worker.stop() == 0
    assert await fleet.value("SELECT count(*) FROM headway.run_done WHERE state = 4") == 1
    (back,) = await fleet.rows("SELECT state, attempt, failures, crashes, session FROM headway.run")
    assert back == {"state": 2, "attempt": 1, "failures": 0, "crashes": 0, "session": None}
    assert await fleet.value("SELECT state FROM headway.session WHERE kind = 'worker'") == 3
