"""The tables: one metadata, one file for each part of the model."""

from headway.store.schema.alerts import alert, alert_delivery, breaker
from headway.store.schema.batches import batch
from headway.store.schema.calendars import backfill, calendar, calendar_version, horizon, schedule_version
from headway.store.schema.catalogue import definition, definition_version, schedule
from headway.store.schema.ledger import last_definition_run, last_schedule_run, slot, slot_range
from headway.store.schema.meta import metadata
from headway.store.schema.people import audit, rate_bucket, session
from headway.store.schema.triggers import restriction, trigger
from headway.store.schema.work import attempt, idempotency_key, reaction, run, run_done, run_input, run_progress

__all__ = [
    "alert",
    "alert_delivery",
    "attempt",
    "audit",
    "backfill",
    "batch",
    "breaker",
    "calendar",
    "calendar_version",
    "definition",
    "definition_version",
    "horizon",
    "idempotency_key",
    "last_definition_run",
    "last_schedule_run",
    "metadata",
    "rate_bucket",
    "reaction",
    "restriction",
    "run",
    "run_done",
    "run_input",
    "run_progress",
    "schedule",
    "schedule_version",
    "session",
    "slot",
    "slot_range",
    "trigger",
]
