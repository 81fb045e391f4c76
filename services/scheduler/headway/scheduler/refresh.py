"""Keep the cache like the database: all of it at the start, then only what changed."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from headway.core.errors import HeadwayError, Invalid
from headway.runtime.metrics import SCHEDULER_DEFINITIONS
from headway.scheduler.cache import Schedules
from headway.store import advance, calendars, standing
from headway.store.known import Known
from headway.store.tx import Database, Row, Tx

log = structlog.get_logger(__name__)
OVERLAP: Final = timedelta(seconds=60)
PAGE: Final = 2000
_FIRST: Final = UUID(int=0)


class Refresh:
    """Reads what changed since the last read.  A failed read leaves the cache usable: whatever is old in it decides nothing.

    `saw_now` is told the database's instant at the start of each read; `definitions` says to how many the schedules belonged at its end.
    """

    def __init__(self, database: Database, cache: Schedules, saw_now: Callable[[datetime], None] = lambda now: None) -> None:
        self.database = database
        self.cache = cache
        self.saw_now = saw_now
        self.refreshed_at: datetime | None = None
        self.definitions = 0
        self.page = PAGE
        self._broken: dict[UUID, int] = {}  # and their versions: they are left out until they are saved again

    async def run(self) -> int:
        """Bring the cache up to date and say how many schedules were read.  Raises Unavailable."""
        async with self.database.begin() as tx:
            self.saw_now(tx.now)
            # After a step back of the clock, what has changed does not look so.
            anew = self.refreshed_at is None or tx.now < self.refreshed_at
            read = await (self._read_all(tx) if anew else self._read_changed(tx))
            read += await self._reconcile(tx)
            self.refreshed_at = tx.now
        self.definitions = self.cache.definitions()
        SCHEDULER_DEFINITIONS.set(self.definitions)
        return read

    async def reread(self, ids: Sequence[UUID]) -> None:
        """Bring single schedules up to date: somebody else may have moved them on, changed or deleted them.  Raises Unavailable."""
        async with self.database.begin() as tx:
            self.saw_now(tx.now)
            rows = await standing.standing(tx, ids)
            self._forget(set(ids) - {row["id"] for row in rows})
            await self._follow(tx, rows)

    async def moved(self, moved: Sequence[Known]) -> None:
        """Keep schedules as a decision left them; one whose next slot cannot be told is marked broken.  Raises Unavailable."""
        for known in moved:
            try:
                self._put(known)
            except Invalid as error:
                async with self.database.begin() as tx:
                    await self.broken(tx, known, error)

    async def broken(self, tx: Tx, known: Known, error: HeadwayError) -> None:
        """One bad schedule never stops the loop: it is marked, and left out until it is saved again."""
        await self._leave_out(tx, known.id, known.version, known.name, error)

    async def _read_all(self, tx: Tx) -> int:
        after, read = _FIRST, 0
        while rows := await advance.load_page(tx, after, self.page):
            await self._take(tx, rows)
            after, read = rows[-1]["id"], read + len(rows)
        return read

    async def _read_changed(self, tx: Tx) -> int:
        assert self.refreshed_at is not None, "everything has been read once"
        # A transaction that began earlier may commit later: what it changed is seen by the overlap.
        return await self._follow(tx, await standing.changed(tx, self.refreshed_at - OVERLAP))

    async def _reconcile(self, tx: Tx) -> int:
        """Find what left no trace.  Everything that can fire has been read, so a count tells whether there is more here than there."""
        if await standing.count_live(tx) == len(self.cache) + len(self._broken):
            return 0
        live = await standing.live_ids(tx)
        here = self.cache.ids() | self._broken.keys()
        self._forget(here - live)
        return await self._read(tx, sorted(live - here))

    async def _follow(self, tx: Tx, rows: Sequence[Row]) -> int:
        """Compare with how schedules stand, and read those that are not what they were; says how many."""
        self._forget([row["id"] for row in rows if not row["live"]])
        other: list[UUID] = []
        for row in rows:
            known = self.cache.get(row["id"])
            version = self._broken.get(row["id"]) if known is None else known.version
            if row["live"] and (version != row["version"] or (known is not None and known.updated_at != row["updated_at"])):
                other.append(row["id"])
            elif known is not None and (row["decided_until"], row["chained_at"]) != (known.decided_until, known.timeline.chained_at):
                await self._keep(tx, known.decided(row["decided_until"], row["chained_at"]))
        return await self._read(tx, other)

    async def _read(self, tx: Tx, ids: Sequence[UUID]) -> int:
        for first in range(0, len(ids), self.page):
            page = ids[first : first + self.page]
            rows = [row for row in await advance.load(tx, ids=page) if row["live"]]
            self._forget(set(page) - {row["id"] for row in rows})
            await self._take(tx, rows)
        return len(ids)

    async def _take(self, tx: Tx, rows: Sequence[Row]) -> None:
        used = await calendars.load(tx, {id_ for row in rows for id_ in row["calendars"] or ()})
        for row in rows:
            try:
                self._put(Known.of(row, used))
            except Invalid as error:
                await self._leave_out(tx, row["id"], row["version"], row["name"], error)

    async def _keep(self, tx: Tx, known: Known) -> None:
        try:
            self._put(known)
        except Invalid as error:
            await self.broken(tx, known, error)

    def _put(self, known: Known) -> None:
        self.cache.put(known)
        self._broken.pop(known.id, None)

    async def _leave_out(self, tx: Tx, schedule: UUID, version: int, name: str, error: HeadwayError) -> None:
        self.cache.remove([schedule])
        self._broken[schedule] = version
        if await advance.mark_broken(tx, schedule, str(error)):
            log.error("schedule was marked broken", schedule=str(schedule), name=name, error=str(error))

    def _forget(self, ids: Collection[UUID]) -> None:
        self.cache.remove(ids)
        for id_ in ids:
            self._broken.pop(id_, None)
