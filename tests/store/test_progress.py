"""Progress, and the fence before everything that a holder writes."""

from uuid import UUID

import pytest

from headway.core.errors import LeaseLost
from headway.store import fence, progress
from headway.store.fence import Fence
from tests.store.scene import Scene


async def held(scene: Scene) -> Fence:
    """The fence of a running run."""
    await scene.define()
    claimed = await scene.started()
    return Fence(claimed.id, (await scene.run(claimed.id))["session"], claimed.attempt)


async def test_the_holder_is_heard(scene: Scene) -> None:
    """RUN-08: progress is 0 to 100 with a message of 2,000 characters; the last report stands; what cannot be stored is replaced."""
    mine = await held(scene)
    async with scene.database.begin() as tx:
        await progress.report(tx, mine, -5, "begun")
        await progress.report(tx, mine, 250, "a\x00b\ud800" + "x" * 5000)
        row = await progress.of_run(tx, mine.run)
        assert await progress.of_run(tx, UUID(int=1)) is None
    assert row is not None
    assert row["percent"] == 100
    assert row["message"].startswith("a\ufffdb\ufffdxxx")
    assert len(row["message"]) == progress.MESSAGE_LIMIT


@pytest.mark.parametrize("wrong", [{"attempt": 2}, {"session": UUID(int=1)}, {"run": UUID(int=1)}])
async def test_nobody_else_is_heard(scene: Scene, wrong: dict[str, object]) -> None:
    """LSE-05: a report and a write under another attempt, session or run is LeaseLost and leaves nothing."""
    stale = (await held(scene))._replace(**wrong)  # type: ignore[arg-type]  # one field of the fence, by name
    async with scene.database.begin() as tx:
        with pytest.raises(LeaseLost):
            await progress.report(tx, stale, 50, "half")
        with pytest.raises(LeaseLost):
            await fence.require(tx, stale)
    assert not await scene.sql("SELECT 1 FROM headway.run_progress")


async def test_a_fence_that_stands_stands_until_the_end_of_the_transaction(scene: Scene) -> None:
    """LSE-05: while a holder writes under its fence nobody takes the run away from it; afterwards the fence is gone."""
    mine = await held(scene)
    async with scene.database.begin() as tx:
        await fence.require(tx, mine)
        locked = await scene.sql("SELECT id FROM headway.run WHERE id = $1 FOR UPDATE SKIP LOCKED", mine.run)
    assert locked == []
    await scene.stop_and_rescue(mine.session)
    async with scene.database.begin() as tx:
        with pytest.raises(LeaseLost):
            await fence.require(tx, mine)
