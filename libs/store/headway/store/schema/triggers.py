"""What ties definitions together: triggers, and restrictions that keep them apart."""

from typing import Final

from sqlalchemy import ARRAY, CheckConstraint, Column, ForeignKey, Index, Table, Text, Uuid, text

from headway.store.schema.catalogue import definition
from headway.store.schema.meta import document, flag, instant, metadata, number, words

trigger: Final = Table(
    "trigger",
    metadata,
    Column("id", Uuid, primary_key=True),
    words("tenant", default=""),
    words("name"),
    words("description", default=""),
    Column("source", Uuid, ForeignKey(definition.c.id, ondelete="CASCADE"), nullable=False),
    Column("target", Uuid, ForeignKey(definition.c.id, ondelete="CASCADE"), nullable=False),
    document("condition", null=True),
    document("parameters"),
    flag("enabled", default=True),
    words("declared", default="api"),
    Column("overridden", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    number("version", default=1),
    instant("created_at"),
    instant("updated_at"),
    Index("trigger_source_name_key", "source", "name", unique=True),
    Index("trigger_target", "target"),
)

restriction: Final = Table(
    "restriction",
    metadata,
    Column("id", Uuid, primary_key=True),
    words("tenant", default=""),
    Column("first", Uuid, ForeignKey(definition.c.id, ondelete="CASCADE"), nullable=False),
    Column("second", Uuid, ForeignKey(definition.c.id, ondelete="CASCADE"), nullable=False),
    words("description", default=""),
    instant("created_at"),
    words("created_by", default=""),
    CheckConstraint("first <= second", name="pair"),
    Index("restriction_pair_key", "first", "second", unique=True),
    Index("restriction_second", "second"),
)
