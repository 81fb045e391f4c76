"""The ledger: one decision for every slot, single or as a range, append-only."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import BigInteger, Integer, SmallInteger, Text, Uuid, insert, or_, select

from headway.store.faults import new_to
from headway.store.schema import slot, slot_range
from headway.store.statement import INSTANT, given, param, statement
from headway.store.tx import Row, Tx


class SlotRecord(NamedTuple):
    """What was decided of one slot."""

    schedule: UUID
    slot_at: datetime
    decision: int
    reason: str
    detail: str
    effective_at: datetime
    run: UUID | None
    schedule_version: int
    calendar_versions: str = ""


class RangeRecord(NamedTuple):
    """One decision for the stretch (from, to]; `slots` None when counting them would be unbounded work."""

    schedule: UUID
    from_at: datetime
    to_at: datetime
    decision: int
    reason: str
    detail: str
    slots: int | None
    schedule_version: int
    calendar_versions: str = ""


_s = given(
    "s",
    schedule=Uuid,
    slot_at=INSTANT,
    decision=SmallInteger,
    reason=Text,
    detail=Text,
    effective_at=INSTANT,
    run=Uuid,
    schedule_version=Integer,
    calendar_versions=Text,
).c
_by: Final = (param("now", INSTANT), param("actor", Text), param("tzdata", Text))
RECORD: Final = statement(
    "slot_record",
    insert(slot).from_select([column.name for column in _s] + ["decided_at", "decided_by", "tzdata_version"], select(*_s, *_by)),
)
_r = given(
    "r",
    schedule=Uuid,
    from_at=INSTANT,
    to_at=INSTANT,
    decision=SmallInteger,
    reason=Text,
    detail=Text,
    slots=BigInteger,
    schedule_version=Integer,
    calendar_versions=Text,
).c
RECORD_RANGES: Final = statement(
    "slot_record_ranges",
    insert(slot_range).from_select([column.name for column in _r] + ["decided_at", "decided_by", "tzdata_version"], select(*_r, *_by)),
)
LIST: Final = statement(
    "slot_list",
    select(slot)
    .where(slot.c.schedule == param("of", Uuid), or_(param("before", INSTANT).is_(None), slot.c.slot_at < param("before", INSTANT)))
    .order_by(slot.c.slot_at.desc())
    .limit(param("limit", Integer)),
)
LIST_RANGES: Final = statement(
    "slot_list_ranges",
    select(slot_range)
    .where(slot_range.c.schedule == param("of", Uuid))
    .order_by(slot_range.c.from_at.desc())
    .limit(param("limit", Integer)),
)


async def record(tx: Tx, records: Sequence[SlotRecord], *, actor: str, tzdata: str) -> None:
    """Append decisions.  Raises Invalid when a slot was decided before: the compare-and-set stands in front of this."""
    if records:
        columns = [list(column) for column in zip(*records, strict=True)]
        with new_to("slot"):
            await tx.execute(RECORD, **dict(zip(SlotRecord._fields, columns, strict=True)), now=tx.now, actor=actor, tzdata=tzdata)


async def record_ranges(tx: Tx, records: Sequence[RangeRecord], *, actor: str, tzdata: str) -> None:
    """Append decisions for whole stretches.  Raises Invalid when one that begins at the same instant was decided before."""
    if records:
        columns = [list(column) for column in zip(*records, strict=True)]
        with new_to("slot range"):
            await tx.execute(RECORD_RANGES, **dict(zip(RangeRecord._fields, columns, strict=True)), now=tx.now, actor=actor, tzdata=tzdata)


async def listed(tx: Tx, schedule_id: UUID, *, before: datetime | None = None, limit: int = 50) -> Sequence[Row]:
    """Return a schedule's decided slots, newest first, before the given instant."""
    return await tx.fetch(LIST, of=schedule_id, before=before, limit=limit)


async def ranges(tx: Tx, schedule_id: UUID, *, limit: int = 50) -> Sequence[Row]:
    """Return a schedule's decided ranges, newest first."""
    return await tx.fetch(LIST_RANGES, of=schedule_id, limit=limit)
