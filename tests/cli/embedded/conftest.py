"""Homes for servers that a test starts, freezes and kills."""

import os
import secrets
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from headway.cli.embedded.postmaster import recorded
from tests.harness.rundir import RunDir

MakeHome = Callable[[], Path]


@pytest.fixture
def make_home(test_run: RunDir) -> Iterator[MakeHome]:
    """Names folders that do not exist yet, where an unprivileged account can get to; what runs in them ends with the test."""
    made: list[Path] = []

    def make() -> Path:
        made.append(test_run.path / f"home-{secrets.token_hex(4)}")
        return made[-1]

    yield make
    for home in made:
        found = recorded(home / "postgres")
        if found:
            with suppress(ProcessLookupError):
                os.kill(found.pid, signal.SIGQUIT)


@pytest.fixture
def home(make_home: MakeHome) -> Path:
    """One such folder."""
    return make_home()
