"""Decide slots: everything up to now for schedules that are locked, with the runs that it makes, in one transaction."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from headway.core.ask import Ask, Origin
from headway.core.ids import token_for
from headway.core.plan import MOST_SLOTS, Plan, Reach, Stretch, plan, reach
from headway.core.schedule.chain import following_finish
from headway.core.schedule.kinds import AfterCompletion
from headway.core.schedule.zones import tzdata_version
from headway.core.slot import Decision, DecisionKind, Reason, SlotFacts, Start
from headway.store import advance, slots
from headway.store.advance import Move
from headway.store.clearance import Clearance, clearance
from headway.store.firing import Fired, fire
from headway.store.gates import Placed
from headway.store.known import Known, Manner
from headway.store.last_facts import last_facts
from headway.store.reactions import Kind
from headway.store.slot_inputs import Worded, input_of
from headway.store.slots import RangeRecord, SlotRecord
from headway.store.tx import Row, Tx

MADE_BY: Final = "scheduler"
FEWEST: Final = 2  # one that is due and one that falls due meanwhile: the usual schedule gets to now


class Verdict(NamedTuple):
    """What was decided of one slot, and of what schedule."""

    known: Known
    slot_at: datetime
    decision: Decision


class Fault(NamedTuple):
    """Templates of a slot's parameters that were kept as they were written, and why."""

    definition: str
    schedule: str
    slot_at: datetime
    faults: list[str]


class Decided(NamedTuple):
    """What a pass came to.

    `moved` are the schedules as they stand now, `conflicts` those that somebody else had moved on; beside the decisions, the runs to
    announce, and the runs that were cancelled to make room.
    """

    moved: list[Known]
    conflicts: list[UUID]
    verdicts: list[Verdict]
    queued: list[Placed]
    wished: list[UUID]
    faults: list[Fault]
    at: datetime


async def decide_due(tx: Tx, due: Sequence[Known], manner: Manner, off: Set[str] = frozenset()) -> Decided:
    """Decide schedules that are due: everything up to now, or their share of what one transaction may hold and the rest later.

    Any number of schedulers may do this at once: the compare-and-set gives each schedule's slots to one of them.  `off` names
    definitions that the operator's file switches off.
    """
    due = [_in_manner(known, manner) for known in due]
    each = max(FEWEST, MOST_SLOTS // max(1, len(due)))
    reached = {known.id: reach(known.view, known.decided_until, tx.now, limit=each) for known in due}
    taken = await advance.advance(tx, [Move(known.id, known.version, known.decided_until, reached[known.id].until) for known in due])
    mine = [known for known in due if known.id in taken]
    decided = await _decide(tx, mine, reached, off, MADE_BY)
    return decided._replace(conflicts=[known.id for known in due if known.id not in taken])


async def decide_locked(tx: Tx, locked: Sequence[Known], *, actor: str) -> Decided:
    """Decide everything up to now for schedules whose rows this transaction has locked, by the version that is in force."""
    locked = [_in_manner(known, Manner()) for known in locked]
    reached = {known.id: reach(known.view, known.decided_until, tx.now, limit=_ALL) for known in locked}
    await advance.set_decided(tx, {known.id: reached[known.id].until for known in locked})
    return await _decide(tx, locked, reached, frozenset(), actor)


_ALL: Final = 100_000


def _in_manner(known: Known, manner: Manner) -> Known:
    grace = timedelta(seconds=manner.grace_seconds)
    if (known.view.grace, known.view.catch_up) == (grace, manner.catch_up):
        return known
    return replace(known, view=replace(known.view, grace=grace, catch_up=manner.catch_up))


async def _decide(tx: Tx, mine: Sequence[Known], reached: dict[UUID, Reach], off: Set[str], actor: str) -> Decided:
    rows = await advance.facts(tx, [known.id for known in mine]) if mine else {}
    plans = _plans(mine, reached, rows, await clearance(tx, rows.values()), off, tx.now)
    verdicts = [Verdict(known, slot_at, decision) for known in mine for slot_at, decision in plans[known.id].decided]
    firing = [verdict for verdict in verdicts if verdict.decision.fires]
    last = await last_facts(tx, {verdict.known.id: rows[verdict.known.id] for verdict in firing})
    worded = [input_of(verdict.known, verdict.slot_at, rows[verdict.known.id], tx.now, last.get(verdict.known.id)) for verdict in firing]
    asks = [_ask(verdict, rows[verdict.known.id], text.text) for verdict, text in zip(firing, worded, strict=True)]
    fired = await fire(tx, [(ask, verdict.decision) for ask, verdict in zip(asks, firing, strict=True)])
    await slots.record(tx, [_record(verdict, fired) for verdict in verdicts], actor=actor, tzdata=tzdata_version())
    ranges = [_range(known, stretch) for known in mine for stretch in plans[known.id].stretches]
    await slots.record_ranges(tx, ranges, actor=actor, tzdata=tzdata_version())
    moved = [known.decided(reached[known.id].until, _chained(known, plans[known.id], tx.now)) for known in mine]
    await advance.chain(tx, {known.id: known.timeline.chained_at for known in moved if known.timeline.chained})
    return Decided(moved, [], verdicts, fired.queued, fired.wished, _faults(firing, worded), tx.now)


def _plans(
    mine: Sequence[Known], reached: Mapping[UUID, Reach], rows: Mapping[UUID, Row], clear: Clearance, off: Set[str], now: datetime
) -> dict[UUID, Plan]:
    """Plan one schedule after another, for the runs of one may keep those of another out."""
    plans = {}
    for known in mine:
        facts = _facts(rows[known.id], known, off, clear)
        plans[known.id] = plan(known.view, known.decided_until, reached[known.id], facts, now)
        for slot_at, decision in plans[known.id].decided:
            clear.fired(known, slot_at, decision, now)
    return plans


def _faults(firing: Sequence[Verdict], worded: Sequence[Worded]) -> list[Fault]:
    return [
        Fault(known.definition, known.name, slot_at, text.faults)
        for (known, slot_at, _), text in zip(firing, worded, strict=True)
        if text.faults
    ]


def _facts(row: Row, known: Known, off: Set[str], clear: Clearance) -> SlotFacts:
    return SlotFacts(
        row["open_runs"],
        row["pending_runs"],
        row["enabled"] and known.definition not in off,
        row["paused"],
        _pause(row),
        f"run {row['oldest_open']}" if row["oldest_open"] else "",
        clear.restricted_by(known.definition_id),
        clear.breaker(known.definition_id),
    )


def _pause(row: Row) -> str:
    if not row["paused_by"]:
        return ""
    return f"paused by {row['paused_by']}" + (f": {row['paused_reason']}" if row["paused_reason"] else "")


def _ask(verdict: Verdict, row: Row, params: str | None) -> Ask:
    known, slot_at, decision = verdict
    in_turn = decision.start is Start.IN_TURN
    return Ask(
        known.definition,
        tenant=known.tenant or known.definition_tenant,
        definition_tenant=known.definition_tenant,
        params=params,
        payload=row["payload"],
        at=decision.effective_at,
        priority=max(0, row["priority"] - 1) if in_turn else None,
        created_by=MADE_BY,
        origin=Origin.CATCH_UP if in_turn else Origin.SLOT,
        schedule=known.id,
        slot_at=slot_at,
        token=token_for("slot", known.id, slot_at.isoformat()),
        owes=1 << Kind.SCHEDULE if known.timeline.chained else 0,
    )


def _record(verdict: Verdict, fired: Fired) -> SlotRecord:
    known, slot_at, decision = verdict
    reason = decision.reason.value if decision.reason else ""
    run = fired.runs.get((known.id, slot_at))
    return SlotRecord(
        known.id, slot_at, int(decision.kind), reason, decision.detail, decision.effective_at, run, known.version, known.calendar_versions
    )


def _range(known: Known, stretch: Stretch) -> RangeRecord:
    kind, reason = int(DecisionKind.SKIPPED), stretch.reason.value
    return RangeRecord(
        known.id, stretch.after, stretch.until, kind, reason, stretch.detail, stretch.slots, known.version, known.calendar_versions
    )


def _chained(known: Known, planned: Plan, now: datetime) -> datetime | None:
    """The next slot of an after-completion schedule: none while a run of it is to finish, otherwise as if one had finished now."""
    rule, slot = known.timeline.rule, known.timeline.chained_at
    if not isinstance(rule, AfterCompletion) or not (planned.decided or planned.stretches):
        return slot
    if any(decision.fires or decision.reason is Reason.OVERLAP for _, decision in planned.decided):
        return None
    return following_finish(rule, now)
