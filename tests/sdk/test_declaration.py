"""Declaring jobs: everything that is wrong is said at once, under the field's name, and nothing is opened."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from headway.core.errors import Invalid
from headway.core.retry import BackoffKind
from headway.core.schedule.rule import AfterCompletion, Cron, Daily, Interval, Once, Within
from headway.sdk import Depends, Headway, Retry, Run, When, after_completion, cron, daily, every, once, within


class Report(BaseModel):
    """A model to take parameters as."""

    customer: str
    pages: int = 1


def fields(attempt: Callable[[], object]) -> list[str]:
    """The fields that an Invalid names."""
    with pytest.raises(Invalid) as refused:
        attempt()
    return [problem.field for problem in refused.value.problems]


def test_importing_jobs_imports_no_driver() -> None:
    """A module of jobs, its drafts included, loads neither SQLAlchemy, asyncpg nor aio-pika."""
    code = """
import sys
from headway.sdk import Depends, Headway, PermanentError, Retry, Run, Snooze, cron, every
app = Headway()
@app.job(schedule=cron("0 7 * * *"))
async def report(customer: str = "all") -> None: ...
assert [draft.name for draft in app.drafts()] == ["report"]
print(sorted({name.split(".")[0] for name in sys.modules} & {"sqlalchemy", "asyncpg", "aio_pika", "fastapi"}))
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_job_becomes_a_definition() -> None:
    """DEF-15, DEF-19: a job's options, retry, parameters and schedule all stand in its draft, the name from the function."""
    app = Headway()

    @app.job(
        queue="reports",
        retry=Retry(attempts=5, backoff="exponential", base=timedelta(seconds=2), horizon=timedelta(hours=1)),
        timeout=timedelta(minutes=10),
        priority=3,
        restartable=False,
        schedule=cron("0 7 * * MON-FRI", zone="Europe/Berlin", params={"customer": "all"}, misfire="run_once", owner="finance"),
    )
    async def send_report(report: Report, run: Run) -> None:
        """Send a report.

        And more.
        """

    [draft] = app.drafts()
    assert (draft.name, draft.handler, draft.queue, draft.priority, draft.restartable) == (
        "send_report",
        "send_report",
        "reports",
        3,
        False,
    )
    assert (draft.attempts, draft.backoff.kind, draft.backoff.base, draft.backoff.jitter) == (
        5,
        BackoffKind.EXPONENTIAL,
        timedelta(seconds=2),
        0.25,
    )
    assert (draft.timeout, draft.retry_horizon, draft.description) == (timedelta(minutes=10), timedelta(hours=1), "Send a report.")
    assert draft.parameter_spec is not None and set(draft.parameter_spec["properties"]) == {"customer", "pages"}
    [schedule] = draft.schedules
    assert isinstance(schedule.rule, Cron) and schedule.rule.zone == "Europe/Berlin"
    assert (schedule.name, schedule.parameters["customer"], schedule.misfire, schedule.owner) == ("default", "all", "run_once", "finance")
    assert list(app.handlers) == ["send_report"] and app.handlers["send_report"].attempts == 5


def test_a_job_has_the_defaults_of_code() -> None:
    """DEF-01: one attempt, linear backoff, the platform's timeout, enabled, no limits, and no parameters where the function has none."""
    app = Headway()
    app.job(lambda_free)
    [draft] = app.drafts()
    assert (draft.attempts, draft.backoff.kind, draft.timeout, draft.enabled) == (1, BackoffKind.LINEAR, timedelta(), True)
    assert not draft.gated and draft.schedules == ()
    assert draft.parameter_spec == {"type": "object", "properties": {}, "additionalProperties": False}


async def lambda_free() -> None:
    """Do nothing."""


def test_every_wrong_option_is_named_at_once() -> None:
    """DEF-08: the decorator refuses a job with all its mistakes, each under the job's and the field's name."""
    app = Headway()
    options: dict[str, Any] = {
        "queue": "no spaces",
        "priority": 11,
        "colour": "red",
        "schedule": [cron("61 * * * *"), every("0s", name="b")],
    }
    assert sorted(fields(lambda: app.job(**options)(lambda_free))) == [
        "lambda_free.colour",
        "lambda_free.priority",
        "lambda_free.queue",
        "lambda_free.schedules[0].cron",
        "lambda_free.schedules[1].every",
    ]
    assert app.jobs == {}


def test_names_are_exclusive() -> None:
    """DEF-15: a second job of the same name is refused, and so are two schedules of one job without names."""
    app = Headway()
    app.job(lambda_free)
    assert fields(lambda: app.job(lambda_free)) == ["lambda_free.name"]
    app.job(name="other", schedule=every("5m"))(lambda_free)
    assert fields(lambda: app.schedule("other", every("7m"))) == ["other.schedules"]
    app.schedule("other", every("7m"), name="slow")
    app.schedule(app.jobs["other"], cron("0 0 * * *"), name="nightly")
    assert [schedule.name for schedule in app.drafts()[1].schedules] == ["default", "slow", "nightly"]
    assert isinstance(app.drafts()[1].schedules[1].rule, Interval)
    assert fields(lambda: app.schedule("missing", every("5m"))) == ["job"]


@pytest.mark.parametrize(
    ("when", "kind"),
    [
        (cron("0 7 * * *", misfire="run_all", misfire_limit=5, misfire_max_age=timedelta(0)), Cron),
        (every("5m", overlap="allow", overlap_max=3, jitter=timedelta(seconds=30)), Interval),
        (daily("07:00", "19:30", weekdays=["mon", "fri"], zone="Europe/Berlin", gap="skip"), Daily),
        (within("15m", "08:00", "17:00", weekdays=["mon"]), Within),
        (once(datetime(2030, 1, 1, tzinfo=UTC)), Once),
        (after_completion("5m"), AfterCompletion),
        (after_completion("never"), AfterCompletion),
    ],
)
def test_every_kind_of_schedule_is_declared(when: When, kind: type) -> None:
    """DEF-07, DEF-23: one builder for each kind, with the options that belong to it."""
    app = Headway()
    app.job(schedule=when)(lambda_free)
    [schedule] = app.drafts()[0].schedules
    assert isinstance(schedule.rule, kind)


def test_a_schedules_parameters_are_validated() -> None:
    """A schedule whose parameters the handler would refuse is refused when the drafts are made, by its parameter's name."""
    app = Headway()

    @app.job(schedule=[every("5m"), every("6m", name="b", params={"customer": "x", "pages": "many"})])
    async def report(report: Report) -> None: ...

    assert fields(app.drafts) == ["report.schedules[0].parameters.customer", "report.schedules[1].parameters.pages"]


def test_a_signature_that_cannot_be_filled_is_refused() -> None:
    """Variadic and positional-only parameters, two runs, generators and factories with parameters of their own are refused by name."""
    app = Headway()

    async def variadic(*args: int, **kwargs: int) -> None: ...
    async def positional(a: int, /) -> None: ...
    async def two(one: Run, other: Run) -> None: ...
    async def endless() -> Any:
        yield 1

    async def needy(value: Any = Depends(lambda missing: missing)) -> None: ...

    assert fields(lambda: app.job(variadic)) == ["variadic.args", "variadic.kwargs"]
    assert fields(lambda: app.job(positional)) == ["positional.a"]
    assert fields(lambda: app.job(two)) == ["two.other"]
    assert fields(lambda: app.job(endless)) == ["endless"]
    assert fields(lambda: app.job(needy)) == ["needy.value.missing"]
    assert fields(lambda: app.job(process=True)(needy)) == ["needy.process"]
    assert fields(lambda: app.job(memory_limit=1)(needy)) == ["needy.memory_limit"]


def test_a_job_can_still_be_called() -> None:
    """A job stands in its function's place: calling it calls the function."""
    app = Headway()

    @app.job
    def double(number: int) -> int:
        return 2 * number

    assert double(21) == 42


def test_parameters_are_validated_when_asked_for() -> None:
    """Arguments that the handler would refuse are refused by the ask, every one by its name; models and mappings are both taken."""
    app = Headway()

    @app.job
    async def report(report: Report) -> None: ...

    @app.job
    async def scalars(number: int, text: str = "x") -> None: ...

    @app.job
    async def free(run: Run) -> None: ...

    assert report.ask(Report(customer="acme")).params == '{"customer":"acme","pages":1}'
    assert report.ask({"customer": "acme", "pages": "2"}).params == '{"customer":"acme","pages":2}'
    assert scalars.ask({"number": 1}).params == '{"number":1}'
    assert free.ask({"anything": [1]}).params == '{"anything":[1]}'
    assert app.jobs["free"].ask().params is None
    assert fields(lambda: report.ask({"pages": "x"})) == ["parameters.customer", "parameters.pages"]
    assert fields(lambda: scalars.ask({"number": 1, "other": 2})) == ["parameters.other"]
    assert fields(lambda: Headway().job(lambda_free).ask({"a": 1})) == ["parameters.a"]
    assert fields(lambda: free.ask([1])) == ["parameters"]
    assert fields(lambda: free.ask({"a": float("nan")})) == ["parameters"]


def test_what_would_be_lost_in_storage_is_refused() -> None:
    """NaN, which JSON would hold as null, is refused instead of being stored as something else."""
    app = Headway()

    @app.job
    async def numbers(value: float, note: str | None = None) -> None: ...

    assert numbers.ask({"value": 1.5}).params == '{"value":1.5}'
    assert numbers.ask({"value": 1.5, "note": None}).params == '{"value":1.5,"note":null}'
    assert numbers.ask({"value": 1.5, "note": "**********"}).params == '{"value":1.5,"note":"**********"}'
    assert fields(lambda: numbers.ask({"value": float("inf")})) == ["parameters"]


def test_an_ask_carries_its_options() -> None:
    """RUN-16, RUN-17: delay, key, priority, debounce, correlation and origin of an ask; the provider names the correlation id."""
    app = Headway(name="shop")
    app.correlation(lambda: "ambient")
    job = app.job(lambda_free)
    ask = job.ask(delay=timedelta(minutes=5), key="k", priority=3, unique_while="open")
    assert (ask.delay, ask.key, ask.priority, ask.unique_while_open) == (timedelta(minutes=5), "k", 3, True)
    assert (ask.correlation, ask.created_by) == ("ambient", "shop")
    assert job.ask(correlation="mine").correlation == "mine"
    assert fields(lambda: job.ask(unique_while="ever")) == ["unique_while"]  # type: ignore[arg-type]  # what a person may write
    assert app.ask("elsewhere", payload="raw \x00").payload == b"raw \x00"
    assert app.ask("elsewhere", {"a": 1}).params == '{"a":1}'


def test_jobs_and_schedules_name_calendars_or_carry_one() -> None:
    """CAL-06: a job's calendars are those of its schedules; a schedule may have its own; bad windows are named under the job."""
    app = Headway()
    nights = {"windows": [{"weekdays": ["mon"], "start": "22:00", "end": "06:00", "policy": "defer"}]}

    @app.job(
        calendars=["quiet"], schedule=[every("1h", name="a"), every("1h", name="b", calendars=[]), every("1h", name="c", calendar=nights)]
    )
    def job() -> None: ...

    [draft] = app.drafts()
    assert draft.calendars == ("quiet",)
    assert [(one.calendars, len(one.calendar)) for one in draft.schedules] == [(None, 0), ((), 0), (None, 1)]

    def bad() -> None: ...

    assert fields(lambda: Headway().job(calendar={"windows": [{}]})(bad)) == ["bad.calendar.windows[0]"]
