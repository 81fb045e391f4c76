"""Spreading what is due at one instant."""

from datetime import timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from headway.core.schedule.jitter import jitter_of

MILLISECOND = timedelta(milliseconds=1)


@given(st.uuids(), st.integers(0, 86_400_000))
def test_jitter_lies_in_its_window(schedule: UUID, window: int) -> None:
    """DEF-07: whole milliseconds from 0 to less than the window, the same whenever it is asked for."""
    found = jitter_of(schedule, window * MILLISECOND)
    assert found == jitter_of(schedule, window * MILLISECOND)
    assert found % MILLISECOND == timedelta()
    assert timedelta() <= found < max(window, 1) * MILLISECOND


def test_jitter_spreads() -> None:
    """DEF-07: a thousand schedules in a window of ten seconds leave no second of it out and crowd none, on every host alike."""
    seconds = [jitter_of(UUID(int=number), timedelta(seconds=10)) // timedelta(seconds=1) for number in range(1000)]
    assert all(60 < seconds.count(second) < 150 for second in range(10))
    assert jitter_of(UUID(int=1), timedelta(minutes=1)) == timedelta(seconds=6, milliseconds=402)
