"""The application that a person names."""

from pathlib import Path

import pytest

from headway.cli import sample
from headway.cli.application import application, queues_of
from headway.cli.installed import SERVICES, service
from headway.core.errors import Invalid
from headway.runtime.settings import WorkerSettings, load
from headway.sdk import Headway

URLS = {"database_url": "postgresql://x", "broker_url": "memory://"}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nothing_of_this_name\n", r"ModuleNotFoundError: .*\.py:1\)"),
        ("x = 1\ny = x.z\n", r"AttributeError: .*\.py:2\)"),
        ("def\n", r"SyntaxError: .*\.py:1\)"),
        ("raise ValueError('no')\n", r"ValueError: no .*\.py:1\)"),
    ],
)
def test_an_application_that_fails_is_one_line(tmp_path: Path, code: str, said: str) -> None:
    """What is wrong with somebody's code is said with its line, not as a traceback of ours."""
    file = tmp_path / "jobs_of_a_test.py"
    file.write_text(code)
    with pytest.raises(Invalid, match=said) as raised:
        application(str(file))
    assert raised.value.problems[0].field == "APP"


def test_a_worker_takes_from_the_queues_of_its_jobs() -> None:
    """A job's own queue is worked without being named twice, and the default one is always among them."""
    app = Headway()

    @app.job(queue="reports")
    async def report() -> None:
        """Do nothing."""

    assert queues_of(app, load(WorkerSettings, **URLS)) == {"queues": ["default", "reports"]}
    assert queues_of(sample.app, load(WorkerSettings, **URLS)) == {"queues": ["default"]}


def test_named_queues_win() -> None:
    """Queues that the settings name are not added to (CFG-01)."""
    assert queues_of(sample.app, load(WorkerSettings, **URLS, worker={"queues": ["a"]})) == {}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_found_by_its_entry_point(name: str) -> None:
    """Every service of this installation offers `run` and `serve`."""
    module = service(name)
    assert callable(module.run)
    assert callable(module.serve)


def test_a_service_that_is_not_installed_is_one_line() -> None:
    """What is missing is named, with what to install."""
    with pytest.raises(Invalid, match=r"^dashboard: is not installed here: install headway-dashboard$"):
        service("dashboard")
