"""Accept runs: one INSERT for however many are asked for at once, whoever asked.

A definition without gates gives `queued` runs; one with gates, or a due instant ahead, gives `scheduled` ones, which admit or the due
step moves on.  A definition that is unknown or disabled answers for its own asks only.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Executable,
    FromClause,
    Integer,
    Interval,
    LargeBinary,
    SmallInteger,
    Text,
    Uuid,
    case,
    false,
    func,
    insert,
    literal_column,
    or_,
    select,
    true,
)

from headway.core.ask import INLINE_BYTES, Ask, Origin
from headway.core.errors import Conflict, HeadwayError, Invalid, NotFound
from headway.core.ids import make_ids
from headway.core.run import Cause, State
from headway.store import watched
from headway.store.schema import definition, run, run_input
from headway.store.sealing import sealed_asks
from headway.store.statement import INSTANT, const, given, now, param, statement
from headway.store.tx import Row, Tx

__all__ = ["Accepted", "Ask", "Origin", "create"]

MAX_RUN: Final = timedelta(hours=24)
READINGS: Final = 3


class Accepted(NamedTuple):
    """A run that now exists.  `gated` ones wait for admit, `queued` ones may be announced."""

    id: UUID
    state: State
    queue: str
    priority: int
    gated: bool
    existing: bool = False


_COLUMNS: Final[Mapping[str, Any]] = {
    "id": Uuid,
    "wanted": Text,
    "owner": Text,
    "tenant": Text,
    "priority": SmallInteger,
    "available_at": INSTANT,
    "created_by": Text,
    "origin": SmallInteger,
    "parent": Uuid,
    "schedule": Uuid,
    "slot_at": INSTANT,
    "token": Uuid,
    "key": Text,
    "correlation": Text,
    "params": Text,
    "owes": SmallInteger,
    "cause": SmallInteger,
    "depth": SmallInteger,
    "attempt": Integer,
    "sealed": Integer,
    "batch_index": Integer,
    "counted": Boolean,
    "has_input": Boolean,
    "forced": Boolean,
}


_given_runs = given("given", **_COLUMNS)
_g, _d = _given_runs.c, definition.c
_asks_first = or_(_d.gated, _d.paused_at.is_not(None), _d.tripped)


def _state(at: ColumnElement[datetime], due: ColumnElement[datetime], asked: Any) -> ColumnElement[int]:
    return case(
        (asked.cause.is_not(None), const(State.HELD)),
        (or_(due > at, _asks_first), const(State.SCHEDULED)),
        else_=const(State.QUEUED),
    )


def _starts(asked: Any) -> ColumnElement[bool]:
    """A parent of children never starts, and so never too late."""
    starts: ColumnElement[bool] = asked.cause.is_distinct_from(const(Cause.CHILDREN))
    return starts


def _values(at: ColumnElement[datetime], asked: Any) -> dict[str, Any]:
    due = func.coalesce(asked.available_at, at)
    return {
        "id": asked.id,
        "state": _state(at, due, asked),
        "tenant": asked.tenant,
        "definition": _d.name,
        "definition_id": _d.id,
        "definition_version": _d.version,
        "handler": _d.handler,
        "queue": _d.queue,
        "priority": func.coalesce(asked.priority, _d.priority),
        "available_at": due,
        "created_at": at,
        "created_by": asked.created_by,
        "origin": asked.origin,
        "parent": asked.parent,
        "schedule": asked.schedule,
        "slot_at": asked.slot_at,
        "token": asked.token,
        "key": asked.key,
        "correlation": asked.correlation,
        "params": asked.params,
        "timeout": case((_d.timeout == literal_column("interval '0'", Interval), param("max_run", Interval)), else_=_d.timeout),
        "keep_days": _d.retention_days,
        "restartable": _d.restartable,
        "gated": _asks_first,
        "owes": asked.owes,
        "cause": func.coalesce(asked.cause, const(0)),
        "depth": func.coalesce(asked.depth, const(0)),
        "attempt": func.coalesce(asked.attempt, const(0)),
        "batch_index": asked.batch_index,
        "counted": func.coalesce(asked.counted, true()),
        "start_by": case((_starts(asked), due + _d.start_by)),
        "must_start_by": case((_starts(asked), due + watched.span("must_start_by"))),
        "has_input": asked.has_input,
        "forced": func.coalesce(asked.forced, false()),
    }


def _safe(asked: Any) -> ColumnElement[bool]:
    """A definition with secret parameters takes what was sealed by the specification that stands, and nothing else."""
    return or_(~_d.secret, _d.version == asked.sealed)


def _create(at: ColumnElement[datetime], asked: Any, source: FromClause, *only: ColumnElement[bool]) -> Executable:
    values = _values(at, asked)
    rows = select(*values.values()).select_from(source).where(_d.enabled, _safe(asked), *only)
    made = insert(run).from_select(list(values), rows)
    return made.returning(run.c.id, run.c.state, run.c.queue, run.c.priority, run.c.gated)


CREATE: Final = statement(
    "run_create",
    _create(param("now", INSTANT), _g, _given_runs.join(definition, (_d.tenant == _g.owner) & (_d.name == _g.wanted))),
)
_one = SimpleNamespace(**{name: param(name, kind) for name, kind in _COLUMNS.items()})
_clock = select(now().label("at")).subquery("clock")
CREATE_ALONE: Final = statement(
    "run_create_alone",
    _create(
        _clock.c.at,
        _one,
        definition.join(_clock, true()),
        ~_asks_first,
        _d.tenant == param("owner", Text),
        _d.name == param("wanted", Text),
    ),
)
_given_inputs = given("given", run=Uuid, params=Text, payload=LargeBinary, traceparent=Text)
CREATE_INPUT: Final = statement(
    "run_create_input", insert(run_input).from_select(["run", "params", "payload", "traceparent"], select(*_given_inputs.c))
)
FIND: Final = statement("definition_enabled", select(_d.enabled).where(_d.tenant == param("tenant", Text), _d.name == param("name", Text)))


async def create(
    tx: Tx, asks: Sequence[Ask], *, ids: Sequence[UUID] | None = None, max_run: timedelta = MAX_RUN
) -> list[Accepted | HeadwayError]:
    """Insert the runs that are asked for and answer each ask in its place: the run, or the error that is its own.

    `ids` are what `make_ids` gave in this transaction, for whoever has to know them before.
    NotFound: no such definition.  Conflict: it is disabled.  Invalid: a secret parameter that cannot be sealed.  Raises Unavailable.
    """
    wanted = dict(zip(make_ids(tx.now, len(asks)) if ids is None else ids, asks, strict=True))
    answers: dict[UUID, Accepted | HeadwayError] = {**await _insert(tx, wanted, max_run)}
    if len(answers) < len(wanted):
        answers |= await _create_secret(tx, {id_: ask for id_, ask in wanted.items() if id_ not in answers}, max_run)
    return [answers.get(id_) or await _refusal(tx, ask) for id_, ask in wanted.items()]


async def _insert(tx: Tx, wanted: Mapping[UUID, Ask], max_run: timedelta) -> dict[UUID, Accepted]:
    rows = await tx.fetch(CREATE, now=tx.now, max_run=max_run, **_arrays(list(wanted), list(wanted.values()), tx.now))
    made = {row["id"]: _accepted(row) for row in rows}
    if cold := [(id_, ask) for id_, ask in wanted.items() if id_ in made and not ask.inline]:
        await _keep_inputs(tx, cold)
    return made


async def _create_secret(tx: Tx, wanted: Mapping[UUID, Ask], max_run: timedelta) -> dict[UUID, Accepted | HeadwayError]:
    """Make the runs whose definitions have secret parameters; a specification that changes meanwhile is read again."""
    answers: dict[UUID, Accepted | HeadwayError] = {}
    for _ in range(READINGS):
        sealed = await sealed_asks(tx, {id_: ask for id_, ask in wanted.items() if id_ not in answers})
        answers |= {id_: one for id_, one in sealed.items() if isinstance(one, Invalid)}
        asks = {id_: one for id_, one in sealed.items() if isinstance(one, Ask)}
        if not asks:
            break
        answers |= await _insert(tx, asks, max_run)
    return answers


async def create_alone(tx: Tx, ask: Ask, id_: UUID, *, max_run: timedelta = MAX_RUN) -> Accepted | None:
    """Insert one run in a statement that is a transaction of its own; None when more is to be done than that.

    That is the case for a definition that is unknown, disabled or asks its gates first.  `ask` has to be `lone`.  Raises Unavailable.
    """
    row = await tx.fetch_one(CREATE_ALONE, max_run=max_run, **_columns(id_, ask))
    return None if row is None else _accepted(row)


def _columns(id_: UUID, ask: Ask) -> dict[str, object]:
    given = ask._asdict()
    told = {
        "id": id_,
        "wanted": ask.definition,
        "owner": ask.owner,
        "available_at": ask.at,
        "origin": int(ask.origin),
        "cause": ask.cause or None,
        "counted": _unusual(ask.counted),
        "has_input": False,
    }
    return {name: told[name] if name in told else given[name] for name in _COLUMNS}


def _accepted(row: Row) -> Accepted:
    id_, state, queue, priority, gated = row.values()
    return Accepted(id_, State(state), queue, priority, gated)


def _arrays(ids: Sequence[UUID], asks: Sequence[Ask], now: datetime) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {
        "id": list(ids),
        "wanted": [ask.definition for ask in asks],
        "owner": [ask.owner for ask in asks],
        "tenant": [ask.tenant for ask in asks],
        "priority": [ask.priority for ask in asks],
        "available_at": [ask.due(now) for ask in asks],
        "created_by": [ask.created_by for ask in asks],
        "origin": [int(ask.origin) for ask in asks],
        "parent": [ask.parent for ask in asks],
        "schedule": [ask.schedule for ask in asks],
        "slot_at": [ask.slot_at for ask in asks],
        "token": [ask.token for ask in asks],
        "key": [ask.key for ask in asks],
        "correlation": [ask.correlation for ask in asks],
        "params": [ask.params if len(ask.params or "") <= INLINE_BYTES else None for ask in asks],
        "owes": [ask.owes for ask in asks],
        "cause": [int(ask.cause) or None for ask in asks],
        "depth": [ask.depth or None for ask in asks],
        "attempt": [ask.attempt or None for ask in asks],
        "sealed": [ask.sealed or None for ask in asks],
        "batch_index": [ask.batch_index for ask in asks],
        "counted": [_unusual(ask.counted) for ask in asks],
        "has_input": [not ask.inline for ask in asks],
        "forced": [ask.forced or None for ask in asks],
    }
    # `unnest` fills a shorter array with NULL, and the driver takes longest to look at what is not there.
    return {name: column if column.count(None) < len(column) else [] for name, column in columns.items()}


def _unusual(counted: bool) -> bool | None:
    return None if counted else False


async def _keep_inputs(tx: Tx, cold: Sequence[tuple[UUID, Ask]]) -> None:
    await tx.execute(
        CREATE_INPUT,
        run=[id_ for id_, _ in cold],
        params=[ask.params if len(ask.params or "") > INLINE_BYTES else None for _, ask in cold],
        payload=[ask.payload for _, ask in cold],
        traceparent=[ask.traceparent for _, ask in cold],
    )


async def _refusal(tx: Tx, ask: Ask) -> HeadwayError:
    enabled = await tx.fetch_value(FIND, tenant=ask.owner, name=ask.definition)
    if enabled is None:
        return NotFound(f"definition: there is no definition {ask.definition!r}", code="definition_unknown")
    if not enabled:
        return Conflict(f"definition: {ask.definition!r} is disabled", code="definition_disabled")
    return Conflict(f"definition: {ask.definition!r} is being changed, try again", code="definition_contested")
