"""Calendars, the versions of schedules, what policies need, and backfills."""

from typing import Final

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects import postgresql

revision: Final = "0004"
down_revision: Final = "0003"


def upgrade() -> None:
    """Apply this step."""
    _calendar()
    _calendar_version()
    _schedule_version()
    _backfill()
    _columns()
    _indexes()


def _calendar() -> None:
    op.create_table(
        "calendar",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant", sa.Text(), server_default="", nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("windows", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("resolved", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("shared", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("calendar_pkey")),
        schema="headway",
    )
    op.create_index("calendar_tenant_name_key", "calendar", ["tenant", "name"], unique=True, schema="headway")


def _calendar_version() -> None:
    op.create_table(
        "calendar_version",
        sa.Column("calendar", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("windows", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("resolved", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("calendar", "version", name=op.f("calendar_version_pkey")),
        schema="headway",
    )


def _schedule_version() -> None:
    op.create_table(
        "schedule_version",
        sa.Column("schedule", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("from_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("definition", sa.Uuid(), nullable=False),
        sa.Column("tenant", sa.Text(), server_default="", nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("rule", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("calendars", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("ended", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_by", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("schedule", "version", name=op.f("schedule_version_pkey")),
        schema="headway",
    )


def _backfill() -> None:
    op.create_table(
        "backfill",
        sa.Column("schedule", sa.Uuid(), nullable=False),
        sa.Column("slot_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("run", sa.Uuid(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("asked_by", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("schedule", "slot_at", name=op.f("backfill_pkey")),
        schema="headway",
    )


def _columns() -> None:
    schema = context.config.attributes["schema"]
    ids = postgresql.ARRAY(sa.Uuid())
    op.add_column("definition", sa.Column("calendars", ids, server_default=sa.text("'{}'"), nullable=False), schema=schema)
    for column in (
        sa.Column("calendars", ids, nullable=True),
        sa.Column("misfire_max_age", sa.Interval(), server_default=sa.text("interval '1 day'"), nullable=False),
        sa.Column("misfire_limit", sa.Integer(), server_default=sa.text("100"), nullable=False),
        sa.Column("overlap_max", sa.Integer(), server_default=sa.text("2"), nullable=False),
        sa.Column("chained_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("payload", sa.LargeBinary(), nullable=True),
    ):
        op.add_column("schedule", column, schema=schema)
    for table in ("slot", "slot_range"):
        op.add_column(table, sa.Column("calendar_versions", sa.Text(), server_default="", nullable=False), schema=schema)


def _indexes() -> None:
    op.create_index(
        "run_of_schedule",
        "run",
        ["schedule", "id"],
        schema="headway",
        postgresql_where=sa.text("schedule IS NOT NULL AND state = 0"),
    )
