"""Waiters whom others keep passing."""

from datetime import timedelta
from uuid import UUID

import pytest

from headway.core.errors import Conflict
from headway.core.run import Cause, State
from headway.store import gates
from tests.store.scene import Scene

SECOND = timedelta(seconds=1)
LONG = timedelta(days=1)


async def ended(scene: Scene, session: UUID, id_: UUID) -> None:
    """Start a run and let it succeed."""
    (claimed,) = await scene.claim(session, [id_])
    await scene.settle(session, claimed)


async def one(scene: Scene, name: str = "job", priority: int = 0) -> UUID:
    """Ask for one run."""
    (id_,) = await scene.enqueue(name=name, priority=priority)
    return id_


async def test_priority_passes_a_waiter_for_a_minute(scene: Scene) -> None:
    """RUN-10, MODEL "Counted gates": for 60 s the more urgent goes first, then whoever was passed over has the next permit."""
    await scene.define(max_concurrent_runs=1)
    session = await scene.worker(LONG)
    active, patient = await one(scene), await one(scene)
    urgent = [await one(scene, priority=9)]
    await scene.later(59 * SECOND)
    urgent.append(await one(scene, priority=9))
    await ended(scene, session, active)
    assert await scene.states([*urgent, patient]) == [State.QUEUED, State.HELD, State.HELD]
    await scene.later(2 * SECOND)
    await ended(scene, session, urgent[0])
    assert await scene.states([urgent[1], patient]) == [State.HELD, State.QUEUED]


async def test_whoever_was_passed_over_is_let_in_before_whoever_asks(scene: Scene) -> None:
    """A permit that came free unseen goes to the waiter, even when the next to ask is somebody else; that one is held or refused."""
    await scene.define(max_concurrent_runs=1)
    gone, patient = await one(scene), await one(scene)
    await scene.sql("DELETE FROM headway.run WHERE id = $1", gone)
    await scene.later(61 * SECOND)
    late = await one(scene, priority=9)
    assert await scene.states([patient, late]) == [State.QUEUED, State.HELD]
    await scene.sql("UPDATE headway.run SET state = 0, cause = $2 WHERE id = $1", patient, Cause.CONCURRENCY)
    await scene.sql("DELETE FROM headway.run WHERE id = $1", late)
    await scene.sql("UPDATE headway.definition SET over_limit = 'refuse'")
    with pytest.raises(Conflict, match="takes no more runs"):
        await one(scene)
    assert await scene.state(patient) is State.QUEUED


async def test_partners_that_never_rest_give_way(scene: Scene) -> None:
    """DEF-20: whoever waits a minute for a partner with a stream of runs keeps its later ones out, and starts when the last active ends."""
    await scene.define("load")
    await scene.define("vacuum", restrictions=("load",))
    session = await scene.worker(LONG)
    stream = [await one(scene, "load")]
    vacuum = await one(scene, "vacuum")
    for _ in range(5):
        await scene.later(10 * SECOND)
        stream.append(await one(scene, "load", priority=9))
        await ended(scene, session, stream.pop(0))
        assert await scene.states([stream[0], vacuum]) == [State.QUEUED, State.HELD]
    await scene.later(11 * SECOND)
    waits = await one(scene, "load", priority=9)
    assert await scene.states([waits, vacuum]) == [State.HELD, State.HELD]
    await ended(scene, session, stream[0])
    assert await scene.states([waits, vacuum]) == [State.HELD, State.QUEUED]
    await ended(scene, session, vacuum)
    assert await scene.state(waits) is State.QUEUED


async def test_a_stopped_definition_passes_its_turn(scene: Scene) -> None:
    """A waiter of a definition that is paused keeps nobody out, however long it waits."""
    await scene.define("load")
    await scene.define("vacuum", restrictions=("load",))
    await one(scene, "load")
    vacuum = await one(scene, "vacuum")
    await scene.sql("UPDATE headway.definition SET paused_at = now() WHERE name = 'vacuum'")
    await scene.later(61 * SECOND)
    assert await scene.state(await one(scene, "load")) is State.QUEUED
    assert await scene.state(vacuum) is State.HELD


async def test_forced_runs_pass_whoever_was_passed_over(scene: Scene) -> None:
    """DEF-20: --force passes a restriction that keeps others out for a waiter's sake, too."""
    await scene.define("load")
    await scene.define("vacuum", restrictions=("load",))
    await one(scene, "load")
    await one(scene, "vacuum")
    await scene.later(61 * SECOND)
    (forced,) = await scene.enqueue(name="load", forced=True)
    assert await scene.state(forced) is State.QUEUED


async def test_beyond_the_first_waiters_nobody_is_forgotten(scene: Scene) -> None:
    """RUN-10: more urgent waiters than a settle looks at do not hide the one that waits longest."""
    await scene.define(max_concurrent_runs=1)
    session = await scene.worker(LONG)
    active, patient = await one(scene), await one(scene)
    await scene.later(SECOND)
    await scene.enqueue(gates.WAITERS_LOOKED_AT + 8, priority=9)
    await scene.later(60 * SECOND)
    await ended(scene, session, active)
    assert await scene.state(patient) is State.QUEUED
