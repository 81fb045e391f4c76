"""A session is one process's lease on everything it holds."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final
from uuid import UUID

from sqlalchemy import Interval, Text, Uuid, and_, delete, exists, func, insert, select, update
from sqlalchemy.types import Integer

from headway.core.errors import LeaseLost
from headway.core.run import State
from headway.store.schema import run, session
from headway.store.statement import array, const, now, param, statement
from headway.store.tx import Row, Tx


class SessionState(IntEnum):
    """Where a session stands; a stopped one never comes back."""

    RUNNING = 1
    DRAINING = 2
    STOPPED = 3


@dataclass(frozen=True, slots=True)
class Session:
    """One process life of a service.  `queues`, `handlers` and `capacity` say what a worker can take."""

    id: UUID
    kind: str
    host: str
    pid: int
    queues: Sequence[str] = ()
    handlers: Sequence[str] = ()
    capacity: int = 0
    version: str = ""


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a renewal brought back: the new end of the lease, the clock, and the runs that somebody wants cancelled."""

    lease_until: datetime
    now: datetime
    wishes: Sequence[UUID] = field(default_factory=tuple)


_me: Final = session.c.id == param("session", Uuid)
_live: Final = and_(_me, session.c.state == const(SessionState.RUNNING), session.c.lease_until > now())

REGISTER: Final = statement(
    "session_register",
    insert(session).values(
        id=param("session", Uuid),
        kind=param("kind", Text),
        host=param("host", Text),
        pid=param("pid", Integer),
        state=const(SessionState.RUNNING),
        started_at=now(),
        lease_until=now() + param("lease", Interval),
        queues=array("queues", Text),
        handlers=array("handlers", Text),
        capacity=param("capacity", Integer),
        version=param("version", Text),
    ),
)
# A renewal is a plain UPDATE: claims hold FOR KEY SHARE on this row, which does not stand in its way.
RENEW: Final = statement(
    "session_renew",
    update(session)
    .where(_me, session.c.state < const(SessionState.STOPPED), session.c.lease_until > now())
    .values(lease_until=now() + param("lease", Interval), in_flight=param("in_flight", Integer))
    .returning(
        session.c.lease_until,
        now().label("now"),
        select(func.array_agg(run.c.id))
        .where(run.c.session == session.c.id, run.c.state == const(State.RUNNING), run.c.cancel_requested_at.is_not(None))
        .scalar_subquery()
        .label("wishes"),
    ),
)
DRAIN: Final = statement(
    "session_drain",
    update(session).where(_me, session.c.state == const(SessionState.RUNNING)).values(state=const(SessionState.DRAINING)),
)
STOP: Final = statement(
    "session_stop",
    update(session).where(_me, session.c.state < const(SessionState.STOPPED)).values(state=const(SessionState.STOPPED), lease_until=now()),
)
LIVE_OF: Final = statement(
    "session_live_of",
    select(session.c.id).where(
        session.c.kind == param("kind", Text), session.c.state == const(SessionState.RUNNING), session.c.lease_until > now()
    ),
)
IS_LIVE: Final = statement("session_is_live", select(exists().where(_live)))
LIST: Final = statement("session_list", select(session, now().label("now")).order_by(session.c.kind, session.c.started_at))
PRUNE: Final = statement(
    "session_prune",
    delete(session).where(
        session.c.lease_until < now() - param("age", Interval),
        ~exists().where(run.c.session == session.c.id, run.c.state == const(State.RUNNING)),
    ),
)


async def register(tx: Tx, me: Session, lease: timedelta) -> None:
    """Begin a session that lives for one lease from now."""
    await tx.execute(
        REGISTER,
        session=me.id,
        kind=me.kind,
        host=me.host,
        pid=me.pid,
        lease=lease,
        queues=list(me.queues),
        handlers=list(me.handlers),
        capacity=me.capacity,
        version=me.version,
    )


async def renew(tx: Tx, session_id: UUID, lease: timedelta, *, in_flight: int = 0) -> Renewal:
    """Extend the lease, a draining one as well.  Raises LeaseLost when the session is stopped or has lapsed: it never revives."""
    row = await tx.fetch_one(RENEW, session=session_id, lease=lease, in_flight=in_flight)
    if row is None:
        raise LeaseLost(f"session {session_id} is stopped or has lapsed")
    return Renewal(row["lease_until"], row["now"], tuple(row["wishes"] or ()))


async def require_live(tx: Tx, session_id: UUID) -> None:
    """Raise LeaseLost unless the session may claim."""
    if not await tx.fetch_value(IS_LIVE, session=session_id):
        raise LeaseLost(f"session {session_id} is not live")


async def live_of(tx: Tx, kind: str) -> frozenset[UUID]:
    """Return the sessions of a kind of service that are live and do not drain."""
    return frozenset([row["id"] for row in await tx.fetch(LIVE_OF, kind=kind)])


async def drain(tx: Tx, session_id: UUID) -> None:
    """Stop a session from claiming; it may finish and settle what it holds."""
    await tx.execute(DRAIN, session=session_id)


async def stop(tx: Tx, session_id: UUID) -> None:
    """End a session for good.  Whatever it still holds is for rescue."""
    await tx.execute(STOP, session=session_id)


async def prune(tx: Tx, age: timedelta) -> int:
    """Delete sessions that ended or lapsed longer ago than `age` and hold nothing; say how many."""
    return await tx.execute(PRUNE, age=age)


async def listed(tx: Tx) -> Sequence[Row]:
    """Return every session with the database's instant beside it."""
    return await tx.fetch(LIST)
