"""Outcomes on their way to the database: gathered, settled together, and only then are their slots free."""

from asyncio import Event
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

import structlog

from headway.core.outcome import AttemptOutcome, Outcome
from headway.runtime.loops import CLOCK, Next, Wake
from headway.runtime.metrics import RUN_DURATION, RUN_REFUSED, RUN_SETTLED
from headway.store.claim import Claimed
from headway.store.tx import Database
from headway.worker.settling import Concluded, conclude

log = structlog.get_logger(__name__)
SMALL: Final = 32
LINGER: Final = 0.001


class Ended(NamedTuple):
    """An attempt that is over.  No outcome means that nothing may be written: its session was lost."""

    claimed: Claimed
    session: UUID
    outcome: Outcome | None


class Outbox:
    """Keeps ended attempts until their settle has committed.

    `on_free(queue, count)` is told of slots, `on_concluded` of what the settle moved.
    """

    def __init__(self, database: Database, *, batch: int, running: Callable[[], int]) -> None:
        self.database = database
        self.batch = batch
        self.running = running
        self.wake = Wake()
        self.empty = Event()
        self.empty.set()
        self.on_free: Callable[[str, int], None] = lambda queue, count: None
        self.on_concluded: Callable[[Concluded], None] = lambda concluded: None
        self._waiting: deque[Ended] = deque()
        self._never = Event()

    def put(self, ended: Ended) -> None:
        """Take an attempt that is over."""
        if ended.outcome is None:
            self.on_free(ended.claimed.queue, 1)
            return
        self._waiting.append(ended)
        self.empty.clear()
        self.wake.set()

    def abandon(self, session: UUID) -> None:
        """Forget what ended under a lost session."""
        lost = [ended for ended in self._waiting if ended.session == session]
        self._waiting = deque(ended for ended in self._waiting if ended.session != session)
        self._freed(lost)

    async def settle(self) -> Next:
        """Settle what waits, at most one batch.  Raises Unavailable, and then keeps it."""
        if not self._waiting:
            return Next()
        if len(self._waiting) < SMALL and self.running() > len(self._waiting):
            await CLOCK.wait(self._never, LINGER)
        batch = list(islice(self._waiting, self.batch))
        concluded = await conclude(self.database, batch)
        done = set(map(id, batch))
        self._waiting = deque(ended for ended in self._waiting if id(ended) not in done)
        self._freed(batch)
        self.on_concluded(concluded)
        _measure(batch, concluded)
        return Next(len(batch), again=bool(self._waiting))

    def _freed(self, batch: Iterable[Ended]) -> None:
        counts: dict[str, int] = {}
        for ended in batch:
            counts[ended.claimed.queue] = counts.get(ended.claimed.queue, 0) + 1
        for queue, count in counts.items():
            self.on_free(queue, count)
        if not self._waiting:
            self.empty.set()


def _measure(batch: Sequence[Ended], concluded: Concluded) -> None:
    by_outcome: dict[AttemptOutcome, list[float]] = {}
    for ended in batch:
        outcome = concluded.outcomes.get(ended.claimed.id)
        if outcome is not None:
            by_outcome.setdefault(outcome, []).append(_seconds(concluded.at, ended.claimed.started_at))
    for outcome, seconds in by_outcome.items():
        RUN_SETTLED.labels(outcome.name.lower()).inc(len(seconds))
        RUN_DURATION.observe_many(seconds, outcome.name.lower())
    if refused := len(batch) - len(concluded.outcomes):
        RUN_REFUSED.inc(refused)
        log.warning("settles were refused", runs=refused)


def _seconds(until: datetime, since: datetime) -> float:
    return max(timedelta(), until - since) / timedelta(seconds=1)
