"""What was decided of every slot, and the last runs."""

from typing import Final

import sqlalchemy as sa
from alembic import context, op

revision: Final = "0002"
down_revision: Final = "0001"


def upgrade() -> None:
    """Apply this step."""
    _slot()
    _slot_range()
    _last_schedule_run()
    _last_definition_run()
    _default_partition()


def _slot() -> None:
    op.create_table(
        "slot",
        sa.Column("schedule", sa.Uuid(), nullable=False),
        sa.Column("slot_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decision", sa.SmallInteger(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("effective_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("run", sa.Uuid(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_by", sa.Text(), server_default="", nullable=False),
        sa.Column("schedule_version", sa.Integer(), nullable=False),
        sa.Column("tzdata_version", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("schedule", "slot_at", name=op.f("slot_pkey")),
        schema="headway",
        postgresql_partition_by="RANGE (slot_at)",
    )


def _slot_range() -> None:
    op.create_table(
        "slot_range",
        sa.Column("schedule", sa.Uuid(), nullable=False),
        sa.Column("from_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("to_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decision", sa.SmallInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("slots", sa.BigInteger(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_by", sa.Text(), server_default="", nullable=False),
        sa.Column("schedule_version", sa.Integer(), nullable=False),
        sa.Column("tzdata_version", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint("to_at > from_at", name=op.f("slot_range_order_check")),
        sa.PrimaryKeyConstraint("schedule", "from_at", name=op.f("slot_range_pkey")),
        schema="headway",
    )


def _last_schedule_run() -> None:
    op.create_table(
        "last_schedule_run",
        sa.Column("schedule", sa.Uuid(), nullable=False),
        sa.Column("scheduled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("latest", sa.Uuid(), nullable=True),
        sa.Column("succeeded", sa.Uuid(), nullable=True),
        sa.Column("succeeded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failed", sa.Uuid(), nullable=True),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("schedule", name=op.f("last_schedule_run_pkey")),
        schema="headway",
    )


def _last_definition_run() -> None:
    op.create_table(
        "last_definition_run",
        sa.Column("definition", sa.Uuid(), nullable=False),
        sa.Column("scheduled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("latest", sa.Uuid(), nullable=True),
        sa.Column("succeeded", sa.Uuid(), nullable=True),
        sa.Column("succeeded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failed", sa.Uuid(), nullable=True),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("definition", name=op.f("last_definition_run_pkey")),
        schema="headway",
    )


def _default_partition() -> None:
    schema = context.config.attributes["schema"]
    op.execute(f"CREATE TABLE {schema}.slot_default PARTITION OF {schema}.slot DEFAULT")
