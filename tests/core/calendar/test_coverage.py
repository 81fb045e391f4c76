"""Calendars that leave no time, which are refused where they are written."""

from datetime import UTC, date, datetime, timedelta
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.calendar.coverage import blocks_everything
from headway.core.calendar.reading import parse_calendar
from tests.core.calendar import oracle
from tests.core.examples import examples

WEEK = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAY = {"start": "06:00", "end": "18:00"}
NIGHT = {"start": "18:00", "end": "06:00"}


@pytest.mark.parametrize(
    ("windows", "blocks"),
    [
        ([{"weekdays": WEEK}], True),
        ([{"weekdays": WEEK, "policy": "defer"}], True),
        ([{"weekdays": WEEK[:6]}], False),
        ([{"weekdays": WEEK[:6]}, {"weekdays": ["sun"], **DAY}, {"weekdays": ["sat", "sun"], **NIGHT}], True),
        ([{"weekdays": WEEK[:6]}, {"weekdays": ["sun"], **DAY}, {"weekdays": ["sun"], **NIGHT}], False),
        ([{"weekdays": WEEK, **DAY}, {"weekdays": WEEK, **NIGHT}], True),
        ([{"weekdays": WEEK, "start": "06:00", "end": "06:00"}], True),
        ([{"weekdays": WEEK, "start": "06:00", "end": "05:59"}], False),
        ([{"month_days": list(range(1, 32))}], True),
        ([{"month_days": list(range(1, 31))}], False),
        ([{"month_days": [*range(1, 31), "last"]}], True),
        ([{"month_days": [*range(1, 13), *range(14, 32)]}, {"weekdays": WEEK[:5]}], False),
        ([{"dates": {"from": "0001-01-01", "to": "9999-12-31"}}], True),
        ([{"dates": {"from": "2026-01-01", "to": "2026-12-31"}}], False),
        ([{"holiday": "US:federal"}], False),
    ],
)
def test_what_blocks_everything(windows: list[dict[str, Any]], blocks: bool) -> None:
    """CAL-04: windows of every kind and policy are taken together; an hour that is left is enough."""
    assert blocks_everything(parse_calendar({"name": "office", "windows": windows})) is blocks


def test_dates_from_a_day_on() -> None:
    """CAL-04: a dated range blocks everything when it takes all of the next eight years."""
    decade = parse_calendar({"name": "office", "windows": [{"dates": {"from": "2026-01-01", "to": "2036-12-31"}}]})
    assert blocks_everything(decade, date(2026, 3, 1))
    assert not blocks_everything(decade, date(2030, 3, 1))


def test_the_question_is_bounded() -> None:
    """CAL-04: a large calendar that blocks everything is found out in half a second, an ordinary one passes in five milliseconds."""
    largest = parse_calendar({"name": "office", "windows": [{"month_days": [number % 31 + 1]} for number in range(62)]})
    ordinary = parse_calendar({"name": "office", "windows": [{"weekdays": ["sat", "sun"]}]})
    started = process_time()
    assert blocks_everything(largest)
    between = process_time()
    assert not blocks_everything(ordinary)
    assert between - started < 0.5
    assert process_time() - between < 0.005


CLOCKS = st.sampled_from(["00:00", "06:00", "12:00", "18:00"])
WINDOWS = st.builds(
    lambda days, start, end: {"weekdays": days, "start": start, "end": end, "policy": "skip"},
    st.lists(st.sampled_from(WEEK), min_size=4, unique=True),
    CLOCKS,
    CLOCKS,
)


@examples(60)
@given(st.lists(WINDOWS, min_size=1, max_size=5))
def test_coverage_agrees_with_a_scan(windows: list[dict[str, Any]]) -> None:
    """CAL-04: a week in which every quarter of an hour is blocked is all that it takes, and what is missing is found."""
    week = [datetime(2026, 3, 2, tzinfo=UTC) + timedelta(minutes=15 * number) for number in range(7 * 96)]
    blocked = all(oracle.judged(windows, "UTC", instant, {})[0] == "skipped" for instant in week)
    assert blocks_everything(parse_calendar({"name": "office", "windows": windows})) is blocked
