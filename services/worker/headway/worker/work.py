"""A worker's day: claim what fits, execute it, settle it; at the end hand back what is not done."""

import asyncio
from asyncio import Event
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import structlog

from headway.broker import hints
from headway.broker.announcer import Announcer
from headway.broker.dead import burial
from headway.broker.port import Broker, Delivery
from headway.core.run import FINAL
from headway.messages import MOST_RUNS, RunCancel, Unparseable, parse
from headway.messages.channels import CONTROL
from headway.runtime.broker_watch import watch_broker
from headway.runtime.life import Life
from headway.runtime.loops import Next
from headway.runtime.metrics import WORKER_IN_FLIGHT, WORKER_SLOTS
from headway.runtime.settings import WorkerSettings
from headway.sdk.app import Headway
from headway.sdk.sync import sync
from headway.store.claim import Claimed
from headway.store.enqueue import Accepted
from headway.store.gates import Placed
from headway.store.tx import Database
from headway.worker.builtin import BUILT_IN
from headway.worker.completions import completions
from headway.worker.crew import Crew, Tools, Why
from headway.worker.intake import Intake, Shape, Supply
from headway.worker.lease import Lease
from headway.worker.link import FencedLink
from headway.worker.outbox import Outbox
from headway.worker.queues import parse_queues
from headway.worker.seen import Seen
from headway.worker.settling import Concluded
from headway.worker.slots import Slots

log = structlog.get_logger(__name__)
SWEEP: Final = timedelta(milliseconds=100)
SECOND: Final = timedelta(seconds=1)
SYNC: Final = timedelta(minutes=5)
HAND_BACK_PART: Final = 0.2


class Worker:
    """Everything that one worker process holds, wired together; `run` lives until it is asked to stop."""

    def __init__(self, settings: WorkerSettings, app: Headway, database: Database, broker: Broker) -> None:
        knobs = settings.worker
        self.settings = settings
        self.app = app
        self.database = database
        self.broker = broker
        self.announcer = Announcer(broker)
        self.seen = Seen()
        self.queues = parse_queues(knobs.queues)
        self.slots = Slots(knobs.concurrency, {queue: cap for queue, cap in self.queues.items() if cap is not None})
        self.outbox = Outbox(database, batch=knobs.batch, running=lambda: len(self.crew.executions))
        handlers = {**BUILT_IN, **app.handlers}
        self.lease = Lease(
            database,
            timedelta(seconds=settings.lease_seconds),
            queues=tuple(self.queues),
            handlers=sorted(handlers),
            capacity=knobs.concurrency,
        )
        threads = ThreadPoolExecutor(knobs.threads, thread_name_prefix="handler")
        link = FencedLink(database, self._holder, self._announce)
        self.crew = Crew(Tools(handlers, app.middlewares, threads, link, database.vault, knobs.cancel_grace_seconds), self.outbox)
        self.intakes: list[Intake] = []
        self.stop: Callable[[str], None] = lambda reason: None
        self._wire()

    def _wire(self) -> None:
        self.outbox.on_free = self._freed
        self.outbox.on_concluded = self._concluded
        self.crew.on_linger = self._lingered
        self.lease.on_lost = self._lost
        self.lease.on_wish = self.crew.wish
        self.lease.in_flight = lambda: self.slots.in_use
        WORKER_SLOTS.set(self.slots.total)

    async def run(self, life: Life) -> None:
        """Work until `life` is asked to stop, then drain.  Raises Unavailable when the session cannot begin."""
        await self.lease.begin()
        self.stop = life.stop
        holding = life.child("worker.holding", stopping=Event())
        async with holding:
            holding.start("announce", self.announcer.run())
            holding.start_loop("renew", self.lease.renew, timedelta(seconds=self.settings.heartbeat_seconds))
            holding.start_loop("settle", self.outbox.settle, SECOND, wake=self.outbox.wake)
            holding.start_loop("sweep", self._sweep, SECOND)
            holding.start_loop("remember", lambda: self.seen.flush(self.database), SECOND)
            async with life:
                await self._take_in(life)
            await self._drain()
            holding.stop("drained")
        await self.seen.flush(self.database)
        await self.lease.end()
        self.crew.tools.threads.shutdown(wait=False, cancel_futures=True)

    async def _take_in(self, life: Life) -> None:
        """Start taking runs in: one intake for each queue, and the control messages of all workers."""
        knobs = self.settings.worker
        await self.broker.declare_run_queues(tuple(self.queues))
        shape = Shape(knobs.batch, prefetch(knobs.concurrency), timedelta(seconds=knobs.look_seconds))
        supply = Supply(self.database, self.lease, self.slots, self.crew.names, self._start, self._bury)
        for queue in self.queues:
            consumer = await self.broker.consume(f"run.{queue}", prefetch=shape.prefetch)
            intake = Intake(queue, consumer, supply, shape)
            self.intakes.append(intake)
            life.start(f"hints.{queue}", intake.pump())
            life.start_loop(f"claim.{queue}", intake.step, shape.look, wake=intake.wake)
        life.start("control", self._listen())
        life.start_loop("sync", self._sync, SYNC)
        watch_broker(life, self.broker)
        life.health.add("worker", self.check)

    def check(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether the worker takes runs in, with its figures; it works on by fill while a consumer is away, but is not ready."""
        alive = all(intake.consumer.alive or intake.resting for intake in self.intakes)
        return alive and self.lease.live.is_set(), {
            "in_flight": len(self.crew.executions),
            "slots": self.slots.total,
            "consumer_alive": alive,
            "last_claim_at": max((intake.last_claim for intake in self.intakes), default=0.0),
        }

    async def _drain(self) -> None:
        """Let handlers finish for most of the drain time, then hand back; every outcome is settled before the session ends."""
        for intake in self.intakes:
            await intake.consumer.close()
        await self.lease.drain()
        patience = self.settings.drain_seconds
        log.info("worker drains", in_flight=len(self.crew.executions), seconds=patience)
        if not await _within(self.crew.idle, patience * (1 - HAND_BACK_PART)):
            self.crew.cancel_all(Why.DRAIN)
            await _within(self.crew.idle, patience * HAND_BACK_PART / 2)
        await _within(self.outbox.empty, patience * HAND_BACK_PART / 2)
        await self.announcer.flush()

    async def _sweep(self) -> Next:
        WORKER_IN_FLIGHT.set(self.slots.in_use)
        return Next(await self.crew.sweep(), sleep=SWEEP if self.crew.executions else None)

    async def _sync(self) -> int:
        """Write what the code declares, again and again: it is idempotent, and tells schedulers of what it changed."""
        strict = self.settings.strict_schedules
        saved = await sync(self.database, self.app, actor="worker", announcer=self.announcer, strict_schedules=strict)
        return sum(1 for one in saved if one.change)

    async def _listen(self) -> None:
        consumer = await self.broker.listen(CONTROL)
        while arrived := await consumer.receive():
            for delivery in arrived:
                self._obey(delivery)
            await consumer.acknowledge(arrived)

    def _obey(self, delivery: Delivery) -> None:
        try:
            message = parse(delivery.body)
        except Unparseable as error:
            log.warning("control message could not be read", error=str(error))
            return
        if isinstance(message, RunCancel):
            self.crew.wish(message.runs)

    def _start(self, claimed: Sequence[Claimed], session: UUID) -> None:
        self.crew.start(claimed, session)
        self.seen.started(claimed)

    def _freed(self, queue: str, count: int) -> None:
        self.slots.give(queue, count)
        for intake in self.intakes:
            intake.wake.set()

    def _lingered(self, queue: str, change: int) -> None:
        self.slots.occupy(queue, change)
        if self.crew.lingering * 2 >= self.slots.total:
            self.stop("half of the slots are held by threads that outlived their attempts")

    def _lost(self, session: UUID) -> None:
        self.crew.abandon(session)
        self.outbox.abandon(session)

    def _holder(self, run: UUID) -> UUID | None:
        execution = self.crew.executions.get(run)
        return execution.session if execution else None

    def _concluded(self, concluded: Concluded) -> None:
        self.seen.settled([run for run in concluded.settled if run.state in FINAL], concluded.at)
        self.announcer.put(hints.created(map(_hint, concluded.queued), at=concluded.at))
        self.announcer.put(completions(concluded, publish_all=self.settings.publish_all_completions))

    async def _announce(self, made: Sequence[Accepted | Placed]) -> None:
        self.announcer.put(hints.created([hints.Queued(run.id, run.queue, run.priority) for run in made]))

    def _bury(self, delivery: Delivery, error: Unparseable) -> None:
        self.announcer.put([burial(delivery, queue=delivery.routing_key, reason=str(error))])
        log.warning("hint was buried", queue=delivery.routing_key, error=str(error))


def prefetch(concurrency: int) -> int:
    """Messages that a worker may hold: with 100 ids each, one claim for all slots and one ahead, so that others get their part."""
    return max(10, 2 * concurrency // MOST_RUNS)


def _hint(run: Placed) -> hints.Queued:
    return hints.Queued(run.id, run.queue, run.priority)


async def _within(event: Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False
