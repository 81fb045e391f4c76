"""Batches from code: made by an application, opened by a handler."""

import time
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from headway.core.batch import Mixed
from headway.sdk import Client, Conflict, Headway, Invalid, Run, RunFailed
from headway.sdk.testing import Platform, run_handler
from headway.store.tx import Database
from tests.sdk import jobs
from tests.store.batching import Batches
from tests.store.scene import Scene

CHILDREN = 300


class Page(BaseModel):
    """What a child is given."""

    site: str = "none"
    number: int = 0


def application() -> tuple[Headway, list[tuple[Any, ...]]]:
    """An application whose jobs note what they were given."""
    app = Headway()
    seen: list[tuple[Any, ...]] = []

    @app.job(max_concurrent_runs=1)
    async def fetch(page: Page, run: Run) -> None:
        seen.append((run.batch_index, run.batch_total, run.parent, page.site, page.number))
        if page.number < 0:
            raise ValueError("no such page")

    @app.job
    async def crawl(run: Run) -> dict[str, Any]:
        async with run.batch(fetch, max_concurrent=3, mixed="partial") as batch:
            first = await batch.append([{"number": number} for number in range(4)])
            second = await batch.append([fetch.ask({"number": -1})])
        return {"parent": str(batch.id), "indexes": [first, second]}

    @app.job
    def crawl_in_a_thread(run: Run) -> dict[str, Any]:
        with run.batch(fetch) as batch:
            first = batch.append([{"number": 7}]).result(10)
        return {"parent": str(batch.id), "indexes": [first]}

    return app, seen


async def test_an_application_makes_a_batch_and_follows_it(database_url: str) -> None:
    """BAT-01 to 04: children inherit, override without regard to case, know their index, the total and their parent; the result counts."""
    app, seen = application()
    async with Platform(app, database_url=database_url) as platform:
        own = [{"NUMBER": 1}, Page(number=2), {"Site": "b", "number": 3}]
        batch = await app.batch(app.jobs["fetch"], own, parent={"site": "a", "number": 9})
        await platform.run_until_idle()
        assert await batch.result(10) == {"total": 3, "outcomes": {"success": 3}}
        progress = await batch.progress()
        assert (str(progress), progress.percent, progress.closed, progress.ended) == ("3/3 children complete", 100, True, True)
    assert sorted(seen) == [(0, 3, batch.id, "a", 1), (1, 3, batch.id, "a", 2), (2, 3, batch.id, "b", 3)]


async def test_an_open_batch_is_appended_to_and_closed(database_url: str) -> None:
    """BAT-06: children come until the batch is closed, under a key once; a failed one fails the parent with the counts."""
    app, _ = application()
    async with Platform(app, database_url=database_url) as platform:
        batch = await app.batch("fetch", closed=False, key="k")
        assert [await batch.append([{"number": -1}, {}], key="a") for _ in range(2)] == [0, 0]
        again = await app.batch("fetch", closed=False, key="k")
        assert (again.id, again.existing) == (batch.id, True)
        await platform.run_until_idle()
        assert not (await batch.progress()).ended
        await batch.close()
        with pytest.raises(RunFailed, match="of 2 children 1 failure"):
            await batch.result(10)
        with pytest.raises(Conflict):
            await batch.append([{}])


async def test_a_handler_opens_a_batch(database_url: str) -> None:
    """BAT-06: in a coroutine and in a thread the block makes a parent beside the run, takes children, and closes it at its end."""
    app, seen = application()
    async with Platform(app, database_url=database_url) as platform:
        crawl, threaded = await app.enqueue("crawl"), await app.enqueue("crawl_in_a_thread")
        await platform.run_until_idle()
        one, other = await crawl.result(10), await threaded.result(10)
        assert one is not None and other is not None
        assert (one["indexes"], other["indexes"]) == ([0, 4], [0])
        rows = {name: await platform.client.wait(UUID(told["parent"]), 10) for name, told in (("one", one), ("other", other))}
    assert (rows["one"]["parent"], rows["one"]["outcome"], rows["one"]["result"]) == (
        crawl.id,
        3,
        '{"total":5,"outcomes":{"success":4,"failure":1}}',
    )
    assert (rows["other"]["parent"], rows["other"]["outcome"]) == (threaded.id, 1)
    assert len(seen) == 6


async def test_a_process_opens_a_batch() -> None:
    """BAT-06: a handler in a process of its own opens, fills and closes a batch over its worker."""
    tried = await run_handler(jobs.opens_a_batch)
    [batch] = tried.batches
    assert (batch.parent.definition, batch.max_concurrent, batch.mixed, batch.closed) == ("small", 2, Mixed.PARTIAL, False)
    assert [child.params for child in tried.children] == ['{"n":1}', '{"n":2}']
    assert tried.result == {"first": 0}


async def test_a_wrong_child_is_named_by_its_index(client: Client, app: Headway, database: Database) -> None:
    """BAT-01: every wrong child is named with its parameter, before anything is asked of the platform; nothing is kept."""

    @app.job
    async def fetch(page: Page) -> None:
        """Take a page."""

    with pytest.raises(Invalid) as refused:
        await app.batch(fetch, [{}, {"number": "x"}, {"nonsense": 1}], parent={"site": "a"})
    assert [problem.field for problem in refused.value.problems] == ["children[1].parameters.number", "children[2].parameters.nonsense"]
    for wrong, field in (({"children": [{}], "mixed": "best"}, "mixed"), ({"children": []}, "children")):
        with pytest.raises(Invalid) as refused:
            await app.batch(fetch, **wrong)
        assert [problem.field for problem in refused.value.problems] == [field]
    assert not await Scene(database).sql("SELECT 1 FROM headway.batch")


async def test_a_large_batch_is_cancelled_whole(client: Client, app: Headway, database: Database) -> None:
    """BAT-06: one cancel reaches every child, in as many transactions as it takes, and the parent ends as cancelled."""
    scene = Scene(database)
    await scene.define()
    batch = await app.batch("job", [{}] * 1200)
    assert await batch.cancel("not today") == "cancelled"
    rows = await scene.sql("SELECT state, count(*) AS runs FROM headway.run_done GROUP BY state")
    assert [tuple(row.values()) for row in rows] == [(6, 1201)]
    other = await app.batch("job", [{}] * 2)
    batches = Batches(scene)
    await scene.claim(await scene.worker(), await batches.ids(other.id))
    assert await other.cancel() == "cancelling"


async def test_a_batch_is_worked_off_at_a_good_pace(database_url: str) -> None:
    """BAT-05: hundreds of children under a limit of their batch end within seconds, and their parent with them."""
    app = Headway()

    @app.job
    async def child(run: Run) -> None:
        """Do nothing."""

    began = time.monotonic()
    async with Platform(app, database_url=database_url) as platform:
        batch = await app.batch(child, [{}] * CHILDREN, max_concurrent=50)
        await platform.run_until_idle()
        assert await batch.result(10) == {"total": CHILDREN, "outcomes": {"success": CHILDREN}}
    assert time.monotonic() - began < 25
