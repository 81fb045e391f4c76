"""The statements of settle: out of the open table for good, or back into it.

Each final statement deletes the open row, inserts the finished one and records the reactions owed, at once; each is guarded by the
fence `(session, attempt)` for a run that a session holds, or by its state for one that nobody holds.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Date,
    Integer,
    SmallInteger,
    Text,
    Uuid,
    and_,
    case,
    cast,
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

from headway.core.outcome import RunOutcome
from headway.core.run import Cause, State
from headway.store.owing import owing, recorded
from headway.store.schema import run, run_done
from headway.store.schema.work import LASTING
from headway.store.statement import INSTANT, const, given, now, param, statement

_FOREVER: Final = literal_column("'infinity'::date", Date)
_MOVED: Final = (
    "definition",
    "definition_id",
    "schedule",
    "queue",
    "priority",
    "owes",
    "gated",
    "attempt",
    "available_at",
    "started_at",
    "parent",
)
_LATE: Final = literal_column("'finished before cancel'", Text)


class _Decided(NamedTuple):
    """What a final statement writes into columns that the run does not bring along."""

    state: ColumnElement[Any]
    outcome: ColumnElement[Any]
    failures: ColumnElement[Any]
    crashes: ColumnElement[Any]
    reason: ColumnElement[Any]
    result: ColumnElement[Any]
    error: ColumnElement[Any]


def _reason(why: ColumnElement[Any], state: ColumnElement[Any]) -> ColumnElement[Any]:
    late = run.c.cancel_requested_at.is_not(None) & (state == const(State.SUCCEEDED))
    return case((late, _LATE), else_=func.coalesce(why, run.c.reason))


def _finishing(which: Sequence[ColumnElement[bool]], decided: _Decided) -> Any:
    values = decided._asdict()
    kept_names = ["state", *LASTING, "outcome", "result", "error"]
    columns = [(values[name] if name in values else run.c[name]).label(name) for name in kept_names]
    gone = delete(run).where(*which).returning(run.c.id, run.c.gated, run.c.keep_days, *columns).cte("gone")
    drop_on = case((gone.c.keep_days == const(0), _FOREVER), else_=cast(now(), Date) + gone.c.keep_days)
    same = [gone.c[name] for name in kept_names]
    kept = insert(run_done).from_select(["id", "drop_on", "finished_at", *kept_names], select(gone.c.id, drop_on, now(), *same))
    ended = owing(gone, ["id", "state", *_MOVED])
    return select(*ended.c, now().label("at")).add_cte(kept.cte("kept"), recorded(ended))


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
_decided: Final = _Decided(
    _final.states,
    _final.outcomes,
    func.coalesce(_final.failures, run.c.failures),
    func.coalesce(_final.crashes, run.c.crashes),
    _reason(_final.reasons, _final.states),
    _final.results,
    _final.errors,
)
_named: Final = (run.c.id == _final.ids, run.c.attempt == _final.attempts)
FINISH_HELD: Final = statement("settle_held", _finishing((*_named, run.c.session == param("session", Uuid)), _decided))
FINISH_IDLE: Final = statement("settle_idle", _finishing((*_named, run.c.state < const(State.RUNNING)), _decided))

# Most runs succeed and say nothing: for them the ids and the fence are all that travels.
_plain = given("o", ids=Uuid, attempts=Integer).c
_succeeded: Final = const(State.SUCCEEDED)
FINISH_PLAIN: Final = statement(
    "settle_plain",
    _finishing(
        (run.c.id == _plain.ids, run.c.attempt == _plain.attempts, run.c.session == param("session", Uuid)),
        _Decided(
            _succeeded,
            const(RunOutcome.SUCCESS),
            run.c.failures,
            run.c.crashes,
            _reason(null(), _succeeded),
            literal_column("NULL::text", Text),
            literal_column("NULL::jsonb", JSONB),
        ),
    ),
)

_going_on = given(
    "o", ids=Uuid, attempts=Integer, states=SmallInteger, dues=INSTANT, failures=SmallInteger, crashes=SmallInteger, reasons=Text
).c
# Whether it may be queued is for admit to say, of a run with gates: until then it waits at them.
_asks_again: Final = and_(run.c.gated, _going_on.states == const(State.QUEUED))
# `started_at` stays: it is when the run was last started, and the attempt's row needs it.
RELEASE: Final = statement(
    "settle_release",
    update(run)
    .where(run.c.id == _going_on.ids, run.c.attempt == _going_on.attempts, run.c.session == param("session", Uuid))
    .values(
        state=case((_asks_again, const(State.HELD)), else_=_going_on.states),
        cause=case((_asks_again, const(Cause.GATE)), else_=const(Cause.NONE)),
        available_at=func.coalesce(_going_on.dues, run.c.available_at),
        failures=func.coalesce(_going_on.failures, run.c.failures),
        crashes=func.coalesce(_going_on.crashes, run.c.crashes),
        reason=_going_on.reasons,
        session=null(),
        deadline_at=null(),
    )
    .returning(run.c.id, run.c.state, *[run.c[name] for name in _MOVED]),
)
# What has ended stays as it ended; only who replayed it is added, once.  Of two replays at once the second waits here for the first.
MARK_REPLAYED: Final = statement(
    "replay_mark",
    update(run_done)
    .where(run_done.c.id == param("original", Uuid), run_done.c.state == const(State.FAILED), run_done.c.replayed_by.is_(None))
    .values(replayed_by=param("run", Uuid)),
)
