"""Old decisions leave, and a proof asks for no more than is kept."""

from datetime import timedelta

from headway.store.in_force import history
from headway.store.ledger_retention import forget, kept_from
from headway.store.partitions import ensure_partitions
from headway.store.proof import prove
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

DAY = timedelta(days=1)


async def test_months_that_are_old_enough_are_dropped(scene: Scene) -> None:
    """RET-04: whole months go with singles and ranges, younger ones stay, and the proof begins where the ledger does."""
    ledger = await Ledger(scene).begin({"cron": "0 6 * * *"}, misfire="run_once", overlap="allow", overlap_max=1000)
    for days in range(1, 100, 7):
        await scene.database.transact(ensure_partitions)
        await ledger.decide(START + days * DAY)
    async with scene.database.begin() as tx:
        assert await kept_from(tx) is None
    before = len(await ledger.slots())
    assert await scene.database.transact(lambda tx: forget(tx, 0)) == 0
    assert await scene.database.transact(lambda tx: forget(tx, 40)) >= 1
    async with scene.database.begin() as tx:
        since = await kept_from(tx)
        known = await history(tx, ledger.schedule)
        assert since is not None
        assert known is not None
        proven = await prove(tx, ledger.schedule, known)
    assert START < since <= START + 60 * DAY
    assert 0 < len(await ledger.slots()) < before
    assert min(slot for slot, *_ in await ledger.slots()) >= since
    assert all(until >= since for _, until, *_ in await ledger.ranges())
    assert proven.proof.holds, proven.proof.findings
    assert 40 <= proven.proof.expected <= 75
