"""The run whose handler is executing here, for whatever the handler calls."""

from contextvars import ContextVar
from typing import Final, Protocol


class Executing(Protocol):
    """What is asked of the run that is executing."""

    @property
    def correlation(self) -> str | None:
        """Its correlation id."""


CURRENT: Final[ContextVar[Executing | None]] = ContextVar("headway_run", default=None)


def ambient_correlation() -> str | None:
    """The correlation id of the run whose handler is executing here, or None."""
    executing = CURRENT.get()
    return None if executing is None else executing.correlation
