"""What a proof of a schedule's slots reads, and the proof.

What is decided does not change, and a decision commits together with `decided_until`: whatever is read after that is all there is.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Integer, Text, Uuid, exists, func, literal_column, select

from headway.core.proof.ledger import After, Proof, Single, Span
from headway.core.proof.prove import prove as decide
from headway.core.schedule.zones import tzdata_version
from headway.core.slot import DecisionKind, Reason
from headway.store.in_force import History
from headway.store.ledger_retention import kept_from
from headway.store.schema import backfill, run, run_done, slot, slot_range
from headway.store.statement import INSTANT, const, param, statement
from headway.store.tx import Row, Tx

MOST_SLOTS: Final = 20_000
MOST_BACKFILLS: Final = 1000
_of, _after, _until = param("of", Uuid), param("after", INSTANT), param("until", INSTANT)
_NOTHING: Final = literal_column("''", Text)
_elsewhere = func.coalesce(func.nullif(slot.c.tzdata_version, param("tzdata", Text)), _NOTHING)
_own = (slot.c.schedule == _of, slot.c.slot_at > _after, slot.c.slot_at <= _until)
SLOTS: Final = statement(
    "proof_slots", select(slot.c.slot_at, _elsewhere.label("tzdata")).where(*_own).order_by(slot.c.slot_at).limit(param("limit", Integer))
)
_links = select(
    slot.c.slot_at,
    _elsewhere.label("tzdata"),
    slot.c.decided_at,
    slot.c.decision,
    slot.c.reason,
    run_done.c.finished_at,
    exists().where(run.c.id == slot.c.run).label("open"),
).outerjoin(run_done, run_done.c.id == slot.c.run)
LINKS: Final = statement("proof_links", _links.where(*_own).order_by(slot.c.slot_at).limit(param("limit", Integer)))
_earlier = _links.where(slot.c.schedule == _of, slot.c.slot_at <= _after).order_by(slot.c.slot_at.desc()).limit(const(1))
LAST: Final = statement("proof_last", _earlier)
LAST_FIRED: Final = statement("proof_last_fired", _earlier.where(slot.c.decision != const(DecisionKind.SKIPPED)))
RANGES: Final = statement(
    "proof_ranges",
    select(
        slot_range.c.from_at,
        slot_range.c.to_at,
        slot_range.c.slots,
        func.coalesce(func.nullif(slot_range.c.tzdata_version, param("tzdata", Text)), _NOTHING).label("tzdata"),
        slot_range.c.decided_at,
    )
    .where(slot_range.c.schedule == _of, slot_range.c.to_at > _after, slot_range.c.from_at < _until)
    .order_by(slot_range.c.from_at),
)
BACKFILLED: Final = statement(
    "proof_backfilled",
    select(backfill.c.slot_at, backfill.c.run)
    .where(backfill.c.schedule == _of, backfill.c.slot_at > _after, backfill.c.slot_at <= _until)
    .order_by(backfill.c.slot_at)
    .limit(const(MOST_BACKFILLS)),
)
_TICK: Final = timedelta(microseconds=1)
_BEGINNING: Final = datetime(1, 1, 1, tzinfo=UTC)


class Proven(NamedTuple):
    """A proof, until when slots are decided at all, the slots that were filled in afterwards, and where to go on (None: at the end)."""

    proof: Proof
    decided_until: datetime
    backfilled: Sequence[Row]
    next_from: datetime | None


async def prove(
    tx: Tx, schedule_id: UUID, known: History, *, after: datetime | None = None, until: datetime | None = None, limit: int = MOST_SLOTS
) -> Proven:
    """Prove that the slots in (after, until] have one decision each, as far as they are decided, and at most `limit` of them at once."""
    after = after if after is not None else known.eras[0].after if known.eras else known.decided_until
    after = max(after, (await kept_from(tx) or after) - _TICK)
    until = min(until or known.decided_until, known.decided_until)
    chained = any(era.chained for era in known.eras if era.until > after and era.after < until)
    asked = {"of": schedule_id, "tzdata": tzdata_version()}
    rows = await tx.fetch(LINKS if chained else SLOTS, **asked, after=after, until=until, limit=limit)
    full = len(rows) == limit
    until = rows[-1]["slot_at"] if full else until
    singles = await _links_of(tx, rows, asked, after) if chained else [Single(*row.values()) for row in rows]
    since = min(after, singles[0].slot_at if singles else _BEGINNING) if chained else after
    spans = [Span(*row.values()) for row in await tx.fetch(RANGES, **asked, after=since, until=until)]
    found = decide(known.eras, singles, spans, after, until)
    backfilled = await tx.fetch(BACKFILLED, of=schedule_id, after=after, until=until)
    return Proven(found, known.decided_until, backfilled, until if full else None)


async def _links_of(tx: Tx, rows: Sequence[Row], asked: Mapping[str, Any], after: datetime) -> list[Single]:
    """The links of a chain, and before them the last that had a run and the last of all: what the first one may follow."""
    earlier = {row["slot_at"]: row for last in (LAST_FIRED, LAST) for row in await tx.fetch(last, **asked, after=after)}
    return [_link(row) for row in (*earlier.values(), *rows)]


def _link(row: Row) -> Single:
    fired = row["decision"] != DecisionKind.SKIPPED
    leads = After.FINISH if fired else After.EARLIER if row["reason"] == Reason.OVERLAP.value else After.DECISION
    kept = not fired or row["open"] or row["finished_at"] is not None
    return Single(row["slot_at"], row["tzdata"], row["decided_at"], leads, row["finished_at"], kept)
