"""Settings that are missing or wrong, as each verb says it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from headway.cli.main import app

SAMPLE = "headway.cli.sample:app"
BARE = {"HEADWAY_HOME": "/nonexistent", "HEADWAY_DATABASE_URL": None, "HEADWAY_BROKER_URL": None}


@pytest.mark.parametrize("verb", ["db current", "db migrate", "doctor", f"sync {SAMPLE}"])
def test_a_database_has_to_be_named(verb: str) -> None:
    """Where no database is named and none was made here, the setting is named, and how to use that of `up`, exit code 2 (CFG-02)."""
    said = CliRunner().invoke(app, verb.split(), env=BARE)
    assert said.exit_code == 2
    assert said.output.startswith("headway: HEADWAY_DATABASE_URL: is required; for the database of `headway up` ")
    assert said.output.endswith('or run `eval "$(headway db url --data DIR)"` first\n') and said.output.count("\n") == 1


def test_where_nothing_runs_there_is_no_url(tmp_path: Path) -> None:
    """`db url` starts nothing: where no `headway up` runs it names the folder, and ends with exit code 3."""
    said = CliRunner().invoke(app, ["db", "url", "--data", str(tmp_path)], env=BARE)
    expected = f"headway: no `headway up` runs with its data in {tmp_path}: start it there, or name its folder with --data\n"
    assert (said.exit_code, said.stdout, said.stderr, list(tmp_path.iterdir())) == (3, "", expected, [])


@pytest.mark.parametrize("verb", ["api", "scheduler", "workflow-engine", "maintenance", f"worker {SAMPLE}", "maintenance scan all"])
def test_a_service_needs_both_urls(verb: str) -> None:
    """Every missing setting is reported at once, exit code 2 (CFG-02)."""
    said = CliRunner().invoke(app, verb.split(), env=BARE)
    assert said.exit_code == 2
    assert "HEADWAY_DATABASE_URL: is required" in said.output
    assert "HEADWAY_BROKER_URL: is required" in said.output


def test_a_wrong_url_is_never_repeated() -> None:
    """A URL that cannot be read is refused by its name, without the password in it (CFG-02)."""
    said = CliRunner().invoke(app, ["doctor"], env={**BARE, "HEADWAY_DATABASE_URL": "mysql://me:secret@host/db"})
    assert said.exit_code == 2
    assert said.output.startswith("headway: HEADWAY_DATABASE_URL: must begin with postgresql://")
    assert "secret" not in said.output
