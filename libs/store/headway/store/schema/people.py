"""Who works, who asked, and what they may use up: sessions, the audit trail, hourly buckets."""

from typing import Final

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, Column, Identity, Index, PrimaryKeyConstraint, Table, Text, Uuid, text

from headway.store.schema.meta import document, instant, metadata, number, small, words

session: Final = Table(
    "session",
    metadata,
    Column("id", Uuid, primary_key=True),
    words("kind"),
    words("host"),
    number("pid"),
    small("state"),
    instant("started_at"),
    instant("lease_until"),
    Column("queues", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("handlers", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    number("capacity", default=0),
    number("in_flight", default=0),
    words("version", default=""),
    CheckConstraint("state BETWEEN 1 AND 3", name="state"),
    Index("session_lease_until", "lease_until", postgresql_where=text("state < 3")),
)

audit: Final = Table(
    "audit",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    instant("at"),
    words("tenant", default=""),
    words("actor"),
    words("action"),
    words("subject"),
    words("reason", default=""),
    document("old", null=True),
    document("new", null=True),
    Index("audit_subject", "subject", "id"),
)

rate_bucket: Final = Table(
    "rate_bucket",
    metadata,
    Column("definition", Uuid, nullable=False),
    instant("minute"),
    number("runs", default=0),
    PrimaryKeyConstraint("definition", "minute"),
)
