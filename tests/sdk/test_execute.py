"""From a run and its handler to an outcome, whatever the handler does."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any
from uuid import uuid4

import pytest
from pydantic import BaseModel

from headway.core.errors import Unavailable
from headway.core.outcome import Failure, Outcome
from headway.sdk import (
    Cancelled,
    Depends,
    Headway,
    PartialSuccess,
    PermanentError,
    RetryAfter,
    Run,
    Snooze,
    Success,
)
from headway.sdk.execute import execute
from headway.sdk.handler import Handler
from headway.sdk.middleware import Proceed
from headway.sdk.testing import Facts, Recorder, run_handler


class Report(BaseModel):
    """A model to take parameters as."""

    customer: str
    pages: int = 1


def attempt(params: str | None = None, **facts: Any) -> Run:
    """A run that nobody claimed."""
    return Run(Facts(uuid4(), params=params, **facts), Recorder())


async def outcome(function: Callable[..., Any], params: str | None = None) -> Outcome:
    """What one execution of a function makes of a run."""
    return await execute(Handler.of(function), attempt(params))


def returning(value: object) -> Callable[..., Any]:
    """A handler that returns a value."""

    async def handler() -> object:
        return value

    return handler


def raising(error: BaseException) -> Callable[..., Any]:
    """A handler that raises."""

    async def handler() -> None:
        raise error

    return handler


def failure(found: Outcome) -> Failure:
    """The failure that an outcome is."""
    assert isinstance(found, Failure)
    return found


LOOSE: Any = 7
NAN: Any = float("nan")


@dataclass
class Point:
    """A dataclass to return."""

    x: int


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, Success()),
        ({"sent": 3}, Success({"sent": 3})),
        (5, Success({"value": 5})),
        ([1, 2], Success({"value": [1, 2]})),
        (Report(customer="x"), Success({"customer": "x", "pages": 1})),
        (Point(1), Success({"x": 1})),
        ({"at": datetime(2030, 1, 1, tzinfo=UTC), "sum": Decimal("1.5")}, Success({"at": "2030-01-01T00:00:00+00:00", "sum": "1.5"})),
        (Success(LOOSE, warnings=("slow",)), Success({"value": 7}, ("slow",))),
        (PartialSuccess({"done": 1}), PartialSuccess({"done": 1})),
        (Snooze(timedelta(minutes=1), "later"), Snooze(timedelta(minutes=1), "later")),
        (Snooze(timedelta(seconds=-1)), Snooze(timedelta())),
        (Cancelled("not needed"), Cancelled("not needed")),
    ],
    ids=str,
)
async def test_what_a_handler_returns(value: object, expected: Outcome) -> None:
    """RUN-02, RUN-19: a mapping's keys are results, anything else is one result `value`; a verdict is itself."""
    assert await outcome(returning(value)) == expected


@pytest.mark.parametrize(
    "value",
    [float("nan"), {"a": [1.0, float("inf")]}, {"a": "\ud800"}, {"a": object()}, {"a": "x" * 300_000}, b"\xff", Success(NAN)],
    ids=["nan", "infinity", "surrogate", "object", "large", "bytes", "verdict"],
)
async def test_what_cannot_be_stored_fails_for_good(value: object) -> None:
    """RUN-19: a result that JSON or the limits refuse is a permanent failure of its own kind."""
    found = failure(await outcome(returning(value)))
    assert (found.error.kind, found.permanent) == ("result_not_storable", True)


async def test_depth_is_limited_to_64() -> None:
    """RUN-19: 64 levels are stored, 65 are not."""

    def nested(levels: int) -> object:
        return {} if levels == 1 else {"in": nested(levels - 1)}

    assert isinstance(await outcome(returning(nested(64))), Success)
    assert failure(await outcome(returning(nested(65)))).error.kind == "result_not_storable"


async def test_what_a_handler_raises() -> None:
    """RUN-14: an exception is a failure with a safe text; permanent and retry-after are heard, a carried result is kept."""
    plain = failure(await outcome(raising(ValueError("password=hunter2 is wrong"))))
    assert (plain.error.kind, plain.error.message, plain.permanent) == ("ValueError", "password=*** is wrong", False)
    assert "in handler" in plain.error.stack
    permanent = failure(await outcome(raising(PermanentError("never", result={"step": 3}))))
    assert (permanent.permanent, permanent.result) == (True, {"step": 3})
    later = failure(await outcome(raising(RetryAfter(timedelta(seconds=9), "busy"))))
    assert (later.retry_after, later.error.message) == (timedelta(seconds=9), "busy")
    assert failure(await outcome(raising(PermanentError(result={"bad": float("nan")})))).result is None
    assert failure(await outcome(raising(SystemExit(3)))).error.kind == "SystemExit"
    assert failure(await outcome(raising(BaseExceptionGroupOf()))).error.kind == "ExceptionGroup"


def BaseExceptionGroupOf() -> ExceptionGroup[ValueError]:  # noqa: N802  # reads as the value that it makes
    return ExceptionGroup("two", [ValueError("one"), ValueError("other")])


async def test_a_platform_that_is_away_charges_nothing() -> None:
    """A handler that fails because the store or the broker was away is snoozed, not failed."""
    assert isinstance(await outcome(raising(Unavailable("database: gone"))), Snooze)


async def test_wrong_parameters_fail_for_good_and_the_handler_is_not_called() -> None:
    """RUN-16: parameters that the handler does not accept are a permanent failure that names each of them, without its value."""

    async def handler(report: Report) -> None:
        pytest.fail("it was called")

    found = failure(await outcome(handler, '{"pages": "secret-value"}'))
    assert (found.error.kind, found.permanent) == ("invalid_parameters", True)
    assert "parameters.customer" in found.error.message and "parameters.pages" in found.error.message
    assert "secret-value" not in found.error.message


async def test_arguments_come_from_parameters_run_and_defaults() -> None:
    """Scalars are bound by name, a model takes them all, the run comes by its annotation, defaults fill the rest."""

    async def scalars(run: Run, number: int, text: str = "x", *, flag: bool = False) -> list[object]:
        return [number, text, flag, run.attempt]

    async def model(report: Report) -> str:
        return f"{report.customer}:{report.pages}"

    assert await outcome(scalars, '{"number": 1, "flag": true}') == Success({"value": [1, "x", True, 1]})
    assert await outcome(model, '{"customer": "acme", "pages": 3}') == Success({"value": "acme:3"})


async def test_a_validation_error_of_the_handler_is_its_own() -> None:
    """A model that the handler validates and that fails is an ordinary failure, which may be tried again."""

    async def handler() -> None:
        Report.model_validate({})

    found = failure(await outcome(handler))
    assert (found.error.kind, found.permanent) == ("ValidationError", False)


async def test_cancellation_passes_through() -> None:
    """Only a cancellation of the executing task is raised; one that comes from inside the handler is a failure."""
    started = asyncio.Event()

    async def hang() -> None:
        started.set()
        await asyncio.Event().wait()

    async def broken() -> None:
        inner = asyncio.ensure_future(asyncio.Event().wait())
        inner.cancel()
        await inner

    task = asyncio.create_task(outcome(hang))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert failure(await outcome(broken)).error.kind == "CancelledError"


async def test_plain_functions_run_on_threads() -> None:
    """A `def` handler runs off the event loop, sees the run, and may report and enqueue from there."""
    recorder = Recorder()

    def handler(run: Run) -> str:
        run.progress(0.25, "quarter").result(5)
        run.enqueue("child").result(5)
        return threading.current_thread().name

    with ThreadPoolExecutor(1, thread_name_prefix="pool") as threads:
        found = await execute(Handler.of(handler), Run(Facts(uuid4()), recorder), threads=threads)
    assert isinstance(found, Success) and found.result is not None and found.result["value"].startswith("pool")
    assert recorder.progress_said == [(25, "quarter")]
    assert [child.definition for child in recorder.children] == ["child"]
    assert failure(await outcome(_stop)).error.kind == "RuntimeError"


def _stop() -> None:
    raise StopIteration


async def test_a_thread_that_outlives_its_attempt_is_told_and_shown() -> None:
    """A cancelled thread goes on: `run.cancelled` tells it, `run.lingering` shows the worker that its slot is still taken."""
    entered, leave = threading.Event(), threading.Event()

    def handler(run: Run) -> None:
        entered.set()
        leave.wait(10)

    run = attempt()
    with ThreadPoolExecutor(1) as threads:
        task = asyncio.create_task(execute(Handler.of(handler), run, threads=threads))
        await asyncio.to_thread(entered.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert run.cancelled and run.lingering is not None and not run.lingering.done()
        leave.set()
        await asyncio.wrap_future(run.lingering)


async def test_middleware_stands_around_the_handler() -> None:
    """COR-05: middleware sees the run, the first outermost, and may replace what the handler returns or raises."""
    app, seen = Headway(), list[str]()

    @app.middleware
    async def outer(run: Run, proceed: Proceed) -> Any:
        seen.append("outer")
        value = await proceed()
        seen.append("outer again")
        return {"wrapped": value}

    @app.middleware
    async def inner(run: Run, proceed: Proceed) -> Any:
        seen.append("inner")
        try:
            return await proceed()
        except ValueError:
            return "rescued"

    async def handler() -> None:
        seen.append("handler")
        raise ValueError

    found = await execute(Handler.of(handler), attempt(), middleware=app.middlewares)
    assert found == Success({"wrapped": "rescued"})
    assert seen == ["outer", "inner", "handler", "outer again"]


async def test_dependencies_live_for_one_execution() -> None:
    """COR-05: each is made once in a fresh scope, may need the run and others, and is closed in reverse order, whatever happens."""
    seen: list[str] = []

    async def connection(run: Run) -> AsyncIterator[str]:
        seen.append(f"open {run.attempt}")
        try:
            yield "connection"
        finally:
            seen.append("close connection")

    def session(over: str = Depends(connection)) -> Iterator[str]:
        try:
            yield f"session over {over}"
        except ValueError:
            seen.append("roll back")
            raise
        finally:
            seen.append("close session")

    async def handler(a: Annotated[str, Depends(session)], fails: bool, b: str = Depends(connection)) -> list[str]:
        if fails:
            raise ValueError("no")
        return [a, b]

    assert await outcome(handler, '{"fails": false}') == Success({"value": ["session over connection", "connection"]})
    assert seen == ["open 1", "close session", "close connection"]
    seen.clear()
    assert failure(await outcome(handler, '{"fails": true}')).error.message == "no"
    assert seen == ["open 1", "roll back", "close session", "close connection"]


async def test_dependencies_of_a_thread_are_made_on_threads() -> None:
    """What blocks while a `def` handler's dependency is made blocks no event loop."""
    main = threading.get_ident()

    def factory() -> Iterator[bool]:
        yield threading.get_ident() != main

    def handler(off_the_loop: bool = Depends(factory)) -> bool:
        return off_the_loop

    assert await outcome(handler) == Success({"value": True})


async def test_the_run_knows_what_it_is() -> None:
    """COR-05: attempt, last attempt, slot, due instant, token, parameters, payload and correlation of a run."""
    slot = datetime(2030, 1, 1, tzinfo=UTC)
    run = attempt('{"a": 1}', slot_at=slot, schedule=uuid4(), failures=1, attempt=2, payload=b"x", correlation="c")
    run.attempts = 3
    assert (run.attempt, run.is_last_attempt, run.is_recurring, run.slot, run.scheduled_for) == (2, False, True, slot, slot)
    assert (run.params, run.payload, run.correlation, run.token) == ({"a": 1}, b"x", "c", run.id)
    run.attempts = 2
    assert run.is_last_attempt
    assert not attempt().is_recurring


async def test_what_a_handler_enqueues_is_its_child() -> None:
    """OBS-04, COR-06: children name their parent and carry the correlation id on, by run.enqueue and by a job's own enqueue alike."""
    app = Headway()
    app.correlation(lambda: "of the process")

    @app.job
    async def child(number: int) -> None: ...

    @app.job
    async def parent(run: Run) -> str | None:
        await run.enqueue(child, {"number": 3}, key="k")
        return child.ask({"number": 4}).correlation

    tried = await run_handler(parent, correlation="of the run")
    assert tried.result == {"value": "of the run"}
    [made] = tried.children
    assert (made.definition, made.params, made.key, made.correlation) == ("child", '{"number":3}', "k", "of the run")
    assert made.parent is not None and made.created_by == "parent" and made.origin.name == "CHILD"


async def test_progress_is_a_fraction() -> None:
    """RUN-08: progress is 0 to 1 and reaches the platform as percent; anything else is a failure that says so."""

    async def handler(run: Run, fraction: float) -> None:
        await run.progress(fraction, "rendered")

    recorder = Recorder()
    assert await execute(Handler.of(handler), Run(Facts(uuid4(), params='{"fraction": 0.5}'), recorder)) == Success()
    assert recorder.progress_said == [(50, "rendered")]
    assert failure(await outcome(handler, '{"fraction": 50}')).error.message == "progress: must be a fraction from 0 to 1"
