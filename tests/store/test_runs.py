"""Read runs, open and finished alike."""

from datetime import timedelta
from uuid import UUID

import pytest

from headway.core.ask import Ask
from headway.core.outcome import Success
from headway.core.run import State
from headway.store import runs
from headway.store.runs import Filter
from tests.store.scene import Scene


async def prepared(scene: Scene) -> dict[str, UUID]:
    """A run of each kind, oldest first: done, running, slow, corr, delayed."""
    await scene.define()
    await scene.define("slow", queue="slow")
    done, running = await scene.enqueue(2)
    (slow,) = await scene.enqueue(name="slow")
    (corr,) = await scene.ask(Ask("job", correlation="order-7", schedule=UUID(int=8)))
    (delayed,) = await scene.enqueue(delay=timedelta(hours=1))
    session = await scene.worker()
    claimed = {run.id: run for run in await scene.claim(session, [done, running])}
    await scene.settle(session, claimed[done], Success({"rows": 3}))
    return {"done": done, "running": running, "slow": slow, "corr": corr, "delayed": delayed}


async def listed(scene: Scene, wanted: Filter = Filter(), **paging: object) -> list[UUID]:  # noqa: B008  # a frozen value
    """The ids of a page."""
    async with scene.database.begin() as tx:
        return [row["id"] for row in await runs.listed(tx, wanted, **paging)]  # type: ignore[arg-type]  # the paging of `listed`, by name


async def test_runs_are_listed_newest_first_open_and_finished_alike(scene: Scene) -> None:
    """RUN-01: a listing reads both tables as one, newest first, page by page, without gaps and doubles."""
    made = list((await prepared(scene)).values())
    assert await listed(scene) == made[::-1]
    pages, after = [], None
    while page := await listed(scene, after=after, limit=2):
        pages += page
        after = page[-1]
    assert pages == made[::-1]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (Filter(state=[State.SUCCEEDED]), ["done"]),
        (Filter(state=[State.SUCCEEDED, State.RUNNING]), ["running", "done"]),
        (Filter(definition="slow"), ["slow"]),
        (Filter(queue="default", state=[State.QUEUED]), ["corr"]),
        (Filter(correlation="order-7"), ["corr"]),
        (Filter(schedule=UUID(int=8)), ["corr"]),
        (Filter(definition="absent"), []),
        (Filter(state=[]), []),
    ],
)
async def test_a_listing_is_narrowed(scene: Scene, wanted: Filter, names: list[str]) -> None:
    """RUN-01: every filter narrows open and finished runs in the same way; filters are joined by and."""
    made = await prepared(scene)
    assert await listed(scene, wanted) == [made[name] for name in names]


async def test_a_listing_is_narrowed_by_time(scene: Scene) -> None:
    """A stretch of time begins with its start and ends before its end."""
    made = await prepared(scene)
    created = {name: (await scene.run(id_))["created_at"] for name, id_ in made.items()}
    assert await listed(scene, Filter(since=created["slow"], until=created["delayed"])) == [made["corr"], made["slow"]]


async def test_a_tenant_sees_its_own(scene: Scene) -> None:
    """A foreign run is as absent as an unknown one, in a listing and by id; None means every tenant."""
    await scene.define()
    (own,), (foreign,) = await scene.enqueue(), await scene.ask(Ask("job", tenant="acme", definition_tenant=""))
    assert (await listed(scene), await listed(scene, tenant="acme")) == ([own], [foreign])
    assert await listed(scene, tenant=None) == [foreign, own]
    async with scene.database.begin() as tx:
        assert await runs.get(tx, foreign) is None
        assert await runs.get(tx, UUID(int=1), None) is None
        assert await runs.get(tx, foreign, "acme") is not None


async def test_an_open_and_a_finished_run_have_the_same_columns(scene: Scene) -> None:
    """A reader needs not know where a run stands: what an open one cannot have yet is null."""
    made = await prepared(scene)
    finished, running = await scene.run(made["done"]), await scene.run(made["running"])
    assert list(finished.keys()) == list(running.keys())
    assert (finished["result"], running["result"], running["finished_at"], running["error"]) == ('{"rows":3}', None, None, None)


async def test_states_and_queued_ids(scene: Scene) -> None:
    """MSG-15: whoever waits asks for states, whoever announces again asks for what is queued, page by page."""
    made = await prepared(scene)
    async with scene.database.begin() as tx:
        assert await runs.states(tx, [made["done"], made["delayed"], UUID(int=1)]) == {
            made["done"]: State.SUCCEEDED,
            made["delayed"]: State.SCHEDULED,
        }
        assert [one.id for one in await runs.queued(tx)] == [made["slow"], made["corr"]]
        assert [one.queue for one in await runs.queued(tx, limit=1)] == ["slow"]
        assert [one.id for one in await runs.queued(tx, after=made["slow"])] == [made["corr"]]
        assert [one.id for one in await runs.queued(tx, definition="slow")] == [made["slow"]]
        backlog = {(row["queue"], row["state"]): row["runs"] for row in await runs.backlog(tx)}
    assert backlog == {
        ("default", State.QUEUED): 1,
        ("default", State.RUNNING): 1,
        ("default", State.SCHEDULED): 1,
        ("slow", State.QUEUED): 1,
    }
