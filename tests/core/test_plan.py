"""What is to be decided of a schedule up to now."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.calendar.reading import parse_calendar
from headway.core.plan import Plan, Stretch, plan, reach
from headway.core.schedule.evaluate import between
from headway.core.schedule.rule import parse_rule
from headway.core.schedule.timeline import Timeline
from headway.core.slot import DecisionKind, Misfire, MisfireKind, Overlap, OverlapKind, Reason, ScheduleView, SlotFacts, Start

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND, MINUTE, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1)
ONCE, ALL = Misfire(MisfireKind.RUN_ONCE), Misfire(MisfireKind.RUN_ALL, limit=3)
NIGHTS = parse_calendar({"name": "nights", "windows": [{"weekdays": ["sun", "mon"], "start": "08:00", "end": "11:55", "policy": "skip"}]})
MORNINGS = parse_calendar({"name": "mornings", "windows": [{"weekdays": ["sun"], "start": "08:00", "end": "12:30", "policy": "defer"}]})
ANYHOW = Overlap(OverlapKind.ALLOW, 1000)


def view(misfire: Misfire | None = None, calendars: tuple[Any, ...] = (), **rule: Any) -> ScheduleView:
    """A schedule, minutely when nothing else is said."""
    made = ScheduleView(UUID(int=1), Timeline(parse_rule(rule or {"cron": "* * * * *"})), calendars)
    return made if misfire is None else replace(made, misfire=misfire)


def planned(schedule: ScheduleView, since: datetime, now: datetime = NOW, facts: SlotFacts | None = None) -> Plan:
    """Everything from an instant up to now."""
    return plan(schedule, since, reach(schedule, since, now), facts or SlotFacts(), now)


def fired(found: Plan) -> list[datetime]:
    """The slots that have a run."""
    return [slot for slot, decision in found.decided if decision.fires]


def ranges(found: Plan) -> list[tuple[datetime, datetime, int, Reason]]:
    """The stretches without their sentences, each of which says something."""
    assert all(stretch.detail for stretch in found.stretches)
    return [(stretch.after, stretch.until, stretch.slots, stretch.reason) for stretch in found.stretches]


def test_an_outage_becomes_one_range() -> None:
    """CAL-08, CAL-09: what is a minute late or later is one range, the rest are slots, and all of it is then decided."""
    found = planned(view(), NOW - 10 * MINUTE)
    assert ranges(found) == [(NOW - 10 * MINUTE, NOW - MINUTE, 9, Reason.MISSED)]
    assert fired(found) == [NOW]
    assert reach(view(), NOW - 10 * MINUTE, NOW).until == NOW


def test_nothing_due_moves_what_is_decided() -> None:
    """DEF-14: a look that finds nothing decides everything up to now all the same."""
    reached = reach(view(), NOW, NOW + 30 * SECOND)
    assert (reached.slots, reached.until) == ([], NOW + 30 * SECOND)
    assert planned(view(), NOW, NOW + 30 * SECOND) == ([], [])


def test_a_clock_that_stepped_back_decides_nothing() -> None:
    """CAL-15: what was decided stays decided."""
    reached = reach(view(), NOW, NOW - timedelta(hours=1))
    assert (reached.slots, reached.until) == ([], NOW)
    assert planned(view(), NOW, NOW - timedelta(hours=1)) == ([], [])


def test_a_full_look_stops_at_its_last_slot() -> None:
    """DEF-14: more slots than the limit are left for the next look, and none is lost between the two."""
    schedule = view(every="1s")
    first = reach(schedule, NOW - 50 * SECOND, NOW, limit=20)
    second = reach(schedule, first.until, NOW, limit=40)
    assert first.until == NOW - 30 * SECOND
    assert first.slots + second.slots == [NOW - 50 * SECOND + n * SECOND for n in range(1, 51)]
    assert second.until == NOW


def test_one_run_stands_for_all_that_were_missed() -> None:
    """CAL-08, BB-029: the latest missed slot fires, however late; those before it are coalesced, and the policy says so."""
    yearly = view(ONCE, cron="15 12 10 4 *")
    due = datetime(2016, 4, 10, 12, 15, tzinfo=UTC)
    found = planned(yearly, due - 5 * MINUTE, due + 10 * MINUTE)
    assert (fired(found), found.stretches) == ([due], [])
    assert yearly.timeline.next(due + 10 * MINUTE) == datetime(2017, 4, 10, 12, 15, tzinfo=UTC)
    missed = planned(replace(yearly, misfire=Misfire()), due - 5 * MINUTE, due + 10 * MINUTE)
    assert (fired(missed), [stretch.slots for stretch in missed.stretches]) == ([], [1])
    found = planned(view(ONCE), NOW - 10 * MINUTE)
    assert fired(found)[0] == NOW - MINUTE
    assert ranges(found) == [(NOW - 10 * MINUTE, NOW - MINUTE - timedelta(microseconds=1), 8, Reason.COALESCED)]


def test_the_run_for_all_is_of_a_slot_that_calendars_leave() -> None:
    """CAL-08: slots that a calendar skips do not stand for others, those behind the chosen one are coalesced as well."""
    found = planned(view(ONCE, (NIGHTS,), every="1h"), NOW - 6 * 60 * MINUTE, NOW - 10 * MINUTE)
    assert fired(found) == [NOW - 5 * 60 * MINUTE]
    assert [one[2:] for one in ranges(found)] == [(4, Reason.COALESCED)]
    blocked = planned(view(ONCE, (NIGHTS,), every="1m"), NOW - 60 * MINUTE, NOW - 10 * MINUTE)
    assert (fired(blocked), [one[3] for one in ranges(blocked)]) == ([], [Reason.MISSED])


def test_what_is_too_old_stays_missed() -> None:
    """CAL-08: run_once and run_all go back so far and no further; zero goes back to the beginning."""
    for misfire in (ONCE, ALL):
        found = planned(view(misfire._replace(max_age=5 * MINUTE)), NOW - 10 * MINUTE)
        assert ranges(found)[0] == (NOW - 10 * MINUTE, NOW - 5 * MINUTE - timedelta(microseconds=1), 4, Reason.TOO_OLD)
    found = planned(view(ONCE, every="7d"), NOW - 100 * DAY)
    assert (fired(found), [one[3] for one in ranges(found)]) == ([], [Reason.TOO_OLD, Reason.MISSED][:1])
    assert len(fired(planned(view(ONCE._replace(max_age=timedelta()), every="7d"), NOW - 100 * DAY))) == 1


def test_every_missed_slot_runs_in_its_turn_up_to_the_limit() -> None:
    """CAL-08: run_all takes the oldest, in turn and outside overlap; the rest is a range, and slots in time go their own way."""
    found = planned(view(ALL), NOW - 10 * MINUTE, facts=SlotFacts(open_runs=1))
    in_turn = [(slot, decision.start) for slot, decision in found.decided if decision.fires]
    assert in_turn == [(NOW - n * MINUTE, Start.IN_TURN) for n in (9, 8, 7)]
    assert ranges(found) == [(NOW - 7 * MINUTE, NOW - MINUTE, 6, Reason.OVER_LIMIT)]
    assert found.decided[-1][1].reason is Reason.OVERLAP


def test_catching_up_can_be_switched_off() -> None:
    """CAL-10: the global switch makes every policy skip."""
    found = planned(replace(view(ALL), catch_up=False), NOW - 10 * MINUTE)
    assert [one[2:] for one in ranges(found)] == [(9, Reason.MISSED)]
    assert fired(found) == [NOW]


def test_a_pause_is_no_missed_time() -> None:
    """CAL-08, BB-030: what fell due while paused or disabled is recorded as that, whatever the misfire policy."""
    for facts, reason in ((SlotFacts(paused=True), Reason.PAUSED), (SlotFacts(enabled=False), Reason.DISABLED)):
        found = planned(view(ONCE, cron="0 6 * * *"), datetime(2025, 5, 1, 5, tzinfo=UTC), datetime(2025, 5, 4, 12, tzinfo=UTC), facts)
        assert fired(found) == []
        assert [one[2:] for one in ranges(found)] == [(4, reason)]


def test_a_deferred_slot_is_not_late_before_its_window_ends() -> None:
    """CAL-04: after an outage a slot that calendars defer into the future is deferred, as it would have been in time."""
    schedule = replace(view(ONCE, (MORNINGS,), every="1h"), overlap=ANYHOW)
    found = planned(schedule, NOW - 6 * 60 * MINUTE, NOW + 10 * MINUTE)
    kinds = [(slot, decision.kind, decision.effective_at) for slot, decision in found.decided]
    assert kinds[0] == (NOW - 5 * 60 * MINUTE, DecisionKind.FIRED, NOW - 5 * 60 * MINUTE)
    assert [slot for slot, *_ in kinds[1:]] == [NOW - n * 60 * MINUTE for n in (4, 3, 2, 1, 0)]
    assert kinds[1][1:] == (DecisionKind.DEFERRED, NOW + 30 * MINUTE)


@pytest.mark.parametrize("misfire", [Misfire(), ONCE, ALL, ONCE._replace(max_age=timedelta()), ALL._replace(max_age=timedelta())])
@pytest.mark.parametrize("calendars", [(), (NIGHTS,)])
def test_a_year_of_outage_costs_no_loop(misfire: Misfire, calendars: tuple[Any, ...]) -> None:
    """CAL-10: half a million missed slots are planned in under 50 ms, under every policy."""
    schedule = view(misfire, calendars)
    planned(schedule, NOW - 366 * DAY)
    started = perf_counter()
    found = planned(schedule, NOW - 365 * DAY)
    assert perf_counter() - started < 0.05
    assert sum(stretch.slots for stretch in found.stretches) + len(found.decided) == 365 * 1440


RULES: list[dict[str, Any]] = [
    {"cron": "*/7 * * * *", "zone": "Europe/Berlin"},
    {"every": "13s"},
    {"cron": "*/20 * * * * *"},
    {"every": "11m", "jitter": "40s"},
    {"times": ["10:59", "11:58"], "zone": "Europe/London"},
]


@given(
    st.sampled_from(RULES),
    st.lists(st.integers(-100, 4000), min_size=1, max_size=12),
    st.integers(1, 8),
    st.builds(Misfire, st.sampled_from(MisfireKind), st.sampled_from([timedelta(), 5 * MINUTE, DAY]), st.integers(1, 20)),
    st.sampled_from([(), (NIGHTS,), (MORNINGS,), (MORNINGS, NIGHTS)]),
    st.lists(st.builds(SlotFacts, st.integers(0, 2), st.integers(0, 1), st.booleans(), st.booleans()), min_size=1, max_size=4),
)
def test_every_slot_is_decided_once(
    rule: dict[str, Any],
    steps: list[int],
    limit: int,
    misfire: Misfire,
    calendars: tuple[Any, ...],
    facts: list[SlotFacts],
) -> None:
    """CAL-15, DEF-14: over any clock, steps back included, under every policy, each slot is decided singly or in one range, never both."""
    schedule = view(misfire, calendars, **rule)
    start = decided_until = now = NOW - 3 * 60 * MINUTE
    singles: list[datetime] = []
    stretches: list[Stretch] = []
    for number, step in enumerate([*steps, 1000, *[0] * 60]):
        now += step * SECOND
        reached = reach(schedule, decided_until, now, limit)
        found = plan(schedule, decided_until, reached, facts[number % len(facts)], now)
        assert reached.until >= decided_until
        singles += [slot for slot, _ in found.decided]
        stretches += found.stretches
        decided_until = reached.until
    expected = between(schedule.timeline.rule, start, decided_until, 100_000)
    covered = [slot for one in stretches for slot in between(schedule.timeline.rule, one.after, one.until, 100_000)]
    assert sorted(singles + covered) == expected
    assert len(covered) == sum(one.slots for one in stretches)
