"""A scheduler's day: sleep until the next slot, decide it, announce its run; read again what changed."""

import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from headway.broker import hints
from headway.broker.announcer import Announcer
from headway.broker.port import Broker, Consumer
from headway.messages.channels import DEFINITION_CHANGED
from headway.runtime.broker_watch import watch_broker
from headway.runtime.life import Life
from headway.runtime.loops import Wake
from headway.runtime.metrics import SCHEDULER_REFRESH, SCHEDULER_REFRESH_DURATION
from headway.runtime.settings import SchedulerSettings, read_jobs
from headway.scheduler.cache import Schedules
from headway.scheduler.clock import DatabaseClock
from headway.scheduler.decide import Decider
from headway.scheduler.membership import Membership
from headway.scheduler.react import Reactions
from headway.scheduler.refresh import Refresh
from headway.scheduler.triggered import tell
from headway.store import breakers, tallying
from headway.store.alerting import alert
from headway.store.chaining import chaining
from headway.store.gates import Placed
from headway.store.reactions import Doing, Kind
from headway.store.triggering import triggering
from headway.store.tx import Database


class Scheduler:
    """One of any number of schedulers; there is no leader."""

    def __init__(self, settings: SchedulerSettings, database: Database, broker: Broker) -> None:
        self.settings = settings
        self.knobs = settings.scheduler
        self.broker = broker
        self.announcer = Announcer(broker)
        self.cache = Schedules()
        self.clock = DatabaseClock()
        self.membership = Membership(database, timedelta(seconds=settings.lease_seconds))
        self.refresh = Refresh(database, self.cache, self.clock.read)
        self.decider = Decider(self.knobs, self.refresh, self.membership, self.clock, self.announcer)
        self.decide_wake = Wake()
        self.refresh_wake = Wake()
        self.chain_wake = Wake()
        self._chained: set[UUID] = set()
        doing: Mapping[int, Doing] = {
            Kind.TRIGGER: triggering(tell),
            Kind.BATCH: tallying.react,
            Kind.BREAKER: breakers.react,
            Kind.SCHEDULE: chaining(self._chained.add),
            Kind.ALERT: alert,
        }
        self.reactions = Reactions(settings.reactions, database, broker, doing, self._reacted)

    async def run(self, life: Life) -> None:
        """Schedule until `life` is asked to stop.  Listening comes before loading, so that no change falls between."""
        life.health.add("scheduler", self.check)
        consumer = await self.broker.listen(DEFINITION_CHANGED)
        self.clock.read(await self.membership.join())
        await self.refresh_once()
        async with life:
            life.start("announce", self.announcer.run())
            life.start("changes", self._listen(consumer))
            life.start_loop("membership", self.renew_once, timedelta(seconds=self.settings.heartbeat_seconds))
            life.start_loop("refresh", self.refresh_once, timedelta(seconds=self.knobs.refresh_seconds), wake=self.refresh_wake)
            life.start_loop("decide", self.decider.step, timedelta(seconds=self.knobs.longest_sleep_seconds), wake=self.decide_wake)
            life.start_loop("chain", self.chain_once, timedelta(seconds=self.knobs.refresh_seconds), wake=self.chain_wake)
            watch_broker(life, self.broker)
            await self.reactions.start(life)
        await self.announcer.flush()
        await self.membership.leave()

    async def renew_once(self) -> int:
        """Extend the session, learn which schedulers there are, and by how much the database's clock was stepped, if it was."""
        self.clock.read(await self.membership.renew())
        self.decide_wake.set()
        return len(self.membership.members)

    async def chain_once(self) -> int:
        """Read again the schedules to which the end of a run gave a next slot."""
        chained = sorted(self._chained)
        self._chained.clear()
        if chained:
            await self.refresh.reread(chained)
            self.decide_wake.set()
        return len(chained)

    async def refresh_once(self) -> int:
        """Read what changed; counts an error and keeps the old cache."""
        began = time.monotonic()
        outcome = "error"
        try:
            read = await self.refresh.run()
            self.decider.off = frozenset(name for name, job in read_jobs(self.settings.config).items() if job.enabled is False)
            outcome = "ok"
        finally:
            SCHEDULER_REFRESH.labels(outcome).inc()
            SCHEDULER_REFRESH_DURATION.observe(time.monotonic() - began)
        self.decide_wake.set()
        return read

    def check(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether the cache is loaded, with the scheduler's figures; asked from another thread."""
        read, refreshed = self.clock.last_read, self.refresh.refreshed_at
        return refreshed is not None, {
            "is_running": True,
            "loaded_definitions": self.refresh.definitions,
            "loaded_schedules": len(self.cache),
            "schedulers": len(self.membership.members),
            "last_check_at": read.isoformat() if read else None,
            "last_refresh_at": refreshed.isoformat() if refreshed else None,
        }

    def _reacted(self, queued: Sequence[Placed]) -> None:
        self.announcer.put(hints.created([hints.Queued(run.id, run.queue, run.priority) for run in queued]))
        if self._chained:
            self.chain_wake.set()

    async def _listen(self, consumer: Consumer) -> None:
        while arrived := await consumer.receive():
            self.refresh_wake.set()
            await consumer.acknowledge(arrived)
