"""The work itself: open runs, finished runs, and what belongs to them."""

from typing import Any, Final

from sqlalchemy import (
    CheckConstraint,
    Column,
    Date,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    Uuid,
    text,
)

from headway.core.run import FINAL, OPEN, State
from headway.store.schema.meta import document, flag, instant, metadata, number, small, span, words


def _numbers(states: frozenset[State]) -> str:
    return ", ".join(str(int(state)) for state in sorted(states))


def _lasting() -> list[Column[Any]]:
    """The columns that a run keeps from its birth into `run_done`."""
    return [
        words("tenant"),
        words("definition"),
        Column("definition_id", Uuid, nullable=False),
        number("definition_version"),
        words("handler"),
        words("queue"),
        small("priority"),
        instant("available_at"),
        instant("created_at"),
        words("created_by"),
        small("origin"),
        Column("parent", Uuid, nullable=True),
        Column("schedule", Uuid, nullable=True),
        instant("slot_at", null=True),
        Column("token", Uuid, nullable=True),
        words("key", null=True),
        words("correlation", null=True),
        Column("params", Text, nullable=True),
        number("attempt", default=0),
        small("failures", default=0),
        small("crashes", default=0),
        small("owes", default=0),
        small("depth", default=0),
        number("batch_index", null=True),
        Column("session", Uuid, nullable=True),
        instant("started_at", null=True),
        words("reason", null=True),
        instant("cancel_requested_at", null=True),
        words("cancel_by", null=True),
    ]


LASTING: Final = tuple(column.name for column in _lasting())

run: Final = Table(
    "run",
    metadata,
    Column("id", Uuid, primary_key=True),
    small("state"),
    *_lasting(),
    small("cause", default=0),
    span("timeout"),
    number("keep_days"),
    flag("restartable", default=True),
    flag("gated", default=False),
    flag("forced", default=False),
    flag("counted", default=True),
    flag("has_input", default=False),
    instant("deadline_at", null=True),
    instant("start_by", null=True),
    instant("must_start_by", null=True),
    CheckConstraint(f"state IN ({_numbers(OPEN)})", name="state"),
    CheckConstraint(f"state <> {State.RUNNING:d} OR (session IS NOT NULL AND deadline_at IS NOT NULL)", name="running_has_session"),
    CheckConstraint(f"state <> {State.HELD:d} OR cause <> 0", name="held_has_cause"),
    Index("run_queued", "queue", text("(- priority)"), "available_at", "id", postgresql_where=text(f"state = {State.QUEUED:d}")),
    Index("run_due", "available_at", "id", postgresql_where=text(f"state = {State.SCHEDULED:d}")),
    Index("run_running", "session", postgresql_where=text(f"state = {State.RUNNING:d}")),
    Index("run_held", "definition_id", "available_at", postgresql_where=text(f"state = {State.HELD:d}")),
    Index("run_gated", "definition_id", "state", postgresql_where=text("gated")),
    Index("run_of_schedule", "schedule", "id", postgresql_where=text(f"schedule IS NOT NULL AND state = {State.HELD:d}")),
    Index("run_parent", "parent", "batch_index", postgresql_where=text("parent IS NOT NULL")),
    Index("run_start_by", "start_by", postgresql_where=text("start_by IS NOT NULL")),
    Index("run_must_start_by", "must_start_by", postgresql_where=text("must_start_by IS NOT NULL")),
    Index("run_slot", "schedule", "slot_at", unique=True, postgresql_where=text("schedule IS NOT NULL AND origin = 1")),
    Index(
        "run_pending",
        "schedule",
        unique=True,
        postgresql_where=text(f"schedule IS NOT NULL AND origin = 1 AND attempt = 0 AND state < {State.RUNNING:d}"),
    ),
    postgresql_with={"autovacuum_vacuum_scale_factor": "0.02", "autovacuum_vacuum_cost_delay": "0"},
)

run_done: Final = Table(
    "run_done",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("drop_on", Date, nullable=False),
    small("state"),
    *_lasting(),
    small("outcome"),
    instant("finished_at"),
    Column("result", Text, nullable=True),
    document("error", null=True),
    Column("replayed_by", Uuid, nullable=True),
    PrimaryKeyConstraint("id", "drop_on"),
    CheckConstraint(f"state IN ({_numbers(FINAL)})", name="state"),
    Index("run_done_definition", "definition_id", "id"),
    Index("run_done_parent", "parent", "batch_index", postgresql_where=text("parent IS NOT NULL")),
    Index("run_done_finished", "finished_at", postgresql_using="brin"),
    postgresql_partition_by="RANGE (drop_on)",
)

run_input: Final = Table(
    "run_input",
    metadata,
    Column("run", Uuid, primary_key=True),
    Column("params", Text, nullable=True),
    Column("payload", LargeBinary, nullable=True),
    words("traceparent", null=True),
    words("tracestate", null=True),
)

run_progress: Final = Table(
    "run_progress",
    metadata,
    Column("run", Uuid, primary_key=True),
    small("percent"),
    words("message", default=""),
    instant("updated_at"),
)

attempt: Final = Table(
    "attempt",
    metadata,
    Column("run", Uuid, nullable=False),
    number("attempt"),
    Column("session", Uuid, nullable=True),
    instant("started_at", null=True),
    instant("ended_at"),
    small("outcome"),
    words("reason", default=""),
    document("error", null=True),
    Column("result", Text, nullable=True),
    Column("definition_id", Uuid, nullable=True),
    PrimaryKeyConstraint("run", "attempt"),
    Index("attempt_definition", "definition_id", "ended_at", postgresql_where=text("definition_id IS NOT NULL")),
)

idempotency_key: Final = Table(
    "idempotency_key",
    metadata,
    words("tenant"),
    words("definition"),
    words("key"),
    Column("request_hash", LargeBinary, nullable=False),
    Column("run", Uuid, nullable=False),
    instant("expires_at"),
    PrimaryKeyConstraint("tenant", "definition", "key"),
    Index("idempotency_key_expires_at", "expires_at"),
)

reaction: Final = Table(
    "reaction",
    metadata,
    Column("run", Uuid, nullable=False),
    small("kind"),
    small("tries", default=0),
    instant("next_look_at"),
    words("last_error", null=True),
    flag("parked", default=False),
    Column("batch", Uuid, nullable=True),
    PrimaryKeyConstraint("run", "kind"),
    Index("reaction_next_look", "kind", "next_look_at", postgresql_where=text("NOT parked")),
    Index("reaction_batch", "batch", postgresql_where=text("batch IS NOT NULL")),
)
