"""What settled runs owe: triggers, restrictions, breakers, alerts, batches, and the columns that tell of them."""

from typing import Final

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects import postgresql

revision: Final = "0006"
down_revision: Final = "0005"


def upgrade() -> None:
    """Apply this step."""
    _columns()
    _mark_secrets()
    _indexes()
    _trigger()
    _restriction()
    _breaker()
    _alert()
    _batch()


def _columns() -> None:
    schema = context.config.attributes["schema"]
    for table, column in (
        ("definition", sa.Column("tripped", sa.Boolean(), server_default=sa.text("false"), nullable=False)),
        ("definition", sa.Column("secret", sa.Boolean(), server_default=sa.text("false"), nullable=False)),
        ("definition", sa.Column("owes", sa.SmallInteger(), server_default=sa.text("0"), nullable=False)),
        ("definition", sa.Column("start_by", sa.Interval(), nullable=True)),
        ("run", sa.Column("depth", sa.SmallInteger(), server_default=sa.text("0"), nullable=False)),
        ("run", sa.Column("start_by", sa.DateTime(timezone=True), nullable=True)),
        ("run", sa.Column("must_start_by", sa.DateTime(timezone=True), nullable=True)),
        ("run", sa.Column("forced", sa.Boolean(), server_default=sa.text("false"), nullable=False)),
        ("run", sa.Column("batch_index", sa.Integer(), nullable=True)),
        ("run", sa.Column("counted", sa.Boolean(), server_default=sa.text("true"), nullable=False)),
        ("reaction", sa.Column("batch", sa.Uuid(), nullable=True)),
        ("run_done", sa.Column("batch_index", sa.Integer(), nullable=True)),
        ("run_done", sa.Column("depth", sa.SmallInteger(), server_default=sa.text("0"), nullable=False)),
        ("attempt", sa.Column("definition_id", sa.Uuid(), nullable=True)),
    ):
        op.add_column(table, column, schema=schema)


def _mark_secrets() -> None:
    """Have runs of definitions that were saved before ask which of their parameters are secret."""
    schema = context.config.attributes["schema"]
    op.execute(
        f"UPDATE {schema}.definition SET secret = true"
        """ WHERE parameter_spec @? '$.** ? (@.writeOnly == true || @.format == "password")'"""
    )


def _indexes() -> None:
    for name, table, columns, where in (
        ("run_parent", "run", ["parent", "batch_index"], "parent IS NOT NULL"),
        ("run_start_by", "run", ["start_by"], "start_by IS NOT NULL"),
        ("run_must_start_by", "run", ["must_start_by"], "must_start_by IS NOT NULL"),
        ("run_done_parent", "run_done", ["parent", "batch_index"], "parent IS NOT NULL"),
        ("reaction_batch", "reaction", ["batch"], "batch IS NOT NULL"),
        ("attempt_definition", "attempt", ["definition_id", "ended_at"], "definition_id IS NOT NULL"),
    ):
        op.create_index(name, table, columns, schema="headway", postgresql_where=sa.text(where))


def _trigger() -> None:
    op.create_table(
        "trigger",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant", sa.Text(), server_default="", nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("source", sa.Uuid(), nullable=False),
        sa.Column("target", sa.Uuid(), nullable=False),
        sa.Column("condition", postgresql.JSONB(), nullable=True),
        sa.Column("parameters", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("declared", sa.Text(), server_default="api", nullable=False),
        sa.Column("overridden", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["headway.definition.id"], name=op.f("trigger_source_fkey"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target"], ["headway.definition.id"], name=op.f("trigger_target_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("trigger_pkey")),
        schema="headway",
    )
    op.create_index("trigger_source_name_key", "trigger", ["source", "name"], unique=True, schema="headway")
    op.create_index("trigger_target", "trigger", ["target"], schema="headway")


def _restriction() -> None:
    op.create_table(
        "restriction",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant", sa.Text(), server_default="", nullable=False),
        sa.Column("first", sa.Uuid(), nullable=False),
        sa.Column("second", sa.Uuid(), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint("first <= second", name=op.f("restriction_pair_check")),
        sa.ForeignKeyConstraint(["first"], ["headway.definition.id"], name=op.f("restriction_first_fkey"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["second"], ["headway.definition.id"], name=op.f("restriction_second_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("restriction_pkey")),
        schema="headway",
    )
    op.create_index("restriction_pair_key", "restriction", ["first", "second"], unique=True, schema="headway")
    op.create_index("restriction_second", "restriction", ["second"], schema="headway")


def _breaker() -> None:
    op.create_table(
        "breaker",
        sa.Column("definition", sa.Uuid(), nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reopen_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("state BETWEEN 0 AND 2", name=op.f("breaker_state_check")),
        sa.ForeignKeyConstraint(["definition"], ["headway.definition.id"], name=op.f("breaker_definition_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("definition", name=op.f("breaker_pkey")),
        schema="headway",
    )
    op.create_index("breaker_reopen_at", "breaker", ["reopen_at"], schema="headway", postgresql_where=sa.text("state = 1"))


def _alert() -> None:
    op.create_table(
        "alert",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant", sa.Text(), server_default="", nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("definition", sa.Text(), server_default="", nullable=False),
        sa.Column("run", sa.Uuid(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("dedupe_key", sa.Text(), nullable=False),
        sa.Column("state", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("next_look_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("state BETWEEN 0 AND 3", name=op.f("alert_state_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("alert_pkey")),
        schema="headway",
    )
    op.create_index("alert_dedupe_key_key", "alert", ["dedupe_key"], unique=True, schema="headway")
    op.create_index("alert_next_look", "alert", ["next_look_at"], schema="headway", postgresql_where=sa.text("state = 0"))
    op.create_table(
        "alert_delivery",
        sa.Column("alert", sa.Uuid(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["alert"], ["headway.alert.id"], name=op.f("alert_delivery_alert_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("alert", "target", name=op.f("alert_delivery_pkey")),
        schema="headway",
    )


def _batch() -> None:
    op.create_table(
        "batch",
        sa.Column("parent", sa.Uuid(), nullable=False),
        sa.Column("tenant", sa.Text(), server_default="", nullable=False),
        sa.Column("total", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("done", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("dropped", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("closed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("max_concurrent", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("mixed", sa.Text(), server_default="worst", nullable=False),
        sa.Column("counted", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("triggers", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("opened_by", sa.Uuid(), nullable=True),
        sa.Column("opened_attempt", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Text(), server_default="", nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("mixed IN ('worst', 'partial')", name=op.f("batch_mixed_check")),
        sa.PrimaryKeyConstraint("parent", name=op.f("batch_pkey")),
        schema="headway",
    )
    op.create_index("batch_open", "batch", ["parent"], schema="headway", postgresql_where=sa.text("ended_at IS NULL"))
