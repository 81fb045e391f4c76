"""The immutable record of each version of a definition, with everything that belongs to it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headway.store import audit, definitions, schedules, triggers
from headway.store.definitions import Saved
from headway.store.tx import Row, Tx


async def versioned(tx: Tx, saved: Saved, tenant: str, actor: str) -> Saved:
    """Keep the snapshot of a definition's new version, have its ends owe its triggers, audit it, and return what was given."""
    await triggers.owe(tx, saved.id)
    row = await definitions.get(tx, saved.name, tenant)
    assert row is not None, "it was written in this transaction"
    children = {"schedules": await schedules.of_definition(tx, saved.id), "triggers": await triggers.of_definition(tx, saved.id)}
    snapshot = _row(row) | {kind: [_row(one) for one in rows] for kind, rows in children.items()}
    await definitions.keep_snapshot(tx, saved.id, saved.version, snapshot, actor)
    await audit.write(
        tx, audit.Entry(actor, f"definition.{saved.change}", f"definition:{saved.name}", tenant, new={"version": saved.version})
    )
    return saved


def _row(row: Row) -> dict[str, Any]:
    """Return a row as values that JSON has: instants as ISO 8601, spans as seconds, ids as text."""
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case UUID():
            return str(value)
        case bytes():
            return value.decode(errors="replace")
        case Sequence() if not isinstance(value, str | bytes):
            return [_plain(one) for one in value]
        case _:
            return value
