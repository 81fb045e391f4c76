"""Ends everything that a test run started, when the run ends, however it ends.

The run holds the other end of this process's standard input: a run that was killed closes it too."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

PATIENCE = 10.0


class Guardian:
    """The guardian as its run sees it."""

    def __init__(self, run: Path) -> None:
        command = [sys.executable, "-m", "tests.harness.guardian", str(run)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, cwd=Path(__file__).parents[2])

    def finish(self) -> None:
        """Have everything ended, and wait until it is."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=6 * PATIENCE)


def clear(run: Path) -> None:
    """End what the folder registers and remove the folder."""
    for entry in (run / "groups").iterdir():
        _end(int(entry.name), signal.Signals(int(entry.read_text())))
    containers = [entry.name for entry in (run / "containers").iterdir()]
    if containers:
        subprocess.run(["docker", "rm", "--force", "--volumes", *containers], check=False, capture_output=True)
    shutil.rmtree(run, ignore_errors=True)


def _end(group: int, how: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGCONT)
        os.killpg(group, how)
        deadline = time.monotonic() + PATIENCE
        while _lives(group) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(group, signal.SIGKILL)


def _lives(group: int) -> bool:
    """Whether the group's leader runs; one that ended may wait for its parent, the test run, which waits for us."""
    os.killpg(group, 0)
    try:
        state = Path(f"/proc/{group}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return not Path("/proc/self").exists()
    return state != "Z"


if __name__ == "__main__":
    sys.stdin.read()
    clear(Path(sys.argv[1]))
