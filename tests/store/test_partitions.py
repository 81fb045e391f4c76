"""Partitions: made ahead, dropped when their day has passed."""

import asyncio
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from uuid import UUID

from headway.core.run import State
from headway.store import slots
from headway.store.partitions import drop_partitions, ensure_partitions, wanted
from headway.store.slots import SlotRecord
from headway.store.tx import Tx
from tests.store.scene import Scene

DAY = timedelta(days=1)


def test_what_should_stand() -> None:
    """Forty days of finished runs, and months of slots from the last one to three ahead, across the turn of a year."""
    parts = wanted(date(2026, 12, 5))
    days = [part for part in parts if part.table == "run_done"]
    months = [part for part in parts if part.table == "slot"]
    assert (len(days), days[0].name, days[-1].end) == (41, "run_done_p20261205", date(2027, 1, 15))
    assert [part.name for part in months] == [f"slot_p{month}01" for month in ("202611", "202612", "202701", "202702", "202703")]
    assert all(before.end == after.start for part in (days, months) for before, after in pairwise(part))


async def test_partitions_are_made_once(scene: Scene) -> None:
    """RET-01: a migrated database has them all; a day later one is missing and made; two processes at once make it once."""
    assert await scene.database.transact(ensure_partitions) == 0
    await scene.later(DAY)
    both = await asyncio.gather(*[scene.database.transact(ensure_partitions) for _ in range(2)])
    assert sum(both) in (1, 2)
    assert 0 in both
    assert await scene.database.transact(ensure_partitions) == 0


async def test_rows_move_to_where_they_belong(scene: Scene) -> None:
    """A row that came before its partition waits in the default one and moves when the partition is made; nothing is lost on the way."""
    await scene.define(retention_days=60)
    claimed = await scene.started()
    await scene.settle((await scene.run(claimed.id))["session"], claimed)
    at = datetime.combine(await _today(scene), time(12), UTC) + timedelta(days=200)
    async with scene.database.begin() as tx:
        await slots.record(tx, [SlotRecord(UUID(int=1), at, 1, "", "", at, None, 1)], actor="a", tzdata="")
    assert await places(scene, "run_done") == ["run_done_default"]
    assert await places(scene, "slot") == ["slot_default"]
    await scene.later(timedelta(days=30))
    await scene.database.transact(ensure_partitions)
    (day,) = await places(scene, "run_done")
    assert day.startswith("run_done_p")
    await scene.later(timedelta(days=120))
    await scene.database.transact(ensure_partitions)
    assert await places(scene, "slot") == [f"slot_p{at:%Y%m}01"]
    assert await scene.state(claimed.id) is State.SUCCEEDED


async def test_a_day_that_has_passed_is_dropped(scene: Scene) -> None:
    """RET-01, RET-06: a finished run goes with the partition of its day, not a day earlier; what is kept for ever stays."""
    await scene.define(retention_days=2)
    await scene.define("for-ever", retention_days=0)
    for name in ("job", "for-ever"):
        claimed = await scene.started(name=name)
        await scene.settle((await scene.run(claimed.id))["session"], claimed)
    await scene.later(2 * DAY)
    assert await scene.database.transact(drop_partitions) == 2
    assert len(await scene.sql("SELECT 1 FROM headway.run_done")) == 2
    await scene.later(DAY)
    assert await scene.database.transact(drop_partitions) == 1
    assert [row["definition"] for row in await scene.sql("SELECT definition FROM headway.run_done")] == ["for-ever"]


async def test_a_partition_has_the_indexes_of_its_table(scene: Scene) -> None:
    """A partition that is made later is found by the same keys as the first ones."""
    await scene.later(DAY)
    made = [part for part in wanted(await _today(scene)) if part.table == "run_done"][-1]
    await scene.database.transact(ensure_partitions)
    rows = await scene.sql("SELECT indexdef FROM pg_indexes WHERE schemaname = 'headway' AND tablename = $1", made.name)
    assert len(rows) == 4


async def places(scene: Scene, table: str) -> list[str]:
    """The partitions in which a table's rows stand."""
    rows = await scene.sql(f"SELECT DISTINCT relname FROM headway.{table} t JOIN pg_class c ON c.oid = t.tableoid ORDER BY relname")
    return [row["relname"] for row in rows]


async def _today(scene: Scene) -> date:
    async def today(tx: Tx) -> date:
        return tx.now.date()

    return await scene.database.transact(today)
