"""Rules about files that are not Python."""

import subprocess

from tests.architecture.source import ROOT


def tracked() -> list[str]:
    """Every path that git keeps."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


def test_the_interpreter_at_hand_is_used() -> None:
    """No `.python-version`: with pyenv it hides every program of other versions, uv first of all."""
    assert not [path for path in tracked() if path.endswith(".python-version")]


def test_members_carry_no_tool_settings() -> None:
    """All tool settings live in the root; a member names its dependencies and how it is built."""
    for path in tracked():
        if path.endswith("pyproject.toml") and path != "pyproject.toml":
            tools = {line for line in (ROOT / path).read_text().splitlines() if line.startswith("[tool.")}
            assert all(line.startswith("[tool.uv") for line in tools), path


def test_ci_runs_what_people_run() -> None:
    """`.ci/run` calls `make check` and `make test` and nothing else."""
    lines = (ROOT / ".ci/run").read_text().splitlines()
    assert [line for line in lines if line.startswith("make")] == ["make check", "make test"]
    assert len(lines) == 5
