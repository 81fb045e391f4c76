"""What failures, successes and time make of a breaker."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from headway.core.breaker import Breaker, BreakerKnobs, BreakerState, counted_from, hear, look

START = datetime(2026, 3, 1, tzinfo=UTC)
RESET = timedelta(minutes=5)
ON = BreakerKnobs(3, RESET)
OFF = BreakerKnobs(0, RESET)
MOVES = {
    (BreakerState.CLOSED, BreakerState.OPEN): "f",
    (BreakerState.OPEN, BreakerState.HALF_OPEN): "w",
    (BreakerState.HALF_OPEN, BreakerState.CLOSED): "s",
    (BreakerState.HALF_OPEN, BreakerState.OPEN): "f",
}
EVENTS = st.lists(st.tuples(st.sampled_from("sfw"), st.integers(1, 400)), max_size=40)


def played(knobs: BreakerKnobs, events: list[tuple[str, int]]) -> list[tuple[str, datetime, Breaker]]:
    """The breaker after each event: a success, a failure, or a wait, so many seconds after the one before."""
    at, breaker, failed, story = START, Breaker(BreakerState.CLOSED, START), list[datetime](), []
    for what, seconds in events:
        at += timedelta(seconds=seconds)
        success = at if what == "s" else None
        if what == "f":
            failed.append(at)
        since = counted_from(breaker, success)
        breaker = look(breaker, knobs, at) if what == "w" else hear(breaker, knobs, success, sum(one > since for one in failed), at)
        story.append((what, at, breaker))
    return story


@given(EVENTS)
def test_it_opens_at_the_threshold_and_is_tried_after_the_reset_time(events: list[tuple[str, int]]) -> None:
    """RTY-10: three failures in a row open it; only time makes it half-open; then one success closes, one failure opens it again."""
    before, opened, row = BreakerState.CLOSED, START, 0
    for what, at, breaker in played(ON, events):
        row = {"s": 0, "f": row + 1, "w": row}[what]
        if breaker.state is not before:
            assert MOVES[before, breaker.state] == what
        if (before, breaker.state) == (BreakerState.OPEN, BreakerState.HALF_OPEN):
            assert at >= opened + RESET
        if breaker.opened_at == at:
            assert row >= ON.threshold or before is BreakerState.HALF_OPEN
            assert breaker.reopen_at == at + RESET
            opened = at
        if breaker.state is BreakerState.CLOSED:
            assert breaker.failures == row < ON.threshold
        before = breaker.state


@given(EVENTS)
def test_one_that_is_off_never_opens(events: list[tuple[str, int]]) -> None:
    """DEF-01: a threshold of 0 is off, however many fail."""
    assert all(breaker.state is BreakerState.CLOSED for _, _, breaker in played(OFF, events))


def test_one_that_is_switched_off_closes() -> None:
    """A breaker whose definition gives it up lets everything through again, at the next look or the next end."""
    standing = Breaker(BreakerState.OPEN, START, 3, START, START + RESET)
    assert look(standing, OFF, START).state is BreakerState.CLOSED
    assert hear(standing, OFF, None, 4, START).state is BreakerState.CLOSED


def test_a_success_while_it_is_open_changes_nothing() -> None:
    """RTY-10: a run that was under way when it opened is no probe."""
    standing = Breaker(BreakerState.OPEN, START, 3, START, START + RESET)
    assert hear(standing, ON, START + timedelta(seconds=1), 3, START + timedelta(seconds=1)) == standing
