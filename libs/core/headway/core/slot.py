"""What is made of a slot: the decision, its reasons in their order, and the plan of what is to be decided now."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, IntEnum
from typing import Final, NamedTuple

from headway.core.schedule.evaluate import between, count
from headway.core.schedule.rule import Rule

GRACE: Final = timedelta(seconds=60)


class DecisionKind(IntEnum):
    """What a slot became, as rows remember it."""

    FIRED = 1
    DEFERRED = 2
    SKIPPED = 3


class Reason(Enum):
    """Why a slot was not fired."""

    BOUNDS = "bounds"
    DISABLED = "disabled"
    PAUSED = "paused"
    MISSED = "missed"
    OVERLAP = "overlap"


@dataclass(frozen=True, slots=True)
class ScheduleView:
    """What a decision has to know of a schedule; a slot `grace` late or later is missed."""

    starts_at: datetime | None = None
    ends_at: datetime | None = None
    grace: timedelta = GRACE


@dataclass(frozen=True, slots=True)
class SlotFacts:
    """What held for a schedule when its row was locked: its runs that are open, those of them that have not started, its switches.

    `enabled` and `paused` speak for schedule and definition together.
    """

    open_runs: int = 0
    pending_runs: int = 0
    enabled: bool = True
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What a slot became, why if it was not fired, and the instant at which its run is due."""

    kind: DecisionKind
    reason: Reason | None
    effective_at: datetime


class MissedRange(NamedTuple):
    """A stretch (after, until] of missed slots, decided as one, and how many slots it holds."""

    after: datetime
    until: datetime
    slots: int


class SlotPlan(NamedTuple):
    """What a look at a schedule found: slots to decide one by one, a stretch that was missed, and how far all is then decided."""

    slots: list[datetime]
    missed: MissedRange | None
    decided_until: datetime


_Check = Callable[[ScheduleView, datetime, SlotFacts, datetime], bool]


def _out_of_bounds(schedule: ScheduleView, slot_at: datetime, _facts: SlotFacts, _now: datetime) -> bool:
    early = schedule.starts_at is not None and slot_at < schedule.starts_at
    return early or (schedule.ends_at is not None and slot_at > schedule.ends_at)


def _disabled(_schedule: ScheduleView, _slot_at: datetime, facts: SlotFacts, _now: datetime) -> bool:
    return not facts.enabled


def _paused(_schedule: ScheduleView, _slot_at: datetime, facts: SlotFacts, _now: datetime) -> bool:
    return facts.paused


def _missed(schedule: ScheduleView, slot_at: datetime, _facts: SlotFacts, now: datetime) -> bool:
    return now - slot_at >= schedule.grace


def _overlapping(_schedule: ScheduleView, _slot_at: datetime, facts: SlotFacts, _now: datetime) -> bool:
    return facts.open_runs > 0 or facts.pending_runs > 0


ORDER: Final[tuple[tuple[Reason, _Check], ...]] = (
    (Reason.BOUNDS, _out_of_bounds),
    (Reason.DISABLED, _disabled),
    (Reason.PAUSED, _paused),
    (Reason.MISSED, _missed),
    (Reason.OVERLAP, _overlapping),
)


def decide(schedule: ScheduleView, slot_at: datetime, facts: SlotFacts, now: datetime) -> Decision:
    """Decide one slot: the first reason in ORDER that applies skips it, otherwise it fires."""
    for reason, applies in ORDER:
        if applies(schedule, slot_at, facts, now):
            return Decision(DecisionKind.SKIPPED, reason, slot_at)
    return Decision(DecisionKind.FIRED, None, slot_at)


def decide_in_turn(schedule: ScheduleView, slots: Iterable[datetime], facts: SlotFacts, now: datetime) -> list[tuple[datetime, Decision]]:
    """Decide slots of one schedule one after another: a run that one of them fires is open and pending for those behind it."""
    decided = []
    for slot_at in slots:
        decision = decide(schedule, slot_at, facts, now)
        decided.append((slot_at, decision))
        if decision.kind is DecisionKind.FIRED:
            facts = replace(facts, open_runs=facts.open_runs + 1, pending_runs=facts.pending_runs + 1)
    return decided


def plan_slots(rule: Rule, decided_until: datetime, now: datetime, grace: timedelta = GRACE, limit: int = 500) -> SlotPlan:
    """Plan what is to be decided of the slots in (decided_until, now].

    Those that are `grace` late or later become one range, counted by arithmetic; at most `limit` of the others are listed, and
    `decided_until` of the plan then stops at the last of them.  It never moves back: with a clock behind it there is nothing to do.
    """
    if now <= decided_until:
        return SlotPlan([], None, decided_until)
    late_until = max(decided_until, now - grace)
    slots_missed = count(rule, decided_until, late_until)
    missed = MissedRange(decided_until, late_until, slots_missed) if slots_missed else None
    slots = between(rule, late_until, now, limit)
    return SlotPlan(slots, missed, slots[-1] if slots and len(slots) == limit else now)
