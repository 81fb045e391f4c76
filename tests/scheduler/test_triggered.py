"""Schedulers do what ends owe their triggers: once, and workers hear of it at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from structlog.testing import capture_logs

from headway.broker import connect
from headway.broker.port import Consumer
from headway.core.run import State
from headway.core.trigger import TriggerDraft
from headway.messages import RunCompleted, RunCreated, parse
from headway.messages.bodies import CompletedRun
from headway.runtime.metrics import REGISTRY
from headway.scheduler.work import Scheduler
from headway.store.tx import Row
from tests.scheduler.schedulers import begin
from tests.store.scene import Scene
from tests.store.test_triggering import add, chain, end


def completion(runs: list[UUID]) -> RunCompleted:
    """The message that says that runs have ended."""
    facts = {"definition": "a", "state": "succeeded", "outcome": "success", "attempt": 1, "finished_at": "2026-01-31T07:00:00Z"}
    return RunCompleted(runs=tuple(CompletedRun.model_validate({"id": run, **facts, "reactions": ("trigger",)}) for run in runs))


async def made(scene: Scene) -> list[Row]:
    """The runs that triggers made."""
    return await scene.sql("SELECT * FROM headway.run WHERE origin = 6 ORDER BY id")


async def test_a_hundred_completions_fire_once(scene: Scene) -> None:
    """TRG-02, MSG-10: one end told a hundred times, to two schedulers at once, with looks in between, fires one run."""
    await chain(scene, "a", "b")
    source = await end(scene)
    schedulers = [await begin(scene.database), await begin(scene.database)]
    message = completion([source])
    told = [schedulers[number % 2].reactions.handle(message) for number in range(100)]
    await asyncio.gather(*told, *(one.reactions.look() for one in schedulers))
    (run,) = await made(scene)
    assert (run["parent"], run["state"]) == (source, State.QUEUED)
    assert sum(one.announcer.waiting for one in schedulers) == 1


async def test_workers_hear_of_a_triggered_run_when_it_is_committed(scene: Scene) -> None:
    """TRG-01: the hint names the run and its queue; it does not wait for anybody's look."""
    await scene.define("a")
    await scene.define("b", queue="mail", priority=7)
    await add(scene, "a", TriggerDraft("next", "b"))
    source = await end(scene)
    scheduler = await begin(scene.database)
    async with listening(scheduler, "mail") as consumer:
        await scheduler.reactions.handle(completion([source]))
        await scheduler.announcer.flush()
        heard = [parse(one.body) for one in await consumer.receive()]
    (run,) = await made(scene)
    assert [(one.queue, one.runs) for one in heard if isinstance(one, RunCreated)] == [("mail", (run["id"],))]


async def test_what_fired_is_counted_and_what_did_not_is_told(scene: Scene) -> None:
    """TRG-01, TPL-05: by definition and result; a refusal and a bad template are warnings that name trigger and run."""
    await scene.define("count")
    await scene.define("b")
    await scene.define("off", enabled=False)
    await add(scene, "count", TriggerDraft("next", "b", parameters={"x": "{TriggeredBy.FinishedAt:%9d}"}))
    await add(scene, "count", TriggerDraft("off", "off"))
    source = await end(scene, name="count")
    scheduler = await begin(scene.database)
    with capture_logs() as logs:
        await scheduler.reactions.look()
    assert [(one["event"], one["trigger"], one["by_run"]) for one in logs if one["log_level"] == "warning"] == [
        ("trigger fired in vain", "off", str(source)),
        ("templates were kept as written", "next", str(source)),
    ]
    counts = {result: REGISTRY.get_sample_value(*sample("count", result)) for result in ("accepted", "refused")}
    assert counts == {"accepted": 1, "refused": 1}


def sample(definition: str, result: str) -> tuple[str, dict[str, str]]:
    """Where a count of triggers stands."""
    return "headway_trigger_fired_total", {"definition": definition, "result": result}


@asynccontextmanager
async def listening(scheduler: Scheduler, queue: str) -> AsyncIterator[Consumer]:
    """Consume the hints of a queue that a scheduler publishes."""
    broker = connect(f"memory://triggered-{queue}")
    await broker.open()
    await broker.declare_run_queues([queue])
    scheduler.announcer.broker = broker
    yield await broker.consume(f"run.{queue}", prefetch=10)
    await broker.close()
