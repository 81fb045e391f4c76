"""What is made of a slot."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from headway.core.calendar.reading import parse_calendar
from headway.core.schedule.rule import parse_rule
from headway.core.schedule.timeline import Timeline
from headway.core.slot import (
    ORDER,
    Decision,
    DecisionKind,
    Overlap,
    OverlapKind,
    Reason,
    ScheduleView,
    SlotFacts,
    Start,
    decide,
    decide_in_turn,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)  # a Sunday
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
SUNDAYS = parse_calendar({"name": "sundays", "windows": [{"weekdays": ["sun"], "policy": "skip"}]})
UNTIL_ONE = parse_calendar({"name": "lunch", "windows": [{"weekdays": ["sun"], "start": "11:00", "end": "13:00", "policy": "defer"}]})
PLAIN = Decision(DecisionKind.FIRED, None, NOW)


def view(overlap: Overlap | None = None, calendars: tuple[Any, ...] = (), **rule: Any) -> ScheduleView:
    """A minutely schedule."""
    made = ScheduleView(UUID(int=1), Timeline(parse_rule({"cron": "* * * * *", **rule})), calendars)
    return made if overlap is None else replace(made, overlap=overlap)


PLAIN_VIEW = view()
STARTS_LATER = view(starts_at=NOW + SECOND)
OVER = view(ends_at=NOW - SECOND)


def test_a_slot_without_a_reason_fires() -> None:
    """DEF-13: with nothing against it a slot fires, at its own instant."""
    assert decide(PLAIN_VIEW, NOW, SlotFacts(), NOW) == PLAIN


@pytest.mark.parametrize(
    ("reason", "schedule", "facts", "late"),
    [
        (Reason.BOUNDS, STARTS_LATER, SlotFacts(), 0),
        (Reason.BOUNDS, OVER, SlotFacts(), 0),
        (Reason.DISABLED, PLAIN_VIEW, SlotFacts(enabled=False), 0),
        (Reason.PAUSED, PLAIN_VIEW, SlotFacts(paused=True), 0),
        (Reason.CALENDAR, view(calendars=(SUNDAYS,)), SlotFacts(), 0),
        (Reason.MISSED, PLAIN_VIEW, SlotFacts(), 60),
        (Reason.RESTRICTION, PLAIN_VIEW, SlotFacts(restricted_by="run 1 of load"), 0),
        (Reason.BREAKER, PLAIN_VIEW, SlotFacts(breaker="open since noon"), 0),
        (Reason.OVERLAP, PLAIN_VIEW, SlotFacts(open_runs=1), 0),
        (Reason.OVERLAP, PLAIN_VIEW, SlotFacts(pending_runs=1), 59),
        (Reason.BOUNDS, OVER, SlotFacts(1, 1, False, True), 99),
        (Reason.DISABLED, view(calendars=(SUNDAYS,)), SlotFacts(1, 1, False, True), 99),
        (Reason.PAUSED, view(calendars=(SUNDAYS,)), SlotFacts(1, 1, True, True), 99),
        (Reason.CALENDAR, view(calendars=(SUNDAYS,)), SlotFacts(1, 1), 99),
        (Reason.MISSED, PLAIN_VIEW, SlotFacts(1, 1, restricted_by="run 1", breaker="open"), 99),
        (Reason.RESTRICTION, PLAIN_VIEW, SlotFacts(1, 1, restricted_by="run 1", breaker="open"), 0),
        (Reason.BREAKER, PLAIN_VIEW, SlotFacts(1, 1, breaker="open"), 0),
    ],
)
def test_the_first_reason_wins(reason: Reason, schedule: ScheduleView, facts: SlotFacts, late: int) -> None:
    """OBS-06, DEF-11: reasons are asked in one order, the first that applies is recorded, and says why in a sentence."""
    decision = decide(schedule, NOW, facts, NOW + late * SECOND)
    assert (decision.kind, decision.reason, decision.effective_at) == (DecisionKind.SKIPPED, reason, NOW)
    assert decision.detail


def test_the_order_stands_as_data() -> None:
    """OBS-06: bounds, switches, calendar, misfire, restriction, breaker, overlap (time.md, "Order of the decision")."""
    ranges_alone = {Reason.COALESCED, Reason.TOO_OLD, Reason.OVER_LIMIT}
    assert [reason for reason, _ in ORDER] == [reason for reason in Reason if reason not in ranges_alone]


def test_a_sentence_names_what_is_in_the_way() -> None:
    """OBS-06: the calendar with its window, the run and the policy, whoever paused."""
    assert "sundays" in decide(view(calendars=(SUNDAYS,)), NOW, SlotFacts(), NOW).detail
    overlap = decide(PLAIN_VIEW, NOW, SlotFacts(1, 0, in_the_way="run 7"), NOW).detail
    assert "run 7" in overlap and "skip" in overlap
    assert decide(PLAIN_VIEW, NOW, SlotFacts(paused=True, pause="paused by ann: stocktaking"), NOW).detail == "paused by ann: stocktaking"


def test_bounds_are_inclusive() -> None:
    """DEF-10: a slot on a bound fires."""
    assert decide(view(starts_at=NOW, ends_at=NOW), NOW, SlotFacts(), NOW).kind is DecisionKind.FIRED


def test_a_deferred_slot_keeps_its_instant_and_runs_when_the_window_ends() -> None:
    """CAL-04, CAL-05: the run is due at the window's end; lateness counts from there."""
    hour = timedelta(hours=1)
    decision = decide(view(calendars=(UNTIL_ONE,)), NOW, SlotFacts(), NOW + 5 * MINUTE)
    assert (decision.kind, decision.reason, decision.effective_at) == (DecisionKind.DEFERRED, Reason.CALENDAR, NOW + hour)
    assert "lunch" in decision.detail
    assert decide(view(calendars=(UNTIL_ONE,)), NOW, SlotFacts(), NOW + hour + MINUTE).reason is Reason.MISSED


def test_jitter_delays_the_run_and_not_the_slot() -> None:
    """The run is due inside the declared window, always at the same place of it."""
    spread = view(jitter="10m")
    decision = decide(spread, NOW, SlotFacts(), NOW)
    assert decision.effective_at == NOW + spread.delay
    assert timedelta() <= spread.delay < timedelta(minutes=10)


def test_a_run_of_one_slot_stands_in_the_way_of_the_next() -> None:
    """DEF-12, BB-033: of several slots decided at once only the first may fire."""
    decided = decide_in_turn(PLAIN_VIEW, [NOW, NOW + SECOND, NOW + 2 * SECOND], SlotFacts(), NOW + 2 * SECOND)
    assert [slot for slot, _ in decided] == [NOW, NOW + SECOND, NOW + 2 * SECOND]
    assert [decision.reason for _, decision in decided] == [None, Reason.OVERLAP, Reason.OVERLAP]
    assert f"slot {NOW.isoformat()}" in decided[1][1].detail


@pytest.mark.parametrize(
    ("overlap", "open_runs", "pending", "expected"),
    [
        (Overlap(OverlapKind.DELAY), 0, 0, (Start.DUE, False)),
        (Overlap(OverlapKind.DELAY), 1, 0, (Start.AFTER_OPEN, False)),
        (Overlap(OverlapKind.DELAY), 2, 1, None),
        (Overlap(OverlapKind.ALLOW, 2), 1, 0, (Start.DUE, False)),
        (Overlap(OverlapKind.ALLOW, 2), 2, 0, None),
        (Overlap(OverlapKind.ALLOW, 2), 1, 1, None),
        (Overlap(OverlapKind.CANCEL_PREVIOUS), 0, 0, (Start.DUE, False)),
        (Overlap(OverlapKind.CANCEL_PREVIOUS), 1, 0, (Start.AFTER_OPEN, True)),
        (Overlap(OverlapKind.CANCEL_PREVIOUS), 2, 1, None),
    ],
)
def test_overlap_policies(overlap: Overlap, open_runs: int, pending: int, expected: tuple[Start, bool] | None) -> None:
    """DEF-11, DEF-12: wait behind the open run, run beside it, end it, or give way; never do two wait."""
    decision = decide(view(overlap), NOW, SlotFacts(open_runs, pending), NOW)
    assert (None if not decision.fires else (decision.start, decision.cancels)) == expected
