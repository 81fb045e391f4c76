"""What an enqueue gives back: the run's id, and the way to its end."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Protocol
from uuid import UUID

import orjson

from headway.core.errors import Conflict
from headway.core.outcome import SUCCESSES, RunOutcome


class RunFailed(Conflict):
    """The run ended, and not with success; `row` is all that is known of it."""

    code = "run_failed"

    def __init__(self, row: Mapping[str, Any]) -> None:
        outcome = RunOutcome(row["outcome"])
        why = (row["error"] or {}).get("message") or row["reason"] or "no reason was given"
        super().__init__(f"run {row['id']} ended as {outcome.name}: {why}")
        self.outcome = outcome
        self.row = row


class Follower(Protocol):
    """What follows and ends runs."""

    async def wait(self, run_id: UUID, within: float | None) -> Mapping[str, Any]:
        """Return the row of a run once it is final."""

    async def cancel(self, ids: list[UUID], reason: str) -> Mapping[UUID, str]:
        """Cancel runs and say what became of each."""

    def wait_sync(self, run_id: UUID, within: float | None) -> Mapping[str, Any]:
        """Do what `wait` does, from code that is no coroutine."""

    def cancel_sync(self, ids: list[UUID], reason: str) -> Mapping[UUID, str]:
        """Do what `cancel` does, from code that is no coroutine."""


class Handle:
    """A run that was accepted; `existing` when its key found one that stood already."""

    __slots__ = ("_follower", "existing", "id")

    def __init__(self, run_id: UUID, existing: bool, follower: Follower) -> None:
        self.id = run_id
        self.existing = existing
        self._follower = follower

    def __repr__(self) -> str:
        return f"<run {self.id}>"

    async def result(self, within: timedelta | float | None = None) -> Mapping[str, Any] | None:
        """Wait for the end and return the results: the mapping that the handler returned, or its value as `value`; None for none.

        Raises RunFailed when it did not succeed, TimeoutError when it does not end in time.
        """
        return result_of(await self._follower.wait(self.id, _seconds(within)))

    def result_sync(self, within: timedelta | float | None = None) -> Mapping[str, Any] | None:
        """Do what `result` does, from code that is no coroutine."""
        return result_of(self._follower.wait_sync(self.id, _seconds(within)))

    async def cancel(self, reason: str = "") -> str:
        """Cancel the run: `cancelled` at once, `cancelling` when its handler was asked to stop, `final` when it had ended."""
        return (await self._follower.cancel([self.id], reason))[self.id]

    def cancel_sync(self, reason: str = "") -> str:
        """Do what `cancel` does, from code that is no coroutine."""
        return self._follower.cancel_sync([self.id], reason)[self.id]


def result_of(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the results of a finished run.  Raises RunFailed when it did not succeed."""
    if row["outcome"] not in SUCCESSES:
        raise RunFailed(row)
    results: Mapping[str, Any] | None = None if row["result"] is None else orjson.loads(row["result"])
    return results


def _seconds(within: timedelta | float | None) -> float | None:
    return within.total_seconds() if isinstance(within, timedelta) else within
