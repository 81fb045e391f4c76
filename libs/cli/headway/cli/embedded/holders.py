"""Several processes may use one server: the first starts it, the last stops it, and a killed one no longer counts."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Run the block while no other process runs one under the same path; waits its turn."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Holders:
    """The processes that hold a path.  The kernel ends the hold of a process that dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    @property
    def joined(self) -> bool:
        """Whether this object holds."""
        return self._file is not None

    def join(self) -> None:
        """Be counted from now on."""
        if self._file is None:
            self._file = self._path.open("a")
            fcntl.flock(self._file, fcntl.LOCK_SH)

    def leave(self) -> bool:
        """Be counted no longer; true when nobody else holds.  Call it under `alone`, so that nobody joins meanwhile."""
        if self._file is None:
            return False
        with self._file as file:
            self._file = None
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True
