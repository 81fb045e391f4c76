"""The last runs of each definition and schedule: one row each, written from memory at most once a second, never pruned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Table, Text, Uuid, func, select
from sqlalchemy.dialects.postgresql import insert

from headway.store.schema import definition, last_definition_run, last_schedule_run
from headway.store.statement import INSTANT, Statement, array, given, param, statement
from headway.store.tx import Row, Tx


@dataclass(slots=True)
class Last:
    """What one process saw last of one definition or schedule.  None means it saw nothing of the kind."""

    scheduled_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    latest: UUID | None = None
    succeeded: UUID | None = None
    succeeded_at: datetime | None = None
    failed: UUID | None = None
    failed_at: datetime | None = None


_SHAPE: Final[Mapping[str, Any]] = {
    "scheduled_at": INSTANT,
    "started_at": INSTANT,
    "completed_at": INSTANT,
    "latest": Uuid,
    "succeeded": Uuid,
    "succeeded_at": INSTANT,
    "failed": Uuid,
    "failed_at": INSTANT,
}


def _writing(table: Table, key: str) -> Statement:
    rows = given("g", **{key: Uuid}, **_SHAPE).c
    new = insert(table).from_select([column.name for column in rows], select(*rows))
    newest = {name: func.greatest(table.c[name], new.excluded[name]) for name in _SHAPE}
    return statement(f"{table.name}_write", new.on_conflict_do_update(index_elements=[key], set_=newest))


# Ids are UUIDv7, so that the greatest id is the newest run, for every column alike.
WRITE_DEFINITIONS: Final = _writing(last_definition_run, "definition")
WRITE_SCHEDULES: Final = _writing(last_schedule_run, "schedule")
OF_DEFINITIONS: Final = statement(
    "last_definition_run_read",
    select(definition.c.name, *[last_definition_run.c[name] for name in _SHAPE])
    .select_from(definition.join(last_definition_run, last_definition_run.c.definition == definition.c.id))
    .where(definition.c.tenant == param("tenant", Text), definition.c.name == func.any(array("names", Text))),
)
OF_SCHEDULES: Final = statement(
    "last_schedule_run_read", select(last_schedule_run).where(last_schedule_run.c.schedule == func.any(array("ids", Uuid)))
)


async def write(tx: Tx, definitions: Mapping[UUID, Last], schedules: Mapping[UUID, Last]) -> None:
    """Merge what this process saw into the rows: per column the newest wins, whoever wrote it."""
    for how, key, seen in ((WRITE_DEFINITIONS, "definition", definitions), (WRITE_SCHEDULES, "schedule", schedules)):
        if seen:
            ids = sorted(seen)
            await tx.execute(how, **{key: ids}, **{name: [getattr(seen[id_], name) for id_ in ids] for name in _SHAPE})


async def of_definitions(tx: Tx, names: Sequence[str], tenant: str = "") -> dict[str, Row]:
    """Return, by name, the last runs of every one of these definitions that has any, in one query."""
    return {row["name"]: row for row in await tx.fetch(OF_DEFINITIONS, tenant=tenant, names=list(names))}


async def of_schedules(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, Row]:
    """Return, by id, the last runs of every one of these schedules that has any."""
    return {row["schedule"]: row for row in await tx.fetch(OF_SCHEDULES, ids=list(ids))}
