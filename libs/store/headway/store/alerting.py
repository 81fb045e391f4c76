"""The alert reaction: what the failed attempts of a run have to be told."""

from typing import Final
from uuid import UUID

from sqlalchemy import Uuid, and_, case, func, null, select, union_all

from headway.core.alert import Alert, FailedAttempt, Failing, alerts_for
from headway.core.outcome import AttemptOutcome, RunOutcome, SafeError
from headway.core.sla import Course, breaches
from headway.store.alerts import raise_alerts
from headway.store.gates import Placed
from headway.store.reactions import Owed
from headway.store.schema import attempt, breaker, definition, run, run_done
from headway.store.sla import expected_of
from headway.store.statement import const, param, statement
from headway.store.tx import Row, Tx

_this: Final = param("run", Uuid)
_KEPT: Final = ("id", "definition_id", "reason", "attempt", "available_at", "started_at")
_failing = union_all(
    select(*[run.c[name] for name in _KEPT], const(0).label("outcome"), null().label("finished_at")).where(run.c.id == _this),
    select(*[run_done.c[name] for name in _KEPT], run_done.c.outcome, run_done.c.finished_at).where(run_done.c.id == _this),
).subquery("failing")
FAILING: Final = statement(
    "alerting_run",
    select(_failing, definition.c.name, definition.c.tenant, definition.c.watch).join_from(
        _failing, definition, definition.c.id == _failing.c.definition_id
    ),
)
# Nobody has to know which of more than a thousand in a row it was.
MOST_IN_A_ROW: Final = 1000
_other: Final = attempt.alias("other")
_row = (
    select(const(1))
    .where(
        _other.c.definition_id == attempt.c.definition_id,
        _other.c.ended_at <= attempt.c.ended_at,
        _other.c.ended_at > breaker.c.since,
    )
    .correlate(attempt, breaker)
    .limit(const(MOST_IN_A_ROW))
    .subquery("a_row")
)
_nth = case((breaker.c.since.is_(None), const(1)), else_=select(func.count()).select_from(_row).scalar_subquery())
ATTEMPTS: Final = statement(
    "alerting_attempts",
    select(attempt.c.attempt, attempt.c.outcome, attempt.c.error, _nth.label("nth"))
    .outerjoin_from(attempt, breaker, breaker.c.definition == attempt.c.definition_id)
    .where(and_(attempt.c.run == _this, attempt.c.definition_id.is_not(None)))
    .order_by(attempt.c.attempt),
)


async def alert(tx: Tx, owed: Owed) -> list[Placed]:
    """Raise the alerts that a run's failed attempts and its end call for; doing it again raises none twice."""
    row = await tx.fetch_one(FAILING, run=owed.run)
    if row is not None:
        failed = [_failed(one) for one in await tx.fetch(ATTEMPTS, run=owed.run)]
        await raise_alerts(tx, [*alerts_for(_of(row), failed), *_late(row)])
    return []


def _of(row: Row) -> Failing:
    id_: UUID = row["id"]
    crashed = (row["reason"] or "its worker was lost") if row["outcome"] == RunOutcome.CRASHED else ""
    return Failing(id_, row["name"], row["tenant"], int(row["watch"].get("alert_after", 1)), crashed)


def _late(row: Row) -> list[Alert]:
    """What an ended run did not keep; when a later attempt was due says nothing of when the first one was."""
    if row["finished_at"] is None:
        return []
    due = row["available_at"] if row["attempt"] == 1 else None
    course = Course(row["id"], row["name"], row["tenant"], due, row["started_at"], row["finished_at"])
    return list(breaches(course, expected_of(row["watch"]), row["finished_at"]))


def _failed(row: Row) -> FailedAttempt:
    error = None if row["error"] is None else SafeError(row["error"]["kind"], row["error"]["message"])
    return FailedAttempt(row["attempt"], AttemptOutcome(row["outcome"]).name.lower(), error, row["nth"])
