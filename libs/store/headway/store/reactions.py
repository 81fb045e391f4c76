"""Follow-up work that a settled run owes: from the settle that owes it to the transaction that did it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from enum import IntEnum
from functools import partial
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

from sqlalchemy import Integer, Interval, SmallInteger, Text, Uuid, and_, delete, false, func, select, update

from headway.core.alert import Alert, AlertKind
from headway.core.errors import HeadwayError, Unavailable
from headway.core.safe import MESSAGE_LIMIT, safe_text
from headway.store.alerts import raise_alerts
from headway.store.gates import Placed
from headway.store.schema import reaction
from headway.store.statement import array, const, now, param, statement
from headway.store.tx import Database, Row, Tx

MOST_TRIES: Final = 10
UNEXPECTED: Final = "an error in the code that does it: the log of whoever tried has it"


class Kind(IntEnum):
    """The kinds of reaction; a run's `owes` has the bit `1 << kind` for each."""

    TRIGGER = 0
    BATCH = 1
    BREAKER = 2
    SCHEDULE = 3
    ALERT = 4
    WORKFLOW = 5


SCHEDULER_KINDS: Final = frozenset({Kind.TRIGGER, Kind.BATCH, Kind.BREAKER, Kind.SCHEDULE, Kind.ALERT})
ENGINE_KINDS: Final = frozenset({Kind.WORKFLOW})


Doing: TypeAlias = Callable[[Tx, "Owed"], Awaitable[Sequence[Placed]]]
After: TypeAlias = Callable[[Sequence[Placed]], None]


class Owed(NamedTuple):
    """One reaction that is due; those that name one `batch` are done together, by whoever does the first of them."""

    run: UUID
    kind: int
    tries: int
    batch: UUID | None = None


_due: Final = and_(reaction.c.kind == func.any(array("kinds", SmallInteger)), ~reaction.c.parked, reaction.c.next_look_at <= now())
_which: Final = and_(reaction.c.run == param("run", Uuid), reaction.c.kind == param("kind", SmallInteger))
TAKE: Final = statement(
    "reaction_take",
    select(reaction.c.run, reaction.c.kind, reaction.c.tries, reaction.c.batch)
    .where(_due)
    .order_by(reaction.c.next_look_at, reaction.c.run)
    .limit(param("limit", Integer))
    .with_for_update(skip_locked=True),
)
TAKE_OF_RUNS: Final = statement(
    "reaction_take_of_runs",
    select(reaction.c.run, reaction.c.kind, reaction.c.tries, reaction.c.batch)
    .where(reaction.c.run == func.any(array("runs", Uuid)), _due)
    .order_by(reaction.c.run, reaction.c.kind)
    .with_for_update(skip_locked=True),
)
DONE: Final = statement(
    "reaction_done", delete(reaction).where(reaction.c.run == func.any(array("runs", Uuid)), reaction.c.kind == param("kind", SmallInteger))
)
FAILED: Final = statement(
    "reaction_failed",
    update(reaction)
    .where(_which)
    .values(
        tries=reaction.c.tries + const(1),
        last_error=param("error", Text),
        next_look_at=now() + param("wait", Interval),
        parked=reaction.c.tries + const(1) >= const(MOST_TRIES),
    )
    .returning(reaction.c.parked),
)
PARKED: Final = statement(
    "reaction_parked", select(reaction).where(reaction.c.parked).order_by(reaction.c.run).limit(param("limit", Integer))
)
FREE: Final = statement(
    "reaction_free", update(reaction).where(reaction.c.parked).values(parked=false(), tries=const(0), next_look_at=now())
)
BACKLOG: Final = statement(
    "reaction_backlog",
    select(
        reaction.c.kind,
        func.count().label("owed"),
        func.count().filter(reaction.c.parked).label("parked"),
        (now() - func.min(reaction.c.next_look_at)).label("age"),
    ).group_by(reaction.c.kind),
)


async def take(tx: Tx, kinds: Sequence[int], *, runs: Sequence[UUID] | None = None, limit: int = 100) -> list[Owed]:
    """Lock reactions that are due, of these runs or in order of their next look; what another instance holds is left to it."""
    rows = await (
        tx.fetch(TAKE, kinds=list(kinds), limit=limit) if runs is None else tx.fetch(TAKE_OF_RUNS, kinds=list(kinds), runs=list(runs))
    )
    return [Owed._make(row.values()) for row in rows]


async def done(tx: Tx, owed: Sequence[Owed]) -> None:
    """Delete reactions of one kind in the transaction that did what they owed."""
    if owed:
        await tx.execute(DONE, runs=[one.run for one in owed], kind=owed[0].kind)


async def failed(tx: Tx, owed: Owed, error: str) -> bool:
    """Count a failed try, look again later and later (2 s x 2^tries, at most 10 min), and say whether it is parked now."""
    wait = timedelta(seconds=min(600, 2 * 2**owed.tries))
    return bool(await tx.fetch_value(FAILED, run=owed.run, kind=owed.kind, error=safe_text(error, MESSAGE_LIMIT), wait=wait))


async def parked(tx: Tx, limit: int = 100) -> Sequence[Row]:
    """Return reactions that were given up on."""
    return await tx.fetch(PARKED, limit=limit)


async def free(tx: Tx) -> int:
    """Let every parked reaction be tried again, and say how many."""
    return await tx.execute(FREE)


async def backlog(tx: Tx) -> Sequence[Row]:
    """Return, by kind, how many reactions are owed and parked and the age of the oldest."""
    return await tx.fetch(BACKLOG)


async def _fail(tx: Tx, *, owed: Owed, error: str) -> None:
    if await failed(tx, owed, error):
        name, key = Kind(owed.kind).name.lower(), f"dead_letter:{owed.run}:{owed.kind}"
        message = f"the {name} reaction of run {owed.run} was given up after {MOST_TRIES} tries: {error}"
        await raise_alerts(tx, [Alert(AlertKind.DEAD_LETTER, f"run:{owed.run}", message, key, run=owed.run)])


def _nothing(queued: Sequence[Placed]) -> None:
    """Leave what was queued to the next fill."""


async def work_off(
    database: Database,
    doing: Mapping[int, Doing],
    *,
    runs: Sequence[UUID] | None = None,
    limit: int = 100,
    after: After = _nothing,
    broken_off: list[Owed] | None = None,
) -> int:
    """Do the reactions that are due, of these runs or of all, and say how many; each in the transaction that deletes it.

    `after` is told of each commit, and is given the runs that were queued by it.  One that fails counts a try and waits longer and
    longer; after ten it is parked.  Raises Unavailable, which never counts.

    An error that no operation may raise ends the pass.  A loop that hands in the same `broken_off` each time has what it broke off at
    counted by its next pass, so that one reaction does not keep all others from being done; a message has a count of its own.
    """
    at = [] if broken_off is None else broken_off
    while at:
        await database.transact(partial(_fail, owed=at[-1], error=UNEXPECTED))
        at.pop()
    async with database.begin() as tx:
        due = await take(tx, sorted(doing), runs=runs, limit=limit) if doing else []
    for together in _together(due):
        at.extend(together)
        try:
            queued = await database.transact(partial(_do, doing=doing, together=together))
        except Unavailable:
            at.clear()
            raise
        except HeadwayError as error:
            refusal = str(error)
            for owed in together:
                await database.transact(partial(_fail, owed=owed, error=refusal))
        else:
            after(queued)
        at.clear()
    return len(due)


def _together(due: Sequence[Owed]) -> Iterable[Sequence[Owed]]:
    groups: dict[tuple[int, UUID], list[Owed]] = {}
    for owed in due:
        groups.setdefault((owed.kind, owed.batch or owed.run), []).append(owed)
    return groups.values()


async def _do(tx: Tx, *, doing: Mapping[int, Doing], together: Sequence[Owed]) -> Sequence[Placed]:
    mine = await take(tx, [together[0].kind], runs=[owed.run for owed in together])
    queued = await doing[mine[0].kind](tx, mine[0]) if mine else []
    await done(tx, mine)
    return queued
