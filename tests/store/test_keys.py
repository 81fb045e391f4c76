"""Idempotency keys: concurrent duplicates yield one run and the same answer."""

import asyncio
from datetime import timedelta

import pytest

from headway.core.ask import Ask
from headway.core.errors import Conflict
from headway.store import keys
from headway.store.accept import accept
from headway.store.enqueue import Accepted
from tests.store.scene import Scene

ASK = Ask("job", params='{"a":1,"b":2}', key="order-7")
SHORT = timedelta(milliseconds=50)


async def test_a_repeated_request_is_the_same_run(scene: Scene) -> None:
    """RUN-09: the same key with the same parameters, however they are written, gives the run that was first; it is marked as existing."""
    await scene.define()
    (first,) = await scene.ask(ASK)
    (answer,) = await scene.database.transact(lambda tx: accept(tx, [Ask("job", params='{"b": 2, "a": 1}', key="order-7")]))
    assert isinstance(answer, Accepted)
    assert (answer.id, answer.existing) == (first, True)
    assert len(await scene.sql("SELECT 1 FROM headway.run")) == 1


async def test_concurrent_duplicates_are_one_run(scene: Scene) -> None:
    """RUN-09, VER-01: of many requests with one key at once one creates the run, and all have the same answer."""
    await scene.define()
    answers = await asyncio.gather(*[scene.ask(ASK) for _ in range(12)])
    assert len({id_ for (id_,) in answers}) == 1
    assert len(await scene.sql("SELECT 1 FROM headway.run")) == 1


async def test_duplicates_inside_of_one_batch_are_one_run(scene: Scene) -> None:
    """RUN-09: a key that stands twice in one request is one run, answered twice."""
    await scene.define()
    first, second, other = await scene.ask(ASK, ASK, Ask("job", key="order-8"))
    assert first == second != other


async def test_other_parameters_under_a_key_are_a_conflict(scene: Scene) -> None:
    """RUN-09: a key belongs to its parameters; the conflict is that ask's own and harms no other of its batch."""
    await scene.define()
    await scene.ask(ASK)
    refused, accepted = await scene.database.transact(lambda tx: accept(tx, [Ask("job", params="{}", key="order-7"), Ask("job")]))
    assert isinstance(refused, Conflict)
    assert refused.code == "key_reused"
    assert isinstance(accepted, Accepted)


async def test_a_key_belongs_to_its_definition_and_tenant(scene: Scene) -> None:
    """RUN-09: the same key of another definition is another key."""
    await scene.define()
    await scene.define("other")
    assert await scene.ask(ASK) != await scene.ask(Ask("other", params=ASK.params, key="order-7"))


async def test_a_key_that_is_being_taken_is_waited_for_and_then_contested(scene: Scene) -> None:
    """RUN-09: a request waits for the transaction that took its key, for so long and no longer; then it is told to come back."""
    await scene.define()
    async with scene.database.begin() as taking:
        await accept(taking, [ASK])
        with pytest.raises(keys.KeyContested) as contested:
            await scene.database.transact(lambda tx: accept(tx, [ASK], wait=SHORT))
        waiting = asyncio.create_task(scene.ask(ASK))
        await scene.somebody_waits()
    assert contested.value.code == "key_contested"
    assert await waiting == [row["id"] for row in await scene.sql("SELECT id FROM headway.run")]
    assert timedelta(seconds=2) == keys.WAIT


async def test_a_key_whose_request_was_undone_is_free(scene: Scene) -> None:
    """RUN-09: a transaction that took the key and rolled back leaves nothing behind."""
    await scene.define()

    async def undone() -> None:
        async with scene.database.begin() as tx:
            await accept(tx, [ASK])
            raise LookupError

    with pytest.raises(LookupError):
        await undone()
    assert len(await scene.ask(ASK)) == 1


async def test_waiting_leaves_the_transaction_its_own_patience(scene: Scene) -> None:
    """The wait for a key is no setting of the transaction that outlives it: it may be somebody else's."""
    await scene.define()
    async with scene.database.begin() as tx:
        await tx.run("SET LOCAL lock_timeout = '7s'")
        await accept(tx, [ASK])
        assert await tx.connection.fetchval("SHOW lock_timeout") == "7s"


async def test_a_key_is_kept_for_a_day_and_while_its_run_is_open(scene: Scene) -> None:
    """RUN-09: after a day the key of a finished run is free and pruned; that of an open run stays."""
    await scene.define()
    (open_run,) = await scene.ask(ASK)
    (ended,) = await scene.ask(Ask("job", key="done"))
    session = await scene.worker()
    (claimed,) = await scene.claim(session, [ended])
    await scene.settle(session, claimed)
    async with scene.database.begin() as tx:
        assert await keys.prune(tx) == 0
    await scene.later(timedelta(hours=25))
    assert await scene.ask(ASK) == [open_run]
    assert await scene.ask(Ask("job", key="done")) != [ended]
    (row,) = await scene.sql("SELECT count(*) FROM headway.idempotency_key")
    assert row["count"] == 2


async def test_unique_while_open_ends_with_its_run(scene: Scene) -> None:
    """RUN-09: a key that is unique while its run is open finds that run, whatever the parameters, and is free when it has ended."""
    await scene.define()
    (first,) = await scene.ask(Ask("job", params="{}", key="nightly", unique_while_open=True))
    assert await scene.ask(Ask("job", params='{"x":1}', key="nightly", unique_while_open=True)) == [first]
    session = await scene.worker()
    (claimed,) = await scene.claim(session, [first])
    await scene.settle(session, claimed)
    assert await scene.ask(Ask("job", key="nightly", unique_while_open=True)) != [first]


async def test_a_refused_request_gives_its_key_back(scene: Scene) -> None:
    """RUN-09: a definition that does not exist takes no key with it."""
    with pytest.raises(Exception, match="no definition"):
        await scene.ask(Ask("absent", key="k"))
    assert not await scene.sql("SELECT 1 FROM headway.idempotency_key")
