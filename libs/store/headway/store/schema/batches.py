"""Batches: a parent run and what is known of its children."""

from typing import Final

from sqlalchemy import CheckConstraint, Column, Index, Table, Uuid, text

from headway.store.schema.meta import document, flag, instant, metadata, number, words

batch: Final = Table(
    "batch",
    metadata,
    Column("parent", Uuid, primary_key=True),
    words("tenant", default=""),
    number("total", default=0),
    number("done", default=0),
    document("dropped"),
    flag("closed", default=False),
    number("max_concurrent", default=0),
    words("mixed", default="worst"),
    flag("counted", default=False),
    flag("triggers", default=False),
    Column("opened_by", Uuid, nullable=True),
    number("opened_attempt", default=0),
    instant("created_at"),
    words("created_by", default=""),
    instant("ended_at", null=True),
    CheckConstraint("mixed IN ('worst', 'partial')", name="mixed"),
    Index("batch_open", "parent", postgresql_where=text("ended_at IS NULL")),
)
