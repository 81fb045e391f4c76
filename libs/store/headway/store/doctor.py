"""The invariants as queries: each finds the rows that break it, so that an empty answer is proof."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, FromClause, and_, delete, exists, func, or_, select, text, union_all
from sqlalchemy.sql.expression import Executable

from headway.core.ask import Origin
from headway.core.run import Cause, State
from headway.core.slot import DecisionKind
from headway.store.schema import batch, definition, reaction, restriction, run, run_done, schedule, session, slot, slot_range
from headway.store.sessions import SessionState
from headway.store.statement import Statement, const, now, statement
from headway.store.triggers import MAY_FIRE, TRIGGER_BIT
from headway.store.tx import Tx

SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One invariant: what it promises, whether it holds, and the first few rows that break it."""

    name: str
    promise: str
    ok: bool
    broken: int
    examples: Sequence[str]


@dataclass(frozen=True, slots=True)
class Invariant:
    """A promise and the query for what breaks it: one column, the subject of each offence."""

    name: str
    promise: str
    offences: Statement


def _invariant(name: str, promise: str, query: Executable) -> Invariant:
    return Invariant(name, promise, statement(f"doctor_{name}", query))


_other: Final = slot_range.alias("other")
_late: Final = text("interval '60 seconds'")
_of_slots: Final = union_all(
    *[select(table.c.schedule, table.c.slot_at).where(table.c.origin == const(Origin.SLOT)) for table in (run, run_done)]
).subquery("of_slots")
_child: Final = run.alias("child")
_of_batch: Final = and_(_child.c.parent == batch.c.parent, _child.c.batch_index.is_not(None))
_moves: Final = exists().where(_of_batch)
_told: Final = exists().where(reaction.c.batch == batch.c.parent, ~reaction.c.parked)
_waits: Final = and_(run.c.state == const(State.HELD), run.c.cause == const(Cause.CHILDREN))
_beside: Final = run.alias("beside")


def _kept_apart(table: FromClause) -> tuple[ColumnElement[bool], ...]:
    active = table.c.state.in_([const(State.QUEUED), const(State.RUNNING)])
    return active, ~table.c.forced, table.c.created_at > restriction.c.created_at


INVARIANTS: Final = (
    _invariant(
        "one_run_for_a_slot",
        "at most one run that is no replay or backfill for a slot",
        select(_of_slots.c.schedule).group_by(_of_slots.c.schedule, _of_slots.c.slot_at).having(func.count() > const(1)),
    ),
    _invariant(
        "slots_outside_ranges",
        "a slot is decided singly or in a range, never both",
        select(slot.c.schedule).join(
            slot_range,
            (slot_range.c.schedule == slot.c.schedule) & (slot.c.slot_at > slot_range.c.from_at) & (slot.c.slot_at <= slot_range.c.to_at),
        ),
    ),
    _invariant(
        "ranges_apart",
        "no two ranges of a schedule overlap",
        select(slot_range.c.schedule).where(
            exists().where(
                _other.c.schedule == slot_range.c.schedule,
                _other.c.from_at > slot_range.c.from_at,
                _other.c.from_at < slot_range.c.to_at,
            )
        ),
    ),
    _invariant(
        "fired_slots_have_runs",
        "every slot that fired has its run, as long as retention keeps it",
        select(slot.c.schedule).where(
            slot.c.decision == const(DecisionKind.FIRED),
            or_(slot.c.run.is_(None), slot.c.decided_at > now() - text("interval '1 hour'")),
            ~exists().where(run.c.id == slot.c.run),
            ~exists().where(run_done.c.id == slot.c.run),
        ),
    ),
    _invariant("one_place", "a run is open or finished, never both", select(run.c.id).join(run_done, run_done.c.id == run.c.id)),
    _invariant(
        "running_is_held",
        "a running run has a live session and a deadline",
        select(run.c.id)
        .outerjoin(session, session.c.id == run.c.session)
        .where(
            run.c.state == const(State.RUNNING),
            or_(
                session.c.id.is_(None),
                run.c.deadline_at.is_(None),
                (session.c.state == const(SessionState.STOPPED)) & (session.c.lease_until < now() - _late),
                session.c.lease_until < now() - _late,
            ),
        ),
    ),
    _invariant(
        "scheduled_is_released",
        "a scheduled run is queued within a minute of its instant",
        select(run.c.id).where(run.c.state == const(State.SCHEDULED), run.c.available_at < now() - _late),
    ),
    _invariant(
        "held_has_cause",
        "a held run says what it waits for",
        select(run.c.id).where(run.c.state == const(State.HELD), run.c.cause == const(Cause.NONE)),
    ),
    _invariant(
        "concurrency",
        "a definition's limit of concurrent runs holds",
        select(definition.c.name)
        .join(run, run.c.definition_id == definition.c.id)
        .where(definition.c.max_concurrent_runs > const(0), run.c.gated, run.c.counted, run.c.state == const(State.RUNNING))
        .group_by(definition.c.id)
        .having(func.count() > definition.c.max_concurrent_runs),
    ),
    _invariant(
        "restrictions",
        "definitions that must not be active together are not, forced runs and those from before the restriction aside",
        select(restriction.c.id)
        .join(run, run.c.definition_id == restriction.c.first)
        .join(_beside, (_beside.c.definition_id == restriction.c.second) & (_beside.c.id != run.c.id))
        .where(*_kept_apart(run), *_kept_apart(_beside)),
    ),
    _invariant(
        "reactions_are_done",
        "no reaction is overdue by more than a minute, and none is parked",
        select(reaction.c.run).where(or_(reaction.c.parked, reaction.c.next_look_at < now() - _late)),
    ),
    _invariant(
        "batches_tell_their_children",
        "a batch's progress equals its children's states",
        select(batch.c.parent).where(
            batch.c.ended_at.is_(None),
            ~_told,
            batch.c.done != batch.c.total - select(func.count()).where(_of_batch).scalar_subquery(),
        ),
    ),
    _invariant(
        "batches_move",
        "an open batch has a parent that waits, and something that can move",
        select(batch.c.parent)
        .where(batch.c.ended_at.is_(None), or_(~exists().where(_waits, run.c.id == batch.c.parent), batch.c.closed & ~_told & ~_moves))
        .union_all(select(run.c.id).where(_waits, ~exists().where(batch.c.parent == run.c.id, batch.c.ended_at.is_(None)))),
    ),
    _invariant(
        "triggers_are_owed",
        "the ends of a definition's runs owe triggers exactly while it has some that may fire",
        select(definition.c.name).where((definition.c.owes.op("&")(TRIGGER_BIT) != const(0)) != MAY_FIRE),
    ),
    _invariant(
        "slots_are_decided",
        "no schedule that can fire is broken",
        select(schedule.c.id).where(schedule.c.broken.is_not(None), schedule.c.enabled),
    ),
)
FREE_ORPHANS: Final = statement(
    "doctor_forget_reactions",
    delete(reaction).where(~exists().where(run_done.c.id == reaction.c.run), ~exists().where(run.c.id == reaction.c.run)),
)


async def examine(tx: Tx) -> list[Finding]:
    """Check every invariant, in order."""
    return [await _check(tx, invariant) for invariant in INVARIANTS]


async def _check(tx: Tx, invariant: Invariant) -> Finding:
    rows = await tx.fetch(invariant.offences)
    subjects = [str(next(iter(row.values()))) for row in rows]
    return Finding(invariant.name, invariant.promise, not rows, len(rows), subjects[:SHOWN])


async def repair(tx: Tx) -> list[str]:
    """Repair what is safe to repair and say, in a person's words, what was done."""
    forgotten = await tx.execute(FREE_ORPHANS)
    return [f"forgot {forgotten} reactions of runs that no longer exist"] if forgotten else []
