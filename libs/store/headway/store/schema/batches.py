"""Batches: a parent run and what is known of its children."""

from typing import Final

from sqlalchemy import CheckConstraint, Column, Table, Uuid

from headway.store.schema.meta import flag, instant, metadata, number, words

batch: Final = Table(
    "batch",
    metadata,
    Column("parent", Uuid, primary_key=True),
    words("tenant", default=""),
    number("total", default=0),
    flag("closed", default=False),
    number("max_concurrent", default=0),
    words("mixed", default="worst"),
    Column("opened_by", Uuid, nullable=True),
    number("opened_attempt", default=0),
    instant("created_at"),
    words("created_by", default=""),
    CheckConstraint("mixed IN ('worst', 'partial')", name="mixed"),
)
