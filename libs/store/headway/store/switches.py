"""Switch schedules and definitions: paused, resumed, enabled, disabled, deleted; what fell due before is decided first."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import Boolean, Text, Uuid, func, null, select, update

from headway.core.run import Cause
from headway.store import definitions, editing, gates, schedules
from headway.store.audit import Entry, write
from headway.store.gates import Placed
from headway.store.schema import definition, schedule
from headway.store.set_aside import set_aside
from headway.store.statement import INSTANT, array, param, statement
from headway.store.tx import Row, Tx

PAUSE_SCHEDULES: Final = statement(
    "switch_pause_schedules",
    update(schedule)
    .where(schedule.c.id == func.any(array("ids", Uuid)))
    .values(paused_at=param("now", INSTANT), paused_by=param("by", Text), paused_reason=param("reason", Text)),
)
RESUME_SCHEDULES: Final = statement(
    "switch_resume_schedules",
    update(schedule)
    .where(schedule.c.id == func.any(array("ids", Uuid)))
    .values(paused_at=null(), paused_by=param("nobody", Text), paused_reason=param("nobody", Text)),
)
ENABLE_SCHEDULES: Final = statement(
    "switch_enable_schedules",
    update(schedule).where(schedule.c.id == func.any(array("ids", Uuid))).values(enabled=param("enabled", Boolean)),
)
PAUSE_DEFINITION: Final = statement(
    "switch_pause_definition",
    update(definition)
    .where(definition.c.id == param("of", Uuid))
    .values(
        paused_at=param("now", INSTANT),
        paused_by=param("by", Text),
        paused_reason=param("reason", Text),
        paused_until=param("until", INSTANT),
    ),
)
RESUME_DEFINITION: Final = statement(
    "switch_resume_definition",
    update(definition)
    .where(definition.c.id == param("of", Uuid))
    .values(paused_at=null(), paused_by=param("nobody", Text), paused_reason=param("nobody", Text), paused_until=null()),
)
EXPIRED: Final = statement(
    "switch_expired_pauses",
    select(definition)
    .where(definition.c.paused_until <= param("now", INSTANT))
    .order_by(definition.c.id)
    .with_for_update(skip_locked=True),
)
ALL_AT_ONCE: Final = 1000


class Pause(NamedTuple):
    """Who pauses, why, and until when at the latest; None means until somebody resumes."""

    by: str
    reason: str = ""
    until: datetime | None = None


async def pause_schedule(tx: Tx, row: Row, pause: Pause) -> list[Placed]:
    """Pause a schedule; pausing a paused one changes nothing.  Returns the runs to announce."""
    if row["paused_at"] is not None:
        return []
    queued = await editing.close(tx, [row["id"]], actor=pause.by)
    await tx.execute(PAUSE_SCHEDULES, ids=[row["id"]], now=tx.now, by=pause.by, reason=pause.reason)
    await _changed(tx, row, Entry(pause.by, "schedule.paused", f"schedule:{row['id']}", row["tenant"], pause.reason))
    return queued


async def resume_schedule(tx: Tx, row: Row, *, actor: str) -> list[Placed]:
    """Resume a schedule: what fell due while it was paused is recorded as that, and no missed time."""
    if row["paused_at"] is None:
        return []
    queued = await editing.close(tx, [row["id"]], actor=actor)
    await tx.execute(RESUME_SCHEDULES, ids=[row["id"]], nobody="")
    await _changed(tx, row, Entry(actor, "schedule.resumed", f"schedule:{row['id']}", row["tenant"]))
    return queued


async def enable_schedule(tx: Tx, row: Row, *, enabled: bool, actor: str) -> list[Placed]:
    """Switch a schedule on or off."""
    if row["enabled"] == enabled:
        return []
    queued = await editing.close(tx, [row["id"]], actor=actor)
    await tx.execute(ENABLE_SCHEDULES, ids=[row["id"]], enabled=enabled)
    action = "schedule.enabled" if enabled else "schedule.disabled"
    await _changed(tx, row, Entry(actor, action, f"schedule:{row['id']}", row["tenant"]))
    return queued


async def delete_schedule(tx: Tx, row: Row, *, actor: str) -> list[Placed]:
    """Delete a schedule; what was decided of it stays, and its runs go on."""
    queued = await editing.close(tx, [row["id"]], actor=actor)
    await editing.end(tx, [row["id"]], actor=actor)
    await tx.execute(schedules.REMOVE, ids=[row["id"]])
    await definitions.touch(tx, row["definition"])
    await write(tx, Entry(actor, "schedule.deleted", f"schedule:{row['id']}", row["tenant"]))
    return queued


async def _changed(tx: Tx, row: Row, entry: Entry) -> None:
    await editing.begin(tx, [row["id"]], actor=entry.actor)
    await definitions.touch(tx, row["definition"])
    await write(tx, entry)


async def pause_definition(tx: Tx, row: Row, pause: Pause) -> list[Placed]:
    """Pause a definition: its slots are decided as paused, its queued runs are held, and what runs goes on to the end of its attempt."""
    if row["paused_at"] is not None:
        return []
    ids = await _schedules_of(tx, row)
    await editing.close(tx, ids, actor=pause.by)
    await gates.lock(tx, [row["id"]])
    await tx.execute(PAUSE_DEFINITION, of=row["id"], now=tx.now, by=pause.by, reason=pause.reason, until=pause.until)
    await set_aside(tx, row["id"], Cause.PAUSED)
    await _turned(tx, row, ids, Entry(pause.by, "definition.paused", f"definition:{row['name']}", row["tenant"], pause.reason))
    return []


async def resume_definition(tx: Tx, row: Row, *, actor: str) -> list[Placed]:
    """Resume a definition: the runs that were held for it are let in, as far as its limits allow."""
    if row["paused_at"] is None:
        return []
    ids = await _schedules_of(tx, row)
    queued = await editing.close(tx, ids, actor=actor)
    await tx.execute(RESUME_DEFINITION, of=row["id"], nobody="")
    await _turned(tx, row, ids, Entry(actor, "definition.resumed", f"definition:{row['name']}", row["tenant"]))
    return queued + await gates.promote(tx, [row["id"]], limit=ALL_AT_ONCE)


async def resume_expired(tx: Tx) -> list[Placed]:
    """Resume definitions whose pause has ended."""
    queued: list[Placed] = []
    for row in await tx.fetch(EXPIRED, now=tx.now):
        queued += await resume_definition(tx, row, actor="maintenance")
    return queued


async def _schedules_of(tx: Tx, row: Row) -> Sequence[UUID]:
    return [one["id"] for one in await schedules.of_definition(tx, row["id"], locked=True)]


async def _turned(tx: Tx, row: Row, ids: Sequence[UUID], entry: Entry) -> None:
    await editing.begin(tx, ids, actor=entry.actor)
    await definitions.touch(tx, row["id"])
    await write(tx, entry)
