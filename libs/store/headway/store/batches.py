"""Batches: the row beside a parent run, and its children as rows of `run` and `run_done`."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Boolean, Integer, Table, Text, Uuid, and_, exists, func, insert, or_, select, true, union_all, update
from sqlalchemy.sql.selectable import Select

from headway.core.batch import BatchAsk, Counts, Opener
from headway.core.errors import NotFound
from headway.core.outcome import RunOutcome
from headway.core.run import Cause, State
from headway.store.runs import columns
from headway.store.schema import batch, run, run_done
from headway.store.statement import array, const, hidden, now, param, statement
from headway.store.tx import Row, Tx

_child: Final = run.alias("child")
_opener: Final = run.alias("opener")
_mine: Final = and_(run.c.parent == param("parent", Uuid), run.c.batch_index.is_not(None))
_waits: Final = and_(run.c.state == const(State.HELD), run.c.cause == const(Cause.BATCH))
_this: Final = batch.c.parent == param("parent", Uuid)
CREATE: Final = statement(
    "batch_create",
    insert(batch).values(
        parent=param("parent", Uuid),
        tenant=param("tenant", Text),
        total=param("total", Integer),
        closed=param("closed", Boolean),
        max_concurrent=param("max_concurrent", Integer),
        mixed=param("mixed", Text),
        counted=param("counted", Boolean),
        triggers=param("triggers", Boolean),
        opened_by=param("opened_by", Uuid),
        opened_attempt=param("opened_attempt", Integer),
        created_at=now(),
        created_by=param("created_by", Text),
    ),
)
GET: Final = statement("batch_get", select(batch).where(_this))
LOCK: Final = statement("batch_lock", select(batch).where(_this).with_for_update())
LOCK_OPEN: Final = statement(
    "batch_lock_open",
    select(batch.c.parent)
    .where(batch.c.parent == func.any(array("parents", Uuid)), batch.c.ended_at.is_(None))
    .order_by(batch.c.parent)
    .with_for_update(),
)
LIST: Final = statement(
    "batch_list",
    select(batch)
    .where(batch.c.tenant == param("tenant", Text), or_(param("after", Uuid).is_(None), batch.c.parent < param("after", Uuid)))
    .order_by(batch.c.parent.desc())
    .limit(param("limit", Integer)),
)
GROW: Final = statement("batch_grow", update(batch).where(_this).values(total=batch.c.total + param("more", Integer)))
CLOSE: Final = statement("batch_close", update(batch).where(batch.c.parent == func.any(array("parents", Uuid))).values(closed=true()))
NOTE: Final = statement("batch_note", update(batch).where(_this).values(done=param("done", Integer)))
END: Final = statement("batch_end", update(batch).where(_this).values(ended_at=now(), closed=true()))
# What waits is held for its turn; every other open child was let in.
STANDING: Final = statement(
    "batch_standing",
    select(
        func.count().label("open"),
        func.count().filter(_waits).label("waiting"),
    ).where(_mine),
)
OUTCOMES: Final = statement(
    "batch_outcomes",
    select(run_done.c.outcome, func.count().label("runs"))
    .where(run_done.c.parent == param("parent", Uuid), run_done.c.batch_index.is_not(None), run_done.c.replayed_by.is_(None))
    .group_by(run_done.c.outcome),
)
WAITING: Final = statement(
    "batch_waiting", select(run.c.id).where(_mine, _waits).order_by(run.c.batch_index).limit(param("limit", Integer))
)
UNWISHED: Final = statement(
    "batch_unwished",
    select(run.c.id)
    .where(run.c.parent == func.any(array("parents", Uuid)), run.c.batch_index.is_not(None), run.c.cancel_requested_at.is_(None))
    .order_by(run.c.id)
    .limit(param("limit", Integer)),
)


def _page(table: Table) -> Select[Any]:
    return (
        select(*columns(table))
        .where(
            table.c.parent == param("parent", Uuid),
            table.c.batch_index.is_not(None),
            table.c.batch_index > param("after", Integer),
        )
        .order_by(table.c.batch_index, table.c.id)
        .limit(param("limit", Integer))
    )


_both = union_all(_page(run).subquery().select(), _page(run_done).subquery().select()).subquery()
CHILDREN: Final = statement("batch_children", select(_both).order_by(_both.c.batch_index, _both.c.id).limit(param("limit", Integer)))

_of = and_(_child.c.parent == batch.c.parent, _child.c.batch_index.is_not(None))
_turn = and_(_child.c.state == const(State.HELD), _child.c.cause == const(Cause.BATCH))
_let_in = select(func.count()).where(_of, ~_turn).scalar_subquery()
_opener_ended: Final = and_(
    ~batch.c.closed,
    batch.c.opened_by.is_not(None),
    ~exists().where(_opener.c.id == batch.c.opened_by, _opener.c.attempt == batch.c.opened_attempt, hidden(_opener.c.state, State.RUNNING)),
)
_wished: Final = and_(run.c.id == batch.c.parent, run.c.cancel_requested_at.is_not(None))
# Nothing of this lasts while reactions are worked off: it is for what was lost on the way, or given up.
STUCK: Final = statement(
    "batch_stuck",
    select(batch.c.parent, _opener_ended.label("opener_ended"), exists().where(_wished).label("wished"))
    .where(
        batch.c.ended_at.is_(None),
        or_(
            _opener_ended,
            and_(batch.c.closed, ~exists().where(_of)),
            and_(batch.c.max_concurrent > const(0), exists().where(_of, _turn), _let_in < batch.c.max_concurrent),
            and_(exists().where(_wished), exists().where(_of, _child.c.cancel_requested_at.is_(None))),
        ),
    )
    .order_by(batch.c.parent)
    .limit(param("limit", Integer)),
)


async def insert_row(tx: Tx, parent: UUID, wanted: BatchAsk) -> None:
    """Write the row of a batch beside its parent."""
    opener = wanted.opener or Opener(parent, 0)
    await tx.execute(
        CREATE,
        parent=parent,
        tenant=wanted.parent.tenant,
        total=len(wanted.children),
        closed=wanted.closed,
        max_concurrent=wanted.max_concurrent,
        mixed=wanted.mixed.value,
        counted=wanted.counted,
        triggers=wanted.triggers,
        opened_by=wanted.opener.run if wanted.opener else None,
        opened_attempt=opener.attempt,
        created_by=wanted.parent.created_by,
    )


async def get(tx: Tx, parent: UUID, tenant: str | None = "", *, locked: bool = False) -> Row:
    """Return a batch; `tenant` None means every tenant.  Raises NotFound when there is none or it belongs to another tenant."""
    row = await tx.fetch_one(LOCK if locked else GET, parent=parent)
    if row is None or tenant not in (None, row["tenant"]):
        raise NotFound(f"batch: there is no batch {parent}", code="batch_unknown")
    return row


async def lock_open(tx: Tx, ids: Sequence[UUID]) -> list[UUID]:
    """Lock those of these runs' batches that have not ended, and return their parents."""
    return [row["parent"] for row in await tx.fetch(LOCK_OPEN, parents=list(ids))]


async def listed(tx: Tx, tenant: str = "", *, after: UUID | None = None, limit: int = 50) -> Sequence[Row]:
    """Return batches, newest first, created before `after`."""
    return await tx.fetch(LIST, tenant=tenant, after=after, limit=limit)


async def children(tx: Tx, parent: UUID, *, after: int = -1, limit: int = 50) -> Sequence[Row]:
    """Return children, open and finished, in the order of their index, after the given one."""
    return await tx.fetch(CHILDREN, parent=parent, after=after, limit=limit)


async def outcomes(tx: Tx, row: Row) -> Counts:
    """Return how many children of a batch have ended in which way, those included whose rows are not kept any more."""
    counts = {RunOutcome(int(outcome)): int(runs) for outcome, runs in row["dropped"].items()}
    for one in await tx.fetch(OUTCOMES, parent=row["parent"]):
        outcome = RunOutcome(one["outcome"])
        counts[outcome] = counts.get(outcome, 0) + one["runs"]
    return counts


async def unwished(tx: Tx, parents: Sequence[UUID], limit: int) -> list[UUID]:
    """Return open children of these batches that nobody has cancelled yet."""
    return [row["id"] for row in await tx.fetch(UNWISHED, parents=list(parents), limit=limit)] if parents else []


async def stuck(tx: Tx, limit: int = 100) -> Sequence[Row]:
    """Return batches that somebody has to look at: `opener_ended` ones are to be closed, `wished` ones to be cancelled further."""
    return await tx.fetch(STUCK, limit=limit)
