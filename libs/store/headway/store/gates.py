"""Admit: the one operation that decides where a run that is due goes, for definitions that limit, restrict or pause their runs.

Whoever admits or frees takes the definition's advisory lock first, with those of all that restrictions tie to it: no count is ever stale.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Integer, SmallInteger, Text, Uuid, and_, cast, func, or_, select, true, union_all, update
from sqlalchemy.dialects.postgresql import insert

from headway.core.gate import PASSABLE, PATIENCE, Admission, Asking, Limits, admit_each
from headway.core.run import Cause, State
from headway.store import limits
from headway.store.schema import definition, rate_bucket, restriction, run
from headway.store.statement import INSTANT, array, const, given, now, param, statement
from headway.store.tx import Row, Tx

WAITERS_LOOKED_AT: Final = 32
# Why a run is held that admit decides about again; the others wait for somebody else.
LET_IN: Final = (Cause.PAUSED, Cause.BREAKER, Cause.CONCURRENCY, Cause.GATE)


class Placed(NamedTuple):
    """Where admit put a run; `refusal` is not empty when whoever asked may be turned away."""

    id: UUID
    state: State
    queue: str
    priority: int
    refusal: str = ""


_asked = select(func.unnest(array("definitions", Uuid)).label("id")).cte("tied", recursive=True)
_pairs = union_all(
    select(restriction.c.first.label("one"), restriction.c.second.label("other")),
    select(restriction.c.second, restriction.c.first),
).subquery("pairs")
_tied = _asked.union(select(_pairs.c.other).join(_asked, _pairs.c.one == _asked.c.id))
_sorted = select(_tied.c.id).order_by(_tied.c.id).cte("sorted").prefix_with("MATERIALIZED")
LOCK: Final = statement(
    "gate_lock", select(_sorted.c.id, func.pg_advisory_xact_lock(func.hashtextextended(cast(_sorted.c.id, Text), const(0))).label("taken"))
)
CANDIDATES: Final = statement(
    "gate_candidates",
    select(
        run.c.id,
        run.c.definition_id,
        run.c.queue,
        run.c.priority,
        run.c.available_at,
        run.c.state,
        run.c.cause,
        run.c.forced,
        run.c.counted,
    )
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
_waits = and_(run.c.state == const(State.HELD), run.c.cause.in_([const(cause) for cause in LET_IN]))
_of = given("d", definitions=Uuid).c
_waiter = (
    select(run.c.id, run.c.priority, run.c.available_at)
    .where(run.c.definition_id == _of.definitions, _waits)
    .order_by(-run.c.priority, run.c.available_at, run.c.id)
    .limit(param("limit", Integer))
    .lateral("waiter")
)
WAITERS: Final = statement(
    "gate_waiters",
    select(_waiter.c.id)
    .select_from(_of.definitions.table.join(_waiter, true()))
    .order_by(-_waiter.c.priority, _waiter.c.available_at, _waiter.c.id),
)
_longest = (
    select(run.c.id, run.c.available_at)
    .where(
        run.c.definition_id == definition.c.id,
        run.c.state == const(State.HELD),
        run.c.cause.in_([const(cause) for cause in PASSABLE]),
        run.c.available_at <= param("before", INSTANT),
    )
    .order_by(run.c.available_at, run.c.id)
    .limit(param("limit", Integer))
    .lateral("longest")
)
PASSED_OVER: Final = statement(
    "gate_passed_over",
    select(_longest.c.id, definition.c.id.label("definition_id"))
    .select_from(definition.join(_longest, true()))
    .where(definition.c.id == func.any(array("definitions", Uuid)), definition.c.paused_at.is_(None), ~definition.c.tripped)
    .order_by(_longest.c.available_at, _longest.c.id),
)
WAITED_FOR: Final = statement("gate_waited_for", select(func.distinct(run.c.definition_id)).where(_waits))


async def lock(tx: Tx, definitions: Iterable[UUID]) -> frozenset[UUID]:
    """Take the gates of these definitions until the transaction ends, with those of all that restrictions tie to them, and return all.

    They are taken in an order that cannot deadlock.
    """
    asked = sorted(set(definitions))
    return frozenset(row["id"] for row in await tx.fetch(LOCK, definitions=asked)) if asked else frozenset()


async def lock_of(tx: Tx, ids: Sequence[UUID]) -> None:
    """Take the gates that these runs hold or wait for; whoever moves runs does so before it locks them."""
    await lock(tx, [row[0] for row in map(_values, await tx.fetch(GATED, ids=list(ids)))])


async def place(tx: Tx, ids: Sequence[UUID], *, kept: bool = False) -> list[Placed]:
    """Admit runs that are due: each becomes queued, held with its cause, or scheduled for later.  Order in, order of admission.

    Ahead of them, in the answer as well, stand waiters that have been passed over for a minute; `kept` runs stand ahead of everybody, for
    they were let in before.
    """
    if not ids:
        return []
    definitions = {row[0] for row in map(_values, await tx.fetch(DEFINITIONS, ids=list(ids)))}
    tied = await lock(tx, definitions)
    ahead = {} if kept else await _passed_over(tx, tied)
    facts = await limits.read(tx, sorted(definitions.union(ahead.values())), tied)
    order = dict.fromkeys([*ahead, *ids])
    rows = {row["id"]: row for row in await tx.fetch(CANDIDATES, ids=sorted(order))}
    asked = [rows[id_] for id_ in order if id_ in rows]
    asking = [Asking(row["definition_id"], row["available_at"], Cause(row["cause"]), row["forced"], row["counted"], kept) for row in asked]
    decided = list(zip(asked, admit_each(facts.limits, facts.usage, facts.partners, asking, tx.now), strict=True))
    await _write(tx, decided, {} if kept else facts.limits)
    return [_placement(row, admission, facts.limits) for row, admission in decided]


async def promote(tx: Tx, definitions: Iterable[UUID], limit: int = WAITERS_LOOKED_AT) -> list[Placed]:
    """Let waiters in, as far as limits allow, of these definitions and of all that restrictions tie to them, at most `limit` of each.

    Whoever was passed over for a minute comes first, then priority, then due instant, then id.
    """
    tied = await lock(tx, definitions)
    waiters = [row["id"] for row in await tx.fetch(WAITERS, definitions=sorted(tied), limit=limit)] if tied else []
    return [run for run in await place(tx, waiters) if run.state is State.QUEUED]


async def waited_for(tx: Tx) -> list[UUID]:
    """Return the definitions that runs are waiting for."""
    return [row[0] for row in map(_values, await tx.fetch(WAITED_FOR))]


def _values(row: Row) -> tuple[Any, ...]:
    return tuple(row.values())


async def _passed_over(tx: Tx, tied: Iterable[UUID]) -> dict[UUID, UUID]:
    """Return who has waited for a minute at gates that are taken, the longest due first, with the definition of each."""
    rows = await tx.fetch(PASSED_OVER, definitions=sorted(tied), before=tx.now - PATIENCE, limit=WAITERS_LOOKED_AT)
    return {row["id"]: row["definition_id"] for row in rows}


async def _write(tx: Tx, decided: Sequence[tuple[Row, Admission]], allowed: dict[UUID, Limits]) -> None:
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
        if admission.state is State.QUEUED and allowed.get(key, Limits()).max_runs_per_hour:
            counted[key] = counted.get(key, 0) + 1
    if counted:
        minute = tx.now.replace(second=0, microsecond=0)
        await tx.execute(COUNT, definition=list(counted), runs=list(counted.values()), minute=minute)


def _moves(row: Row, admission: Admission) -> bool:
    return admission.due is not None or (row["state"], row["cause"]) != (admission.state, admission.cause)


def _placement(row: Row, admission: Admission, allowed: dict[UUID, Limits]) -> Placed:
    refuses = allowed.get(row["definition_id"], Limits()).refuse
    return Placed(row["id"], admission.state, row["queue"], row["priority"], admission.refusal if refuses else "")
