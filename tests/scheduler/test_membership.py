"""Schedulers among their equals."""

from datetime import timedelta
from uuid import UUID

from headway.scheduler.membership import Membership
from headway.store import sessions
from tests.store.scene import Scene

LEASE = timedelta(seconds=30)
THINGS = [UUID(int=number) for number in range(200)]


async def test_schedules_are_shared_by_those_who_are_there(scene: Scene) -> None:
    """Each schedule has one owner among two schedulers, once both have heard of one another; workers do not count."""
    await scene.worker()
    one, two = Membership(scene.database, LEASE), Membership(scene.database, LEASE)
    await one.join()
    assert all(map(one.owns, THINGS))
    await two.join()
    await one.renew()
    assert one.members == two.members == {one.me, two.me}
    assert all(one.owns(thing) != two.owns(thing) for thing in THINGS)
    assert 60 < sum(map(one.owns, THINGS)) < 140


async def test_a_scheduler_that_stops_gives_its_share_away(scene: Scene) -> None:
    """A clean stop ends the session, and at the next heartbeat the others own everything."""
    one, two = Membership(scene.database, LEASE), Membership(scene.database, LEASE)
    await one.join()
    await two.join()
    await one.renew()
    await two.leave()
    await one.renew()
    assert all(map(one.owns, THINGS))
    (row,) = await scene.sql("SELECT state FROM headway.session WHERE id = $1", two.me)
    assert row["state"] == sessions.SessionState.STOPPED


async def test_a_dead_scheduler_gives_its_share_away(scene: Scene) -> None:
    """A scheduler that is killed is a member until its lease lapses, which no heartbeat extends, and none after that."""
    one, two = Membership(scene.database, LEASE), Membership(scene.database, LEASE)
    await one.join()
    await two.join()
    await scene.later(LEASE / 2)
    await one.renew()
    assert len(one.members) == 2
    await scene.later(LEASE / 2)
    await one.renew()
    assert one.members == {one.me}


async def test_a_scheduler_whose_lease_lapsed_begins_another_session(scene: Scene) -> None:
    """BB-038: after an outage longer than its lease a scheduler is somebody else: a new session, and what it owned is shared anew."""
    one = Membership(scene.database, LEASE)
    await one.join()
    before = one.me
    await scene.later(LEASE)
    now = await one.renew()
    assert one.me != before
    assert one.members == {one.me}
    async with scene.database.begin() as tx:
        assert now <= tx.now < now + LEASE
