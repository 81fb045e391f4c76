"""Schedules: loaded by schedulers, moved on by compare-and-set."""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from headway.core.ask import Ask, Origin
from headway.store import advance, schedules, standing
from headway.store.advance import Move
from headway.store.tx import Row
from tests.store.scene import Scene

MINUTE = timedelta(minutes=1)


async def loaded(scene: Scene) -> list[Row]:
    """What a scheduler loads at its start."""
    async with scene.database.begin() as tx:
        return list(await advance.load(tx))


def move(row: Row, by: timedelta = MINUTE) -> Move:
    """A step of a schedule as somebody knew it."""
    return Move(row["id"], row["version"], row["decided_until"], row["decided_until"] + by)


async def test_a_schedule_is_moved_on_by_whoever_knows_it(scene: Scene) -> None:
    """DEF-14: `decided_until` moves for the one that knew it; an old version, an old instant and an unknown id move nothing."""
    await scene.schedule()
    (row,) = await loaded(scene)
    stale = [
        move(row)._replace(version=9),
        move(row)._replace(decided_until=row["decided_until"] - MINUTE),
        move(row)._replace(schedule=UUID(int=3)),
    ]
    async with scene.database.begin() as tx:
        assert [await advance.advance(tx, [one]) for one in stale] == [set(), set(), set()]
        assert await advance.advance(tx, [move(row)]) == {row["id"]}
        assert await advance.advance(tx, [move(row)]) == set()
    assert (await loaded(scene))[0]["decided_until"] == row["decided_until"] + MINUTE


async def test_of_two_transactions_one_decides(scene: Scene) -> None:
    """BB-035, DEF-14: a second scheduler waits for the first one's transaction and then finds that the schedule has moved."""
    await scene.schedule()
    (row,) = await loaded(scene)
    async with scene.database.begin() as first:
        assert await advance.advance(first, [move(row)]) == {row["id"]}
        second = asyncio.create_task(scene.database.transact(lambda tx: advance.advance(tx, [move(row)])))
        await scene.somebody_waits()
    assert await second == set()


async def test_a_first_transaction_that_is_undone_leaves_the_slot_to_the_second(scene: Scene) -> None:
    """BB-044: a scheduler that dies between its compare-and-set and its commit has decided nothing."""
    await scene.schedule()
    (row,) = await loaded(scene)

    waiting: list[asyncio.Task[set[UUID]]] = []
    with pytest.raises(LookupError):
        async with scene.database.begin() as first:
            await advance.advance(first, [move(row)])
            waiting.append(asyncio.create_task(scene.database.transact(lambda tx: advance.advance(tx, [move(row)]))))
            await scene.somebody_waits()
            raise LookupError
    assert await waiting[0] == {row["id"]}


async def test_schedulers_that_move_the_same_schedules_do_not_deadlock(scene: Scene) -> None:
    """BB-035: rows are locked in the order of their ids, whatever order they are given in; each schedule moves once.

    No transaction here is tried again: a deadlock would come out.
    """
    for number in range(30):
        await scene.schedule(f"job{number}")
    moves = [move(row) for row in await loaded(scene)]

    async def moved_on(order: list[Move]) -> set[UUID]:
        async with scene.database.begin() as tx:
            return await advance.advance(tx, order)

    orders = [moves, moves[::-1], moves[10:] + moves[:10], moves[::-1]]
    taken = await asyncio.gather(*[moved_on(order) for order in orders])
    assert sorted(id_ for ids in taken for id_ in ids) == sorted(one.schedule for one in moves)


async def test_what_is_loaded_can_fire(scene: Scene) -> None:
    """DEF-05: schedulers load enabled schedules of enabled definitions, then what changed since, which says whether it can fire."""
    on = await scene.schedule("on")
    await scene.schedule("off", enabled=False)
    assert [row["id"] for row in await loaded(scene)] == [on]
    async with scene.database.begin() as tx:
        since = tx.now
        assert await standing.live_ids(tx) == {on}
        assert await standing.count_live(tx) == 1
    await scene.schedule("on", every="2m")
    await scene.schedule("off", enabled=False, description="changed")
    async with scene.database.begin() as tx:
        changed = await standing.changed(tx, since)
        (named,) = await advance.load(tx, ids=[on, UUID(int=1)])
        (stands,) = await standing.standing(tx, [on, UUID(int=1)])
    assert {row["id"] == on: row["live"] for row in changed} == {True: True, False: False}
    assert dict(stands) == {name: named[name] for name in ("id", "version", "decided_until", "chained_at", "updated_at", "live")}
    assert (named["id"], named["rule"]["every"], named["definition"]) == (on, "2m", "on")


async def test_a_definition_that_is_switched_off_takes_its_schedules_along(scene: Scene) -> None:
    """DEF-18: a disabled or paused definition's schedules are not loaded, and what changed says so."""
    id_ = await scene.schedule()
    async with scene.database.begin() as tx:
        since = tx.now
    await scene.schedule(enabled=False)
    assert await loaded(scene) == []
    async with scene.database.begin() as tx:
        (row,) = await standing.changed(tx, since)
    assert (row["id"], row["live"]) == (id_, False)


async def test_the_facts_count_what_is_open_and_what_has_not_begun(scene: Scene) -> None:
    """DEF-11, DEF-12, BB-032: facts say how many runs of slots are open, how many of them never started, and what is switched off."""
    id_ = await scene.schedule()
    async with scene.database.begin() as tx:
        slot = tx.now
    (running,) = await scene.ask(_slot_run(id_, slot))
    session = await scene.worker()
    await scene.claim(session, [running])
    await scene.ask(_slot_run(id_, slot + MINUTE))
    async with scene.database.begin() as tx:
        facts = (await advance.facts(tx, [id_]))[id_]
    assert (facts["open_runs"], facts["pending_runs"], facts["enabled"], facts["paused"]) == (2, 1, True, False)


def _slot_run(schedule: UUID, slot_at: datetime) -> Ask:
    return Ask("job", origin=Origin.SLOT, schedule=schedule, slot_at=slot_at)


async def test_a_broken_schedule_is_marked_once(scene: Scene) -> None:
    """A schedule that cannot be evaluated says why; saying it again changes nothing; an edit takes the mark away."""
    id_ = await scene.schedule()
    async with scene.database.begin() as tx:
        assert await advance.mark_broken(tx, id_, "no such zone")
        assert not await advance.mark_broken(tx, id_, "no such zone")
    await scene.schedule(every="5m")
    async with scene.database.begin() as tx:
        row = await schedules.get(tx, id_)
        assert await schedules.get(tx, id_, "acme") is None
    assert row is not None
    assert (row["broken"], row["definition_name"]) == (None, "job")
