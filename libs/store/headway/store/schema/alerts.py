"""What went wrong, and who was told: breakers, alerts and their deliveries."""

from typing import Final

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, PrimaryKeyConstraint, Table, Uuid, text

from headway.store.schema.catalogue import definition
from headway.store.schema.meta import instant, metadata, number, small, words

breaker: Final = Table(
    "breaker",
    metadata,
    Column("definition", Uuid, ForeignKey(definition.c.id, ondelete="CASCADE"), primary_key=True),
    small("state"),
    instant("since"),
    number("failures", default=0),
    instant("opened_at", null=True),
    instant("reopen_at", null=True),
    CheckConstraint("state BETWEEN 0 AND 2", name="state"),
    Index("breaker_reopen_at", "reopen_at", postgresql_where=text("state = 1")),
)

alert: Final = Table(
    "alert",
    metadata,
    Column("id", Uuid, primary_key=True),
    words("tenant", default=""),
    words("kind"),
    words("subject"),
    words("definition", default=""),
    Column("run", Uuid, nullable=True),
    instant("at"),
    words("message"),
    words("dedupe_key"),
    small("state", default=0),
    instant("next_look_at"),
    CheckConstraint("state BETWEEN 0 AND 3", name="state"),
    Index("alert_dedupe_key_key", "dedupe_key", unique=True),
    Index("alert_next_look", "next_look_at", postgresql_where=text("state = 0")),
)

alert_delivery: Final = Table(
    "alert_delivery",
    metadata,
    Column("alert", Uuid, ForeignKey(alert.c.id, ondelete="CASCADE"), nullable=False),
    words("target"),
    number("tries", default=0),
    words("last_error", null=True),
    instant("delivered_at", null=True),
    PrimaryKeyConstraint("alert", "target"),
)
