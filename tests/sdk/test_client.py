"""Accepting, cancelling and following runs."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest

from headway.broker import Broker
from headway.core.ask import Ask
from headway.core.errors import Conflict, HeadwayError, Invalid, NotFound
from headway.core.outcome import Cancelled, RunOutcome, Success
from headway.core.run import State
from headway.messages import RunCancel, RunCreated, parse
from headway.messages.channels import CONTROL
from headway.sdk import Client, Headway
from headway.sdk.sync import sync
from headway.store.keys import KeyContested
from headway.store.tx import Database
from tests.sdk.rows import all_rows, claim_one, end, row_of


@pytest.fixture
async def definitions(database: Database) -> None:
    """`plain`, `single` (one at a time, others wait), `strict` (one at a time, others are refused), `off` (disabled)."""
    app = Headway()
    app.job(name="plain", queue="quick")(_nothing)
    app.job(name="single", max_concurrent_runs=1)(_nothing)
    app.job(name="strict", max_concurrent_runs=1, over_limit="refuse")(_nothing)
    app.job(name="off", enabled=False)(_nothing)
    await sync(database, app, "test")


async def _nothing() -> None:
    """Do nothing."""


pytestmark = pytest.mark.usefixtures("definitions")


async def test_an_accepted_run_is_queued_and_announced(client: Client, database: Database, broker: Broker) -> None:
    """RUN-16: a run carries what it was asked with, and its hint names it by queue and priority."""
    await broker.declare_run_queues(["quick"])
    consumer = await broker.consume("run.quick", prefetch=10)
    accepted = await client.enqueue(
        Ask("plain", params='{"a":1}', priority=7, correlation="c1", traceparent="00-11-22-01", payload=b"\x00raw")
    )
    assert accepted.state is State.QUEUED and not accepted.existing
    [delivery] = await consumer.receive()
    assert parse(delivery.body) == RunCreated(queue="quick", runs=(accepted.id,))
    row = await row_of(database, accepted.id)
    assert (row["params"], row["priority"], row["correlation"], row["created_by"], row["queue"]) == ('{"a":1}', 7, "c1", "test", "quick")
    await consumer.close()


async def test_concurrent_enqueues_share_one_transaction_and_one_message(client: Client, database: Database, broker: Broker) -> None:
    """Group commit: 64 callers at once make at most two inserts and two hints, and each gets its own run, in order of asking."""
    await broker.declare_run_queues(["quick"])
    consumer = await broker.consume("run.quick", prefetch=100)
    accepted = await asyncio.gather(*(client.enqueue(Ask("plain", params=str(number))) for number in range(64)))
    rows = await all_rows(database)
    assert len({row["created_at"] for row in rows}) <= 2
    assert [row["params"] for row in sorted(rows, key=lambda row: row["id"])] == [str(number) for number in range(64)]
    named: list[UUID] = []
    messages = 0
    while len(named) < 64:
        for delivery in await consumer.receive():
            message = parse(delivery.body)
            assert isinstance(message, RunCreated)
            named += message.runs
            messages += 1
    assert set(named) == {one.id for one in accepted}
    assert messages <= 2
    await consumer.close()


async def test_each_caller_of_a_batch_gets_its_own_error(client: Client, database: Database) -> None:
    """RUN-16: unknown, disabled, malformed and good asks at the same moment are each answered for themselves."""
    asks = [Ask("plain"), Ask("missing"), Ask("off"), Ask("plain", correlation="a\x00b"), Ask("plain", priority=10)]
    answers = await asyncio.gather(*(client.enqueue(ask) for ask in asks), return_exceptions=True)
    assert [getattr(answer, "code", "") for answer in answers] == ["", "definition_unknown", "definition_disabled", "invalid", "invalid"]
    assert [isinstance(answer, Invalid) and answer.problems[0].field for answer in answers[3:]] == ["correlation", "priority"]
    assert len(await all_rows(database)) == 1


async def test_bulk_is_all_or_nothing(client: Client, database: Database) -> None:
    """RUN-17: one bad ask among many leaves nothing written, and every bad one is named by its place."""
    with pytest.raises(Invalid) as refused:
        await client.enqueue_many([Ask("plain"), Ask("missing"), Ask("plain"), Ask("off")])
    assert [problem.field for problem in refused.value.problems] == ["asks[1]", "asks[3]"]
    assert await all_rows(database) == []
    accepted = await client.enqueue_many([Ask("plain", params=str(number)) for number in range(1500)])
    assert [one.id for one in accepted] == sorted(one.id for one in accepted)
    assert len(await all_rows(database)) == 1500


async def test_a_dry_run_validates_only(client: Client, database: Database) -> None:
    """RUN-11: a check raises what an enqueue would and stores nothing."""
    await client.check([Ask("plain", key="k")])
    with pytest.raises(NotFound):
        await client.check([Ask("missing")])
    assert await all_rows(database) == []
    assert not (await client.enqueue(Ask("plain", key="k"))).existing


async def test_concurrent_duplicates_of_a_key_are_one_run(client: Client, database: Database) -> None:
    """RUN-09: the same key and request, from two processes at once, yield one run and the same answer."""
    other = Client(database, client.broker, created_by="other")
    async with other:
        asks = [(client, other)[number % 2].enqueue(Ask("plain", params='{"a": 1,"b":2}', key="k")) for number in range(20)]
        answers = await asyncio.gather(*asks)
    assert len({answer.id for answer in answers}) == 1
    assert [answer.existing for answer in answers].count(False) == 1
    again = await client.enqueue(Ask("plain", params='{"b":2,"a":1}', key="k"))
    assert again.existing and again.id == answers[0].id
    assert len(await all_rows(database)) == 1


async def test_a_key_belongs_to_one_request(client: Client) -> None:
    """RUN-09: other parameters under the same key are a Conflict; the same key of another definition is another key."""
    await client.enqueue(Ask("plain", params="1", key="k"))
    with pytest.raises(Conflict) as reused:
        await client.enqueue(Ask("plain", params="2", key="k"))
    assert reused.value.code == "key_reused"
    assert not (await client.enqueue(Ask("single", params="2", key="k"))).existing


async def test_a_key_gives_its_run_one_token(client: Client, database: Database) -> None:
    """COR-05: the idempotency token of a run with a key depends on the key, not on the run."""
    keyed = await client.enqueue(Ask("plain", key="k"))
    plain = await client.enqueue(Ask("plain"))
    assert (await row_of(database, keyed.id))["token"] is not None
    assert (await row_of(database, plain.id))["token"] is None


async def test_a_contested_key_waits_two_seconds_and_holds_up_nobody_else(client: Client, database: Database, database_url: str) -> None:
    """RUN-09: while a foreign transaction keeps a key, its duplicate is refused within about two seconds and others go through."""
    connection = await asyncpg.connect(database_url)
    transaction = connection.transaction()
    await transaction.start()
    await client.enqueue_within(connection, [Ask("plain", key="k")])
    loop = asyncio.get_running_loop()
    began = loop.time()
    contested = asyncio.ensure_future(client.enqueue(Ask("plain", key="k")))
    others = await asyncio.gather(client.enqueue(Ask("plain", key="other")), client.enqueue(Ask("plain")))
    assert loop.time() - began < 1.5
    with pytest.raises(KeyContested):
        await contested
    assert loop.time() - began < 3
    await transaction.rollback()
    await connection.close()
    assert not any(one.existing for one in others)
    assert not (await client.enqueue(Ask("plain", key="k"))).existing


async def test_a_refused_ask_leaves_its_key_free(client: Client) -> None:
    """RUN-09: a key is bound to a run that was accepted, never to one that was turned away."""
    with pytest.raises(Conflict):
        await client.enqueue(Ask("off", key="k"))
    await client.enqueue(Ask("strict"))
    with pytest.raises(Conflict) as refused:
        await client.enqueue(Ask("strict", key="k"))
    assert refused.value.code == "over_limit"
    with pytest.raises(Conflict) as again:
        await client.enqueue(Ask("strict", key="k", params="2"))
    assert again.value.code == "over_limit"


async def test_unique_while_open_is_a_debounce(client: Client, database: Database) -> None:
    """An open run answers for its key whatever the parameters; once it has ended the next ask makes a new one."""
    first = await client.enqueue(Ask("plain", key="k", unique_while_open=True))
    second = await client.enqueue(Ask("plain", params="2", key="k", unique_while_open=True))
    assert second.existing and second.id == first.id
    await end(database, first.id, Cancelled("test"))
    third = await client.enqueue(Ask("plain", key="k", unique_while_open=True))
    assert not third.existing and third.id != first.id


async def test_limits_hold_or_refuse(client: Client, database: Database) -> None:
    """RUN-10: over its limit a definition holds further runs, or refuses them and keeps no row."""
    states = [(await client.enqueue(Ask("single"))).state for _ in range(3)]
    assert states == [State.QUEUED, State.HELD, State.HELD]
    assert (await client.enqueue(Ask("strict"))).state is State.QUEUED
    before = len(await all_rows(database))
    answers = await asyncio.gather(client.enqueue(Ask("strict")), client.enqueue(Ask("plain")), return_exceptions=True)
    assert [getattr(answer, "code", "") for answer in answers] == ["over_limit", ""]
    assert len(await all_rows(database)) == before + 1


async def test_a_delay_counts_from_the_databases_now(client: Client, database: Database) -> None:
    """RUN-17: a delayed run is scheduled and due the delay after it was accepted; one at an instant, then."""
    delayed = await client.enqueue(Ask("plain", delay=timedelta(minutes=5)))
    row = await row_of(database, delayed.id)
    assert row["available_at"] - row["created_at"] == timedelta(minutes=5)
    assert delayed.state is State.SCHEDULED
    at = datetime(2040, 1, 1, tzinfo=UTC)
    assert (await row_of(database, (await client.enqueue(Ask("single", at=at))).id))["available_at"] == at


async def test_cancel_says_what_it_did(client: Client, database: Database) -> None:
    """RUN-06: what does not run is cancelled at once, its waiter is let in; what had ended, or never was, is final."""
    first, waiter = [await client.enqueue(Ask("single")) for _ in range(2)]
    unknown = uuid4()
    said = await client.cancel([first.id, unknown], actor="me", reason="no longer needed")
    assert said == {first.id: "cancelled", unknown: "final"}
    assert await client.cancel([first.id], actor="me") == {first.id: "final"}
    row = await row_of(database, first.id)
    assert (row["outcome"], row["reason"]) == (RunOutcome.CANCELLED, "no longer needed")
    assert (await row_of(database, waiter.id))["state"] == State.QUEUED


async def test_cancelling_a_running_run_is_broadcast(client: Client, database: Database, broker: Broker) -> None:
    """RUN-06: a running run gets the wish, and every worker is told which runs to stop."""
    consumer = await broker.listen(CONTROL)
    accepted = await client.enqueue(Ask("plain"))
    await claim_one(database, accepted.id, "plain")
    assert await client.cancel([accepted.id], actor="me") == {accepted.id: "cancelling"}
    [delivery] = await consumer.receive()
    assert parse(delivery.body) == RunCancel(runs=(accepted.id,))
    await consumer.close()


async def test_wait_returns_the_final_row(client: Client, database: Database) -> None:
    """A waiting caller gets the final row once the run has ended, TimeoutError before, NotFound for a run that never was."""
    accepted = await client.enqueue(Ask("plain"))
    with pytest.raises(TimeoutError):
        await client.wait(accepted.id, 0.05)
    waiting = asyncio.ensure_future(client.wait(accepted.id, 10))
    await end(database, accepted.id, Cancelled("test"))
    assert (await waiting)["outcome"] == RunOutcome.CANCELLED
    with pytest.raises(NotFound):
        await client.wait(uuid4(), 1)


async def test_a_broker_that_is_away_delays_nobody(database: Database, database_url: str) -> None:
    """Creates succeed with the broker down: the run is queued, its hint is forgotten, and closing takes seconds at most."""
    client = await Client.connect(created_by="test", database_url=database_url, broker_url="amqp://guest:guest@127.0.0.1:1/")
    accepted = await client.enqueue(Ask("plain"))
    await client.close()
    assert (await row_of(database, accepted.id))["state"] == State.QUEUED


async def test_an_error_of_the_platform_is_one_of_ours(client: Client) -> None:
    """Whatever an enqueue refuses is a HeadwayError with a code."""
    with pytest.raises(HeadwayError) as refused:
        await client.enqueue(Ask("plain", delay=timedelta(seconds=1), at=datetime(2040, 1, 1, tzinfo=UTC)))
    assert refused.value.code == "invalid"
    assert Success().result is None
