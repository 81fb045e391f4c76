"""Accept runs."""

from datetime import timedelta
from uuid import UUID

import pytest

from headway.core.ask import Ask, Origin
from headway.core.errors import Conflict, NotFound
from headway.core.run import State
from headway.store import enqueue, runs
from headway.store.enqueue import Accepted
from headway.store.tx import Row, Tx
from headway.store.withdraw import withdraw
from tests.store.scene import Scene


async def test_a_run_takes_what_its_definition_says(scene: Scene) -> None:
    """RUN-16, DEF-03: queue, priority, handler and version are the definition's, what the ask says wins, who asked is kept."""
    definition = await scene.define(queue="slow", priority=3)
    plain, urgent = await scene.ask(Ask("job", created_by="ann"), Ask("job", priority=8, origin=Origin.RERUN, parent=UUID(int=2)))
    row = await scene.run(plain)
    assert (row["queue"], row["priority"], row["handler"], row["definition_id"], row["definition_version"]) == (
        "slow",
        3,
        "job",
        definition,
        1,
    )
    assert (row["created_by"], row["origin"], row["state"], row["attempt"]) == ("ann", Origin.CALL, State.QUEUED, 0)
    row = await scene.run(urgent)
    assert (row["priority"], row["origin"], row["parent"]) == (8, Origin.RERUN, UUID(int=2))


async def test_ids_are_in_the_order_of_asking(scene: Scene) -> None:
    """Id order is enqueue order, inside a bulk and across."""
    await scene.define()
    ids = [*await scene.enqueue(50), *await scene.enqueue(50)]
    assert ids == sorted(ids)


async def test_each_ask_is_answered_in_its_place(scene: Scene) -> None:
    """RUN-17: an unknown or disabled definition answers for its own ask; all the others of the bulk are accepted."""
    await scene.define()
    await scene.define("off", enabled=False)
    asks = [Ask("job"), Ask("absent"), Ask("off"), Ask("job", tenant="other"), Ask("job")]
    answers = await scene.database.transact(lambda tx: enqueue.create(tx, asks))
    assert [type(answer) for answer in answers] == [Accepted, NotFound, Conflict, NotFound, Accepted]
    assert len(await scene.sql("SELECT 1 FROM headway.run")) == 2


async def test_a_run_may_wait_for_its_instant(scene: Scene) -> None:
    """RUN-17: a delay and an instant ahead make a scheduled run; one in the past is queued."""
    await scene.define()
    async with scene.database.begin() as tx:
        now = tx.now
    hour = timedelta(hours=1)
    delayed, ahead, past = await scene.ask(Ask("job", delay=hour), Ask("job", at=now + hour), Ask("job", at=now - hour))
    assert await scene.states([delayed, ahead, past]) == [State.SCHEDULED, State.SCHEDULED, State.QUEUED]
    assert (await scene.run(past))["available_at"] == now - hour


async def test_nothing_is_left_of_what_was_rolled_back(scene: Scene) -> None:
    """RUN-17: a run exists if and only if its transaction commits."""
    await scene.define()
    with pytest.raises(LookupError):
        await scene.database.transact(_create_and_raise)
    assert not await scene.sql("SELECT 1 FROM headway.run")


async def _create_and_raise(tx: Tx) -> None:
    await enqueue.create(tx, [Ask("job")])
    raise LookupError


async def test_what_was_taken_back_was_never_there(scene: Scene) -> None:
    """A withdrawn run leaves no row and no input; one that was started cannot be withdrawn."""
    await scene.define()
    claimed = await scene.started()
    (large,) = await scene.ask(Ask("job", payload=b"x"))
    assert await scene.database.transact(lambda tx: withdraw(tx, [large, claimed.id])) == 1
    assert not await scene.sql("SELECT 1 FROM headway.run_input")
    assert await scene.state(claimed.id) is State.RUNNING


async def test_large_parameters_are_kept_beside_the_row(scene: Scene) -> None:
    """RUN-16: parameters over 2 KiB and payloads stay out of the hot row and are read back the same."""
    await scene.define()
    small, large = '{"a":"x"}', '{"a":"' + "x" * 3000 + '"}'
    ids = await scene.ask(Ask("job", params=small), Ask("job", params=large))
    inline = [row["params"] for row in await scene.sql("SELECT params FROM headway.run ORDER BY id")]
    assert inline == [small, None]
    async with scene.database.begin() as tx:
        read = [await runs.params_text(tx, await _get(tx, id_)) for id_ in ids]
    assert read == [small, large]


async def _get(tx: Tx, id_: UUID) -> Row:
    row = await runs.get(tx, id_)
    assert row is not None
    return row


async def test_a_lone_run_is_what_it_would_be_among_others(scene: Scene) -> None:
    """RUN-16, RUN-17: one statement makes the same row as a transaction does, and leaves to it what asks gates or is refused."""
    await scene.define(queue="slow", priority=3)
    await scene.define("gated", max_concurrent_runs=1)
    await scene.define("off", enabled=False)
    ask = Ask("job", params='{"n": 1}', created_by="ann", correlation="c")
    [among] = await scene.ask(ask)
    async with scene.database.once() as tx:
        alone = await enqueue.create_alone(tx, ask, UUID(int=7))
        others = [await enqueue.create_alone(tx, Ask(name), UUID(int=8)) for name in ("gated", "off", "absent")]
    assert alone is not None
    assert others == [None, None, None]
    assert (alone.id, alone.state, alone.queue, alone.priority, alone.gated) == (UUID(int=7), State.QUEUED, "slow", 3, False)
    differing = {"id", "created_at", "available_at"}
    rows = [{name: value for name, value in (await scene.run(id_)).items() if name not in differing} for id_ in (among, alone.id)]
    assert rows[0] == rows[1]
    row = await scene.run(alone.id)
    assert row["available_at"] == row["created_at"]


@pytest.mark.parametrize(
    ("ask", "lone"),
    [
        (Ask("job"), True),
        (Ask("job", params="{}"), True),
        (Ask("job", key="k"), False),
        (Ask("job", delay=timedelta(1)), False),
        (Ask("job", payload=b"x"), False),
        (Ask("job", params="x" * 3000), False),
    ],
)
def test_what_takes_more_than_a_row_is_not_lone(ask: Ask, lone: bool) -> None:
    """RUN-09, RUN-16: keys, delays and cold inputs need a transaction."""
    assert ask.lone is lone
