"""The statements of settle: out of the open table for good, or back into it.

Each final statement deletes the open row, inserts the finished one and records the reactions owed, at once; each is guarded by the
fence `(session, attempt)` for a run that a session holds, or by its state for one that nobody holds.
"""

from typing import Any, Final

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
    null,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql.elements import ColumnElement

from headway.core.run import State
from headway.store.schema import reaction, run, run_done
from headway.store.schema.work import LASTING
from headway.store.statement import INSTANT, const, given, now, param, statement

_FOREVER: Final = literal_column("'infinity'::date", Date)
_KINDS: Final = 6
_final = given(
    "o",
    ids=Uuid,
    attempts=Integer,
    states=SmallInteger,
    outcomes=SmallInteger,
    failures=SmallInteger,
    crashes=SmallInteger,
    reasons=Text,
    results=Text,
    errors=JSONB,
).c
_late: Final = run.c.cancel_requested_at.is_not(None) & (_final.states == const(State.SUCCEEDED))
_DECIDED: Final[dict[str, ColumnElement[Any]]] = {
    "failures": func.coalesce(_final.failures, run.c.failures),
    "crashes": func.coalesce(_final.crashes, run.c.crashes),
    "reason": case((_late, literal_column("'finished before cancel'", Text)), else_=func.coalesce(_final.reasons, run.c.reason)),
}
_MOVED: Final = ("definition", "definition_id", "schedule", "queue", "priority", "owes", "gated", "attempt", "available_at", "started_at")


def _finishing(guard: ColumnElement[bool]) -> Any:
    gone = (
        delete(run)
        .where(run.c.id == _final.ids, run.c.attempt == _final.attempts, guard)
        .returning(
            run.c.id,
            run.c.gated,
            run.c.keep_days,
            *[_DECIDED.get(name, run.c[name]).label(name) for name in LASTING],
            _final.states.label("state"),
            _final.outcomes.label("outcome"),
            _final.results.label("result"),
            _final.errors.label("error"),
        )
        .cte("gone")
    )
    drop_on = case((gone.c.keep_days == const(0), _FOREVER), else_=cast(now(), Date) + gone.c.keep_days)
    same = [gone.c[name] for name in ("state", *LASTING, "outcome", "result", "error")]
    kept = insert(run_done).from_select(
        ["id", "drop_on", "finished_at", "state", *LASTING, "outcome", "result", "error"], select(gone.c.id, drop_on, now(), *same)
    )
    bits = func.generate_series(const(0), const(_KINDS - 1)).table_valued(column("bit", Integer)).render_derived(name="bits")
    owing = gone.c.owes.op("&")(const(1).op("<<")(bits.c.bit)) != const(0)
    owed = insert(reaction).from_select(
        ["run", "kind", "next_look_at"], select(gone.c.id, bits.c.bit, now()).where(gone.c.owes != const(0), owing)
    )
    return select(gone.c.id, gone.c.state, *[gone.c[name] for name in _MOVED]).add_cte(kept.cte("kept"), owed.cte("owed"))


FINISH_HELD: Final = statement("settle_held", _finishing(run.c.session == param("session", Uuid)))
FINISH_IDLE: Final = statement("settle_idle", _finishing(run.c.state < const(State.RUNNING)))

_going_on = given(
    "o", ids=Uuid, attempts=Integer, states=SmallInteger, dues=INSTANT, failures=SmallInteger, crashes=SmallInteger, reasons=Text
).c
# `started_at` stays: it is when the run was last started, and the attempt's row needs it.
RELEASE: Final = statement(
    "settle_release",
    update(run)
    .where(run.c.id == _going_on.ids, run.c.attempt == _going_on.attempts, run.c.session == param("session", Uuid))
    .values(
        state=_going_on.states,
        available_at=func.coalesce(_going_on.dues, run.c.available_at),
        failures=func.coalesce(_going_on.failures, run.c.failures),
        crashes=func.coalesce(_going_on.crashes, run.c.crashes),
        reason=_going_on.reasons,
        session=null(),
        deadline_at=null(),
    )
    .returning(run.c.id, run.c.state, *[run.c[name] for name in _MOVED]),
)
