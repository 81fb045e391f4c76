"""Open and finished runs apart, and what belongs to them."""

from typing import Any, Final

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects import postgresql

revision: Final = "0003"
down_revision: Final = "0002"


def upgrade() -> None:
    """Apply this step."""
    _run()
    _run_indexes()
    _run_done()
    _run_input()
    _run_progress()
    _attempt()
    _idempotency_key()
    _reaction()
    _default_partition()
    _views()


def _lasting() -> list[sa.Column[Any]]:
    """The columns that a run keeps from its birth into `run_done`."""
    return [
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("definition_id", sa.Uuid(), nullable=False),
        sa.Column("definition_version", sa.Integer(), nullable=False),
        sa.Column("handler", sa.Text(), nullable=False),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("available_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("origin", sa.SmallInteger(), nullable=False),
        sa.Column("parent", sa.Uuid(), nullable=True),
        sa.Column("schedule", sa.Uuid(), nullable=True),
        sa.Column("slot_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("token", sa.Uuid(), nullable=True),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("correlation", sa.Text(), nullable=True),
        sa.Column("params", sa.Text(), nullable=True),
        sa.Column("attempt", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("failures", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("crashes", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("owes", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("session", sa.Uuid(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancel_by", sa.Text(), nullable=True),
    ]


def _run() -> None:
    op.create_table(
        "run",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        *_lasting(),
        sa.Column("cause", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("timeout", sa.Interval(), nullable=False),
        sa.Column("keep_days", sa.Integer(), nullable=False),
        sa.Column("restartable", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("gated", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("has_input", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("state <> 0 OR cause <> 0", name=op.f("run_held_has_cause_check")),
        sa.CheckConstraint("state <> 3 OR (session IS NOT NULL AND deadline_at IS NOT NULL)", name=op.f("run_running_has_session_check")),
        sa.CheckConstraint("state IN (0, 1, 2, 3)", name=op.f("run_state_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("run_pkey")),
        schema="headway",
        postgresql_with={"autovacuum_vacuum_scale_factor": "0.02", "autovacuum_vacuum_cost_delay": "0"},
    )


def _run_indexes() -> None:
    def partial(name: str, columns: list[Any], where: str, *, unique: bool = False) -> None:
        op.create_index(name, "run", columns, unique=unique, schema="headway", postgresql_where=sa.text(where))

    partial("run_due", ["available_at", "id"], "state = 1")
    partial("run_gated", ["definition_id", "state"], "gated")
    partial("run_held", ["definition_id", "available_at"], "state = 0")
    partial("run_pending", ["schedule"], "schedule IS NOT NULL AND origin = 1 AND attempt = 0 AND state < 3", unique=True)
    partial("run_queued", ["queue", sa.literal_column("(- priority)"), "available_at", "id"], "state = 2")
    partial("run_running", ["session"], "state = 3")
    partial("run_slot", ["schedule", "slot_at"], "schedule IS NOT NULL AND origin = 1", unique=True)


def _run_done() -> None:
    op.create_table(
        "run_done",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("drop_on", sa.Date(), nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        *_lasting(),
        sa.Column("outcome", sa.SmallInteger(), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("error", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("replayed_by", sa.Uuid(), nullable=True),
        sa.CheckConstraint("state IN (4, 5, 6, 7)", name=op.f("run_done_state_check")),
        sa.PrimaryKeyConstraint("id", "drop_on", name=op.f("run_done_pkey")),
        schema="headway",
        postgresql_partition_by="RANGE (drop_on)",
    )
    op.create_index(
        "run_done_definition",
        "run_done",
        ["definition_id", "id"],
        unique=False,
        schema="headway",
    )
    op.create_index(
        "run_done_finished",
        "run_done",
        ["finished_at"],
        unique=False,
        schema="headway",
        postgresql_using="brin",
    )


def _run_input() -> None:
    op.create_table(
        "run_input",
        sa.Column("run", sa.Uuid(), nullable=False),
        sa.Column("params", sa.Text(), nullable=True),
        sa.Column("payload", sa.LargeBinary(), nullable=True),
        sa.Column("traceparent", sa.Text(), nullable=True),
        sa.Column("tracestate", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("run", name=op.f("run_input_pkey")),
        schema="headway",
    )


def _run_progress() -> None:
    op.create_table(
        "run_progress",
        sa.Column("run", sa.Uuid(), nullable=False),
        sa.Column("percent", sa.SmallInteger(), nullable=False),
        sa.Column("message", sa.Text(), server_default="", nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("run", name=op.f("run_progress_pkey")),
        schema="headway",
    )


def _attempt() -> None:
    op.create_table(
        "attempt",
        sa.Column("run", sa.Uuid(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("session", sa.Uuid(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.SmallInteger(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("error", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("result", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("run", "attempt", name=op.f("attempt_pkey")),
        schema="headway",
    )


def _idempotency_key() -> None:
    op.create_table(
        "idempotency_key",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_hash", sa.LargeBinary(), nullable=False),
        sa.Column("run", sa.Uuid(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "definition", "key", name=op.f("idempotency_key_pkey")),
        schema="headway",
    )
    op.create_index(
        "idempotency_key_expires_at",
        "idempotency_key",
        ["expires_at"],
        unique=False,
        schema="headway",
    )


def _reaction() -> None:
    op.create_table(
        "reaction",
        sa.Column("run", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("tries", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("next_look_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("parked", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.PrimaryKeyConstraint("run", "kind", name=op.f("reaction_pkey")),
        schema="headway",
    )
    op.create_index(
        "reaction_next_look",
        "reaction",
        ["kind", "next_look_at"],
        unique=False,
        schema="headway",
        postgresql_where=sa.text("NOT parked"),
    )


def _default_partition() -> None:
    schema = context.config.attributes["schema"]
    op.execute(f"CREATE TABLE {schema}.run_done_default PARTITION OF {schema}.run_done DEFAULT")


LASTING: Final = (
    "tenant, definition, definition_id, definition_version, handler, queue, priority, available_at, created_at, created_by, origin, "
    "parent, schedule, slot_at, token, key, correlation, params, attempt, failures, crashes, owes, session, started_at, reason, "
    "cancel_requested_at, cancel_by"
)


def _views() -> None:
    schema = context.config.attributes["schema"]
    op.execute(
        f"CREATE VIEW {schema}.all_runs AS "  # the names are this file's own and a checked schema name
        f"SELECT id, state, {LASTING}, cause, NULL::smallint AS outcome, NULL::timestamptz AS finished_at, NULL::text AS result, "
        f"NULL::jsonb AS error, NULL::uuid AS replayed_by FROM {schema}.run UNION ALL "
        f"SELECT id, state, {LASTING}, 0::smallint, outcome, finished_at, result, error, replayed_by FROM {schema}.run_done"
    )
