"""What a life promises about the tasks that it owns."""

import asyncio
from asyncio import CancelledError, Event
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from headway.core.errors import Unavailable
from headway.runtime.health import Health
from headway.runtime.life import Life
from tests.runtime.clocks import Ending

HOUR = timedelta(hours=1)


async def idle() -> int:
    """A step that finds nothing."""
    return 0


async def test_it_ends_when_its_tasks_have() -> None:
    """After a stop the context is left when loops and draining tasks have ended, so that adapters are closed after their users."""
    ended: list[str] = []

    async def drain(stopping: Event) -> None:
        await stopping.wait()
        ended.append("drained")

    async def forever() -> None:
        try:
            await Event().wait()
        finally:
            ended.append("cancelled")

    async with Life("test") as life:
        life.start_loop("loop", idle, HOUR)
        life.start("drain", drain(life.stopping), drains=True)
        life.start("forever", forever())
        asyncio.get_running_loop().call_soon(life.stop, "test")
    assert sorted(ended) == ["cancelled", "drained"]


async def test_what_outlives_the_drain_is_cut_off() -> None:
    """A draining task that does not end within the drain time is cancelled, and named."""
    with capture_logs() as logs:
        async with Life("test", drain=timedelta(milliseconds=10)) as life:
            life.start("stuck", _forever(), drains=True)
            life.stop("test")
    assert {"event": "task was cut off", "task": "test.stuck", "drain_seconds": 0.01, "log_level": "warning"} in logs


async def test_a_task_that_dies_ends_the_life() -> None:
    """The error of one task ends all others and comes out of the context: no orphan goes on."""
    with pytest.raises(ExceptionGroup) as caught:
        async with Life("test") as life:
            life.start_loop("loop", idle, HOUR)
            life.start("broken", _fail(), drains=True)
    assert caught.group_contains(Unavailable)
    assert life.stopping.is_set()


async def test_a_task_that_somebody_cancels_ends_the_life() -> None:
    """A cancelled task is no quiet death: its life ends with an error that names it."""
    with pytest.raises(RuntimeError, match=r"test\.forever"):
        async with Life("test") as life:
            task = life.start("forever", _forever())
            asyncio.get_running_loop().call_soon(task.cancel)


async def test_a_task_that_returns_ends_nothing() -> None:
    """Work that is done is done; the life goes on until its stop."""
    async with Life("test") as life:
        await life.start("short", asyncio.wait_for(_done(), 1))
        assert not life.stopping.is_set()
        life.stop("test")


async def test_a_task_that_comes_after_the_stop_is_cancelled() -> None:
    """A stop during the start does not leave a task behind that nobody ends."""
    async with Life("test", drain=timedelta(hours=1)) as life:
        early = life.start("early", _forever())
        life.stop("test")
        await asyncio.wait([early])
        late = life.start("late", _forever())
    assert late.cancelled()


async def test_cancelling_the_owner_cancels_everything() -> None:
    """A second signal cancels the process's work: all tasks end, and the cancellation passes through."""
    started = Event()

    async def run() -> None:
        async with Life("test") as life:
            life.start_loop("loop", idle, HOUR)
            started.set()
            await Event().wait()

    task = asyncio.create_task(run())
    await started.wait()
    task.cancel()
    with pytest.raises(CancelledError):
        await task
    assert not [left for left in asyncio.all_tasks() if left is not asyncio.current_task() and not left.done()]


async def test_children_share_the_stop() -> None:
    """Services side by side in one process stop by one event; a child with an event of its own outlasts them (COR-07: lease to the end)."""
    order: list[str] = []
    last = Event()

    async def note(name: str, event: Event) -> None:
        await event.wait()
        order.append(name)

    async with Life("up") as life, life.child("session", stopping=last) as session:
        session.start("renew", note("renew", last), drains=True)
        async with life.child("worker") as worker:
            worker.start("work", note("work", worker.stopping), drains=True)
            life.stop("test")
        last.set()
    assert order == ["work", "renew"]


async def test_loops_are_watched_while_they_live() -> None:
    """Each loop's pulse stands among the liveness checks (HLT-06), and a stopping process is not ready."""
    health = Health()
    async with Life("test", health=health) as life:
        life.start_loop("loop", idle, HOUR)
        assert health.live().checks["test.loop"]["ok"]
        assert health.ready().ok
        life.stop("test")
        assert not health.ready().ok
        assert health.live().ok
    assert "test.loop" not in health.live().checks


async def test_a_loop_that_keeps_failing_is_not_ready() -> None:
    """A process whose work fails again and again says so with the error where readiness is asked for; a restart would not help it."""
    ending, life = Ending(5), Life("test")
    ready = life.health.ready
    before: list[bool] = []

    async def fail() -> int:
        before.append(ready().checks["test.loop.succeeds"]["ok"])
        raise ValueError

    with capture_logs():
        life.clock = ending.clock
        async with life:
            life.start_loop("loop", fail, HOUR)
            await ending.stopping.wait()
            assert before == [True] * 5
            assert not ready().ok
            assert ready().checks["test.loop.succeeds"] == {"ok": False, "failures": 5, "last_error": "ValueError"}
            assert life.health.live().ok
            life.stop("test")
    assert "test.loop.succeeds" not in ready().checks


async def _forever() -> None:
    await Event().wait()


async def _done() -> None:
    return None


async def _fail() -> None:
    raise Unavailable("database away")


async def test_what_has_not_started_is_not_ready() -> None:
    """HLT-06: while a service still loads what it needs, before its life begins, the process is not ready."""
    life = Life("test")
    assert not life.health.ready().ok
    async with life:
        assert life.health.ready().ok
        life.stop("done")
