"""From a run and its handler to an outcome: arguments, threads, middleware, dependencies."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any
from uuid import uuid4

import pytest

from headway.sdk import (
    Depends,
    Headway,
    Run,
    Success,
)
from headway.sdk.execute import execute
from headway.sdk.handler import Handler
from headway.sdk.middleware import Proceed
from headway.sdk.testing import Facts, Recorder
from tests.sdk.attempts import Report, attempt, failure, outcome


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
