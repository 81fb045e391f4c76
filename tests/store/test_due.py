"""Release what is due."""

import asyncio
import random
from datetime import timedelta

from headway.core.ask import Ask
from headway.core.outcome import Snooze
from headway.core.run import State
from headway.store import due
from tests.store.scene import Scene

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


async def test_a_delayed_run_is_queued_at_its_instant_and_never_before(scene: Scene) -> None:
    """MSG-06, RUN-17: the due step queues what is due, in order, and leaves the rest; it says how long the next one is away."""
    await scene.define()
    (later,) = await scene.enqueue(delay=2 * HOUR)
    (sooner,) = await scene.enqueue(delay=HOUR)
    assert await scene.database.transact(due.release) == due.Released(0, [])
    async with scene.database.begin() as tx:
        wait = await due.until_next(tx)
    assert wait is not None
    assert HOUR - 10 * SECOND < wait <= HOUR
    await scene.later(HOUR + SECOND)
    released = await scene.database.transact(due.release)
    assert [(run.id, run.state, run.queue) for run in released.queued] == [(sooner, State.QUEUED, "default")]
    assert await scene.state(later) is State.SCHEDULED


async def test_a_short_delay_does_not_wait_behind_a_long_one(scene: Scene) -> None:
    """BB-054: what is due later never holds up what is due sooner, whichever was asked for first."""
    await scene.define()
    (long,) = await scene.enqueue(delay=60 * SECOND)
    await scene.later(SECOND)
    (short,) = await scene.enqueue(delay=5 * SECOND)
    begun: dict[int, list[object]] = {}
    for elapsed in (5, 7, 59, 61):
        await scene.later((elapsed - max(begun, default=1)) * SECOND)
        begun[elapsed] = [run.id for run in (await scene.database.transact(due.release)).queued]
    assert begun == {5: [], 7: [short], 59: [], 61: [long]}


async def test_ten_thousand_delays_of_all_lengths_are_kept(scene: Scene) -> None:
    """BB-054: of 10,000 runs with delays of 1 to 120 s none is queued early, and 99 of 100 less than 2 s late."""
    await scene.define()
    chance = random.Random(54)  # noqa: S311  # the same delays in each run of the test
    await scene.ask(*[Ask("job", delay=timedelta(seconds=chance.uniform(1, 120))) for _ in range(10_000)])
    instants = {row["id"]: row["available_at"] for row in await scene.sql("SELECT id, available_at FROM headway.run")}
    late: list[timedelta] = []
    while len(late) < len(instants):
        async with scene.database.begin() as tx:
            late += [tx.now - instants[run.id] for run in (await due.release(tx)).queued]
        await scene.later(SECOND / 2)
    late.sort()
    assert late[0] >= timedelta()
    assert late[len(late) * 99 // 100] < 2 * SECOND


async def test_nothing_scheduled_is_nothing_to_wait_for(scene: Scene) -> None:
    """Without scheduled runs there is no next instant."""
    async with scene.database.begin() as tx:
        assert await due.until_next(tx) is None


async def test_a_pass_is_bounded(scene: Scene) -> None:
    """A pass releases at most its limit, the longest due first."""
    await scene.define()
    ids = [(await scene.enqueue(delay=number * SECOND))[0] for number in (3, 1, 2)]
    await scene.later(HOUR)
    first = await scene.database.transact(lambda tx: due.release(tx, 2))
    assert (first.found, {run.id for run in first.queued}) == (2, {ids[1], ids[2]})
    assert [run.id for run in (await scene.database.transact(due.release)).queued] == [ids[0]]


async def test_two_passes_at_once_release_each_run_once(scene: Scene) -> None:
    """Two maintenance processes share what is due: no run is released twice, none is left."""
    await scene.define()
    ids = await scene.enqueue(40, delay=SECOND)
    await scene.later(HOUR)
    both = await asyncio.gather(*[scene.database.transact(lambda tx: due.release(tx, 40)) for _ in range(2)])
    assert sorted(run.id for released in both for run in released.queued) == ids


async def test_what_is_due_under_a_limit_is_admitted(scene: Scene) -> None:
    """RUN-10: the due step asks admit: over the limit a due run is held, and not counted as queued."""
    await scene.define(max_concurrent_runs=2)
    ids = await scene.enqueue(5, delay=SECOND)
    await scene.later(HOUR)
    released = await scene.database.transact(due.release)
    assert (released.found, [run.id for run in released.queued]) == (5, ids[:2])
    assert (await scene.states(ids)).count(State.HELD) == 3


async def test_a_snoozed_run_comes_back(scene: Scene) -> None:
    """RTY-08: a snoozed run is due again after its delay, for a new attempt."""
    await scene.define()
    claimed = await scene.started()
    await scene.settle((await scene.run(claimed.id))["session"], claimed, Snooze(HOUR))
    assert (await scene.database.transact(due.release)).found == 0
    await scene.later(HOUR + SECOND)
    assert [run.id for run in (await scene.database.transact(due.release)).queued] == [claimed.id]
    (again,) = await scene.claim(await scene.worker(), [claimed.id])
    assert again.attempt == 2
