"""Triggers declared in code, and what they do on a whole platform."""

import pytest

from headway.core.condition import Condition, Operator
from headway.core.errors import Invalid
from headway.core.trigger import TriggerDraft
from headway.sdk import Headway
from headway.sdk.sync import sync
from headway.sdk.testing import Platform
from headway.store import triggers
from headway.store.tx import Database, Row

MANY = {"key": "rows", "operator": "greater", "value": 0}


def application() -> Headway:
    """Two jobs."""
    app = Headway()

    @app.job
    async def load(rows: int) -> dict[str, int]:
        return {"rows": rows}

    @app.job
    async def alert(rows: int) -> None: ...

    return app


async def kept(database: Database) -> list[Row]:
    """The triggers that stand."""
    async with database.begin() as tx:
        return list(await triggers.listed(tx))


def test_a_trigger_is_declared_beside_its_jobs() -> None:
    """DEF-02: by job or by name, with a condition, parameters and a name of its own."""
    app = application()
    app.trigger(app.jobs["load"], app.jobs["alert"], when=MANY, params={"rows": "{TriggeredBy.Result.rows}"}, name="many")
    app.trigger("load", "elsewhere", enabled=False)
    drafts = {draft.name: draft.triggers for draft in app.drafts()}
    assert drafts == {
        "alert": (),
        "load": (
            TriggerDraft("many", "alert", Condition("rows", Operator.GREATER, 0), {"rows": "{TriggeredBy.Result.rows}"}),
            TriggerDraft("elsewhere", "elsewhere", enabled=False),
        ),
    }


def test_a_trigger_that_cannot_be_meant_is_refused_where_it_is_declared() -> None:
    """DEF-08: with the field that is wrong, and the job keeps those that it had."""
    app = application()
    with pytest.raises(Invalid) as unknown:
        app.trigger("nobody", "alert")
    assert str(unknown.value) == "source: there is no job 'nobody' here"
    app.trigger("load", "alert")
    for options in ({"when": {"key": "rows"}, "name": "other"}, {}):
        with pytest.raises(Invalid) as refused:
            app.trigger("load", "alert", **options)  # type: ignore[arg-type]  # what a caller may get wrong
        assert refused.value.problems[0].field in ("load.triggers[1].condition.value", "load.triggers")
    assert len(app.jobs["load"].triggers) == 1


async def test_a_sync_writes_triggers_once_and_takes_them_back(database: Database) -> None:
    """DEF-15, DEF-17: a repetition changes nothing, what code no longer declares goes, and a target that is not there is named."""
    app = application()
    app.trigger("load", "alert", when=MANY)
    assert [(one.name, one.version) for one in await sync(database, app, "me")] == [("alert", 1), ("load", 1)]
    assert [one.change for one in await sync(database, app, "me")] == ["", ""]
    assert [(one["source_name"], one["target_name"], one["declared"]) for one in await kept(database)] == [("load", "alert", "code")]
    changed = await sync(database, application(), "me")
    assert [(one.name, one.change) for one in changed] == [("alert", ""), ("load", "updated")]
    assert await kept(database) == []
    app.trigger("alert", "nowhere")
    with pytest.raises(Invalid, match=r"triggers\[0\].target: there is no definition 'nowhere'"):
        await sync(database, app, "me")


async def test_a_platform_runs_what_follows(database_url: str) -> None:
    """TRG-01, TRG-03, TRG-06: results fire one target, a timeout or failure another; parameters come from the run that ended."""
    app = Headway()
    followed: list[tuple[str, str]] = []

    @app.job(watch={"alert_after": 0})
    async def load(rows: int) -> dict[str, int]:
        if rows < 0:
            raise ValueError("no file")
        return {"rows": rows}

    @app.job
    async def report(rows: str, of: str) -> None:
        followed.append((rows, of))

    @app.job
    async def complain(why: str) -> None:
        followed.append((why, ""))

    app.trigger(load, report, when=MANY, params={"rows": "{TriggeredBy.Result.rows}", "of": "{TriggeredByRun}"})
    app.trigger(
        load, complain, when={"key": "Result", "operator": "in", "value": ["Failure", "Timeout"]}, params={"why": "{TriggeredBy.Outcome}"}
    )
    async with Platform(app, database_url=database_url) as platform:
        ids = [(await load.enqueue({"rows": rows})).id for rows in (0, 7, -1)]
        await platform.run_until_idle()
    assert sorted(followed) == sorted([("7", str(ids[1])), ("Failure", "")])
