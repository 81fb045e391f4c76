"""What templates may say of a schedule's last runs: read only for schedules whose parameters name them."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import orjson

from headway.core.outcome import RunOutcome
from headway.core.run import State
from headway.store import last_runs, runs
from headway.store.tx import Row, Tx

KINDS: Final = {"LastRun": "latest", "LastSuccess": "succeeded", "LastFailure": "failed"}
NAMED: Final = "{last"

Facts = Mapping[str, Mapping[str, Any]]


async def last_facts(tx: Tx, rows: Mapping[UUID, Row]) -> dict[UUID, Facts]:
    """Return, by schedule, what is known of its last, last successful and last failed run, by those names.

    `rows` hold the parameters of schedules and definitions.  A run that is no longer kept is not known.
    """
    asking = [id_ for id_, row in rows.items() if _asks(row["parameters"]) or _asks(row["defaults"])]
    if not asking:
        return {}
    last = await last_runs.of_schedules(tx, asking)
    wanted = {row[column] for row in last.values() for column in KINDS.values() if row[column] is not None}
    found = {row["id"]: facts_of(row) for row in await tx.fetch(runs.GET, ids=sorted(wanted))}
    return {id_: {name: found[row[column]] for name, column in KINDS.items() if row[column] in found} for id_, row in last.items()}


def _asks(parameters: Mapping[str, Any] | None) -> bool:
    return bool(parameters) and NAMED in orjson.dumps(parameters).decode().casefold()


def facts_of(row: Row) -> dict[str, Any]:
    """Return what templates may say of a run, without what is not known."""
    known = {
        "Id": row["id"],
        "State": State(row["state"]).name.lower(),
        "Outcome": RunOutcome(row["outcome"]).word if row["outcome"] else None,
        "SlotAt": row["slot_at"],
        "StartedAt": row["started_at"],
        "FinishedAt": row["finished_at"],
        "Parameters": orjson.loads(row["params"]) if row["params"] else {},
        "Result": orjson.loads(row["result"]) if row["result"] else {},
    }
    return {name: value for name, value in known.items() if value is not None}
