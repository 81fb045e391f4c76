"""Read runs, open and finished alike."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Boolean, Integer, SmallInteger, Table, Text, Uuid, and_, cast, func, literal_column, null, or_, select, union_all
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from headway.core.run import State
from headway.store.schema import run, run_done, run_input
from headway.store.schema.work import LASTING
from headway.store.statement import INSTANT, array, const, now, param, statement
from headway.store.tx import Row, Tx

_ENDED: Final = ("outcome", "finished_at", "result", "error", "replayed_by")


def columns(table: Table) -> list[ColumnElement[Any]]:
    """Return what is read of a run, under the same names whether it is open or finished."""
    shared: list[ColumnElement[Any]] = [table.c.id, table.c.state, *[table.c[name] for name in LASTING]]
    if table is run_done:
        return [*shared, literal_column("0::smallint", SmallInteger).label("cause"), *[table.c[name] for name in _ENDED]]
    return [*shared, table.c.cause, *[cast(null(), run_done.c[name].type).label(name) for name in _ENDED]]


@dataclass(frozen=True, slots=True)
class Filter:
    """What a listing is narrowed to; None does not narrow."""

    state: Sequence[int] | None = None
    definition: str | None = None
    queue: str | None = None
    correlation: str | None = None
    schedule: UUID | None = None
    parent: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


def _matches(table: Table) -> ColumnElement[bool]:
    return and_(
        or_(param("all_tenants", Boolean), table.c.tenant == param("tenant", Text)),
        or_(array("state", SmallInteger).is_(None), table.c.state == func.any(array("state", SmallInteger))),
        or_(param("definition", Text).is_(None), table.c.definition == param("definition", Text)),
        or_(param("queue", Text).is_(None), table.c.queue == param("queue", Text)),
        or_(param("correlation", Text).is_(None), table.c.correlation == param("correlation", Text)),
        or_(param("schedule", Uuid).is_(None), table.c.schedule == param("schedule", Uuid)),
        or_(param("parent", Uuid).is_(None), table.c.parent == param("parent", Uuid)),
        or_(param("since", INSTANT).is_(None), table.c.created_at >= param("since", INSTANT)),
        or_(param("until", INSTANT).is_(None), table.c.created_at < param("until", INSTANT)),
        or_(param("after", Uuid).is_(None), table.c.id < param("after", Uuid)),
    )


def _page(table: Table) -> Select[Any]:
    return select(*columns(table)).where(_matches(table)).order_by(table.c.id.desc()).limit(param("limit", Integer))


_both = union_all(_page(run).subquery().select(), _page(run_done).subquery().select()).subquery()
LIST: Final = statement("run_list", select(_both).order_by(_both.c.id.desc()).limit(param("limit", Integer)))


def _of_ids(table: Table) -> Select[Any]:
    return select(*columns(table)).where(table.c.id == func.any(array("ids", Uuid)))


GET: Final = statement("run_get", union_all(_of_ids(run), _of_ids(run_done)))
STATES: Final = statement(
    "run_states",
    union_all(*[select(table.c.id, table.c.state).where(table.c.id == func.any(array("ids", Uuid))) for table in (run, run_done)]),
)
INPUT: Final = statement("run_input_get", select(run_input).where(run_input.c.run == param("run", Uuid)))
BACKLOG: Final = statement(
    "run_backlog",
    select(run.c.queue, run.c.state, func.count().label("runs"), (now() - func.min(run.c.available_at)).label("age")).group_by(
        run.c.queue, run.c.state
    ),
)
QUEUED: Final = statement(
    "run_queued_ids",
    select(run.c.id, run.c.queue, run.c.priority)
    .where(
        run.c.state == const(State.QUEUED),
        or_(param("definition", Text).is_(None), run.c.definition == param("definition", Text)),
        or_(param("after", Uuid).is_(None), run.c.id > param("after", Uuid)),
    )
    .order_by(run.c.id)
    .limit(param("limit", Integer)),
)
QUEUES: Final = statement("run_queues", select(run.c.queue).where(run.c.state == const(State.QUEUED)).distinct())


class Queued(NamedTuple):
    """A run that a hint may name."""

    id: UUID
    queue: str
    priority: int


async def listed(tx: Tx, wanted: Filter, *, tenant: str | None = "", after: UUID | None = None, limit: int = 50) -> Sequence[Row]:
    """Return runs, newest first, created before `after`; `tenant` None means every tenant."""
    return await tx.fetch(LIST, **asdict(wanted), tenant=tenant or "", all_tenants=tenant is None, after=after, limit=limit)


async def get(tx: Tx, run_id: UUID, tenant: str | None = "") -> Row | None:
    """Return one run, or None when there is none or it belongs to another tenant; `tenant` None means every tenant."""
    row = await tx.fetch_one(GET, ids=[run_id])
    return row if row is not None and tenant in (None, row["tenant"]) else None


async def states(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, State]:
    """Return where each of these runs stands; one that never existed is missing."""
    return {row["id"]: State(row["state"]) for row in await tx.fetch(STATES, ids=list(ids))}


async def params_text(tx: Tx, row: Row) -> str | None:
    """Return a run's parameters as JSON text, wherever they are kept."""
    if row["params"] is not None:
        return str(row["params"])
    kept = await tx.fetch_one(INPUT, run=row["id"])
    return None if kept is None else kept["params"]


async def queued(tx: Tx, *, definition: str | None = None, after: UUID | None = None, limit: int = 1000) -> list[Queued]:
    """Return queued runs by id, for whoever wants to announce them again."""
    return [Queued._make(row.values()) for row in await tx.fetch(QUEUED, definition=definition, after=after, limit=limit)]


async def backlog(tx: Tx) -> Sequence[Row]:
    """Return, by queue and state, how many runs are open and how long the oldest has been due."""
    return await tx.fetch(BACKLOG)
