"""What is made of a slot: the decision, and its reasons in their order."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, IntEnum
from typing import Final, NamedTuple
from uuid import UUID

from headway.core.calendar.judge import HOPS, Verdict, VerdictKind, judge
from headway.core.calendar.window import Calendar
from headway.core.calendar.writing import describe
from headway.core.durations import format_duration
from headway.core.schedule.jitter import jitter_of
from headway.core.schedule.timeline import Timeline

GRACE: Final = timedelta(seconds=60)
NEVER_MIND: Final = timedelta()


class DecisionKind(IntEnum):
    """What a slot became, as rows remember it."""

    FIRED = 1
    DEFERRED = 2
    SKIPPED = 3


class Reason(Enum):
    """Why a slot was not fired at its own instant."""

    BOUNDS = "bounds"
    DISABLED = "disabled"
    PAUSED = "paused"
    CALENDAR = "calendar"
    MISSED = "missed"
    COALESCED = "coalesced"
    TOO_OLD = "too old"
    OVER_LIMIT = "over the limit"
    RESTRICTION = "restriction"
    BREAKER = "breaker"
    OVERLAP = "overlap"


class Start(Enum):
    """When a fired slot's run may start: when it is due, when its schedule's open runs have ended, or in its turn of a catch-up."""

    DUE = "due"
    AFTER_OPEN = "after open"
    IN_TURN = "in turn"


class MisfireKind(Enum):
    """What becomes of slots that nobody decided in time: nothing, one run for all, or a run for each."""

    SKIP = "skip"
    RUN_ONCE = "run_once"
    RUN_ALL = "run_all"


class OverlapKind(Enum):
    """What becomes of a slot while runs of its schedule are open."""

    SKIP = "skip"
    DELAY = "delay"
    ALLOW = "allow"
    CANCEL_PREVIOUS = "cancel_previous"


class Misfire(NamedTuple):
    """A misfire policy; slots older than `max_age` stay missed (zero: none is too old), `limit` bounds the runs of run_all."""

    kind: MisfireKind = MisfireKind.SKIP
    max_age: timedelta = timedelta(days=1)
    limit: int = 100


class Overlap(NamedTuple):
    """An overlap policy; `most` runs may be open at once under allow."""

    kind: OverlapKind = OverlapKind.SKIP
    most: int = 2


SKIP_MISSED: Final = Misfire()
SKIP_OVERLAPPING: Final = Overlap()


@dataclass(frozen=True, slots=True)
class ScheduleView:
    """What a decision has to know of a schedule; a slot whose effective instant is `grace` or more ago is missed."""

    id: UUID
    timeline: Timeline
    calendars: Sequence[Calendar] = ()
    misfire: Misfire = SKIP_MISSED
    overlap: Overlap = SKIP_OVERLAPPING
    grace: timedelta = GRACE
    catch_up: bool = True

    @property
    def delay(self) -> timedelta:
        """How much later than its effective instant each run starts, to spread load."""
        return jitter_of(self.id, self.timeline.rule.jitter)

    def judged(self, slot_at: datetime) -> Verdict:
        """What the calendars make of an instant."""
        if not self.calendars:
            return Verdict(VerdictKind.FREE, slot_at)
        return judge(self.calendars, self.timeline.rule.zone, slot_at)


@dataclass(frozen=True, slots=True)
class SlotFacts:
    """What held for a schedule when its row was locked: its runs that are open, those of them that have not started, its switches.

    `enabled` and `paused` speak for schedule and definition together; the texts say who or what is in the way.
    """

    open_runs: int = 0
    pending_runs: int = 0
    enabled: bool = True
    paused: bool = False
    pause: str = ""
    in_the_way: str = ""
    restricted_by: str = ""
    breaker: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a slot became, why if it was not fired at its instant, in a word and in a sentence, and when its run is due.

    `cancels` says that open runs get the wish to end, `gated` that runs of the schedule wait behind one another.
    """

    kind: DecisionKind
    reason: Reason | None
    effective_at: datetime
    detail: str = ""
    start: Start = Start.DUE
    cancels: bool = False
    gated: bool = False

    @property
    def fires(self) -> bool:
        """Whether the slot has a run."""
        return self.kind is not DecisionKind.SKIPPED


class Case(NamedTuple):
    """One slot with everything that its decision depends on."""

    schedule: ScheduleView
    slot_at: datetime
    verdict: Verdict
    facts: SlotFacts
    now: datetime


_Complaint = Callable[[Case], str]


def _out_of_bounds(case: Case) -> str:
    rule = case.schedule.timeline.rule
    if rule.starts_at is not None and case.slot_at < rule.starts_at:
        return f"the schedule starts at {rule.starts_at.isoformat()}"
    if rule.ends_at is not None and case.slot_at > rule.ends_at:
        return f"the schedule ended at {rule.ends_at.isoformat()}"
    return ""


def _disabled(case: Case) -> str:
    return "" if case.facts.enabled else "the schedule or its definition is disabled"


def _paused(case: Case) -> str:
    return (case.facts.pause or "the schedule or its definition is paused") if case.facts.paused else ""


def _blocked(case: Case) -> str:
    return because_of(case.verdict) if case.verdict.kind is VerdictKind.SKIPPED else ""


def _missed(case: Case) -> str:
    due = case.verdict.effective_at
    late = case.now - due - case.schedule.delay if due is not None else NEVER_MIND
    return f"decided {format_duration(late)} late" if late >= case.schedule.grace > NEVER_MIND else ""


def _restricted(case: Case) -> str:
    return case.facts.restricted_by


def _broken_off(case: Case) -> str:
    return case.facts.breaker


def _overlapping(case: Case) -> str:
    facts, overlap = case.facts, case.schedule.overlap
    way = facts.in_the_way or "a run"
    match overlap.kind:
        case OverlapKind.SKIP if facts.open_runs:
            return f"{way} of the schedule is still open (overlap policy skip)"
        case OverlapKind.ALLOW if facts.open_runs >= overlap.most:
            return f"{facts.open_runs} runs of the schedule are open (overlap policy allow, at most {overlap.most})"
        case _ if facts.pending_runs:
            return f"{way} of the schedule has not started yet (overlap policy {overlap.kind.value}: at most one waits)"
        case _:
            return ""


ORDER: Final[tuple[tuple[Reason, _Complaint], ...]] = (
    (Reason.BOUNDS, _out_of_bounds),
    (Reason.DISABLED, _disabled),
    (Reason.PAUSED, _paused),
    (Reason.CALENDAR, _blocked),
    (Reason.MISSED, _missed),
    (Reason.RESTRICTION, _restricted),
    (Reason.BREAKER, _broken_off),
    (Reason.OVERLAP, _overlapping),
)


def decide(schedule: ScheduleView, slot_at: datetime, facts: SlotFacts, now: datetime, *, missed: bool = False) -> Decision:
    """Decide one slot: the first reason in ORDER that applies skips it, otherwise it fires, perhaps later than its instant.

    `missed` says that the misfire policy let a late slot through.
    """
    case = Case(replace(schedule, grace=NEVER_MIND) if missed else schedule, slot_at, schedule.judged(slot_at), facts, now)
    for reason, complains in ORDER:
        if detail := complains(case):
            return Decision(DecisionKind.SKIPPED, reason, slot_at, detail)
    return _fired(schedule, case.verdict, facts)


def decide_in_turn(schedule: ScheduleView, slots: Iterable[datetime], facts: SlotFacts, now: datetime) -> list[tuple[datetime, Decision]]:
    """Decide slots of one schedule one after another: a run that one of them fires is open and pending for those behind it."""
    decided: list[tuple[datetime, Decision]] = []
    for slot_at in slots:
        if decided and decided[-1][1].fires:
            facts = after_firing(facts, decided[-1][0])
        decided.append((slot_at, decide(schedule, slot_at, facts, now)))
    return decided


def after_firing(facts: SlotFacts, slot_at: datetime) -> SlotFacts:
    """Return what holds once a slot has fired."""
    way = f"the run of slot {slot_at.isoformat()}"
    return replace(facts, open_runs=facts.open_runs + 1, pending_runs=facts.pending_runs + 1, in_the_way=way)


def because_of(verdict: Verdict) -> str:
    """Say which calendar speaks, and which of its windows."""
    if verdict.window is None:
        return f"calendar {verdict.calendar}"
    window = f"calendar {verdict.calendar}: {describe(verdict.window)}"
    return f"{window}, deferred {HOPS} times without an end" if verdict.exhausted else window


def _fired(schedule: ScheduleView, verdict: Verdict, facts: SlotFacts) -> Decision:
    assert verdict.effective_at is not None, "a skipped instant does not fire"
    effective = verdict.effective_at + schedule.delay
    gated = schedule.overlap.kind in {OverlapKind.DELAY, OverlapKind.CANCEL_PREVIOUS}
    waits = gated and facts.open_runs > 0
    cancels = waits and schedule.overlap.kind is OverlapKind.CANCEL_PREVIOUS
    start = Start.AFTER_OPEN if waits else Start.DUE
    if verdict.kind is VerdictKind.DEFERRED:
        return Decision(DecisionKind.DEFERRED, Reason.CALENDAR, effective, because_of(verdict), start, cancels, gated)
    return Decision(DecisionKind.FIRED, None, effective, "", start, cancels, gated)
