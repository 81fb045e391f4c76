"""What was decided of every slot, and the last runs of each definition and schedule."""

from typing import Final

from sqlalchemy import BigInteger, CheckConstraint, Column, PrimaryKeyConstraint, Table, Uuid

from headway.store.schema.meta import instant, metadata, number, small, words

slot: Final = Table(
    "slot",
    metadata,
    Column("schedule", Uuid, nullable=False),
    instant("slot_at"),
    small("decision"),
    words("reason", default=""),
    words("detail", default=""),
    instant("effective_at"),
    Column("run", Uuid, nullable=True),
    instant("decided_at"),
    words("decided_by", default=""),
    number("schedule_version"),
    words("tzdata_version", default=""),
    words("calendar_versions", default=""),
    PrimaryKeyConstraint("schedule", "slot_at"),
    postgresql_partition_by="RANGE (slot_at)",
)

slot_range: Final = Table(
    "slot_range",
    metadata,
    Column("schedule", Uuid, nullable=False),
    instant("from_at"),
    instant("to_at"),
    small("decision"),
    words("reason"),
    words("detail", default=""),
    Column("slots", BigInteger, nullable=True),
    instant("decided_at"),
    words("decided_by", default=""),
    number("schedule_version"),
    words("tzdata_version", default=""),
    words("calendar_versions", default=""),
    PrimaryKeyConstraint("schedule", "from_at"),
    CheckConstraint("to_at > from_at", name="order"),
)


def _last(name: str, key: str) -> Table:
    return Table(
        name,
        metadata,
        Column(key, Uuid, primary_key=True),
        instant("scheduled_at", null=True),
        instant("started_at", null=True),
        instant("completed_at", null=True),
        Column("latest", Uuid, nullable=True),
        Column("succeeded", Uuid, nullable=True),
        instant("succeeded_at", null=True),
        Column("failed", Uuid, nullable=True),
        instant("failed_at", null=True),
    )


last_schedule_run: Final = _last("last_schedule_run", "schedule")
last_definition_run: Final = _last("last_definition_run", "definition")
