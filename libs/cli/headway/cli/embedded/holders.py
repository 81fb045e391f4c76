"""Several processes may use one server: the first starts it, the last stops it, and a killed one no longer counts."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Run the block while no other process runs one under the same path; waits its turn."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Holders:
    """The processes that hold a path.  A hold lasts until it is left or its process ends; the kernel sees to that."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hold: int | None = None

    @property
    def joined(self) -> bool:
        """Whether this object holds."""
        return self._hold is not None

    def join(self) -> None:
        """Be counted from now on."""
        if self._hold is None:
            self._hold = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._hold, fcntl.LOCK_SH)

    def leave(self) -> bool:
        """Be counted no longer; true when nobody else holds.  Call it under `alone`, so that nobody joins meanwhile."""
        if self._hold is None:
            return False
        hold, self._hold = self._hold, None
        try:
            fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(hold)
        return True
