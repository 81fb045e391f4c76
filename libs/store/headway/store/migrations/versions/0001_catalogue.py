"""What can run, who works and who asked: definitions, schedules, sessions; and the one function that reads the clock."""

from typing import Final

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects import postgresql

revision: Final = "0001"
down_revision: Final = None


def upgrade() -> None:
    """Apply this step."""
    _clock()
    _definition()
    _definition_version()
    _schedule()
    _session()
    _audit()
    _rate_bucket()


def _definition() -> None:
    op.create_table(
        "definition",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant", sa.Text(), server_default="", nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("owner", sa.Text(), server_default="", nullable=False),
        sa.Column("handler", sa.Text(), nullable=False),
        sa.Column("queue", sa.Text(), server_default="default", nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("timeout", sa.Interval(), server_default=sa.text("interval '0'"), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("backoff", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("retry_horizon", sa.Interval(), nullable=True),
        sa.Column("parameters", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("parameter_spec", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("restartable", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("allow_triggers", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("max_concurrent_runs", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("max_runs_per_hour", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("over_limit", sa.Text(), server_default="hold", nullable=False),
        sa.Column("gated", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("retention_days", sa.Integer(), server_default=sa.text("30"), nullable=False),
        sa.Column("overlap", sa.Text(), server_default="skip", nullable=False),
        sa.Column("watch", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("paused_by", sa.Text(), server_default="", nullable=False),
        sa.Column("paused_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("source", sa.Text(), server_default="api", nullable=False),
        sa.Column("overridden", sa.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("over_limit IN ('hold', 'refuse')", name=op.f("definition_over_limit_check")),
        sa.CheckConstraint("attempts >= 1", name=op.f("definition_attempts_check")),
        sa.CheckConstraint("priority BETWEEN 0 AND 9", name=op.f("definition_priority_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("definition_pkey")),
        schema="headway",
    )
    op.create_index(
        "definition_tenant_name_key",
        "definition",
        ["tenant", "name"],
        unique=True,
        schema="headway",
    )


def _definition_version() -> None:
    op.create_table(
        "definition_version",
        sa.Column("definition", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("snapshot", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("definition", "version", name=op.f("definition_version_pkey")),
        schema="headway",
    )


def _schedule() -> None:
    op.create_table(
        "schedule",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("definition", sa.Uuid(), nullable=False),
        sa.Column("tenant", sa.Text(), server_default="", nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("owner", sa.Text(), server_default="", nullable=False),
        sa.Column("rule", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("misfire", sa.Text(), server_default="skip", nullable=False),
        sa.Column("overlap", sa.Text(), server_default="skip", nullable=False),
        sa.Column("parameters", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("allowed_delay", sa.Interval(), nullable=True),
        sa.Column("retry_horizon", sa.Interval(), nullable=True),
        sa.Column("completion_target", sa.Interval(), nullable=True),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("paused_by", sa.Text(), server_default="", nullable=False),
        sa.Column("paused_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("source", sa.Text(), server_default="api", nullable=False),
        sa.Column("overridden", sa.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("broken", sa.Text(), nullable=True),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("decided_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["definition"], ["headway.definition.id"], name=op.f("schedule_definition_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("schedule_pkey")),
        schema="headway",
    )
    op.create_index(
        "schedule_definition_name_key",
        "schedule",
        ["definition", "tenant", "name"],
        unique=True,
        schema="headway",
    )
    op.create_index(
        "schedule_updated_at",
        "schedule",
        ["updated_at"],
        unique=False,
        schema="headway",
    )


def _session() -> None:
    op.create_table(
        "session",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("queues", sa.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("handlers", sa.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("capacity", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("in_flight", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("version", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint("state BETWEEN 1 AND 3", name=op.f("session_state_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("session_pkey")),
        schema="headway",
    )
    op.create_index(
        "session_lease_until",
        "session",
        ["lease_until"],
        unique=False,
        schema="headway",
        postgresql_where=sa.text("state < 3"),
    )


def _audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tenant", sa.Text(), server_default="", nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("old", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("new", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("audit_pkey")),
        schema="headway",
    )
    op.create_index(
        "audit_subject",
        "audit",
        ["subject", "id"],
        unique=False,
        schema="headway",
    )


def _rate_bucket() -> None:
    op.create_table(
        "rate_bucket",
        sa.Column("definition", sa.Uuid(), nullable=False),
        sa.Column("minute", sa.DateTime(timezone=True), nullable=False),
        sa.Column("runs", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("definition", "minute", name=op.f("rate_bucket_pkey")),
        schema="headway",
    )


def _clock() -> None:
    # Tests replace this function by one with an offset; production never does.
    op.execute(
        f"CREATE OR REPLACE FUNCTION {context.config.attributes['schema']}.headway_now() RETURNS timestamptz "
        "LANGUAGE sql VOLATILE PARALLEL SAFE AS $$ SELECT clock_timestamp() + interval '0 seconds' $$"
    )
