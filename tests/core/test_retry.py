"""How long a failed run waits."""

from datetime import UTC, datetime, timedelta
from math import inf
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.retry import DAY, Backoff, BackoffKind, Policy, later, roll_for

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)

backoffs = st.builds(
    Backoff,
    kind=st.sampled_from(BackoffKind),
    base=st.timedeltas(timedelta(), timedelta(days=36_500)),
    factor=st.floats(1, 100),
    cap=st.timedeltas(timedelta(), DAY),
    jitter=st.floats(0, 1),
    delays=st.lists(st.timedeltas(timedelta(), timedelta(days=36_500)), min_size=1, max_size=5),
)
rolls = st.floats(0, 1, exclude_max=True)


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [
        (1, 5),
        (2, 25),
        (3, 125),
        (4, 625),
        (5, 3125),
        (6, 15625),
        (7, 78125),
        (8, 86400),
        (17, 86400),
        (100, 86400),
        (2000, 86400),
        (100_000, 86400),
    ],
)
def test_the_power_is_capped_before_it_overflows(failures: int, seconds: int) -> None:
    """BB-051: 5 s x 5^(n-1) up to a day, for any n; full jitter stays between nothing and that."""
    plain = Backoff(BackoffKind.EXPONENTIAL, 5 * SECOND, 5.0, timedelta(seconds=86_400))
    assert plain.delay(failures, 0.7) == timedelta(seconds=seconds)
    full = Backoff(BackoffKind.EXPONENTIAL, 5 * SECOND, 5.0, timedelta(seconds=86_400), jitter=1.0)
    assert all(timedelta() <= full.delay(failures, roll) <= plain.delay(failures, 0) for roll in (0.0, 0.3, 0.999_999))


@given(backoffs, st.integers(1, 100_000), rolls)
def test_every_delay_is_between_nothing_and_the_cap(backoff: Backoff, failures: int, roll: float) -> None:
    """RTY-02: whatever the shape, the base and the count, a delay is not negative and at most the cap; jitter only takes away."""
    delay, whole = backoff.delay(failures, roll), backoff.delay(failures, 0.0)
    assert timedelta() <= delay <= whole <= backoff.cap
    assert delay >= whole * (1 - backoff.jitter) - timedelta(microseconds=1)


@given(backoffs, st.integers(1, 5000), st.integers(1, 5000))
def test_later_failures_wait_no_less(backoff: Backoff, first: int, second: int) -> None:
    """RTY-02: without jitter a delay never shrinks, except as a list says."""
    if backoff.kind is not BackoffKind.LIST:
        assert backoff.delay(min(first, second), 0.0) <= backoff.delay(max(first, second), 0.0)


@pytest.mark.parametrize(
    ("backoff", "seconds"),
    [
        (Backoff(BackoffKind.FIXED, 7 * SECOND), [7, 7, 7, 7]),
        (Backoff(BackoffKind.LINEAR, 10 * SECOND), [10, 20, 30, 40]),
        (Backoff(BackoffKind.LINEAR, 10 * SECOND, cap=25 * SECOND), [10, 20, 25, 25]),
        (Backoff(BackoffKind.EXPONENTIAL, SECOND), [1, 2, 4, 8]),
        (Backoff(BackoffKind.LIST, delays=(SECOND, 5 * SECOND, 3 * SECOND)), [1, 5, 3, 3]),
        (Backoff(BackoffKind.EXPONENTIAL, timedelta()), [0, 0, 0, 0]),
        (Backoff(BackoffKind.LINEAR, timedelta()), [0, 0, 0, 0]),
    ],
)
def test_the_four_shapes(backoff: Backoff, seconds: list[int]) -> None:
    """RTY-02: fixed, linear, exponential, and a list whose last value repeats."""
    assert [backoff.delay(number, 0.0).total_seconds() for number in (1, 2, 3, 4)] == seconds


def test_the_default_is_linear() -> None:
    """DEF-01: a definition that says nothing waits 15 s more after each failure, and is tried once."""
    assert [Backoff().delay(number, 0.9) for number in (1, 2)] == [15 * SECOND, 30 * SECOND]
    assert Policy().next_due(1, SECOND, first_due=NOW, now=NOW) is None


@given(st.uuids(), st.integers(0, 100_000))
def test_deciding_twice_decides_the_same(run: UUID, attempt: int) -> None:
    """BB-040: the jitter of an attempt is a hash of it, so that two deciders agree; it stays below 1."""
    assert 0 <= roll_for(run, attempt) < 1
    assert roll_for(run, attempt) == roll_for(UUID(str(run)), attempt)


def test_jitter_spreads() -> None:
    """RTY-02: runs that failed together do not come back together, nor one run at the same place each time."""
    rolls_of_runs = [roll_for(UUID(int=(number << 80) | (7 << 76) | (2 << 62) | number), 1) for number in range(2000)]
    rolls_of_attempts = [roll_for(UUID(int=1 << 90), attempt) for attempt in range(2000)]
    for found in (rolls_of_runs, rolls_of_attempts):
        tenths = [sum(tenth <= roll * 10 < tenth + 1 for roll in found) for tenth in range(10)]
        assert min(tenths) > 100


@pytest.mark.parametrize(("failures", "left"), [(1, True), (2, True), (3, False), (4, False)])
def test_attempts_are_a_total(failures: int, left: bool) -> None:
    """RTY-03: with three attempts the third failure is the last."""
    assert (Policy(attempts=3).next_due(failures, SECOND, first_due=NOW, now=NOW) is not None) == left


def test_the_horizon_bounds_the_next_attempt() -> None:
    """RTY-03: an attempt that would begin after the horizon is not made."""
    policy = Policy(attempts=9, horizon=timedelta(minutes=10))
    assert policy.next_due(1, timedelta(minutes=4), first_due=NOW, now=NOW + timedelta(minutes=6)) == NOW + timedelta(minutes=10)
    assert policy.next_due(1, timedelta(minutes=5), first_due=NOW, now=NOW + timedelta(minutes=6)) is None


@given(st.timedeltas())
def test_a_wait_can_always_be_added(delay: timedelta) -> None:
    """An instant ahead is never before now and never out of range, whatever was asked for."""
    assert NOW <= later(NOW, delay) <= NOW + timedelta(days=36_500)
    assert inf > later(NOW, delay).timestamp()
