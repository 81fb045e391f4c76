"""Follow-up work that a settled run owes."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from headway.core.errors import Conflict, Unavailable
from headway.store import reactions
from headway.store.gates import Placed
from headway.store.reactions import Kind, Owed, work_off
from headway.store.tx import Tx
from tests.store.scene import Scene

HOUR = timedelta(hours=1)


async def owed(scene: Scene, count: int = 1, *kinds: Kind) -> list[UUID]:
    """Finished runs that owe reactions."""
    await scene.define()
    ids = await scene.enqueue(count)
    bits = sum(1 << kind for kind in kinds or (Kind.TRIGGER,))
    await scene.sql("UPDATE headway.run SET owes = $1", bits)
    session = await scene.worker()
    for claimed in await scene.claim(session, ids):
        await scene.settle(session, claimed)
    return ids


async def left(scene: Scene) -> list[tuple[UUID, int]]:
    """What is still owed."""
    return [(row["run"], row["kind"]) for row in await scene.sql("SELECT run, kind FROM headway.reaction ORDER BY run, kind")]


async def test_a_reaction_is_done_in_the_transaction_that_deletes_it(scene: Scene) -> None:
    """MSG-10, invariant 10: what was done and the end of owing it commit together, and a kind that nobody asked for stays."""
    (run,) = await owed(scene, 1, Kind.TRIGGER, Kind.WORKFLOW)

    async def trigger(tx: Tx, one: Owed) -> list[Placed]:
        await tx.connection.execute("UPDATE headway.run_done SET reason = 'triggered' WHERE id = $1", one.run)
        return []

    assert await work_off(scene.database, {Kind.TRIGGER: trigger}) == 1
    assert await left(scene) == [(run, Kind.WORKFLOW)]
    assert (await scene.run(run))["reason"] == "triggered"
    assert await work_off(scene.database, {}) == 0


async def test_two_instances_do_each_reaction_once(scene: Scene) -> None:
    """MSG-10: a hint and a fill, or two instances, that see the same reactions at once do each of them once."""
    ids = await owed(scene, 12)
    done: list[UUID] = []

    async def trigger(_: Tx, one: Owed) -> list[Placed]:
        done.append(one.run)
        return []

    await asyncio.gather(*[work_off(scene.database, {Kind.TRIGGER: trigger}) for _ in range(3)])
    await work_off(scene.database, {Kind.TRIGGER: trigger}, runs=ids)
    assert sorted(done) == ids
    assert await left(scene) == []


async def test_a_reaction_that_fails_waits_longer_and_longer_and_is_parked_after_ten(scene: Scene) -> None:
    """MSG-09: a failure undoes what was done, keeps the error, and looks again later; after ten it is parked and listed, never lost.

    Whoever watches is told of it once, when it is parked.
    """
    (run,) = await owed(scene)

    async def trigger(tx: Tx, one: Owed) -> list[Placed]:
        await tx.connection.execute("DELETE FROM headway.run_done WHERE id = $1", one.run)
        raise Conflict("no\x00way \ud800")

    waits = []
    for _ in range(10):
        assert await work_off(scene.database, {Kind.TRIGGER: trigger}) == 1
        assert await work_off(scene.database, {Kind.TRIGGER: trigger}) == 0
        (row,) = await scene.sql("SELECT *, next_look_at - headway.headway_now() AS wait FROM headway.reaction")
        waits.append(row["wait"])
        await scene.later(HOUR)
    assert waits == sorted(waits)
    assert (row["tries"], row["parked"], row["last_error"]) == (10, True, "no\ufffdway \ufffd")
    assert [(one["kind"], one["run"]) for one in await scene.sql("SELECT kind, run FROM headway.alert")] == [("dead_letter", run)]
    assert await work_off(scene.database, {Kind.TRIGGER: trigger}) == 0
    assert await scene.run(run)
    async with scene.database.begin() as tx:
        assert [one["run"] for one in await reactions.parked(tx)] == [run]
        (backlog,) = await reactions.backlog(tx)
        assert await reactions.free(tx) == 1
    assert (backlog["owed"], backlog["parked"]) == (1, 1)
    assert await work_off(scene.database, {Kind.TRIGGER: trigger}) == 1


async def test_away_is_no_failure(scene: Scene) -> None:
    """MSG-08, RTY-08: an unavailable database or broker counts no try and comes out to the loop."""
    await owed(scene)

    async def trigger(_: Tx, __: Owed) -> list[Placed]:
        raise Unavailable("broker: away")

    with pytest.raises(Unavailable):
        await work_off(scene.database, {Kind.TRIGGER: trigger})
    (row,) = await scene.sql("SELECT tries FROM headway.reaction")
    assert row["tries"] == 0


async def test_a_look_takes_what_is_due_longest_first(scene: Scene) -> None:
    """A look is bounded and goes by the next look; named runs are looked at alone."""
    ids = await owed(scene, 4)
    looks = "UPDATE headway.reaction SET next_look_at = headway.headway_now() + $2 * interval '1 minute' WHERE run = $1"
    for id_, minutes in zip(ids, (60, -1, -60, 0), strict=True):
        await scene.sql(looks, id_, minutes)
    async with scene.database.begin() as tx:
        assert [one.run for one in await reactions.take(tx, [Kind.TRIGGER], limit=2)] == [ids[2], ids[1]]
    async with scene.database.begin() as tx:
        assert [one.run for one in await reactions.take(tx, [Kind.TRIGGER], runs=[ids[0], ids[3], UUID(int=1)])] == [ids[3]]


async def test_a_fault_in_the_code_does_not_stop_the_others(scene: Scene) -> None:
    """Model, "Reactions": never lost, never a loop: what breaks a pass off counts as a try, and the next pass does the rest."""
    first, second = await owed(scene, 2)
    done: list[UUID] = []

    async def trigger(_: Tx, one: Owed) -> list[Placed]:
        if one.run == first:
            raise ZeroDivisionError
        done.append(one.run)
        return []

    broken_off: list[Owed] = []
    with pytest.raises(ZeroDivisionError):
        await work_off(scene.database, {Kind.TRIGGER: trigger}, broken_off=broken_off)
    await work_off(scene.database, {Kind.TRIGGER: trigger}, broken_off=broken_off)
    assert done == [second]
    (row,) = await scene.sql("SELECT run, tries, parked, last_error FROM headway.reaction")
    assert tuple(row.values()) == (first, 1, False, reactions.UNEXPECTED)
