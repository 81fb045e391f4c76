"""Random deaths under load: the fault plan's first rows, as scenarios that a seed replays."""

import asyncio
import json
import random
import sys

import pytest

from headway.broker.connect import connect
from headway.core.ask import Ask
from headway.sdk.client import Client
from headway.store.tx import Database
from tests.chaos.checkers import judge
from tests.harness.rabbit import RabbitNode
from tests.system.fleet import Fleet
from tests.system.test_fleet import ROLES, start_one, start_two_of_each

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]
KILLS = 20
RUNS_BETWEEN = 100
CALM = 60


async def accept(fleet: Fleet, chance: random.Random) -> set[str]:
    """Create a mixed batch of runs and return the ids that were accepted; a broker that is away does not matter."""
    kinds = [("nap", json.dumps({"seconds": chance.choice([0, 0, 0.05, 0.5])})), ("flaky", None)]
    asks = [Ask(name, params=params) for name, params in chance.choices(kinds, weights=[9, 1], k=RUNS_BETWEEN)]
    database = await Database.open(fleet.database_url, size=2)
    broker = connect(fleet.broker_url)
    await broker.open()
    try:
        client = Client(database, broker, created_by="chaos")
        accepted = {str(run.id) for run in await client.enqueue_many(asks)}
        await client.close()
        return accepted
    finally:
        await broker.close()
        await database.close()


async def test_random_deaths_lose_and_double_nothing(fleet: Fleet, rabbit_node: RabbitNode, seed: int) -> None:
    """Twenty deaths of random processes, the broker and its data among them, under load: afterwards nothing is lost, nothing finished
    twice, no fence wrote late, nothing is stuck, and every invariant holds (LSE-12)."""
    chance = random.Random(seed)  # noqa: S311  # a seed that can be replayed is the point
    fleet.sync()
    start_two_of_each(fleet)
    await fleet.until("SELECT count(*) >= 2 FROM headway.session WHERE kind = 'worker' AND state = 1")
    accepted: set[str] = set()
    for _ in range(KILLS):
        accepted |= await accept(fleet, chance)
        await asyncio.sleep(chance.uniform(0, 1))  # noqa: TID251  # load and faults have no event to wait for
        if chance.random() < 0.15:
            await rabbit_node.wipe()
            await rabbit_node.start()
            continue
        victim = chance.choice([member for member in fleet.members if member.role in ROLES])
        victim.kill()
        fleet.members.remove(victim)
        start_one(fleet, victim.role)
    await fleet.until("SELECT count(*) = 0 FROM headway.run WHERE definition <> 'tick'", within=CALM)
    verdict = await judge(fleet, accepted)
    sys.stdout.write(f"seed {seed}: {verdict}\n")
    assert (verdict.lost, verdict.duplicated, verdict.unexpected) == (0, 0, 0)
    assert verdict.ok == len(accepted)
    done = fleet.run("doctor")
    assert done.returncode == 0, done.stdout + done.stderr
