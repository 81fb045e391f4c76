"""Durations as text."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.durations import format_duration, parse_duration
from headway.core.errors import Invalid


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("5m", 300), ("2h", 7200), ("1d", 86400), ("1h30m", 5400), ("250ms", 0.25), (1.5, 1.5), (0, 0)]
)
def test_readable(text: str | float, seconds: float) -> None:
    """CFG-01: durations are written 90s, 5m, 2h, 1d everywhere."""
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "5", "5 m", "-5m", "5M", "m", "1.5h", "\u0665m", "999999999999999d", float("nan"), float("inf")])
def test_unreadable(text: str | float) -> None:
    """CFG-02: anything else is refused with the field's name."""
    with pytest.raises(Invalid) as refused:
        parse_duration(text, "timeout")
    assert [problem.field for problem in refused.value.problems] == ["timeout"]


@given(st.integers(0, 10**12).map(lambda ms: timedelta(milliseconds=ms)))
def test_round_trip(value: timedelta) -> None:
    """CFG-01: what is written reads back the same."""
    assert parse_duration(format_duration(value)) == value
