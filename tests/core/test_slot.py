"""What is made of a slot, and what a look at a schedule plans."""

from datetime import UTC, datetime, timedelta
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.schedule.evaluate import between
from headway.core.schedule.rule import parse_rule
from headway.core.slot import (
    GRACE,
    ORDER,
    Decision,
    DecisionKind,
    MissedRange,
    Reason,
    ScheduleView,
    SlotFacts,
    decide,
    decide_in_turn,
    plan_slots,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
MINUTELY = parse_rule({"cron": "* * * * *"})


def test_a_slot_without_a_reason_fires() -> None:
    """DEF-13: with nothing against it a slot fires, at its own instant."""
    assert decide(ScheduleView(), NOW, SlotFacts(), NOW) == Decision(DecisionKind.FIRED, None, NOW)


@pytest.mark.parametrize(
    ("reason", "schedule", "facts", "late"),
    [
        (Reason.BOUNDS, ScheduleView(starts_at=NOW + SECOND), SlotFacts(), 0),
        (Reason.BOUNDS, ScheduleView(ends_at=NOW - SECOND), SlotFacts(), 0),
        (Reason.DISABLED, ScheduleView(), SlotFacts(enabled=False), 0),
        (Reason.PAUSED, ScheduleView(), SlotFacts(paused=True), 0),
        (Reason.MISSED, ScheduleView(), SlotFacts(), 60),
        (Reason.OVERLAP, ScheduleView(), SlotFacts(open_runs=1), 0),
        (Reason.OVERLAP, ScheduleView(), SlotFacts(pending_runs=1), 59),
        (Reason.BOUNDS, ScheduleView(ends_at=NOW - SECOND), SlotFacts(1, 1, False, True), 99),
        (Reason.DISABLED, ScheduleView(), SlotFacts(1, 1, False, True), 99),
        (Reason.PAUSED, ScheduleView(), SlotFacts(1, 1, True, True), 99),
        (Reason.MISSED, ScheduleView(), SlotFacts(1, 1), 99),
    ],
)
def test_the_first_reason_wins(reason: Reason, schedule: ScheduleView, facts: SlotFacts, late: int) -> None:
    """OBS-06, DEF-11: reasons are asked in one order, and the first that applies is recorded."""
    decision = decide(schedule, NOW, facts, NOW + late * SECOND)
    assert decision == Decision(DecisionKind.SKIPPED, reason, NOW)


def test_the_order_names_every_reason_once() -> None:
    """OBS-06: the order stands as data, and leaves no reason out."""
    assert [reason for reason, _ in ORDER] == list(Reason)


def test_bounds_are_inclusive() -> None:
    """DEF-10: a slot on a bound fires."""
    assert decide(ScheduleView(starts_at=NOW, ends_at=NOW), NOW, SlotFacts(), NOW).kind is DecisionKind.FIRED


def test_a_run_of_one_slot_stands_in_the_way_of_the_next() -> None:
    """DEF-12: of several slots decided at once only the first may fire."""
    decided = decide_in_turn(ScheduleView(), [NOW, NOW + SECOND, NOW + 2 * SECOND], SlotFacts(), NOW + 2 * SECOND)
    assert [slot for slot, _ in decided] == [NOW, NOW + SECOND, NOW + 2 * SECOND]
    assert [decision.reason for _, decision in decided] == [None, Reason.OVERLAP, Reason.OVERLAP]


def test_an_outage_becomes_one_range() -> None:
    """CAL-08, CAL-09: what is a minute late or later is one range, the rest are slots, and all of it is then decided."""
    plan = plan_slots(MINUTELY, NOW - 10 * MINUTE, NOW)
    assert plan.missed == MissedRange(NOW - 10 * MINUTE, NOW - MINUTE, 9)
    assert plan.slots == [NOW]
    assert plan.decided_until == NOW


def test_nothing_due_moves_what_is_decided() -> None:
    """DEF-14: a look that finds nothing decides everything up to now all the same."""
    assert plan_slots(MINUTELY, NOW, NOW + 30 * SECOND) == ([], None, NOW + 30 * SECOND)


def test_a_clock_that_stepped_back_decides_nothing() -> None:
    """CAL-15: what was decided stays decided."""
    assert plan_slots(MINUTELY, NOW, NOW - timedelta(hours=1)) == ([], None, NOW)


def test_a_full_plan_stops_at_its_last_slot() -> None:
    """DEF-14: more slots than the limit are left for the next plan, and none is lost between the two."""
    rule = parse_rule({"every": "1s"})
    first = plan_slots(rule, NOW - 50 * SECOND, NOW, limit=20)
    second = plan_slots(rule, first.decided_until, NOW, limit=40)
    assert first.decided_until == NOW - 30 * SECOND
    assert first.slots + second.slots == [NOW - 50 * SECOND + n * SECOND for n in range(1, 51)]
    assert second.decided_until == NOW


def test_a_year_of_outage_costs_no_loop() -> None:
    """CAL-10: half a million missed slots are planned in under 50 ms."""
    plan_slots(MINUTELY, NOW - timedelta(days=366), NOW)
    started = perf_counter()
    plan = plan_slots(MINUTELY, NOW - timedelta(days=365), NOW)
    assert perf_counter() - started < 0.05
    assert plan.missed is not None
    assert plan.missed.slots == 365 * 1440 - 1


@given(
    st.sampled_from([{"cron": "*/7 * * * *", "zone": "Europe/Berlin"}, {"every": "13s"}, {"cron": "*/20 * * * * *"}]),
    st.lists(st.integers(-100, 400), min_size=1, max_size=12),
    st.integers(1, 8),
)
def test_plans_cover_every_slot_once(given_rule: dict[str, str], steps: list[int], limit: int) -> None:
    """CAL-15, DEF-14: over any clock, steps back included, each slot is in exactly one plan, as a slot or in a range's count."""
    rule = parse_rule(given_rule)
    start = decided_until = now = NOW
    singles: list[datetime] = []
    ranged = 0
    for step in [*steps, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0]:
        now += step * SECOND
        plan = plan_slots(rule, decided_until, now, limit=limit)
        assert plan.decided_until >= decided_until
        assert all(now - slot < GRACE for slot in plan.slots)
        singles += plan.slots
        ranged += plan.missed.slots if plan.missed else 0
        decided_until = plan.decided_until
    expected = between(rule, start, decided_until, 10_000)
    assert len(singles) + ranged == len(expected)
    assert sorted(set(singles)) == singles
    assert set(singles) <= set(expected)
