"""The database may go away over a due instant: afterwards no slot is undecided, and none was decided twice."""

import asyncio
from datetime import UTC, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from headway.broker.connect import connect
from headway.store.migrate import migrate
from tests.harness.postgres import PostgresNode
from tests.system.fleet import LEASE_SECONDS, fleet_in
from tests.system.test_fleet import enqueue

pytestmark = [pytest.mark.system, pytest.mark.timeout(120)]
OUTAGE = 20.0
LONG_LEASE = 10.0


async def test_an_outage_over_due_instants_leaves_no_undecided_slot(tmp_path: Path, postgres_node: PostgresNode, broker_url: str) -> None:
    """Two schedulers, a slot every second, and a database that is killed and away for 20 s: every slot is decided once, those of the
    outage when it ends; both schedulers begin another session, for their leases lapsed (BB-038)."""
    await migrate(postgres_node.url)
    with fleet_in(tmp_path, postgres_node.url, broker_url) as fleet:
        fleet.sync()
        schedulers = [fleet.start("scheduler") for _ in range(2)]
        await fleet.until("SELECT count(*) = 2 FROM headway.session WHERE kind = 'scheduler' AND state = 1")
        joined = await fleet.value("SELECT now()")
        await fleet.until("SELECT max(slot_at) > $1 FROM headway.slot", joined + timedelta(seconds=2))
        before = {row["id"] for row in await fleet.rows("SELECT id FROM headway.session WHERE kind = 'scheduler' AND state = 1")}
        await postgres_node.kill()
        await asyncio.sleep(OUTAGE)  # noqa: TID251  # that long
        await postgres_node.start()
        back = await fleet.value("SELECT now()")
        await fleet.until("SELECT max(slot_at) > $1 FROM headway.slot", back + timedelta(seconds=3))
        instants = [row["slot_at"].astimezone(UTC) for row in await fleet.rows("SELECT slot_at FROM headway.slot ORDER BY slot_at")]
        assert {(later - earlier).total_seconds() for earlier, later in pairwise(instants)} == {1.0}
        assert (instants[-1] - instants[0]).total_seconds() > OUTAGE > LEASE_SECONDS
        await fleet.until("SELECT count(*) = 2 FROM headway.session WHERE kind = 'scheduler' AND state = 1 AND id <> ALL($1)", list(before))
        assert [scheduler.stop() for scheduler in schedulers] == [0, 0]
        assert (
            await fleet.value("SELECT count(*) FROM headway.session WHERE kind = 'scheduler' AND state = 1 AND id <> ALL($1)", list(before))
            == 0
        )


async def test_an_outage_under_load_charges_nothing(tmp_path: Path, postgres_node: PostgresNode, broker_url: str) -> None:
    """With the database killed under load, just as attempts end, and away for 20 s: every run succeeds, outcomes that could not be
    recorded are recorded later or the lease brings the run back, no success is charged a failure, and no message is dead (BB-041,
    MSG-08, LSE-10, RTY-08)."""
    await migrate(postgres_node.url)
    with fleet_in(tmp_path, postgres_node.url, broker_url) as fleet:
        fleet.settings |= {"HEADWAY_LEASE_SECONDS": str(LONG_LEASE)}
        fleet.sync()
        for role in ("scheduler", "maintenance", "worker", "worker"):
            fleet.start(role, *(("--queue", "default", "--concurrency", "20") if role == "worker" else ()))
        await fleet.until("SELECT count(*) = 2 FROM headway.session WHERE kind = 'worker' AND state = 1")
        await enqueue(fleet, "stumble", 10, '{"seconds": 1}')
        await enqueue(fleet, "nap", 300, '{"seconds": 0.2}')
        await fleet.until("SELECT count(*) = 10 FROM headway.run WHERE definition = 'stumble' AND attempt = 1 AND state = 3")
        await asyncio.sleep(0.9)  # noqa: TID251  # the first attempts end now
        await postgres_node.kill()
        await asyncio.sleep(OUTAGE)  # noqa: TID251  # that long
        await postgres_node.start()
        await fleet.until("SELECT count(*) = 0 FROM headway.run WHERE definition <> 'tick'", within=LONG_LEASE + 2)
        assert await fleet.value("SELECT count(*) = 310 FROM headway.run_done WHERE definition <> 'tick' AND state = 4")
        assert await fleet.value("SELECT count(*) = 0 FROM headway.run_done WHERE definition = 'nap' AND failures > 0")
        assert await fleet.value("SELECT max(failures) <= 1 FROM headway.run_done WHERE definition = 'stumble'")
        broker = connect(broker_url)
        await broker.open()
        await broker.ready(timedelta(seconds=20))
        assert await broker.dead() == []
        await broker.close()
