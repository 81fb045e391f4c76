"""How runs come to a worker: hints first, what no hint named by looking.

A delivery stays unacknowledged only until its claim has committed.  Ids that find no slot wait for two claims at most; then they are
left, and a look finds them.  While every look comes back full and hints carry few ids, looking alone is faster: the consumer rests.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

import structlog

from headway.broker.port import Consumer, Delivery
from headway.messages import RunCreated, Unparseable, parse
from headway.runtime.loops import CLOCK, Next, Wake
from headway.runtime.metrics import RUN_CLAIMED, RUN_QUEUE_LATENCY
from headway.store.claim import Claimed, claim, claim_next
from headway.store.tx import Database
from headway.worker.lease import Lease
from headway.worker.slots import Slots

log = structlog.get_logger(__name__)
CLAIMS_TO_WAIT: Final = 2
SATURATED_AFTER: Final = 0.1
FEW_IDS: Final = 10
PROBE: Final = 0.1
STALE_IDS: Final = 50


class Supply(NamedTuple):
    """What an intake works with."""

    database: Database
    lease: Lease
    slots: Slots
    handlers: Sequence[str]
    start: Callable[[Sequence[Claimed], UUID], None]
    bury: Callable[[Delivery, Unparseable], None]


class Shape(NamedTuple):
    """The sizes of an intake: most runs in one claim, most messages held, longest time between two looks."""

    batch: int
    prefetch: int
    look: timedelta


class Intake:
    """Takes runs of one queue, as many as there are free slots."""

    def __init__(self, queue: str, consumer: Consumer, supply: Supply, shape: Shape) -> None:
        self.queue = queue
        self.consumer = consumer
        self.supply = supply
        self.batch = shape.batch
        self.many = shape.prefetch // 2
        self.look_seconds = shape.look.total_seconds()
        self.wake = Wake()
        self.last_claim = 0.0
        self._inbox: deque[Delivery] = deque()
        self._kept: dict[UUID, int] = {}
        self._begun = 0
        self._next_look = 0.0
        self._last_look = 0.0
        self._look_again = False
        self._poor_hints = False
        self._full_since: float | None = None
        self._looking_only = False

    @property
    def resting(self) -> bool:
        """Whether the consumer is cancelled on purpose."""
        return self._looking_only

    async def pump(self) -> None:
        """Move deliveries from the consumer into the inbox for as long as it lives."""
        while arrived := await self.consumer.receive():
            self._inbox.extend(arrived)
            self.wake.set()

    async def step(self) -> Next:
        """Claim once, by hint or by order, start what was claimed, and say when to be called again."""
        if not self.supply.lease.live.is_set():
            return Next(sleep=timedelta(seconds=SATURATED_AFTER))
        free = self.supply.slots.take(self.queue, self.batch)
        if not free:
            return await self._wait_for_a_slot()
        self._full_since = None
        self._begun = 0
        try:
            await self._claim(free)
        finally:
            self.supply.slots.give(self.queue, free - self._begun)
        return self._following(free, self._begun)

    async def _claim(self, free: int) -> None:
        session = self.supply.lease.session.id
        hinted = bool(self._inbox or self._kept) and not self._looking_only
        now = time.monotonic()
        if hinted and now < self._next_look and not (self._look_again and self._poor_hints):
            await self._claim_hinted(session, free)
        elif self._look_again or now >= self._next_look:
            await self._look(session, free)

    async def _claim_hinted(self, session: UUID, free: int) -> None:
        deliveries = self._open_hints(free)
        ids = list(self._kept)[:free]
        async with self.supply.database.once() as tx:
            claimed = await claim(tx, session, ids, handlers=self.supply.handlers) if ids else []
            self._begin(claimed, session, "hint")
        await CLOCK.give_way()  # handlers first
        await self.consumer.acknowledge(deliveries)
        for id_ in ids:
            del self._kept[id_]
        self._age_kept()
        self._poor_hints = len(deliveries) >= self.many and len(ids) < FEW_IDS * len(deliveries)
        self._look_again |= self._poor_hints and time.monotonic() >= self._last_look + PROBE
        if not claimed and len(ids) >= STALE_IDS:
            await self._drop_hints()

    async def _drop_hints(self) -> None:
        """Let go of hints that lag behind what looks have found already: the next look finds whatever they still name."""
        stale = list(self._inbox)
        self._inbox.clear()
        self._kept.clear()
        self._look_again = True
        await self.consumer.acknowledge(stale)

    def _open_hints(self, free: int) -> list[Delivery]:
        """Read deliveries until enough ids are known, or all are read; what cannot be read is buried."""
        opened = []
        while self._inbox and len(self._kept) < free:
            delivery = self._inbox.popleft()
            opened.append(delivery)
            try:
                hint = parse(delivery.body)
            except Unparseable as error:
                self.supply.bury(delivery, error)
                continue
            if isinstance(hint, RunCreated):
                self._kept.update(dict.fromkeys(hint.runs, 0))
        return opened

    def _age_kept(self) -> None:
        waited = {id_: claims + 1 for id_, claims in self._kept.items()}
        self._kept = {id_: claims for id_, claims in waited.items() if claims < CLAIMS_TO_WAIT}
        self._look_again |= len(self._kept) < len(waited)

    async def _look(self, session: UUID, free: int) -> None:
        async with self.supply.database.once() as tx:
            found = await claim_next(tx, session, self.queue, handlers=self.supply.handlers, limit=free)
            self._begin(found, session, "fill")
        self._last_look = time.monotonic()
        self._next_look = self._last_look + CLOCK.jitter(self.look_seconds)
        self._look_again = len(found) == free
        await self._rest_consumer(self._look_again)

    async def _rest_consumer(self, full: bool) -> None:
        """Cancel the consumer while looks come back full and hints name few runs each; consume again when they do not."""
        if full and self._poor_hints and not self._looking_only:
            self._looking_only = True
            await self._give_back()
        elif not full and self._looking_only:
            self._looking_only = False
            await self.consumer.resume()

    async def _give_back(self) -> None:
        self._inbox.clear()
        self._kept.clear()
        await self.consumer.pause()

    async def _wait_for_a_slot(self) -> Next:
        """Hold no message while there is no slot: after 100 ms everything goes back for an idle worker to take."""
        now = time.monotonic()
        if self._full_since is None:
            self._full_since = now
        elif now - self._full_since >= SATURATED_AFTER and not self._looking_only:
            self._looking_only = self._look_again = True
            await self._give_back()
        return Next(sleep=timedelta(seconds=SATURATED_AFTER))

    def _begin(self, claimed: Sequence[Claimed], session: UUID, path: str) -> None:
        """Start what a statement gave, which was a transaction of its own: nothing that follows it keeps a handler waiting."""
        if not claimed:
            return
        self._begun = len(claimed)
        self.last_claim = time.monotonic()
        RUN_CLAIMED.labels(path).inc(len(claimed))
        RUN_QUEUE_LATENCY.observe_many([max(0.0, (run.started_at - run.available_at).total_seconds()) for run in claimed])
        if session == self.supply.lease.session.id:
            self.supply.start(claimed, session)
        else:
            self.supply.slots.give(self.queue, len(claimed))

    def _following(self, free: int, taken: int) -> Next:
        if taken < free:
            self.supply.slots.content(self.queue)
        waiting = bool(self._inbox or self._kept) and not self._looking_only
        due = self._next_look - time.monotonic()
        if waiting or self._look_again or due <= 0:
            return Next(taken, again=True)
        return Next(taken, sleep=timedelta(seconds=due))
