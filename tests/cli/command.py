"""The `headway` command as a process, and what it said."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

BARE = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}


class Said(NamedTuple):
    """The exit code of a command, and its two streams."""

    code: int
    out: str
    err: str


def headway(*arguments: str, given: Mapping[str, str] = MappingProxyType({}), cwd: Path | None = None) -> Said:
    """Run the command with nothing of Headway in its environment but what is given."""
    done = subprocess.run(
        [sys.executable, "-m", "headway.cli", *arguments],
        env=BARE | dict(given),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    return Said(done.returncode, done.stdout, done.stderr)
