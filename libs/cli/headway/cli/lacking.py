"""Why a run that waits may wait for ever: nobody who lives could take it."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from headway.cli.client import Api

PATIENCE: Final = 5.0  # seconds that a worker may take to start before its lack is told of
WAITS: Final = "queued"


def lack_of(api: "Api", run: Mapping[str, Any]) -> str | None:
    """Return which worker a run lacks, None for one that does not wait in a queue or could be taken."""
    return lack(run, api.get("/v1/sessions")["items"]) if run["state"] == WAITS else None


def lack(run: Mapping[str, Any], sessions: Iterable[Mapping[str, Any]]) -> str | None:
    """Return which worker a queued run lacks among the sessions that there are."""
    handler, queue = run["handler"], run["queue"]
    able = [one for one in sessions if one["state"] == "running" and not one["lapsed"] and handler in one["handlers"]]
    if not able:
        return f"no live worker has handler {handler!r}: headway worker APP"
    if not any(queue in one["queues"] for one in able):
        return f"no live worker with handler {handler!r} takes from queue {queue!r}: headway worker APP --queue {queue}"
    return None


class Lookout:
    """Says once of a run that is followed that nobody could take it."""

    def __init__(self, api: "Api") -> None:
        self._api = api
        self._told = False

    def look(self, run: Mapping[str, Any], seconds: float) -> str | None:
        """Return what a run lacks that has been followed for so long, the first time that it does."""
        if self._told or seconds < PATIENCE or run["state"] != WAITS:
            return None
        self._told = True
        return lack_of(self._api, run)
