"""`[jobs.<name>]` tables of the TOML file: what an operator says about one job, read again while the platform runs."""

from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from headway.core.errors import Invalid, Problem
from headway.runtime.settings.groups import Group
from headway.runtime.settings.load import problems_of
from headway.runtime.settings.sources import read_toml
from headway.runtime.settings.units import Seconds


class JobSettings(Group):
    """One job's table; what is not set there is None, and what code sets wins."""

    enabled: bool | None = Field(None, description="Whether the job's schedules fire.")
    heartbeat_monitored: bool | None = Field(None, description="Whether a job that stays silent for too long is reported.")
    heartbeat_tolerance_seconds: Seconds | None = Field(None, description="How long it may be silent; unset: factor x interval + grace.")
    heartbeat_factor: float | None = Field(None, gt=0, description="How many of its own intervals it may be silent.")
    heartbeat_grace_seconds: Seconds | None = Field(None, description="What is added to that.")


def read_jobs(file: Path | None) -> dict[str, JobSettings]:
    """The tables of all jobs by name; none without a file.

    Raises Invalid with everything that is wrong, so that a caller can keep what it read before.
    """
    if file is None:
        return {}
    try:
        tables = read_toml(file).get("jobs", {})
    except ValueError as error:
        raise Invalid.field("HEADWAY_CONFIG", str(error)) from error
    jobs: dict[str, JobSettings] = {}
    problems: list[Problem] = []
    for name, table in tables.items() if isinstance(tables, dict) else [("", tables)]:
        try:
            jobs[name] = JobSettings.model_validate(table)
        except ValidationError as error:
            problems += [_named(name, table, problem) for problem in problems_of(error, JobSettings, str_path)]
    if problems:
        raise Invalid(problems)
    return jobs


def str_path(path: tuple[str, ...]) -> str:
    """A knob inside its table."""
    return ".".join(path)


def _named(name: str, table: Any, problem: Problem) -> Problem:
    dotted = isinstance(table, dict) and isinstance(table.get(problem.field), dict)
    hint = f'; a name with dots is quoted: [jobs."{name}.{problem.field}"]' if dotted else ""
    return Problem(f"jobs.{name}.{problem.field}".rstrip("."), problem.message + hint)
