"""Whether a run that is due may be queued."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headway.core.breaker import BreakerState
from headway.core.gate import PASSABLE, PATIENCE, Asking, Limits, Usage, admit, admit_each, after, restrict
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


@given(limits, usages)
def test_a_kept_run_makes_way_for_nothing_that_counts(allowed: Limits, used: Usage) -> None:
    """MODEL "Admit": a run that was handed back or rescued keeps its place: neither the rate nor a restriction takes it away."""
    open_to_all = admit(replace(allowed, max_runs_per_hour=0), replace(used, restricting=0), NOW)
    assert admit(allowed, used, NOW, kept=True) == open_to_all


@pytest.mark.parametrize("cause", Cause)
def test_only_a_limit_and_a_restriction_let_others_pass(cause: Cause) -> None:
    """RUN-10: whoever has waited there for a minute was passed over, to the instant; a pause or a breaker passes nobody over."""
    asked = [Asking("a", NOW - PATIENCE + late, cause) for late in (timedelta(), timedelta(microseconds=1))]
    assert [one.passed_over(NOW) for one in asked] == [cause in PASSABLE, False]


MINUTE = timedelta(minutes=1)
TICK = timedelta(seconds=10)
TICKS = 30
LOOKED_AT = 4


class Traffic:
    """Definitions whose runs come, wait at their gates and go; every run lasts so many ticks."""

    def __init__(self, concurrent: Mapping[str, int], pairs: Sequence[tuple[str, str]], length: int) -> None:
        self.limits = {key: Limits(number) for key, number in concurrent.items()}
        self.partners = {key: {two for one, two in [*pairs, *[pair[::-1] for pair in pairs]] if one == key} for key in concurrent}
        self.length = length
        self.tick = 0
        self.waiting: dict[int, tuple[int, Asking[str]]] = {}
        self.active: list[tuple[str, int]] = []
        self.born = 0

    @property
    def now(self) -> datetime:
        """The instant of the tick."""
        return NOW + self.tick * TICK

    def arrive(self, key: str, priority: int) -> None:
        """A run is asked for, and let in or held."""
        self.born += 1
        self.waiting[self.born] = (-priority, Asking(key, self.now))
        self._place([self.born])

    def move_on(self) -> None:
        """A tick later what is over has gone, and waiters are let in."""
        self.tick += 1
        self.active = [(key, end) for key, end in self.active if end > self.tick]
        self._place(sorted(self.waiting, key=lambda id_: (self.waiting[id_][0], self.waiting[id_][1].due, id_))[:LOOKED_AT])

    def passed_over(self) -> list[int]:
        """Who was passed over, the longest due first, as far as anybody looks."""
        found = [id_ for id_, (_, one) in self.waiting.items() if one.passed_over(self.now)]
        return sorted(found, key=lambda id_: (self.waiting[id_][1].due, id_))[:LOOKED_AT]

    def _place(self, ids: Sequence[int]) -> None:
        order = list(dict.fromkeys([*self.passed_over(), *ids]))
        admissions = admit_each(self.limits, self._usages(), self.partners, [self.waiting[id_][1] for id_ in order], self.now)
        for id_, admission in zip(order, admissions, strict=True):
            priority, one = self.waiting.pop(id_)
            if admission.state is State.QUEUED:
                self.active.append((one.key, self.tick + self.length))
            else:
                self.waiting[id_] = (priority, replace(one, cause=admission.cause))

    def _usages(self) -> dict[str, Usage]:
        count = {key: sum(one == key for one, _ in self.active) for key in self.limits}
        return {key: Usage(count[key], restricting=sum(count[other] for other in self.partners[key])) for key in self.limits}

    def check(self) -> None:
        """No limit is exceeded, and no partners are active together."""
        keys = [key for key, _ in self.active]
        assert all(keys.count(key) <= limit.max_concurrent_runs or not limit.max_concurrent_runs for key, limit in self.limits.items())
        assert all(keys.count(one) <= 1 if one == other else other not in keys for one in set(keys) for other in self.partners[one])


patterns = st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0, 9])), min_size=1, max_size=3)


@given(
    st.tuples(*[st.integers(0, 2)] * 3),
    st.lists(st.sampled_from(list(product("abc", repeat=2))), max_size=3),
    st.tuples(*[patterns] * 3),
    st.integers(1, 4),
)
@example((0, 0, 0), [("a", "b")], ([(1, 0)], [(1, 0)], [(0, 0)]), 2)
@example((1, 0, 0), [], ([(1, 9), (1, 0)], [(0, 0)], [(0, 0)]), 1)
def test_no_side_starves(
    concurrent: tuple[int, ...], pairs: list[tuple[str, str]], coming: tuple[list[tuple[int, int]], ...], length: int
) -> None:
    """RUN-10, DEF-20: with streams of any priority on every side the longest due of those passed over is in as soon as what is active ends.

    So whoever waits gets in: those before it are a finite number.
    """
    traffic = Traffic(dict(zip("abc", concurrent, strict=True)), pairs, length)
    since: dict[int, int] = {}
    for tick in range(TICKS):
        for key, pattern in zip("abc", coming, strict=True):
            number, priority = pattern[tick % len(pattern)]
            for _ in range(number):
                traffic.arrive(key, priority)
            traffic.check()
        traffic.move_on()
        traffic.check()
        longest = min(traffic.waiting, key=lambda id_: (traffic.waiting[id_][1].due, id_), default=0)
        if longest and traffic.waiting[longest][1].due <= traffic.now - MINUTE:
            assert tick - since.setdefault(longest, tick) <= length
