"""Whether a run that is due may be queued."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.breaker import BreakerState
from headway.core.gate import Limits, Usage, admit, after, restrict
from headway.core.run import NEXT, Cause, State

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

keys = st.sampled_from("abcd")
limits = st.builds(Limits, st.integers(0, 5), st.integers(0, 5), st.booleans(), st.booleans(), st.sampled_from(BreakerState))
frees = st.none() | st.just(NOW + HOUR / 2) | st.just(NOW - HOUR)
usages = st.builds(Usage, st.integers(0, 7), st.integers(0, 7), frees, st.integers(0, 1))


@pytest.mark.parametrize(
    ("allowed", "used", "state", "cause"),
    [
        (Limits(), Usage(99, 99), State.QUEUED, Cause.NONE),
        (Limits(max_concurrent_runs=2), Usage(1), State.QUEUED, Cause.NONE),
        (Limits(max_concurrent_runs=2), Usage(2), State.HELD, Cause.CONCURRENCY),
        (Limits(max_concurrent_runs=2), Usage(3), State.HELD, Cause.CONCURRENCY),
        (Limits(max_runs_per_hour=2), Usage(0, 1), State.QUEUED, Cause.NONE),
        (Limits(max_runs_per_hour=2), Usage(0, 2), State.SCHEDULED, Cause.NONE),
        (Limits(1, 1), Usage(1, 1), State.HELD, Cause.CONCURRENCY),
        (Limits(1, 1, paused=True), Usage(1, 1), State.HELD, Cause.PAUSED),
        (Limits(paused=True), Usage(), State.HELD, Cause.PAUSED),
        (Limits(paused=True, breaker=BreakerState.OPEN), Usage(), State.HELD, Cause.PAUSED),
        (Limits(1, 1, breaker=BreakerState.OPEN), Usage(1, 1, restricting=1), State.HELD, Cause.BREAKER),
        (Limits(breaker=BreakerState.HALF_OPEN), Usage(1), State.HELD, Cause.BREAKER),
        (Limits(breaker=BreakerState.HALF_OPEN), Usage(), State.QUEUED, Cause.NONE),
        (Limits(1, 1), Usage(1, 1, restricting=1), State.HELD, Cause.CONCURRENCY),
        (Limits(2, 1), Usage(1, 1, restricting=1), State.HELD, Cause.GATE),
        (Limits(), Usage(restricting=2), State.HELD, Cause.GATE),
    ],
)
def test_what_admit_asks_in_which_order(allowed: Limits, used: Usage, state: State, cause: Cause) -> None:
    """RUN-10, DEF-20: pause, breaker, concurrency, restrictions, hourly rate, in this order; 0 is no limit."""
    admission = admit(allowed, used, NOW)
    assert (admission.state, admission.cause) == (state, cause)


@given(limits, usages)
def test_an_admission_can_be_written(allowed: Limits, used: Usage) -> None:
    """A run that is due goes where NEXT allows it: held with a cause that can end, scheduled ahead of now, or queued."""
    admission = admit(allowed, used, NOW)
    assert admission.state in NEXT[State.HELD] | {State.HELD}
    assert (admission.cause is not Cause.NONE) == (admission.state is State.HELD)
    assert (admission.due is not None and admission.due > NOW) == (admission.state is State.SCHEDULED)


@given(limits, usages)
def test_whoever_asks_is_turned_away_for_a_limit_only(allowed: Limits, used: Usage) -> None:
    """RUN-10: a full limit says why it refuses; a pause, an open breaker and a restriction refuse nobody."""
    admission = admit(allowed, used, NOW)
    waits = admission.cause in {Cause.PAUSED, Cause.BREAKER, Cause.GATE}
    assert bool(admission.refusal) == (admission.state is not State.QUEUED and not waits)


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 20))
def test_a_row_of_admissions_never_exceeds_a_limit(concurrent: int, hourly: int, asked: int) -> None:
    """RUN-10: admitting one after the other from what `after` says of the last keeps both limits."""
    allowed, used, queued = Limits(concurrent, hourly), Usage(), 0
    for _ in range(asked):
        admission = admit(allowed, used, NOW)
        used = after(used, admission, NOW)
        queued += admission.state is State.QUEUED
    assert queued == min([asked, *[limit for limit in (concurrent, hourly) if limit]])


def test_over_the_rate_a_run_waits_for_the_oldest_to_be_an_hour_old() -> None:
    """RUN-10: the instant at which the rate frees is when the run is due; one that has passed already means at once, never before now."""
    assert admit(Limits(max_runs_per_hour=1), Usage(0, 1, NOW + HOUR / 2), NOW).due == NOW + HOUR / 2
    assert admit(Limits(max_runs_per_hour=1), Usage(0, 1, NOW - HOUR), NOW).due == NOW + timedelta(seconds=1)
    assert after(Usage(), admit(Limits(), Usage(), NOW), NOW) == Usage(1, 1, NOW + HOUR)


@given(limits, usages)
def test_force_passes_restrictions_and_nothing_else(allowed: Limits, used: Usage) -> None:
    """DEF-20: a forced run goes where it would go if there were no restriction."""
    assert admit(allowed, used, NOW, forced=True) == admit(allowed, replace(used, restricting=0), NOW)


@given(st.lists(st.tuples(keys, keys)), st.lists(st.tuples(keys, st.booleans())))
def test_partners_are_never_active_together(pairs: list[tuple[str, str]], asked: list[tuple[str, bool]]) -> None:
    """DEF-20: whatever is restricted with what, of runs that are admitted one after another only a forced one stands beside a partner."""
    partners = {key: [two for one, two in [*pairs, *[pair[::-1] for pair in pairs]] if one == key] for key in "abcd"}
    usage: dict[str, Usage] = {}
    active: list[str] = []
    for key, forced in asked:
        admission = admit(Limits(), usage.get(key, Usage()), NOW, forced=forced)
        in_the_way = any(other in partners[key] for other in active)
        assert (admission.state is State.QUEUED) == (forced or not in_the_way)
        if admission.state is State.QUEUED:
            active.append(key)
            usage[key] = after(usage.get(key, Usage()), admission, NOW)
            restrict(usage, key, partners)


@given(st.integers(1, 20))
def test_a_half_open_breaker_lets_one_probe_in(asked: int) -> None:
    """Of runs that ask one after another a half-open breaker admits the first and holds the others."""
    allowed, used = Limits(breaker=BreakerState.HALF_OPEN), Usage()
    states = []
    for _ in range(asked):
        admission = admit(allowed, used, NOW)
        used = after(used, admission, NOW)
        states.append(admission.state)
    assert states == [State.QUEUED] + [State.HELD] * (asked - 1)


@given(limits, usages, st.integers(0, 7))
def test_what_does_not_count_asks_everything_but_concurrency(allowed: Limits, used: Usage, uncounted: int) -> None:
    """BAT-02: an uncounted run passes the limit of concurrent runs alone, and leaves that limit to others as it was."""
    counted = replace(used, active=used.active + uncounted, uncounted=uncounted)
    free = admit(replace(allowed, max_concurrent_runs=0), counted, NOW)
    assert admit(allowed, counted, NOW, counted=False) == free
    left = after(counted, free, NOW, counted=False)
    assert left.active - left.uncounted == used.active
    if allowed.breaker is BreakerState.CLOSED:
        assert admit(allowed, counted, NOW) == admit(allowed, used, NOW)
