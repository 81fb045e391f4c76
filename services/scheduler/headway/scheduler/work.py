"""A scheduler's day: sleep until the next slot, decide it, announce its run; read again what changed."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import structlog

from headway.broker import hints
from headway.broker.announcer import Announcer
from headway.broker.port import Broker, Consumer
from headway.core.errors import Invalid
from headway.messages import RunCancel
from headway.messages.channels import DEFINITION_CHANGED
from headway.runtime.broker_watch import watch_broker
from headway.runtime.life import Life
from headway.runtime.loops import Next, Wake
from headway.runtime.metrics import (
    SCHEDULER_CONFLICTS,
    SCHEDULER_DECISIONS,
    SCHEDULER_REFRESH,
    SCHEDULER_REFRESH_DURATION,
    SCHEDULER_SLOT_LATENESS,
)
from headway.runtime.settings import SchedulerSettings, read_jobs
from headway.scheduler.cache import Schedules
from headway.scheduler.react import Reactions
from headway.scheduler.refresh import Refresh
from headway.store.chaining import chaining
from headway.store.decide import Decided, Verdict, decide_due
from headway.store.known import Known, Manner
from headway.store.reactions import Kind
from headway.store.tx import Database

log = structlog.get_logger(__name__)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
A_MOMENT: Final = timedelta(milliseconds=1)


class Scheduler:
    """One of any number of schedulers; there is no leader."""

    def __init__(self, settings: SchedulerSettings, database: Database, broker: Broker) -> None:
        self.knobs = settings.scheduler
        self.config = settings.config
        self.off: frozenset[str] = frozenset()
        self.database = database
        self.broker = broker
        self.announcer = Announcer(broker)
        self.cache = Schedules()
        self.manner = Manner(self.knobs.grace_seconds, self.knobs.catch_up)
        self.refresh = Refresh(database, self.cache, self._read_clock)
        self.decide_wake = Wake()
        self.refresh_wake = Wake()
        self.last_decision: datetime | None = None
        self._to_reread: set[UUID] = set()
        self.reactions = Reactions(settings.reactions, database, broker, {Kind.SCHEDULE: chaining(self._to_reread.add)}, self._reacted)
        self.chain_wake = Wake()
        self._clock_offset = timedelta()

    async def run(self, life: Life) -> None:
        """Schedule until `life` is asked to stop.  Listening comes before loading, so that no change falls between."""
        consumer = await self.broker.listen(DEFINITION_CHANGED)
        async with self.database.begin() as tx:
            self._read_clock(tx.now)
        await self.refresh_once()
        async with life:
            life.start("announce", self.announcer.run())
            life.start("changes", self._listen(consumer))
            life.start_loop("refresh", self.refresh_once, timedelta(seconds=self.knobs.refresh_seconds), wake=self.refresh_wake)
            life.start_loop("decide", self.decide_once, timedelta(seconds=self.knobs.longest_sleep_seconds), wake=self.decide_wake)
            life.start_loop("chain", self.chain_once, timedelta(seconds=self.knobs.refresh_seconds), wake=self.chain_wake)
            life.health.add("scheduler", self.check)
            watch_broker(life, self.broker)
            await self.reactions.start(life)
        await self.announcer.flush()

    async def decide_once(self) -> Next:
        """Decide what is due, at most one batch, and say when the next slot is."""
        due = self.cache.due(self._now() + A_MOMENT, self.knobs.batch)
        if not due:
            return self._sleep(0)
        try:
            decided = await self._decide(due)
        except Invalid:
            return self._sleep(await self._decide_apart(due))
        return self._sleep(len(decided.verdicts))

    async def _decide_apart(self, due: Sequence[Known]) -> int:
        """Decide schedule by schedule, because one of them cannot be evaluated: that one is marked broken, the others go on."""
        found = 0
        for known in due:
            try:
                found += len((await self._decide([known])).verdicts)
            except Invalid as error:
                async with self.database.begin() as tx:
                    await self.refresh.broken(tx, known.id, known.name, error)
        return found

    async def _decide(self, due: Sequence[Known]) -> Decided:
        async with self.database.begin() as tx:
            self._read_clock(tx.now)
            decided = await decide_due(tx, due, self.manner, self.off)
        self.announcer.put(hints.created([hints.Queued(run.id, run.queue, run.priority) for run in decided.queued], at=decided.at))
        if decided.wished:
            self.announcer.put([hints.letter(RunCancel(runs=tuple(decided.wished)), at=decided.at)])
        for known in decided.moved:
            self.cache.put(known)
        if decided.conflicts:
            SCHEDULER_CONFLICTS.inc(len(decided.conflicts))
            await self.refresh.reread(decided.conflicts)
        self._measure(decided)
        return decided

    async def chain_once(self) -> int:
        """Read again the schedules to which the end of a run gave a next slot."""
        chained, self._to_reread = self._to_reread, set()
        if chained:
            await self.refresh.reread(sorted(chained))
            self.decide_wake.set()
        return len(chained)

    async def refresh_once(self) -> int:
        """Read what changed; counts an error and keeps the old cache."""
        began = time.monotonic()
        outcome = "error"
        try:
            read = await self.refresh.run()
            self.off = frozenset(name for name, job in read_jobs(self.config).items() if job.enabled is False)
            outcome = "ok"
        finally:
            SCHEDULER_REFRESH.labels(outcome).inc()
            SCHEDULER_REFRESH_DURATION.observe(time.monotonic() - began)
        self.decide_wake.set()
        return read

    def check(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether the cache is loaded, with the scheduler's figures."""
        return self.refresh.refreshed_at is not None, {
            "is_running": True,
            "loaded_definitions": self.cache.definitions(),
            "loaded_schedules": len(self.cache),
            "last_check_at": self.last_decision.isoformat() if self.last_decision else None,
            "last_refresh_at": self.refresh.refreshed_at.isoformat() if self.refresh.refreshed_at else None,
        }

    def _reacted(self) -> None:
        if self._to_reread:
            self.chain_wake.set()

    async def _listen(self, consumer: Consumer) -> None:
        while arrived := await consumer.receive():
            self.refresh_wake.set()
            await consumer.acknowledge(arrived)

    def _now(self) -> datetime:
        """The database's instant as far as this process knows: its monotonic clock, corrected at each transaction."""
        return EPOCH + timedelta(seconds=time.monotonic()) + self._clock_offset

    def _read_clock(self, now: datetime) -> None:
        self._clock_offset = now - EPOCH - timedelta(seconds=time.monotonic())
        self.last_decision = now

    def _sleep(self, found: int) -> Next:
        due = self.cache.next_due()
        return Next(found, sleep=None if due is None else max(timedelta(), due - self._now()))

    def _measure(self, decided: Decided) -> None:
        counts = Counter(_label(verdict) for verdict in decided.verdicts)
        for (decision, reason), count in counts.items():
            SCHEDULER_DECISIONS.labels(decision, reason).inc(count)
        for definition, schedule, slot_at, faults in decided.faults:
            log.warning("templates were kept as written", definition=definition, schedule=schedule, slot_at=slot_at, faults=faults)
        SCHEDULER_SLOT_LATENESS.observe_many(_lateness(decided.verdicts, decided.at))


def _label(verdict: Verdict) -> tuple[str, str]:
    decision = verdict.decision
    return decision.kind.name.lower(), decision.reason.value if decision.reason else ""


def _lateness(verdicts: Sequence[Verdict], now: datetime) -> list[float]:
    return [max(0.0, (now - verdict.decision.effective_at).total_seconds()) for verdict in verdicts]
