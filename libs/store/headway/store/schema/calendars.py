"""Calendars, and what was in force when: the versions of calendars and schedules, and the slots that were filled in afterwards."""

from typing import Final

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, Text, Uuid

from headway.store.schema.meta import document, flag, instant, metadata, number, words

calendar: Final = Table(
    "calendar",
    metadata,
    Column("id", Uuid, primary_key=True),
    words("tenant", default=""),
    words("name"),
    words("description", default=""),
    document("windows"),
    document("resolved"),
    flag("shared", default=True),
    number("version", default=1),
    instant("created_at"),
    instant("updated_at"),
    Index("calendar_tenant_name_key", "tenant", "name", unique=True),
)

calendar_version: Final = Table(
    "calendar_version",
    metadata,
    Column("calendar", Uuid, nullable=False),
    number("version"),
    words("name"),
    document("windows"),
    document("resolved"),
    instant("created_at"),
    words("created_by", default=""),
    PrimaryKeyConstraint("calendar", "version"),
)

schedule_version: Final = Table(
    "schedule_version",
    metadata,
    Column("schedule", Uuid, nullable=False),
    number("version"),
    instant("from_at"),
    Column("definition", Uuid, nullable=False),
    words("tenant", default=""),
    words("name"),
    document("rule"),
    document("calendars"),
    flag("ended", default=False),
    words("created_by", default=""),
    PrimaryKeyConstraint("schedule", "version"),
)

horizon: Final = Table("horizon", metadata, Column("name", Text, primary_key=True), instant("kept_from"))

backfill: Final = Table(
    "backfill",
    metadata,
    Column("schedule", Uuid, nullable=False),
    instant("slot_at"),
    Column("run", Uuid, nullable=False),
    instant("asked_at"),
    words("asked_by", default=""),
    PrimaryKeyConstraint("schedule", "slot_at"),
)
