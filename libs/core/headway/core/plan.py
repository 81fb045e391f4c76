"""What is to be decided of a schedule up to now: slots one by one, and stretches of slots that are decided as one.

The work is bounded: stretches are counted by arithmetic, and policies that look for slots look at so many and no more.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from headway.core.calendar.judge import VerdictKind
from headway.core.durations import format_duration
from headway.core.slot import (
    Decision,
    DecisionKind,
    MisfireKind,
    Reason,
    ScheduleView,
    SlotFacts,
    Start,
    after_firing,
    because_of,
    decide,
    decide_in_turn,
)

MOST_SLOTS: Final = 500
MOST_LOOKS: Final = 1000
_TICK: Final = timedelta(microseconds=1)


class Stretch(NamedTuple):
    """One decision for the slots in (after, until], how many they are, and why, in a word and in a sentence."""

    after: datetime
    until: datetime
    slots: int
    reason: Reason
    detail: str


class Reach(NamedTuple):
    """How far a look at a schedule goes: slots up to `late` are misfires, those behind it are listed, and all is decided up to `until`."""

    late: datetime
    slots: list[datetime]
    until: datetime


class Plan(NamedTuple):
    """Decisions for single slots, oldest first, and for stretches, none of which overlaps another or a slot."""

    decided: list[tuple[datetime, Decision]]
    stretches: list[Stretch]


def reach(schedule: ScheduleView, decided_until: datetime, now: datetime, limit: int = MOST_SLOTS) -> Reach:
    """Say how far one look goes from `decided_until`: to now, or to the last of at most `limit` slots that are in time.

    It never goes back: with a clock behind `decided_until` there is nothing to do.
    """
    if now <= decided_until:
        return Reach(decided_until, [], decided_until)
    late = max(decided_until, now - schedule.grace - schedule.delay)
    first = schedule.timeline.next(decided_until)
    if first is not None and first > late:  # the usual case, known without counting what is late
        late = decided_until
    slots = schedule.timeline.between(late, now, limit)
    return Reach(late, slots, slots[-1] if len(slots) == limit else now)


def plan(schedule: ScheduleView, decided_until: datetime, reached: Reach, facts: SlotFacts, now: datetime) -> Plan:
    """Decide everything in (decided_until, reached.until]: misfires by their policy, then the slots that are in time."""
    late = _Late(schedule, facts, now)
    decided, stretches = late.decide(decided_until, reached.late)
    for slot_at, decision in decided:
        if decision.fires and decision.start is not Start.IN_TURN:
            facts = after_firing(facts, slot_at)
    return Plan([*decided, *decide_in_turn(schedule, reached.slots, facts, now)], stretches)


class _Late:
    """Decides what nobody decided in time."""

    def __init__(self, schedule: ScheduleView, facts: SlotFacts, now: datetime) -> None:
        self.schedule = schedule
        self.slots = schedule.timeline
        self.facts = facts
        self.now = now
        age = schedule.misfire.max_age
        self.oldest = now - age if age else None

    def decide(self, after: datetime, until: datetime) -> tuple[list[tuple[datetime, Decision]], list[Stretch]]:
        """Decide the slots in (after, until]."""
        if until <= after or not self.slots.count(after, until):
            return [], []
        if stretch := self._switched_off(after, until):
            return [], stretch
        waiting = self._still_deferred(after, until)
        end = waiting[0] - _TICK if waiting else until
        decided, stretches = self._by_policy(after, end)
        return decided + decide_in_turn(self.schedule, waiting, self.facts, self.now), stretches

    def _switched_off(self, after: datetime, until: datetime) -> list[Stretch]:
        """A pause or a switch is no misfire, however long it lasts."""
        if not self.facts.enabled:
            return self._stretch(after, until, Reason.DISABLED, "the schedule or its definition was disabled")
        if self.facts.paused:
            return self._stretch(after, until, Reason.PAUSED, self.facts.pause or "the schedule or its definition was paused")
        return []

    def _still_deferred(self, after: datetime, until: datetime) -> list[datetime]:
        """The slots that calendars defer beyond `until`: they are not late.  They lie in the closed time that `until` lies in."""
        found: list[datetime] = []
        if not self.schedule.calendars or self.schedule.judged(until).kind is VerdictKind.FREE:
            return found
        for slot in self._back_from(after, until):
            verdict = self.schedule.judged(slot)
            if verdict.effective_at is None or verdict.effective_at <= until:
                break
            found.append(slot)
        return found[::-1]

    def _by_policy(self, after: datetime, until: datetime) -> tuple[list[tuple[datetime, Decision]], list[Stretch]]:
        kind = self.schedule.misfire.kind
        if not self.schedule.catch_up or kind is MisfireKind.SKIP:
            why = "misfire policy skip" if self.schedule.catch_up else "catching up is switched off"
            return [], self._stretch(after, until, Reason.MISSED, f"no scheduler decided them in time ({why})")
        young = after if self.oldest is None else min(max(after, self.oldest - _TICK), until)
        limit = format_duration(self.schedule.misfire.max_age)
        old = self._stretch(after, young, Reason.TOO_OLD, f"older than {limit}, the most that misfire policy {kind.value} goes back")
        decided, stretches = self._once(young, until) if kind is MisfireKind.RUN_ONCE else self._all(young, until)
        return decided, [*old, *stretches]

    def _once(self, after: datetime, until: datetime) -> tuple[list[tuple[datetime, Decision]], list[Stretch]]:
        chosen = next((slot for slot in self._back_from(after, until) if self._survives(slot)), None)
        if chosen is None:
            why = f"the calendars leave none of the last {MOST_LOOKS} that were missed (misfire policy run_once)"
            return [], self._stretch(after, until, Reason.MISSED, why)
        why = f"slot {chosen.isoformat()} stands for them (misfire policy run_once)"
        around = [
            *self._stretch(after, chosen - _TICK, Reason.COALESCED, why),
            *self._stretch(chosen, until, Reason.COALESCED, why),
        ]
        return [(chosen, decide(self.schedule, chosen, self.facts, self.now, missed=True))], around

    def _all(self, after: datetime, until: datetime) -> tuple[list[tuple[datetime, Decision]], list[Stretch]]:
        limit = self.schedule.misfire.limit
        slots = self.slots.between(after, until, limit)
        rest = slots[-1] if slots else after
        why = f"{limit} slots before them are caught up (misfire policy run_all)"
        return [(slot, self._in_turn(slot)) for slot in slots], self._stretch(rest, until, Reason.OVER_LIMIT, why)

    def _in_turn(self, slot: datetime) -> Decision:
        verdict = self.schedule.judged(slot)
        if verdict.effective_at is None:
            return Decision(DecisionKind.SKIPPED, Reason.CALENDAR, slot, because_of(verdict))
        return Decision(DecisionKind.FIRED, None, max(verdict.effective_at, slot), "misfire policy run_all", Start.IN_TURN)

    def _survives(self, slot: datetime) -> bool:
        return self.schedule.judged(slot).kind is not VerdictKind.SKIPPED

    def _back_from(self, after: datetime, until: datetime) -> Iterator[datetime]:
        """The slots in (after, until], newest first, as many as may be looked at."""
        before = until + _TICK
        for _ in range(MOST_LOOKS):
            slot = self.slots.previous(before)
            if slot is None or slot <= after:
                return
            yield slot
            before = slot

    def _stretch(self, after: datetime, until: datetime, reason: Reason, detail: str) -> list[Stretch]:
        slots = self.slots.count(after, until) if after < until else 0
        return [Stretch(after, until, slots, reason, detail)] if slots else []
