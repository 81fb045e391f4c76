"""Final at once for what does not run, a wish for what does."""

from datetime import timedelta
from uuid import UUID

from headway.core.outcome import AttemptOutcome, RunOutcome
from headway.core.run import State
from headway.store import attempts, cancel, sessions
from headway.store.cancel import CancelDone
from tests.store.scene import LEASE, Scene

GRACE = timedelta(seconds=10)


async def cancelled(scene: Scene, *ids: UUID, reason: str = "") -> CancelDone:
    """Cancel runs as Ann."""
    return await scene.database.transact(lambda tx: cancel.cancel(tx, ids, actor="ann", reason=reason))


async def test_what_does_not_run_is_cancelled_at_once(scene: Scene) -> None:
    """RUN-06, RUN-17: queued, scheduled and held runs are final at once, with who and why."""
    await scene.define()
    await scene.define("one", max_concurrent_runs=1)
    (queued,), (delayed,) = await scene.enqueue(), await scene.enqueue(delay=timedelta(hours=1))
    _, held = await scene.enqueue(2, "one")
    assert await scene.states([queued, delayed, held]) == [State.QUEUED, State.SCHEDULED, State.HELD]
    done = await cancelled(scene, queued, delayed, held, reason="wrong day")
    assert {one.id for one in done.ended} == {queued, delayed, held}
    assert done.wished == {}
    for id_ in (queued, delayed, held):
        row = await scene.run(id_)
        assert (row["state"], row["outcome"], row["reason"]) == (State.CANCELLED, RunOutcome.CANCELLED, "wrong day")


async def test_a_running_run_gets_a_wish_once(scene: Scene) -> None:
    """RUN-06, MSG-11: a running run gets a wish that names its holder; a second one changes nothing; a renewal carries it."""
    await scene.define()
    claimed = await scene.started()
    session = (await scene.run(claimed.id))["session"]
    first, second = await cancelled(scene, claimed.id), await cancelled(scene, claimed.id, reason="other")
    assert (first.ended, first.wished, second.wished) == ([], {claimed.id: session}, {})
    row = await scene.run(claimed.id)
    assert (row["state"], row["cancel_by"], row["reason"]) == (State.RUNNING, "ann", "cancelled by ann")
    async with scene.database.begin() as tx:
        assert (await sessions.renew(tx, session, LEASE)).wishes == (claimed.id,)


async def test_what_is_final_or_unknown_is_in_no_list(scene: Scene) -> None:
    """RUN-13: a finished run and an id that nobody has are answered by nothing."""
    await scene.define()
    claimed = await scene.started()
    await scene.settle((await scene.run(claimed.id))["session"], claimed)
    assert await cancelled(scene, claimed.id, UUID(int=6)) == CancelDone([], {}, [])
    assert await scene.state(claimed.id) is State.SUCCEEDED


async def test_a_wish_that_nobody_hears_is_forced_after_the_grace(scene: Scene) -> None:
    """RUN-06: after the grace, and not before, a run whose worker did not stop is ended in its place; the attempt says Forced."""
    await scene.define()
    claimed = await scene.started()
    session = (await scene.run(claimed.id))["session"]
    await cancelled(scene, claimed.id)
    assert await scene.database.transact(lambda tx: cancel.force(tx, GRACE)) == []
    await scene.later(GRACE + timedelta(seconds=1))
    assert [one.id for one in await scene.database.transact(lambda tx: cancel.force(tx, GRACE))] == [claimed.id]
    assert await scene.state(claimed.id) is State.CANCELLED
    async with scene.database.begin() as tx:
        (attempt,) = await attempts.of_run(tx, claimed.id)
    assert attempt["outcome"] == AttemptOutcome.FORCED
    assert await scene.settle(session, claimed) == []


async def test_a_cancel_lets_the_next_one_in(scene: Scene) -> None:
    """RUN-10: a cancelled run frees its place under a limit in the same transaction."""
    await scene.define(max_concurrent_runs=1)
    first, second = await scene.enqueue(2)
    done = await cancelled(scene, first)
    assert [one.id for one in done.promoted] == [second]
    assert await scene.state(second) is State.QUEUED
