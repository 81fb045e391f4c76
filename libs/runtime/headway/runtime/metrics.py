"""Every metric of the platform, in one table: what this module declares is what `/metrics` serves and what docs/telemetry.md lists.

Names are dotted here and in the documentation; Prometheus gets underscores, the unit and, for a counter, `_total`.
A counter takes batches, `RUN_CLAIMED.inc(n)`; so does a histogram, `RUN_QUEUE_LATENCY.observe_many(seconds)`.
"""

from dataclasses import dataclass
from typing import Final

from prometheus_client import Counter, Gauge
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import CollectorRegistry

from headway.runtime.histogram import Histogram

REGISTRY: Final = CollectorRegistry(auto_describe=True)
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
GCCollector(registry=REGISTRY)

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0)


@dataclass(frozen=True, slots=True)
class Described:
    """One row of the documented table.  `exported` is the name as Prometheus shows it."""

    name: str
    kind: str
    exported: str
    labels: tuple[str, ...]
    meaning: str


TABLE: Final[list[Described]] = []


def _row(name: str, kind: str, suffix: str, labels: tuple[str, ...], meaning: str) -> str:
    exported = name.replace(".", "_")
    TABLE.append(Described(name, kind, exported + suffix, labels, meaning))
    return exported


def _counter(name: str, meaning: str, *labels: str) -> Counter:
    return Counter(_row(name, "counter", "_total", labels, meaning), meaning, labels, registry=REGISTRY)


def _gauge(name: str, meaning: str, *labels: str, unit: str = "") -> Gauge:
    suffix = f"_{unit}" if unit else ""
    return Gauge(_row(name, "gauge", suffix, labels, meaning) + suffix, meaning, labels, registry=REGISTRY)


def _seconds(name: str, meaning: str, *labels: str) -> Histogram:
    return Histogram(_row(name, "histogram", "_seconds", labels, meaning) + "_seconds", meaning, labels, SECONDS, REGISTRY)


RUN_ENQUEUED: Final = _counter("headway.run.enqueued", "Runs accepted by this process.")
RUN_CLAIMED: Final = _counter("headway.run.claimed", "Runs claimed, by hint or by fill.", "path")
RUN_SKIPPED: Final = _counter("headway.run.skipped", "Runs that ended as skipped, by reason.", "reason")
RUN_SETTLED: Final = _counter("headway.run.settled", "Attempts settled, by the run's or attempt's outcome.", "outcome")
RUN_REFUSED: Final = _counter("headway.run.refused", "Settles that came too late: the fence had moved on.")
RUN_QUEUE_LATENCY: Final = _seconds("headway.run.queue_latency", "From the moment a run may start to its claim.")
RUN_DURATION: Final = _seconds("headway.run.duration", "From claim to the handler's outcome.", "outcome")

SCHEDULER_DEFINITIONS: Final = _gauge("headway.scheduler.definitions", "Definitions that this scheduler holds in its cache.")
SCHEDULER_REFRESH: Final = _counter("headway.scheduler.refresh", "Refreshes of that cache, by result: ok or error.", "result")
SCHEDULER_REFRESH_DURATION: Final = _seconds("headway.scheduler.refresh_duration", "How long a refresh took.")
SCHEDULER_DECISIONS: Final = _counter("headway.scheduler.decisions", "Slots decided, by decision and reason.", "decision", "reason")
SCHEDULER_SLOT_LATENESS: Final = _seconds("headway.scheduler.slot_lateness", "From a slot's effective instant to its decision.")
SCHEDULER_DELAYED: Final = _counter("headway.scheduler.delayed", "Slots that fired later than their schedule allows.")
SCHEDULER_CONFLICTS: Final = _counter("headway.scheduler.conflicts", "Slots that another scheduler had decided first.")

REACTION_HANDLED: Final = _counter("headway.reaction.handled", "Reactions worked off, by result: done, failed or parked.", "kind", "result")
TRIGGER_FIRED: Final = _counter(
    "headway.trigger.fired", "Triggers fired, by the definition that fired them and result: accepted or refused.", "definition", "result"
)

MAINTENANCE_SCANS: Final = _counter("headway.maintenance.scans", "Scans made, by scan and result: ok or error.", "scan", "result")
MAINTENANCE_SCAN_DURATION: Final = _seconds("headway.maintenance.scan_duration", "How long a scan took.", "scan")
MAINTENANCE_FOUND: Final = _counter("headway.maintenance.found", "Rows that a scan found and moved on.", "scan")
MAINTENANCE_BACKLOG: Final = _gauge(
    "headway.maintenance.backlog", "Rows that wait: pending, held, reactions, dead, locked_groups or lapsed_sessions.", "kind"
)
MAINTENANCE_OLDEST: Final = _gauge("headway.maintenance.oldest", "Age of the oldest one: pending or reactions.", "kind", unit="seconds")

BROKER_PUBLISHED: Final = _counter("headway.broker.published", "Messages published, by exchange and receipt.", "exchange", "receipt")
BROKER_DELIVERED: Final = _counter("headway.broker.delivered", "Messages received, by queue.", "queue")
BROKER_REQUEUED: Final = _counter("headway.broker.requeued", "Messages sent back with a count, by queue.", "queue")
BROKER_BURIED: Final = _counter("headway.broker.buried", "Messages sent to the dead queue, by the queue they came from.", "queue")
BROKER_RECONNECTS: Final = _counter("headway.broker.reconnects", "Connections, channels or consumers that had to be made again.")
BROKER_CONSUMER_ALIVE: Final = _gauge("headway.broker.consumer_alive", "1 while the broker confirms the consumer of this queue.", "queue")

WORKER_IN_FLIGHT: Final = _gauge("headway.worker.in_flight", "Attempts whose settle has not committed.")
WORKER_SLOTS: Final = _gauge("headway.worker.slots", "Attempts that this worker may hold at once.")

API_REQUESTS: Final = _counter("headway.api.requests", "HTTP requests, by method, route template and status.", "method", "route", "status")
API_REQUEST_DURATION: Final = _seconds("headway.api.request_duration", "How long a request took.", "method", "route")

LOOP_PASSES: Final = _counter("headway.loop.passes", "Passes of a loop, by result: ok, unavailable or error.", "loop", "result")
LOOP_PASS_DURATION: Final = _seconds("headway.loop.pass_duration", "How long a pass took.", "loop")
PROCESS_BLOCKED: Final = _counter("headway.process.blocked", "Times that the event loop stood still for longer than a second.")
PROCESS_LAG: Final = _gauge("headway.process.lag", "How late the event loop's last beat was.", unit="seconds")
