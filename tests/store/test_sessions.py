"""A session is one process's lease on everything it holds."""

from datetime import timedelta
from uuid import UUID

import pytest

from headway.core.errors import LeaseLost
from headway.core.ids import make_id
from headway.store import sessions
from headway.store.sessions import Session, SessionState
from tests.store.scene import LEASE, Scene

SECOND = timedelta(seconds=1)


async def renew(scene: Scene, session: UUID) -> sessions.Renewal:
    """Renew for one lease."""
    async with scene.database.once() as tx:
        return await sessions.renew(tx, session, LEASE, in_flight=3)


async def test_a_session_lives_for_its_lease_and_on_by_renewal(scene: Scene) -> None:
    """LSE-01, LSE-02: a session says what it is and can do; each renewal is one lease from now and brings the database's clock."""
    async with scene.database.begin() as tx:
        me = Session(make_id(tx.now), "worker", "host-1", 4711, ("default", "slow"), ("job",), 100, "1.0")
        await sessions.register(tx, me, LEASE)
    await scene.later(LEASE - SECOND)
    renewal = await renew(scene, me.id)
    assert abs(renewal.lease_until - renewal.now - LEASE) < SECOND
    async with scene.database.begin() as tx:
        (row,) = await sessions.listed(tx)
        await sessions.require_live(tx, me.id)
    assert (row["kind"], row["host"], row["pid"], row["queues"], row["handlers"]) == (
        "worker",
        "host-1",
        4711,
        ["default", "slow"],
        ["job"],
    )
    assert (row["capacity"], row["in_flight"], row["state"]) == (100, 3, SessionState.RUNNING)


@pytest.mark.parametrize("how", ["lapsed", "stopped", "unknown"])
async def test_a_session_never_revives(scene: Scene, how: str) -> None:
    """LSE-03: a renewal of a session that lapsed, was stopped or never was is LeaseLost, and changes nothing."""
    session = UUID(int=1) if how == "unknown" else await scene.worker()
    if how == "lapsed":
        await scene.later(LEASE + SECOND)
    if how == "stopped":
        async with scene.database.begin() as tx:
            await sessions.stop(tx, session)
    before = [dict(row) for row in await scene.sql("SELECT * FROM headway.session")]
    with pytest.raises(LeaseLost):
        await renew(scene, session)
    with pytest.raises(LeaseLost):
        async with scene.database.begin() as tx:
            await sessions.require_live(tx, session)
    assert [dict(row) for row in await scene.sql("SELECT * FROM headway.session")] == before


async def test_a_draining_session_renews_and_claims_nothing(scene: Scene) -> None:
    """COR-07, LSE-08: while it drains a session keeps its lease; it is not live for claims, and a stopped one does not drain."""
    session = await scene.worker()
    async with scene.database.begin() as tx:
        await sessions.drain(tx, session)
    await renew(scene, session)
    with pytest.raises(LeaseLost):
        await scene.claim(session, [])
    async with scene.database.begin() as tx:
        await sessions.stop(tx, session)
        await sessions.drain(tx, session)
        (row,) = await sessions.listed(tx)
    assert row["state"] == SessionState.STOPPED


async def test_a_renewal_does_not_wait_for_claims(scene: Scene) -> None:
    """LSE-02: claims hold the session's row FOR KEY SHARE, which stands in no renewal's way."""
    session = await scene.worker()
    async with scene.database.begin() as claiming:
        await claiming.connection.fetch("SELECT id FROM headway.session WHERE id = $1 FOR KEY SHARE", session)
        await renew(scene, session)


async def test_old_sessions_that_hold_nothing_are_pruned(scene: Scene) -> None:
    """Sessions that ended long ago go; one that still holds a run stays for rescue, one that lives stays."""
    await scene.define()
    holding, ended, living = [await scene.worker() for _ in range(3)]
    await scene.claim(holding, await scene.enqueue())
    await scene.later(timedelta(days=2))
    await scene.sql("UPDATE headway.session SET lease_until = headway.headway_now() + interval '1 minute' WHERE id = $1", living)
    async with scene.database.begin() as tx:
        assert await sessions.prune(tx, timedelta(days=3)) == 0
        assert await sessions.prune(tx, timedelta(days=1)) == 1
        assert {row["id"] for row in await sessions.listed(tx)} == {holding, living}
    assert ended not in {holding, living}
