"""What a handler may know of its run and ask of the platform."""

from datetime import UTC, datetime
from uuid import uuid4

from headway.sdk import (
    Headway,
    Run,
    Success,
)
from headway.sdk.execute import execute
from headway.sdk.handler import Handler
from headway.sdk.testing import Facts, Recorder, run_handler
from tests.sdk.attempts import attempt, failure, outcome


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
