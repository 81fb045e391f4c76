"""What all verbs share."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as some
from typer.testing import CliRunner

from headway.cli.main import app
from headway.cli.root import BAD_INPUT, NO, UNREACHABLE, exit_code, hoisted, lines, tell_of_crash
from headway.core.errors import Conflict, HeadwayError, Invalid, NotFound, Problem, Unavailable

LEVELS = (
    "",
    "up",
    "init",
    "api",
    "scheduler",
    "workflow-engine",
    "maintenance",
    "maintenance scan",
    "worker",
    "run",
    "sync",
    "doctor",
    "runs",
    "runs list",
    "runs show",
    "runs cancel",
    "definitions",
    "definitions list",
    "definitions show",
    "definitions apply",
    "schedules",
    "schedules list",
    "schedules show",
    "calendars",
    "calendars list",
    "calendars show",
    "calendars apply",
    "calendars delete",
    "calendars import",
    "batches",
    "batches list",
    "batches show",
    "batches apply",
    "batches append",
    "batches close",
    "batches cancel",
    "triggers",
    "triggers list",
    "triggers show",
    "triggers apply",
    "triggers delete",
    "triggers enable",
    "triggers disable",
    "dead",
    "dead list",
    "dead show",
    "dead requeue",
    "dead purge",
    "broker",
    "broker rebuild",
    "db",
    "db migrate",
    "db current",
    "db check",
    "db url",
    "import",
    "import crontab",
    "import celery-beat",
    "import cronjob",
)


@pytest.mark.parametrize("level", LEVELS)
def test_help_shows_an_example(level: str) -> None:
    """`--help` works on every level and shows a command as one would type it."""
    said = CliRunner().invoke(app, [*level.split(), "--help"], prog_name="headway")
    assert said.exit_code == 0
    assert "Example:\n" in said.output
    assert f"headway {level}".strip() in said.output.partition("Example:\n")[2]


def test_help_loads_nothing_heavy() -> None:
    """Help is there at once: no service, no SDK, no driver and no HTTP client is imported for it."""
    show = "import sys, headway.cli.main; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True).stdout.split()
    heavy = (
        "pydantic",
        "httpx",
        "rich",
        "asyncpg",
        "aio_pika",
        "sqlalchemy",
        "fastapi",
        "asyncio",
        "structlog",
        "headway.sdk",
        "headway.store",
    )
    assert not {name for name in heavy if name in loaded}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("runs list --output json", "--output json runs list"),
        ("runs list --output=json --state failed", "--output=json runs list --state failed"),
        ("run hello --api http://x --no-color --wait", "--api http://x --no-color run hello --wait"),
        ("run hello -- --output", "run hello -- --output"),
        ("runs list --output", "--output runs list"),
    ],
)
def test_global_options_may_stand_anywhere(arguments: str, expected: str) -> None:
    """A global option means the same before and after the verb; behind `--` it is no option."""
    assert hoisted(arguments.split()) == expected.split()


@given(some.lists(some.sampled_from(["run", "--output", "json", "--no-color", "-p", "a=1", "--", "--api=x"])))
def test_hoisting_loses_no_word(words: list[str]) -> None:
    """Every word is still there, whatever was typed."""
    assert sorted(hoisted(words)) == sorted(words)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Invalid.field("at", "is wrong"), BAD_INPUT),
        (NotFound("no such run"), BAD_INPUT),
        (Conflict("it has ended"), NO),
        (Conflict("newer", code="schema_too_new"), BAD_INPUT),
        (Conflict("older", code="schema_too_old"), BAD_INPUT),
        (Unavailable("away"), UNREACHABLE),
        (HeadwayError("broken"), NO),
    ],
)
def test_an_error_asks_for_its_exit_code(error: HeadwayError, code: int) -> None:
    """1 the answer is no, 2 bad input or settings, 3 not reachable."""
    assert exit_code(error) == code


def test_every_problem_is_a_line_with_its_field() -> None:
    """An error about several fields names each of them (API-02)."""
    assert lines(Invalid([Problem("at", "is late"), Problem("key", "is long")])) == ["at: is late", "key: is long"]


def test_a_crash_shows_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    """A fault of Headway itself is one line that says how to see more."""
    tell_of_crash(KeyError, KeyError("x"), None)
    said = capsys.readouterr().err
    assert said == "headway: unexpected KeyError: 'x'; HEADWAY_LOG_LEVEL=debug shows where\n"


def test_an_unknown_verb_is_bad_input() -> None:
    """A verb that there is not ends with exit code 2."""
    said = CliRunner().invoke(app, ["foo"])
    assert said.exit_code == BAD_INPUT
    assert "No such command 'foo'" in said.output
