"""Old decisions leave by the month; from when on the ledger is kept is written down, so that a proof asks for no more."""

from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import Text, delete, func, literal_column, select
from sqlalchemy.dialects.postgresql import insert

from headway.store.partitions import day_of, standing
from headway.store.schema import horizon, slot, slot_range
from headway.store.statement import INSTANT, param, statement
from headway.store.tx import Tx

PREFIX: Final = "slot_p"
_LEDGER: Final = literal_column("'ledger'", Text)
KEPT_FROM: Final = statement("ledger_kept_from", select(horizon.c.kept_from).where(horizon.c.name == _LEDGER))
_new = insert(horizon).from_select(["name", "kept_from"], select(_LEDGER, param("at", INSTANT)))
SET_KEPT: Final = statement(
    "ledger_set_kept",
    _new.on_conflict_do_update(index_elements=["name"], set_={"kept_from": func.greatest(horizon.c.kept_from, _new.excluded.kept_from)}),
)
FORGET: Final = statement("ledger_forget", delete(slot).where(slot.c.slot_at < param("at", INSTANT)))
FORGET_RANGES: Final = statement("ledger_forget_ranges", delete(slot_range).where(slot_range.c.to_at < param("at", INSTANT)))


async def forget(tx: Tx, keep_days: int) -> int:
    """Drop the months of the ledger that ended longer ago than this many days, and say how many; 0 days keep it for ever."""
    if not keep_days:
        return 0
    cut = (tx.now.date() - timedelta(days=keep_days)).replace(day=1)
    names = [row["relname"] for row in await standing(tx)]
    gone = [name for name in names if (day := day_of(name, PREFIX)) is not None and day < cut]
    at = datetime(cut.year, cut.month, cut.day, tzinfo=UTC)
    for name in gone:
        await tx.run(f"DROP TABLE {tx.schema}.{name}")
    await tx.execute(FORGET, at=at)
    await tx.execute(FORGET_RANGES, at=at)
    await tx.execute(SET_KEPT, at=at)
    return len(gone)


async def kept_from(tx: Tx) -> datetime | None:
    """Return the instant from which on the ledger is whole, None when nothing of it was ever dropped."""
    at: datetime | None = await tx.fetch_value(KEPT_FROM)
    return at
