"""What the database's clock says now, as far as this process can know without asking."""

import time
from datetime import datetime, timedelta
from typing import Final

FRESH: Final = 10.0
_TICK: Final = timedelta(microseconds=1)


class Reckoning:
    """The database's clock carried on by the monotonic one; for ids, which only have to rise, and never for a decision."""

    def __init__(self) -> None:
        self._read: datetime | None = None
        self._read_at = 0.0
        self._last: datetime | None = None

    def note(self, now: datetime) -> None:
        """Note what the database's clock said a moment ago."""
        self._read, self._read_at = now, time.monotonic()

    def now(self) -> datetime | None:
        """Return an instant later than every one returned before; None when the clock was not read for ten seconds."""
        passed = time.monotonic() - self._read_at
        if self._read is None or passed > FRESH:
            return None
        reckoned = self._read + timedelta(seconds=passed)
        self._last = reckoned if self._last is None else max(reckoned, self._last + _TICK)
        return self._last
