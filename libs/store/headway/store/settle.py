"""Settle: the only way into a final state.

Each final statement deletes the open row, inserts the finished one and records the reactions owed, at once; each is guarded by the
fence `(session, attempt)` for a run that is held by a session, or by its state for one that is not.
"""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    Date,
    Integer,
    SmallInteger,
    Text,
    Uuid,
    case,
    cast,
    column,
    delete,
    func,
    insert,
    literal_column,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql.elements import ColumnElement

from headway.core.outcome import AttemptOutcome
from headway.core.run import Settlement, State
from headway.store.schema import reaction, run, run_done
from headway.store.schema.work import LASTING
from headway.store.statement import array, const, now, param, statement

FOREVER: Final = literal_column("'infinity'::date", Date)
ATTEMPT_NEEDS_NO_ROW: Final = frozenset({AttemptOutcome.SUCCESS, AttemptOutcome.SKIPPED})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided for one run, with the fence under which it was decided; `session` None for a run that nobody holds."""

    run: UUID
    attempt: int
    settlement: Settlement
    session: UUID | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """A run that really moved.  One that a stale fence asked for is missing."""

    id: UUID
    state: State
    definition: str
    definition_id: UUID
    schedule: UUID | None
    queue: str
    priority: int
    owes: int
    gated: bool
    attempt: int


_o = (
    func.unnest(
        array("ids", Uuid),
        array("attempts", Integer),
        array("states", SmallInteger),
        array("outcomes", SmallInteger),
        array("failures", SmallInteger),
        array("crashes", SmallInteger),
        array("reasons", Text),
        array("results", Text),
        array("errors", JSONB),
    )
    .table_valued(
        column("run_id", Uuid),
        column("fence", Integer),
        column("next_state", SmallInteger),
        column("outcome", SmallInteger),
        column("failed", SmallInteger),
        column("crashed", SmallInteger),
        column("why", Text),
        column("result", Text),
        column("error", JSONB),
    )
    .render_derived(name="o")
)
_REPLACED: Final = {"failures": _o.c.failed, "crashes": _o.c.crashed}


def _finishing(guard: ColumnElement[bool]) -> Any:
    gone = (
        delete(run)
        .where(run.c.id == _o.c.run_id, run.c.attempt == _o.c.fence, guard)
        .returning(
            run.c.id,
            run.c.gated,
            run.c.keep_days,
            *[_REPLACED.get(name, run.c[name]).label(name) for name in LASTING if name != "reason"],
            case(
                (run.c.cancel_requested_at.is_not(None) & (_o.c.next_state == const(State.SUCCEEDED)), literal_column("'finished before cancel'", Text)),
                else_=func.coalesce(_o.c.why, run.c.reason),
            ).label("reason"),
            _o.c.next_state,
            _o.c.outcome,
            _o.c.result,
            _o.c.error,
        )
        .cte("gone")
    )
    drop_on = case((gone.c.keep_days == const(0), FOREVER), else_=cast(now(), Date) + gone.c.keep_days)
    kept = (
        insert(run_done)
        .from_select(
            ["id", "drop_on", "state", *LASTING, "outcome", "finished_at", "result", "error"],
            select(
                gone.c.id,
                drop_on,
                gone.c.next_state,
                *[gone.c[name] for name in LASTING],
                gone.c.outcome,
                now(),
                gone.c.result,
                gone.c.error,
            ),
        )
        .cte("kept")
    )
    bits = func.generate_series(const(0), const(5)).table_valued(column("bit", Integer)).render_derived(name="bits")
    owed = (
        insert(reaction)
        .from_select(
            ["run", "kind", "next_look_at"],
            select(gone.c.id, bits.c.bit, now()).where(
                gone.c.owes != const(0), gone.c.owes.op("&")(const(1).op("<<")(bits.c.bit)) != const(0)
            ),
        )
        .cte("owed")
    )
    return select(
        gone.c.id,
        gone.c.next_state,
        gone.c.definition,
        gone.c.definition_id,
        gone.c.schedule,
        gone.c.queue,
        gone.c.priority,
        gone.c.owes,
        gone.c.gated,
        gone.c.attempt,
    ).add_cte(kept, owed)


FINISH_HELD: Final = statement("settle_held", _finishing(run.c.session == param("session", Uuid)))
FINISH_IDLE: Final = statement("settle_idle", _finishing(run.c.state < const(State.RUNNING)))
