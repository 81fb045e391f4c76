"""The last runs of each definition and schedule."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

from headway.core.ids import make_id
from headway.store import last_runs
from headway.store.last_runs import Last
from tests.store.scene import Scene

AT = datetime(2026, 3, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
OLD, NEW = make_id(AT), make_id(AT + MINUTE)


async def write(scene: Scene, definitions: dict[UUID, Last], schedules: dict[UUID, Last] | None = None) -> None:
    """Write what one process saw."""
    await scene.database.transact(lambda tx: last_runs.write(tx, definitions, schedules or {}))


async def test_the_newest_wins_whoever_writes_it(scene: Scene) -> None:
    """RUN-15: for each column the newest of what all processes saw is kept, in whatever order they write; nothing seen changes nothing."""
    job = await scene.define()
    new = Last(started_at=AT + MINUTE, latest=NEW, succeeded=NEW, succeeded_at=AT + MINUTE)
    old = Last(started_at=AT, latest=OLD, failed=OLD, failed_at=AT)
    await write(scene, {job: new})
    await write(scene, {job: old})
    await write(scene, {job: Last()})
    async with scene.database.begin() as tx:
        row = (await last_runs.of_definitions(tx, ["job", "absent"]))["job"]
    assert (row["latest"], row["succeeded"], row["failed"], row["started_at"]) == (NEW, NEW, OLD, AT + MINUTE)
    assert row["completed_at"] is None


async def test_all_definitions_are_read_in_one_query(scene: Scene) -> None:
    """DEF-06: one query answers for many definitions; those without runs and those of other tenants are missing."""
    ids = [await scene.define(name) for name in ("a", "b", "c")]
    await write(scene, {ids[0]: Last(latest=OLD), ids[2]: Last(latest=NEW)}, {UUID(int=4): Last(scheduled_at=AT)})
    async with scene.database.begin() as tx:
        found = await last_runs.of_definitions(tx, ["a", "b", "c"])
        assert await last_runs.of_definitions(tx, ["a"], "acme") == {}
        scheduled = await last_runs.of_schedules(tx, [UUID(int=4), UUID(int=5)])
    assert {name: row["latest"] for name, row in found.items()} == {"a": OLD, "c": NEW}
    assert {id_: row["scheduled_at"] for id_, row in scheduled.items()} == {UUID(int=4): AT}


async def test_processes_that_write_at_once_do_not_deadlock(scene: Scene) -> None:
    """Rows are written in the order of their ids, whatever the order of memory.

    No transaction here is tried again: a deadlock would come out.
    """
    ids = [UUID(int=number) for number in range(1, 60)]

    async def tell(order: list[UUID]) -> None:
        async with scene.database.begin() as tx:
            await last_runs.write(tx, {id_: Last(latest=NEW) for id_ in order}, {})

    await asyncio.gather(*[tell(order) for order in (ids, ids[::-1], ids[30:] + ids[:30])])
    (row,) = await scene.sql("SELECT count(*) FROM headway.last_definition_run")
    assert row["count"] == len(ids)
