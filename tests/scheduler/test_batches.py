"""Batches as schedulers move them: by completions that may be told of twice, and by looking."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from headway.broker.connect import connect
from headway.core.run import State
from headway.messages import CompletedRun, RunCompleted
from headway.runtime.settings.groups import ReactionGroup
from headway.scheduler.react import Reactions
from headway.store.gates import Placed
from tests.store.batching import DOING, Batches
from tests.store.scene import Scene


def completion(ids: Sequence[UUID]) -> RunCompleted:
    """The message that a worker sends of children that succeeded."""
    at = datetime(2030, 1, 1, tzinfo=UTC)
    return RunCompleted(
        runs=tuple(
            CompletedRun(id=id_, definition="job", state="succeeded", outcome="success", attempt=1, finished_at=at, reactions=("batch",))
            for id_ in ids
        )
    )


async def test_completions_that_are_told_of_again_and_again_end_a_parent_once(scene: Scene) -> None:
    """BAT-05, MSG-10: two schedulers that hear of every end ten times let each child in once and end the parent once."""
    await scene.define()
    batches, announced = Batches(scene), list[Placed]()
    broker = connect("memory://batches")
    schedulers = [Reactions(ReactionGroup(), scene.database, broker, DOING, announced.extend) for _ in range(2)]
    parent = await batches.make(6, max_concurrent=2)
    ids = await batches.ids(parent)
    while await scene.state(parent) is State.HELD:
        queued = [id_ for id_, state in zip(ids, await scene.states(ids), strict=True) if state is State.QUEUED]
        await batches.end(queued)
        message = completion(queued)
        await asyncio.gather(*[one.handle(message) for one in schedulers for _ in range(10)])
    assert sorted(run.id for run in announced) == ids[2:]
    assert await batches.said(parent) == (100, "6/6 children complete")
    assert [await one.look() for one in schedulers] == [0, 0]


async def test_an_end_that_no_message_names_is_found(scene: Scene) -> None:
    """Model, "hint and fill": a look finds what is owed, and does all of one parent's in one pass."""
    await scene.define()
    batches, announced = Batches(scene), list[Placed]()
    scheduler = Reactions(ReactionGroup(), scene.database, connect("memory://looked"), DOING, announced.extend)
    parent = await batches.make(3)
    await batches.end(await batches.ids(parent))
    assert await scheduler.look() == 3
    assert await scene.state(parent) is State.SUCCEEDED
