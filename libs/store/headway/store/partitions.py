"""Partitions for what leaves by the day: made ahead of time, dropped when their day has passed.

A day without a partition is no fault: its rows go to the default partition, and move when the partition is made.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from headway.store.faults import translated
from headway.store.tx import Tx

DAYS_AHEAD: Final = 40
MONTHS_AHEAD: Final = 3
ALONE: Final = "SELECT pg_advisory_xact_lock(hashtext('headway.partitions'))"


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition of a table: its rows have a key in [start, end)."""

    table: str
    column: str
    start: date
    end: date

    @property
    def name(self) -> str:
        """The partition's table name; `run_done_p20260301`."""
        return f"{self.table}_p{self.start:%Y%m%d}"


def wanted(today: date) -> list[Partition]:
    """Return every partition that should stand on a day: 40 days of finished runs, and slots from last month to three ahead."""
    days = [
        Partition("run_done", "drop_on", day, day + timedelta(days=1)) for day in (today + timedelta(days=n) for n in range(DAYS_AHEAD + 1))
    ]
    first = today.replace(day=1)
    months = [_month(first, offset) for offset in range(-1, MONTHS_AHEAD + 1)]
    return days + [Partition("slot", "slot_at", start, _month(start, 1)) for start in months]


def _month(first: date, offset: int) -> date:
    years, month = divmod(first.month - 1 + offset, 12)
    return date(first.year + years, month + 1, 1)


async def ensure_partitions(tx: Tx) -> int:
    """Make every partition that is missing and say how many; rows of the default partition move to where they belong."""
    await tx.run(ALONE)
    there = {row["relname"] for row in await standing(tx)}
    missing = [part for part in wanted(tx.now.date()) if part.name not in there]
    for part in missing:
        await _make(tx, part)
    return len(missing)


async def drop_partitions(tx: Tx) -> int:
    """Drop the partitions of finished runs whose day has passed, and say how many."""
    await tx.run(ALONE)
    today = tx.now.date()
    old = [row["relname"] for row in await standing(tx) if day_of(row["relname"], "run_done_p") is not None]
    gone = [name for name in old if (day := day_of(name, "run_done_p")) is not None and day < today]
    for name in gone:
        await _leave_batches(tx, name)
        await tx.run(f"DROP TABLE {tx.schema}.{name}")
    return len(gone)


def day_of(name: str, prefix: str) -> date | None:
    """Return the first day of the partition of a name, None for another table's."""
    tail = name.removeprefix(prefix)
    return date(int(tail[:4]), int(tail[4:6]), int(tail[6:])) if name.startswith(prefix) and tail.isdigit() else None


async def standing(tx: Tx) -> list[dict[str, str]]:
    """Return the names of all partitions, as `relname`."""
    sql = "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relispartition"
    with translated():
        return [dict(row) for row in await tx.connection.fetch(sql, tx.schema)]


async def _leave_batches(tx: Tx, name: str) -> None:
    """Keep the counts of children whose batch goes on without their rows; a batch leaves with its parent's row."""
    schema = tx.schema
    children = f"SELECT parent, outcome, count(*) AS runs FROM {schema}.{name} WHERE batch_index IS NOT NULL AND replayed_by IS NULL"
    together = "jsonb_object_agg(gone.outcome::text, gone.runs + coalesce((batch.dropped ->> gone.outcome::text)::bigint, 0))"
    await tx.run(
        f"WITH gone AS ({children} GROUP BY parent, outcome), sums AS (SELECT batch.parent, {together} AS counts FROM gone "
        f"JOIN {schema}.batch ON batch.parent = gone.parent WHERE batch.ended_at IS NULL GROUP BY batch.parent) "
        f"UPDATE {schema}.batch SET dropped = batch.dropped || sums.counts FROM sums WHERE batch.parent = sums.parent"
    )
    await tx.run(f"DELETE FROM {schema}.batch USING {schema}.{name} AS parent WHERE batch.parent = parent.id")


async def _make(tx: Tx, part: Partition) -> None:
    table, schema = part.table, tx.schema
    span = f"'{part.start}' AND {part.column} < '{part.end}'"
    await tx.run(f"CREATE TABLE {schema}.{part.name} (LIKE {schema}.{table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
    moved = f"WITH moved AS (DELETE FROM {schema}.{table}_default WHERE {part.column} >= {span} RETURNING *)"
    await tx.run(f"{moved} INSERT INTO {schema}.{part.name} SELECT * FROM moved")
    await tx.run(f"ALTER TABLE {schema}.{table} ATTACH PARTITION {schema}.{part.name} FOR VALUES FROM ('{part.start}') TO ('{part.end}')")
