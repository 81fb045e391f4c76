"""Circuit breakers: opened and closed by the reaction of attempts that ended, tried again by maintenance.

A definition with a standing breaker is `tripped`: its runs ask before they are queued, and its slots are skipped.
"""

from dataclasses import asdict
from datetime import timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import Boolean, Integer, SmallInteger, Uuid, and_, delete, func, or_, select, union_all, update

from headway.core.alert import Alert, AlertKind
from headway.core.breaker import Breaker, BreakerKnobs, BreakerState, counted_from, hear, look
from headway.core.run import Cause, State
from headway.store import gates, watched
from headway.store.alerts import raise_alerts
from headway.store.audit import Entry, write
from headway.store.gates import Placed
from headway.store.reactions import Owed
from headway.store.schema import attempt, breaker, definition, run, run_done
from headway.store.set_aside import set_aside
from headway.store.statement import INSTANT, const, now, param, statement
from headway.store.tx import Row, Tx

MOST_COUNTED: Final = 1000
ALL_AT_ONCE: Final = 1000
_this: Final = param("run", Uuid)
_definition: Final = breaker.c.definition == param("definition", Uuid)
ENDED: Final = statement(
    "breaker_ended",
    union_all(
        select(run.c.definition_id, run.c.state, run.c.created_at.label("at")).where(run.c.id == _this),
        select(run_done.c.definition_id, run_done.c.state, run_done.c.finished_at.label("at")).where(run_done.c.id == _this),
    ),
)
_standing = select(breaker, definition.c.name, definition.c.tenant, definition.c.watch).where(definition.c.id == breaker.c.definition)
LOCK: Final = statement("breaker_lock", _standing.where(_definition).with_for_update(of=breaker))
_due: Final = or_(
    and_(breaker.c.state == const(BreakerState.OPEN), breaker.c.reopen_at <= now()),
    and_(breaker.c.state != const(BreakerState.CLOSED), watched.whole("breaker_threshold") == const(0)),
)
DUE: Final = statement(
    "breaker_due",
    _standing.where(_due).order_by(breaker.c.definition).limit(param("limit", Integer)).with_for_update(of=breaker, skip_locked=True),
)
_failed = (
    select(const(1))
    .where(attempt.c.definition_id == param("definition", Uuid), attempt.c.ended_at > param("since", INSTANT))
    .limit(const(MOST_COUNTED))
    .subquery("failed")
)
FAILURES: Final = statement("breaker_failures", select(func.count()).select_from(_failed))
CHANGE: Final = statement(
    "breaker_change",
    update(breaker)
    .where(_definition)
    .values(
        state=param("state", SmallInteger),
        since=param("since", INSTANT),
        failures=param("failures", Integer),
        opened_at=param("opened_at", INSTANT),
        reopen_at=param("reopen_at", INSTANT),
    ),
)
FORGET: Final = statement("breaker_forget", delete(breaker).where(_definition))
TRIP: Final = statement(
    "breaker_trip", update(definition).where(definition.c.id == param("definition", Uuid)).values(tripped=param("tripped", Boolean))
)


async def react(tx: Tx, owed: Owed) -> list[Placed]:
    """Tell a definition's breaker how an attempt of it ended, and return the runs that are queued now.

    What stands is counted from the attempts' rows, so that telling it again changes nothing.
    """
    ended = await tx.fetch_one(ENDED, run=owed.run)
    row = None if ended is None else await tx.fetch_one(LOCK, definition=ended["definition_id"])
    if ended is None or row is None:
        return []
    success = ended["at"] if ended["state"] == State.SUCCEEDED else None
    standing = _breaker(row)
    failures = await tx.fetch_value(FAILURES, definition=row["definition"], since=counted_from(standing, success))
    return await _become(tx, row, hear(standing, _knobs(row), success, failures, tx.now), actor="scheduler")


async def try_again(tx: Tx, limit: int = 100) -> tuple[int, list[Placed]]:
    """Let a probe through where the reset time has passed.

    Returns how many breakers moved, and the runs that are queued now.
    """
    rows = await tx.fetch(DUE, limit=limit)
    queued: list[Placed] = []
    for row in rows:
        queued += await _become(tx, row, look(_breaker(row), _knobs(row), tx.now), actor="maintenance")
    return len(rows), queued


async def _become(tx: Tx, row: Row, new: Breaker, *, actor: str) -> list[Placed]:
    """Write what a breaker has become; a closed one behind which no failure stands is forgotten."""
    definition_id: UUID = row["definition"]
    forgotten = new.state is BreakerState.CLOSED and not new.failures
    await (tx.execute(FORGET, definition=definition_id) if forgotten else tx.execute(CHANGE, definition=definition_id, **asdict(new)))
    if new.state == row["state"]:
        return []
    await tx.execute(TRIP, definition=definition_id, tripped=new.state is not BreakerState.CLOSED)
    await _tell(tx, row, new, actor)
    if new.state is BreakerState.OPEN:
        await gates.lock(tx, [definition_id])
        await set_aside(tx, definition_id, Cause.BREAKER)
        return []
    return await gates.promote(tx, [definition_id], limit=ALL_AT_ONCE if new.state is BreakerState.CLOSED else 1)


async def _tell(tx: Tx, row: Row, new: Breaker, actor: str) -> None:
    name, tenant = row["name"], row["tenant"]
    state = new.state.name.lower()
    subject = f"definition:{name}"
    await write(tx, Entry(actor, f"breaker.{state}", subject, tenant, f"{new.failures} failures in a row" if new.failures else ""))
    alert = _alert_of(new)
    if alert is not None:
        kind, message = alert
        key = f"{kind.value}:{row['definition']}:{tx.now.isoformat()}"
        await raise_alerts(tx, [Alert(kind, subject, f"{name}: {message}", key, tenant, name)])


def _alert_of(new: Breaker) -> tuple[AlertKind, str] | None:
    if new.state is BreakerState.OPEN and new.reopen_at is not None:
        tried = new.reopen_at.isoformat(timespec="seconds")
        return AlertKind.BREAKER_TRIPPED, f"the breaker opened after {new.failures} failed attempts in a row, and is tried again at {tried}"
    if new.state is BreakerState.CLOSED:
        return AlertKind.BREAKER_RESET, "the breaker closed again"
    return None


def _breaker(row: Row) -> Breaker:
    return Breaker(BreakerState(row["state"]), row["since"], row["failures"], row["opened_at"], row["reopen_at"])


def _knobs(row: Row) -> BreakerKnobs:
    watch = row["watch"]
    return BreakerKnobs(watch.get("breaker_threshold", 0), timedelta(seconds=watch.get("breaker_reset", 300)))
