"""Writing what code declares into the catalogue."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from headway.broker import Broker, connect
from headway.broker.announcer import Announcer
from headway.core.draft import parse_definition
from headway.core.errors import Invalid
from headway.messages import DefinitionChanged, parse
from headway.messages.channels import DEFINITION_CHANGED
from headway.sdk import Headway, announce_definition_changed, cron
from headway.sdk.sync import sync
from headway.store import catalogue, definitions, schedules
from headway.store.tx import Database


def application(**options: Any) -> Headway:
    """An application of two jobs."""
    app = Headway()

    @app.job(schedule=cron("0 7 * * *", params={"customer": "all"}), **options)
    async def report(customer: str) -> None: ...

    @app.job
    async def other() -> None: ...

    return app


async def test_a_sync_writes_definitions_and_schedules_once(database: Database) -> None:
    """DEF-15, DEF-17: the first sync creates, a repetition changes nothing, a change updates that job alone and raises its version."""
    assert [(one.name, one.change) for one in await sync(database, application(), "me")] == [("other", "created"), ("report", "created")]
    assert [one.change for one in await sync(database, application(), "me")] == ["", ""]
    changed = await sync(database, application(timeout=timedelta(minutes=1)), "me")
    assert [(one.name, one.change, one.version) for one in changed] == [("other", "", 1), ("report", "updated", 2)]
    async with database.begin() as tx:
        row = await definitions.get(tx, "report")
        assert row is not None and row["source"] == "code" and row["parameter_spec"]["required"] == ["customer"]
        [schedule] = await schedules.of_definition(tx, row["id"])
        assert schedule["parameters"] == {"customer": "all"}


async def test_workers_that_sync_at_once_agree(database: Database) -> None:
    """DEF-17: many workers that start together with the same jobs all succeed, and one of them creates."""
    saved = await asyncio.gather(*(sync(database, application(), f"worker {number}") for number in range(6)))
    assert sorted(one.change for each in saved for one in each) == [""] * 10 + ["created"] * 2


async def test_a_sync_respects_what_an_operator_set(database: Database) -> None:
    """DEF-17: sync changes neither `enabled` nor a field that an operator overrode."""
    await sync(database, application(queue="code"), "me")
    async with database.begin() as tx:
        mine = parse_definition({"name": "report", "queue": "operators", "enabled": False})
        await catalogue.save(tx, mine, actor="operator")
    await sync(database, application(queue="other"), "me")
    async with database.begin() as tx:
        row = await definitions.get(tx, "report")
    assert row is not None and (row["queue"], row["enabled"]) == ("operators", False)


async def test_nothing_is_written_when_a_job_is_wrong(database: Database) -> None:
    """DEF-08: one job that is wrong keeps all from being written, and is named."""
    app = application()
    app.job(name="third", schedule=cron("0 7 * * *", params={"pages": "x"}))(_needs_pages)
    with pytest.raises(Invalid) as refused:
        await sync(database, app, "me")
    assert [problem.field for problem in refused.value.problems] == ["third.schedules[0].parameters.pages"]
    async with database.begin() as tx:
        assert await definitions.listed(tx) == []


async def _needs_pages(pages: int) -> None:
    """Need pages."""


async def test_what_changed_is_broadcast(database: Database, broker: Broker) -> None:
    """DEF-04: every change of a sync is told to every scheduler; what did not change is not."""
    listener = await broker.listen(DEFINITION_CHANGED)
    announcer = Announcer(broker)
    await sync(database, application(), "me")
    await sync(database, application(queue="new"), "me", announcer=announcer)
    await announcer.flush()
    [delivery] = await listener.receive()
    assert parse(delivery.body) == DefinitionChanged(definition="report", version=2, change="updated")
    await listener.close()


async def test_anybody_may_announce_a_change(broker_url: str) -> None:
    """DEF-04: a service that edits definitions in its own way reaches every scheduler over RabbitMQ, with the name alone."""
    broker = connect(broker_url)
    await broker.open()
    await broker.ready(timedelta(seconds=10))
    listener = await broker.listen(DEFINITION_CHANGED)
    await announce_definition_changed("report", tenant="acme", change="disabled", broker_url=broker_url)
    [delivery] = await listener.receive()
    assert parse(delivery.body) == DefinitionChanged(tenant="acme", definition="report", version=0, change="disabled")
    await listener.close()
    await broker.close()
    with pytest.raises(Invalid, match="HEADWAY_BROKER_URL"):
        await announce_definition_changed("report", broker_url="http://nowhere")


async def test_a_schedule_without_an_owner_is_told_of_or_refused(database: Database) -> None:
    """DEF-19: sync warns of it, and refuses all of it where schedules are strict."""
    with pytest.raises(Invalid, match=r"report\.default\.owner"):
        await sync(database, application(), "me", strict_schedules=True)
    async with database.begin() as tx:
        assert await definitions.listed(tx) == []
    with capture_logs() as logs:
        await sync(database, application(), "me")
    assert [one["schedule"] for one in logs if one["event"] == "schedule names no owner"] == ["report.default"]
    await sync(database, application(owner="finance"), "me", strict_schedules=True)
