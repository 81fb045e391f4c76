"""Keep the cache like the database: all of it at the start, then only what changed."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from headway.core.errors import Invalid
from headway.runtime.metrics import SCHEDULER_DEFINITIONS
from headway.scheduler.cache import Schedules
from headway.store import advance, calendars
from headway.store.known import Known
from headway.store.tx import Database, Row, Tx

log = structlog.get_logger(__name__)
OVERLAP: Final = timedelta(seconds=60)


class Refresh:
    """Reads what changed since the last read.  A failed read changes nothing: the old cache is kept.

    `saw_now` is told the database's instant at the start of each read.
    """

    def __init__(self, database: Database, cache: Schedules, saw_now: Callable[[datetime], None] = lambda now: None) -> None:
        self.database = database
        self.cache = cache
        self.saw_now = saw_now
        self.refreshed_at: datetime | None = None

    async def run(self) -> int:
        """Bring the cache up to date and say how many schedules were read.  Raises Unavailable."""
        async with self.database.begin() as tx:
            self.saw_now(tx.now)
            # A transaction that began earlier may commit later: what it changed is read by the overlap.
            since = None if self.refreshed_at is None else self.refreshed_at - OVERLAP
            rows = await advance.load(tx, since=since)
            live = await advance.live_ids(tx)
            self.cache.remove(self.cache.ids() - live)
            await self._take(tx, rows)
            self.refreshed_at = tx.now
        SCHEDULER_DEFINITIONS.set(self.cache.definitions())
        return len(rows)

    async def reread(self, ids: Sequence[UUID]) -> None:
        """Read single schedules again: somebody else has moved them on."""
        async with self.database.begin() as tx:
            rows = await advance.load(tx, ids=ids)
            self.cache.remove(set(ids) - {row["id"] for row in rows})
            await self._take(tx, rows)

    async def _take(self, tx: Tx, rows: Sequence[Row]) -> None:
        used = await calendars.load(tx, {id_ for row in rows if row["live"] for id_ in row["calendars"] or ()})
        for row in rows:
            if not row["live"]:
                self.cache.remove([row["id"]])
                continue
            try:
                known = Known.of(row, used)
                if self._is_newer(known):
                    self.cache.put(known)
            except Invalid as error:
                await self.broken(tx, row["id"], row["name"], error)

    def _is_newer(self, known: Known) -> bool:
        standing = self.cache.get(known.id)
        return standing is None or _state(known) != _state(standing)

    async def broken(self, tx: Tx, schedule: UUID, name: str, error: Invalid) -> None:
        """One bad schedule never stops the loop: it is marked, and left out until it is saved again."""
        self.cache.remove([schedule])
        if await advance.mark_broken(tx, schedule, str(error)):
            log.error("schedule was marked broken", schedule=str(schedule), name=name, error=str(error))


def _state(known: Known) -> tuple[int, datetime, datetime | None]:
    return known.version, known.decided_until, known.timeline.chained_at
