"""The rows of calendars as they are written: each version is kept for ever."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Boolean, Integer, Text, Uuid, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import insert as insert_or

from headway.core.calendar.draft import CalendarDraft
from headway.core.ids import make_id
from headway.store.schema import calendar, calendar_version
from headway.store.statement import INSTANT, const, param, statement
from headway.store.tx import Tx

_CREATE = insert_or(calendar).values(
    id=param("id", Uuid),
    tenant=param("tenant", Text),
    name=param("name", Text),
    description=param("description", Text),
    windows=param("windows", JSONB),
    resolved=param("resolved", JSONB),
    shared=param("shared", Boolean),
    created_at=param("now", INSTANT),
    updated_at=param("now", INSTANT),
)
# Whoever comes second with the same name waits, and gets the id of the first.
CREATE: Final = statement(
    "calendar_create",
    _CREATE.on_conflict_do_update(index_elements=["tenant", "name"], set_={"name": _CREATE.excluded.name}).returning(calendar.c.id),
)
CHANGE: Final = statement(
    "calendar_change",
    update(calendar)
    .where(calendar.c.id == param("calendar", Uuid))
    .values(
        description=param("description", Text),
        windows=param("new_windows", JSONB),
        resolved=param("new_resolved", JSONB),
        version=calendar.c.version + const(1),
        updated_at=param("now", INSTANT),
    )
    .returning(calendar.c.version),
)
_KEPT: Final = ("calendar", "version", "name", "windows", "resolved")
_KEEP = insert_or(calendar_version).from_select(
    [*_KEPT, "created_at", "created_by"],
    select(
        calendar.c.id,
        calendar.c.version,
        calendar.c.name,
        calendar.c.windows,
        calendar.c.resolved,
        param("now", INSTANT),
        param("actor", Text),
    ).where(calendar.c.id == param("calendar", Uuid)),
)
KEEP: Final = statement("calendar_keep_version", _KEEP.on_conflict_do_nothing())
EXTEND: Final = statement(
    "calendar_extend",
    update(calendar)
    .where(calendar.c.id == param("calendar", Uuid))
    .values(resolved=param("new_resolved", JSONB), updated_at=param("now", INSTANT)),
)
EXTEND_VERSION: Final = statement(
    "calendar_extend_version",
    update(calendar_version)
    .where(calendar_version.c.calendar == param("calendar", Uuid), calendar_version.c.version == param("version", Integer))
    .values(resolved=param("new_resolved", JSONB)),
)


async def create(tx: Tx, draft: CalendarDraft, resolved: Mapping[str, Any], *, shared: bool, actor: str) -> UUID:
    """Insert a calendar at version 1 and return its id; of one that somebody else inserted meanwhile, that one's."""
    id_: UUID = await tx.fetch_value(
        CREATE,
        id=make_id(tx.now),
        tenant=draft.tenant,
        name=draft.name,
        description=draft.description,
        windows=draft.documents,
        resolved=resolved,
        shared=shared,
        now=tx.now,
    )
    await tx.execute(KEEP, calendar=id_, now=tx.now, actor=actor)
    return id_


async def change(tx: Tx, id_: UUID, draft: CalendarDraft, resolved: Mapping[str, Any], *, actor: str) -> int:
    """Write the next version of a locked calendar and return its number."""
    version = await tx.fetch_value(
        CHANGE, calendar=id_, description=draft.description, new_windows=draft.documents, new_resolved=resolved, now=tx.now
    )
    await tx.execute(KEEP, calendar=id_, now=tx.now, actor=actor)
    return int(version)


async def extend(tx: Tx, id_: UUID, version: int, resolved: Mapping[str, Any]) -> None:
    """Add dates of holidays to the version of a locked calendar that is in force."""
    await tx.execute(EXTEND, calendar=id_, new_resolved=resolved, now=tx.now)
    await tx.execute(EXTEND_VERSION, calendar=id_, version=version, new_resolved=resolved)
