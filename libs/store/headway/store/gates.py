"""Admit: the one operation that decides where a run that is due goes, for definitions that limit or pause their runs.

Whoever admits or frees takes the definition's advisory lock first, so that a count is never stale.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Integer, SmallInteger, Text, Uuid, and_, cast, func, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from headway.core.gate import HOUR, Admission, Limits, Usage, admit, after
from headway.core.run import Cause, State
from headway.store.schema import definition, rate_bucket, run
from headway.store.statement import INSTANT, array, const, given, now, param, statement
from headway.store.tx import Row, Tx

WAITERS_LOOKED_AT: Final = 32
# A bucket is a minute wide: its last run is an hour old when the minute after that hour ends.
COUNTED_FOR: Final = HOUR + timedelta(minutes=1)


class Placed(NamedTuple):
    """Where admit put a run; `refusal` is not empty when whoever asked may be turned away."""

    id: UUID
    state: State
    queue: str
    priority: int
    refusal: str = ""


LOCK: Final = statement(
    "gate_lock", select(func.pg_advisory_xact_lock(func.hashtextextended(cast(param("definition", Uuid), Text), const(0))))
)
CANDIDATES: Final = statement(
    "gate_candidates",
    select(run.c.id, run.c.definition_id, run.c.queue, run.c.priority, run.c.state, run.c.cause)
    .where(
        run.c.id == func.any(array("ids", Uuid)),
        or_(run.c.state == const(State.HELD), and_(run.c.state == const(State.SCHEDULED), run.c.available_at <= now())),
    )
    .order_by(run.c.id)
    .with_for_update(),
)
DEFINITIONS: Final = statement(
    "gate_definitions", select(func.distinct(run.c.definition_id)).where(run.c.id == func.any(array("ids", Uuid)))
)
GATED: Final = statement(
    "gate_of_runs", select(func.distinct(run.c.definition_id)).where(run.c.id == func.any(array("ids", Uuid)), run.c.gated)
)
LIMITS: Final = statement(
    "gate_limits",
    select(
        definition.c.id,
        definition.c.max_concurrent_runs,
        definition.c.max_runs_per_hour,
        (definition.c.over_limit == literal_column("'refuse'", Text)).label("refuse"),
        definition.c.paused_at.is_not(None).label("paused"),
        select(func.count())
        .where(run.c.definition_id == definition.c.id, run.c.gated, run.c.state.in_([const(State.QUEUED), const(State.RUNNING)]))
        .scalar_subquery()
        .label("active"),
        select(func.coalesce(func.sum(rate_bucket.c.runs), const(0)))
        .where(rate_bucket.c.definition == definition.c.id, rate_bucket.c.minute > param("since", INSTANT))
        .scalar_subquery()
        .label("last_hour"),
        select(func.min(rate_bucket.c.minute))
        .where(rate_bucket.c.definition == definition.c.id, rate_bucket.c.minute > param("since", INSTANT))
        .scalar_subquery()
        .label("oldest"),
    ).where(definition.c.id == func.any(array("definitions", Uuid))),
)
_placed = given("o", ids=Uuid, states=SmallInteger, causes=SmallInteger, dues=INSTANT).c
PLACE: Final = statement(
    "gate_place",
    update(run)
    .where(run.c.id == _placed.ids, run.c.state < const(State.QUEUED))
    .values(state=_placed.states, cause=_placed.causes, available_at=func.coalesce(_placed.dues, run.c.available_at)),
)
_counted = given("c", definition=Uuid, runs=Integer).c
COUNT: Final = statement(
    "gate_count",
    insert(rate_bucket)
    .from_select(["definition", "minute", "runs"], select(_counted.definition, param("minute", INSTANT), _counted.runs))
    .on_conflict_do_update(index_elements=["definition", "minute"], set_={"runs": rate_bucket.c.runs + insert(rate_bucket).excluded.runs}),
)
WAITERS: Final = statement(
    "gate_waiters",
    select(run.c.id)
    .where(
        run.c.definition_id == param("definition", Uuid),
        run.c.state == const(State.HELD),
        or_(run.c.cause == const(Cause.CONCURRENCY), run.c.cause == const(Cause.PAUSED)),
    )
    .order_by(-run.c.priority, run.c.available_at, run.c.id)
    .limit(param("limit", Integer)),
)
WAITED_FOR: Final = statement(
    "gate_waited_for",
    select(func.distinct(run.c.definition_id)).where(
        run.c.state == const(State.HELD), or_(run.c.cause == const(Cause.CONCURRENCY), run.c.cause == const(Cause.PAUSED))
    ),
)


async def lock(tx: Tx, definitions: Iterable[UUID]) -> None:
    """Take the gates of these definitions until the transaction ends, in an order that cannot deadlock."""
    for definition_id in sorted(set(definitions)):
        await tx.execute(LOCK, definition=definition_id)


async def lock_of(tx: Tx, ids: Sequence[UUID]) -> None:
    """Take the gates that these runs hold or wait for; whoever moves runs does so before it locks them."""
    await lock(tx, [row[0] for row in map(_values, await tx.fetch(GATED, ids=list(ids)))])


async def place(tx: Tx, ids: Sequence[UUID]) -> list[Placed]:
    """Admit runs that are due: each becomes queued, held with its cause, or scheduled for later.  Order in, order of admission."""
    if not ids:
        return []
    definitions = [row[0] for row in map(_values, await tx.fetch(DEFINITIONS, ids=list(ids)))]
    await lock(tx, definitions)
    limits, usage = await _facts(tx, definitions)
    rows = {row["id"]: row for row in await tx.fetch(CANDIDATES, ids=sorted(ids))}
    decided: list[tuple[Row, Admission]] = []
    for row in (rows[id_] for id_ in ids if id_ in rows):
        key = row["definition_id"]
        admission = admit(limits.get(key, Limits()), usage.get(key, Usage()), tx.now)
        usage[key] = after(usage.get(key, Usage()), admission, tx.now)
        decided.append((row, admission))
    await _write(tx, decided, limits)
    return [_placement(row, admission, limits) for row, admission in decided]


async def promote(tx: Tx, definitions: Iterable[UUID], limit: int = WAITERS_LOOKED_AT) -> list[Placed]:
    """Let waiters of these definitions in, as far as their limits allow: priority first, then due instant, then id."""
    placed: list[Placed] = []
    for definition_id in sorted(set(definitions)):
        await lock(tx, [definition_id])
        waiters = [row["id"] for row in await tx.fetch(WAITERS, definition=definition_id, limit=limit)]
        placed += await place(tx, waiters)
    return [run for run in placed if run.state is State.QUEUED]


async def waited_for(tx: Tx) -> list[UUID]:
    """Return the definitions that runs are waiting for."""
    return [row[0] for row in map(_values, await tx.fetch(WAITED_FOR))]


def _values(row: Row) -> tuple[Any, ...]:
    return tuple(row.values())


async def _facts(tx: Tx, definitions: Sequence[UUID]) -> tuple[dict[UUID, Limits], dict[UUID, Usage]]:
    rows = await tx.fetch(LIMITS, definitions=list(definitions), since=tx.now - COUNTED_FOR)
    limits = {row["id"]: Limits(row["max_concurrent_runs"], row["max_runs_per_hour"], row["refuse"], row["paused"]) for row in rows}
    usage = {row["id"]: Usage(row["active"], int(row["last_hour"]), _frees_at(row["oldest"])) for row in rows}
    return limits, usage


def _frees_at(oldest: datetime | None) -> datetime | None:
    return None if oldest is None else oldest + COUNTED_FOR


async def _write(tx: Tx, decided: Sequence[tuple[Row, Admission]], limits: dict[UUID, Limits]) -> None:
    moving = [(row, admission) for row, admission in decided if _moves(row, admission)]
    if moving:
        await tx.execute(
            PLACE,
            ids=[row["id"] for row, _ in moving],
            states=[int(admission.state) for _, admission in moving],
            causes=[int(admission.cause) for _, admission in moving],
            dues=[admission.due for _, admission in moving],
        )
    counted: dict[UUID, int] = {}
    for row, admission in decided:
        key = row["definition_id"]
        if admission.state is State.QUEUED and limits.get(key, Limits()).max_runs_per_hour:
            counted[key] = counted.get(key, 0) + 1
    if counted:
        minute = tx.now.replace(second=0, microsecond=0)
        await tx.execute(COUNT, definition=list(counted), runs=list(counted.values()), minute=minute)


def _moves(row: Row, admission: Admission) -> bool:
    return admission.due is not None or (row["state"], row["cause"]) != (admission.state, admission.cause)


def _placement(row: Row, admission: Admission, limits: dict[UUID, Limits]) -> Placed:
    refuses = limits.get(row["definition_id"], Limits()).refuse
    return Placed(row["id"], admission.state, row["queue"], row["priority"], admission.refusal if refuses else "")
