"""Decide the slots that are due: one transaction for many schedules, begun by a compare-and-set on each."""

from collections.abc import Sequence, Set
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

import structlog

from headway.core.errors import HeadwayError
from headway.core.ids import token_for
from headway.core.run import State
from headway.core.schedule.rule import Rule
from headway.core.schedule.zones import tzdata_version
from headway.core.slot import Decision, DecisionKind, ScheduleView, SlotFacts, SlotPlan, decide_in_turn, plan_slots
from headway.scheduler.cache import Known
from headway.scheduler.inputs import input_of
from headway.store import gates, schedules, slots
from headway.store.enqueue import Accepted, Ask, Origin, create
from headway.store.gates import Placed
from headway.store.schedules import Move
from headway.store.slots import RangeRecord, SlotRecord
from headway.store.tx import Row, Tx

log = structlog.get_logger(__name__)
MADE_BY: Final = "scheduler"


class Verdict(NamedTuple):
    """What was decided of one slot, and of what schedule."""

    known: Known
    slot_at: datetime
    decision: Decision


class Decided(NamedTuple):
    """What a pass came to: schedules as they stand now, those that somebody else had moved on, decisions, and runs to announce."""

    moved: list[Known]
    conflicts: list[UUID]
    verdicts: list[Verdict]
    queued: list[Placed]
    at: datetime


async def decide_due(tx: Tx, due: Sequence[Known], grace: timedelta, off: Set[str] = frozenset()) -> Decided:
    """Decide everything up to now for schedules that are due.

    Any number of schedulers may do this at once: the compare-and-set gives each schedule's slots to one of them.  `off` names
    definitions that the operator's file switches off.
    """
    plans = {known.id: plan_slots(known.rule, known.decided_until, tx.now, grace) for known in due}
    taken = await schedules.advance(
        tx, [Move(known.id, known.version, known.decided_until, plans[known.id].decided_until) for known in due]
    )
    mine = [known for known in due if known.id in taken]
    facts = await schedules.facts(tx, [known.id for known in mine])
    verdicts = [
        verdict
        for known in mine
        for verdict in _decide(known, plans[known.id], _facts(facts[known.id], known.definition in off), grace, tx.now)
    ]
    runs, queued = await _fire(tx, verdicts, facts)
    await slots.record(tx, [_record(verdict, runs) for verdict in verdicts], actor=MADE_BY, tzdata=tzdata_version())
    ranges = [_missed(known, plans[known.id]) for known in mine if plans[known.id].missed]
    await slots.record_ranges(tx, ranges, actor=MADE_BY, tzdata=tzdata_version())
    moved = [known.decided(plans[known.id].decided_until) for known in mine]
    return Decided(moved, [known.id for known in due if known.id not in taken], verdicts, queued, tx.now)


def _facts(row: Row, off: bool) -> SlotFacts:
    return SlotFacts(row["open_runs"], row["pending_runs"], row["enabled"] and not off, row["paused"])


def _decide(known: Known, plan: SlotPlan, facts: SlotFacts, grace: timedelta, now: datetime) -> list[Verdict]:
    decided = decide_in_turn(_view(known.rule, grace), plan.slots, facts, now)
    return [Verdict(known, slot_at, decision) for slot_at, decision in decided]


def _view(rule: Rule, grace: timedelta) -> ScheduleView:
    return ScheduleView(rule.starts_at, rule.ends_at, grace)


async def _fire(tx: Tx, verdicts: Sequence[Verdict], facts: dict[UUID, Row]) -> tuple[dict[tuple[UUID, datetime], UUID], list[Placed]]:
    fired = [verdict for verdict in verdicts if verdict.decision.kind is DecisionKind.FIRED]
    if not fired:
        return {}, []
    answers = await create(tx, [_ask(verdict, facts[verdict.known.id], tx.now) for verdict in fired])
    made = {(verdict.known.id, verdict.slot_at): _accepted(answer) for verdict, answer in zip(fired, answers, strict=True)}
    gated = [run.id for run in made.values() if run.gated]
    queued = [Placed(run.id, State.QUEUED, run.queue, run.priority) for run in made.values() if run.state is State.QUEUED]
    queued += [run for run in await gates.place(tx, gated) if run.state is State.QUEUED]
    return {key: run.id for key, run in made.items()}, queued


def _ask(verdict: Verdict, row: Row, now: datetime) -> Ask:
    known, slot_at = verdict.known, verdict.slot_at
    return Ask(
        known.definition,
        tenant=known.tenant or known.definition_tenant,
        definition_tenant=known.definition_tenant,
        params=input_of(known, slot_at, row, now),
        at=slot_at,
        created_by=MADE_BY,
        origin=Origin.SLOT,
        schedule=known.id,
        slot_at=slot_at,
        token=token_for("slot", known.id, slot_at.isoformat()),
    )


def _accepted(answer: Accepted | HeadwayError) -> Accepted:
    """A definition that was there when its facts were read under the lock is there when its run is made, or all is tried again."""
    if isinstance(answer, HeadwayError):
        raise answer
    return answer


def _record(verdict: Verdict, runs: dict[tuple[UUID, datetime], UUID]) -> SlotRecord:
    known, slot_at, decision = verdict
    reason = decision.reason.value if decision.reason else ""
    run = runs.get((known.id, slot_at))
    return SlotRecord(known.id, slot_at, int(decision.kind), reason, "", decision.effective_at, run, known.version)


def _missed(known: Known, plan: SlotPlan) -> RangeRecord:
    assert plan.missed is not None, "the caller asked"
    after, until, count = plan.missed
    return RangeRecord(known.id, after, until, int(DecisionKind.SKIPPED), "missed", count, known.version)
