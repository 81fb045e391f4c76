"""The database may go away over a due instant: afterwards no slot is undecided, and none was decided twice."""

import asyncio
from datetime import UTC, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from headway.store.migrate import migrate
from tests.harness.postgres import PostgresNode
from tests.system.fleet import LEASE_SECONDS, fleet_in

pytestmark = [pytest.mark.system, pytest.mark.timeout(120)]
OUTAGE = 20.0


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
