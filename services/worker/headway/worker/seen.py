"""What this worker started and settled last, by definition and schedule; written from memory once a second."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from headway.core.run import State
from headway.store import last_runs
from headway.store.claim import Claimed
from headway.store.last_runs import Last
from headway.store.settle import Settled
from headway.store.tx import Database


class Seen:
    """Gathers the newest of each kind and forgets it once it is written."""

    def __init__(self) -> None:
        self._definitions: dict[UUID, Last] = {}
        self._schedules: dict[UUID, Last] = {}

    def started(self, claimed: Iterable[Claimed]) -> None:
        """Note runs that began."""
        for run in {run.definition_id: run for run in claimed}.values():
            _start(self._definitions.setdefault(run.definition_id, Last()), run)
        for run in claimed:
            if run.schedule is not None:
                _start(self._schedules.setdefault(run.schedule, Last()), run)

    def settled(self, runs: Iterable[Settled], now: datetime) -> None:
        """Note runs that ended for good."""
        for run in {(run.definition_id, run.state): run for run in runs}.values():
            _end(self._definitions.setdefault(run.definition_id, Last()), run, now)
        for run in runs:
            if run.schedule is not None:
                _end(self._schedules.setdefault(run.schedule, Last()), run, now)

    async def flush(self, database: Database) -> int:
        """Write what was noted since the last flush, in a transaction of its own, and say for how many rows."""
        definitions, schedules = self._definitions, self._schedules
        if not definitions and not schedules:
            return 0
        self._definitions, self._schedules = {}, {}
        async with database.begin() as tx:
            await last_runs.write(tx, definitions, schedules)
        return len(definitions) + len(schedules)


def _start(last: Last, run: Claimed) -> None:
    last.scheduled_at, last.started_at, last.latest = run.available_at, run.started_at, run.id


def _end(last: Last, run: Settled, now: datetime) -> None:
    if run.state == State.SUCCEEDED:
        last.completed_at, last.succeeded, last.succeeded_at = now, run.id, now
    elif run.state == State.FAILED:
        last.completed_at, last.failed, last.failed_at = now, run.id, now
