"""Retries start at their instant: never before it, and hardly after it, whatever else is going on."""

import asyncio
import json
import os
import random
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from headway.broker.connect import connect
from headway.core.ask import Ask
from headway.sdk.client import Client
from headway.store.tx import Database
from tests.harness.rabbit import RabbitNode
from tests.system.fleet import Fleet
from tests.system.test_fleet import start_two_of_each

NIGHT: Final = "HEADWAY_NIGHT" in os.environ
LONGEST: Final = 600.0 if NIGHT else 10.0
RETRYING: Final = 300
LOAD_A_SECOND: Final = 100

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(2 * LONGEST + 300)]


async def create(fleet: Fleet, asks: Sequence[Ask]) -> None:
    """Accept runs, whether the broker is there or not."""
    database = await Database.open(fleet.database_url, size=2)
    broker = connect(fleet.broker_url)
    await broker.open()
    try:
        client = Client(database, broker, created_by="chaos")
        await client.enqueue_many(asks)
        await client.close()
    finally:
        await broker.close()
        await database.close()


def delays(chance: random.Random) -> list[float]:
    """Two to four delays, short ones and long ones alike."""
    return [round(0.1 * (LONGEST / 0.1) ** chance.random(), 3) for _ in range(chance.randint(2, 4))]


async def load(fleet: Fleet) -> None:
    """Ask for short runs, so many a second, until cancelled."""
    while True:
        await create(fleet, [Ask("nap", params='{"seconds": 0.01}')] * LOAD_A_SECOND)
        await asyncio.sleep(1)  # noqa: TID251  # load has no event to wait for


async def lateness(fleet: Fleet) -> list[timedelta]:
    """How much later than its instant each retry began, in order."""
    rows = await fleet.rows(
        "SELECT a.run, a.attempt, a.ended_at, r.params FROM headway.attempt a JOIN headway.run_done r ON r.id = a.run WHERE a.outcome = 4"
    )
    begun = {(start["run"], start["attempt"]): datetime.fromtimestamp(start["at"], UTC) for start in fleet.starts()}
    late = []
    for row in rows:
        due = row["ended_at"] + timedelta(seconds=json.loads(row["params"])["delays"][row["attempt"] - 1])
        late.append(begun[str(row["run"]), row["attempt"] + 1] - due)
    return sorted(late)


async def retried(fleet: Fleet, chance: random.Random) -> int:
    """Start everything and ask for runs that are tried again and again; returns how many retries there will be."""
    fleet.sync()
    start_two_of_each(fleet)
    await fleet.until("SELECT count(*) >= 2 FROM headway.session WHERE kind = 'worker' AND state = 1")
    wanted = [delays(chance) for _ in range(RETRYING)]
    await create(fleet, [Ask("again", params=json.dumps({"delays": one})) for one in wanted])
    return sum(map(len, wanted))


async def finished(fleet: Fleet) -> None:
    """Wait until every run that is tried again has succeeded."""
    await fleet.until(
        f"SELECT count(*) = {RETRYING} FROM headway.run_done WHERE definition = 'again' AND state = 4", within=LONGEST * 4 + 60
    )


def told(late: Sequence[timedelta]) -> str:
    """The figures, in milliseconds."""
    shown = {"p50": late[len(late) // 2], "p99": late[len(late) * 99 // 100], "max": late[-1]}
    return ", ".join(f"{name} {one / timedelta(milliseconds=1):.1f} ms" for name, one in shown.items())


async def test_retries_under_load_start_when_they_are_due(fleet: Fleet, seed: int) -> None:
    """RTY-02, MSG-06: retries of 100 ms to 10 s (10 min at night), mixed in one queue under load, begin never before they are due and
    99 of 100 less than 250 ms after it; exactly one start follows each."""
    chance = random.Random(seed)  # noqa: S311  # a seed that can be replayed is the point
    retries = await retried(fleet, chance)
    async with asyncio.TaskGroup() as group:
        loading = group.create_task(load(fleet))
        await finished(fleet)
        loading.cancel()
    late = await lateness(fleet)
    sys.stdout.write(f"{len(late)} retries late by {told(late)}\n")
    assert len(late) == retries
    assert late[0] >= timedelta()
    assert late[len(late) * 99 // 100] < timedelta(milliseconds=250)


async def test_retries_go_on_within_two_seconds_while_the_broker_is_killed(fleet: Fleet, rabbit_node: RabbitNode, seed: int) -> None:
    """MSG-16, RTY-04: with the broker killed under load, its data gone, no retry begins before it is due or two seconds after it."""
    chance = random.Random(seed)  # noqa: S311  # a seed that can be replayed is the point
    retries = await retried(fleet, chance)
    async with asyncio.TaskGroup() as group:
        loading = group.create_task(load(fleet))
        await asyncio.sleep(LONGEST / 4)  # noqa: TID251  # faults have no event to wait for
        await rabbit_node.wipe()
        await asyncio.sleep(3)  # noqa: TID251  # that long
        await rabbit_node.start()
        await finished(fleet)
        loading.cancel()
    late = await lateness(fleet)
    sys.stdout.write(f"{len(late)} retries late by {told(late)}\n")
    assert len(late) == retries
    assert timedelta() <= late[0]
    assert late[-1] < timedelta(seconds=2)
