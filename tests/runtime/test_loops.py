"""What a loop promises to the step that it calls."""

import asyncio
from asyncio import CancelledError, Event
from collections.abc import Iterable
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from headway.core.errors import Unavailable
from headway.runtime.loops import Clock, Loop, Next, Step, Wake, backoff
from tests.runtime.clocks import Ending, FakeClock

PERIOD = timedelta(seconds=10)


class Script:
    """A step that plays a list: a result is returned, an error is raised, and the last one repeats."""

    def __init__(self, acts: Iterable[int | Next | BaseException]) -> None:
        self.acts = list(acts)
        self.calls = 0

    async def __call__(self) -> int | Next:
        act = self.acts[min(self.calls, len(self.acts) - 1)]
        self.calls += 1
        if isinstance(act, BaseException):
            raise act
        return act


async def played(step: Step, waits: int, **options: int) -> tuple[Loop, FakeClock]:
    """A loop that has run until its n-th wait."""
    ending = Ending(waits)
    loop = Loop("test", step, PERIOD, clock=ending.clock, full=options.get("full"))
    await loop.run(ending.stopping)
    return loop, ending.clock


async def test_a_pass_follows_each_period() -> None:
    """A step that finds little is called again when its period is over."""
    step = Script([3])
    _, clock = await played(step, 4, full=5)
    assert (clock.waits, step.calls) == ([10.0] * 4, 4)


async def test_a_full_pass_is_followed_at_once() -> None:
    """Fill runs at once when the last look came back full (model.md, hint and fill)."""
    _, clock = await played(Script([5, Next(1, again=True), 4]), 3, full=5)
    assert clock.waits == [0.0, 0.0, 10.0]


async def test_a_step_may_choose_its_sleep() -> None:
    """A sleep until the next due instant is exact, never longer than the period and never negative."""
    _, clock = await played(Script([Next(sleep=timedelta(seconds=2.5)), Next(sleep=timedelta(days=1)), Next(sleep=timedelta(-1))]), 3)
    assert clock.waits == [2.5, 10.0, 0.0]


async def test_wakes_coalesce_and_none_is_lost() -> None:
    """Wakes before and during a pass make one further pass together; without one the loop sleeps its period."""
    wake, ending = Wake(), Ending(3)
    passes = 0

    async def step() -> int:
        nonlocal passes
        passes += 1
        if passes == 1:
            wake.set()
            wake.set()
        return 0

    wake.set()
    await Loop("test", step, PERIOD, wake=wake, clock=ending.clock).run(ending.stopping)
    assert passes == 3
    assert ending.clock.time == 1000.0 + 10.0 + 10.0


async def test_errors_never_end_a_loop() -> None:
    """A failing step is called again after growing pauses, is logged once for each failure, and recovers."""
    step = Script([ValueError("one"), ValueError("two"), ValueError("three"), 0])
    with capture_logs() as logs:
        loop, clock = await played(step, 4)
    assert clock.waits == [0.1, 0.2, 0.4, 10.0]
    assert [entry["event"] for entry in logs] == ["step failed"] * 3 + ["loop recovered"]
    assert (loop.failures, loop.last_error) == (0, None)


async def test_a_few_failures_are_no_reason_to_worry() -> None:
    """A loop does its work until five passes in a row have failed, and again from the next that succeeds."""
    step = Script([*[ValueError()] * 5, 0])
    seen: list[bool] = []
    ending = Ending(6)
    loop = Loop("test", step, PERIOD, clock=ending.clock)
    end = ending.clock.then

    def look(waits: int) -> None:
        seen.append(loop.succeeds()[0])
        end(waits)

    ending.clock.then = look
    with capture_logs():
        await loop.run(ending.stopping)
    assert seen == [True] * 4 + [False, True]


async def test_an_unavailable_store_is_one_warning_in_half_a_minute() -> None:
    """An outage of a minute is a few warnings, no stack traces, and the loop looks again every few seconds (reliability.md: within 5 s)."""
    with capture_logs() as logs:
        _, clock = await played(Script([Unavailable("database away")]), 30)
    assert max(clock.waits) == 3.0
    assert clock.time - 1000.0 > 60
    assert [entry["log_level"] for entry in logs] == ["warning"] * 3


async def test_a_cancellation_from_inside_a_driver_is_an_error() -> None:
    """Only the stop event ends a loop: a CancelledError that nobody asked for counts as a failure."""
    step = Script([CancelledError(), 0])
    with capture_logs():
        _, clock = await played(step, 2)
    assert clock.waits == [0.1, 10.0]


async def test_a_timeout_from_inside_a_driver_is_an_error() -> None:
    """A TimeoutError of a driver is a failure like others."""
    with capture_logs():
        _, clock = await played(Script([TimeoutError(), 0]), 2)
    assert clock.waits == [0.1, 10.0]


async def test_a_cancelled_task_ends() -> None:
    """A cancellation of the loop's own task passes through, in the step and in the sleep."""
    began = Event()

    async def hang() -> int:
        began.set()
        await Event().wait()
        return 0

    async def rest() -> int:
        began.set()
        return 0

    for step in (hang, rest):
        began.clear()
        task = asyncio.create_task(Loop("test", step, PERIOD).run(Event()))
        await began.wait()
        task.cancel()
        with pytest.raises(CancelledError):
            await task


async def test_a_stop_ends_the_sleep() -> None:
    """The stop event ends a loop that sleeps, without waiting for its period."""
    stopping, passed = Event(), Event()

    async def step() -> int:
        passed.set()
        return 0

    task = asyncio.create_task(Loop("test", step, timedelta(hours=1)).run(stopping))
    await passed.wait()
    stopping.set()
    await asyncio.wait_for(task, 5)


async def test_a_stop_lets_the_pass_finish() -> None:
    """A pass that is under way when the stop comes is finished, not cancelled."""
    stopping, inside, go = Event(), Event(), Event()
    finished = False

    async def step() -> int:
        nonlocal finished
        inside.set()
        await go.wait()
        finished = True
        return 0

    task = asyncio.create_task(Loop("test", step, PERIOD).run(stopping))
    await inside.wait()
    stopping.set()
    go.set()
    await task
    assert finished


async def test_a_pass_that_hangs_is_cut_off() -> None:
    """A pass over its limit is cancelled and counts as failed; the loop goes on."""
    ending = Ending(1)

    async def step() -> int:
        await Event().wait()
        return 0

    with capture_logs() as logs:
        loop = Loop("test", step, PERIOD, limit=timedelta(milliseconds=10), clock=ending.clock)
        await loop.run(ending.stopping)
    assert (loop.last_error, logs[0]["event"]) == ("TimeoutError", "step failed")


async def test_wakes_do_not_shorten_a_backoff() -> None:
    """A loop whose step fails is not driven by its hints."""
    wake = Wake()
    ending = Ending(1)

    async def step() -> int:
        wake.set()
        raise ValueError

    with capture_logs():
        await Loop("test", step, PERIOD, wake=wake, clock=ending.clock).run(ending.stopping)
    assert ending.clock.time == 1000.1


async def test_an_old_pulse_is_unhealthy() -> None:
    """A loop whose last pulse is older than three periods and a pass's limit fails its check (HLT-06)."""
    clock = FakeClock()
    loop = Loop("test", Script([0]), PERIOD, limit=timedelta(seconds=5), clock=clock)
    clock.time += 35
    assert loop.check()[0]
    clock.time += 0.1
    healthy, facts = loop.check()
    assert not healthy
    assert facts["last_pulse_seconds_ago"] == 35.1


async def test_a_loop_that_backs_off_is_alive() -> None:
    """Pauses of half a minute while a fast loop fails do not make its process unhealthy: a restart would not help."""
    ending = Ending(20)
    loop = Loop("test", Script([ValueError()]), timedelta(milliseconds=100), limit=timedelta(seconds=1), clock=ending.clock)
    with capture_logs():
        await loop.run(ending.stopping)
    assert ending.clock.waits[-1] == 30.0
    assert loop.check()[0]


def test_backoff_is_bounded() -> None:
    """Pauses double, stop at the longest, and never overflow."""
    assert [backoff(n, 3.0) for n in (1, 2, 3, 6, 10_000)] == [0.1, 0.2, 0.4, 3.0, 3.0]


def test_jitter_stays_within_a_tenth() -> None:
    """Processes that start together drift apart, but by a tenth of the period at most."""
    assert all(9 <= Clock().jitter(10) <= 11 for _ in range(100))
