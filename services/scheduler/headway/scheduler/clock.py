"""The database's clock, as far as a process knows it between two transactions."""

import time
from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class DatabaseClock:
    """The database's instant carried on by the monotonic clock, and corrected by each transaction.

    It says when to look; what is due is decided by the transaction's own instant.
    """

    def __init__(self) -> None:
        self.last_read: datetime | None = None
        self._offset = timedelta()

    def read(self, now: datetime) -> None:
        """Note what the database's clock says at this moment."""
        self._offset = now - EPOCH - timedelta(seconds=time.monotonic())
        self.last_read = now

    def now(self) -> datetime:
        """Return the database's instant."""
        return EPOCH + timedelta(seconds=time.monotonic()) + self._offset
