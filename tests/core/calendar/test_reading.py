"""Calendars as documents: every spelling, and every problem at once."""

import json
from datetime import date, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.calendar.reading import MOST_WINDOWS, parse_calendar
from headway.core.calendar.slug import read_slug
from headway.core.calendar.us import US_SLUGS
from headway.core.calendar.window import Calendar, Dates, Holiday, MonthDays, Policy, Weekdays, Window
from headway.core.calendar.writing import calendar_document, describe
from headway.core.errors import Invalid

SATURDAY_AND_SUNDAY = 1 << 6 | 1


def problems(document: Any) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refused:
        parse_calendar(document)
    return [(problem.field, problem.message) for problem in refused.value.problems]


def test_a_document() -> None:
    """CAL-01: the four kinds of window, whole days or times, skip or defer."""
    document = {
        "name": "office",
        "windows": [
            {"weekdays": ["sat", "SUN"], "policy": "skip"},
            {"dates": {"from": date(2026, 12, 24), "to": "2026-12-26"}, "start": "18:00", "end": "06:00", "policy": "defer"},
            {"month_days": [1, "last"], "all_day": True},
            {"holiday": "labor-day", "start": "08:00", "end": "08:30", "all_day": False},
            {"dates": {"from": "2026-12-31"}},
        ],
    }
    made = parse_calendar(document, version=3)
    assert made == Calendar(
        "office",
        3,
        (
            Window(Weekdays(SATURDAY_AND_SUNDAY)),
            Window(Dates(date(2026, 12, 24), date(2026, 12, 26)), time(18), time(6), Policy.DEFER),
            Window(MonthDays(0b10, last=True)),
            Window(Holiday("US:labor-day"), time(8), time(8, 30)),
            Window(Dates(date(2026, 12, 31), date(2026, 12, 31))),
        ),
    )
    assert [describe(window) for window in made.windows] == [
        "sat, sun",
        "2026-12-24 to 2026-12-26 18:00-06:00",
        "day 1, last of the month",
        "US:labor-day 08:00-08:30",
        "2026-12-31",
    ]
    assert calendar_document(made)["windows"][0] == {"weekdays": ["sat", "sun"], "policy": "skip"}


def test_every_problem_with_its_path() -> None:
    """CAL-01: one answer names everything that is wrong, each with its path."""
    windows = [
        {"weekdays": []},
        {"weekdays": ["mon"], "holiday": "US:labor-day"},
        {"start": "18:00"},
        {"dates": {"from": "2026-12-26", "to": "2026-12-24", "at": 1}, "start": "6pm", "end": "25:00"},
        {"dates": {"to": "20261224"}},
        {"dates": "2026-12-24"},
        {"month_days": [0, 32, "first", True, 15]},
        {"holiday": "germany"},
        {"weekdays": ["mon"], "policy": "wait", "colour": "red"},
        {"weekdays": ["mon"], "all_day": True, "start": "08:00", "end": "09:00"},
        {"weekdays": ["mon"], "all_day": False},
        {"weekdays": ["mon"], "all_day": "yes"},
        "monday",
    ]
    found = problems({"name": "", "windows": windows, "extra": 1})
    assert [field.removeprefix("windows") for field, _ in found] == [
        "name",
        "[0].weekdays",
        "[1]",
        "[2]", "[2].end",
        "[3].dates.at", "[3].start", "[3].end",
        "[4].dates.from", "[4].dates.to",
        "[5].dates", "[5].dates.from",
        "[6].month_days[0]", "[6].month_days[1]", "[6].month_days[2]", "[6].month_days[3]",
        "[7].holiday",
        "[8].policy", "[8].colour",
        "[9].all_day", "[10].all_day", "[11].all_day",
        "[12]", "[12]",
        "extra",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "windows", [None, [], "x", [{"dates": {"from": "2026-12-26", "to": "2026-12-24"}}], [{"weekdays": ["sat"]}] * (MOST_WINDOWS + 1)]
)
def test_refused_windows(windows: Any) -> None:
    """CAL-01: a calendar without windows, with too many, or with a range that ends before it begins is refused."""
    assert problems({"name": "office", "windows": windows})[0][0].startswith("windows")


@pytest.mark.parametrize("slug", ["DE-BE:labor-day", "DE:christmas-day", "GB-ENG:boxing-day", "US-CA:cesar-chavez-day", "US:federal"])
def test_slugs(slug: str) -> None:
    """CAL-02: a country, perhaps a part of it, and a name."""
    assert read_slug("holiday", slug) == slug


@pytest.mark.parametrize(
    "slug", ["", "boxing-day", "us:labor-day", "US:boxing-day", "DE:", "DE:Labor-Day", "DE-:x", "DE:a--b", "DE:ä", "D" * 200, 5, None]
)
def test_names_that_are_no_slug(slug: object) -> None:
    """CAL-02: other forms are refused, as are names that the United States do not have."""
    with pytest.raises(Invalid) as refused:
        read_slug("windows[0].holiday", slug)
    assert [problem.field for problem in refused.value.problems] == ["windows[0].holiday"]


CLOCKS = st.one_of(st.times().map(lambda clock: clock.replace(microsecond=0)), st.just(time()))
MATCHES = st.one_of(
    st.integers(1, 127).map(Weekdays),
    st.tuples(st.dates(), st.dates()).map(lambda days: Dates(min(days), max(days))),
    st.builds(MonthDays, st.integers(1, 2**31 - 1).map(lambda days: days << 1), st.booleans()),
    st.just(MonthDays(0, last=True)),
    st.sampled_from(US_SLUGS).map(lambda slug: Holiday(f"US:{slug}")),
)
WINDOWS = st.builds(Window, MATCHES, CLOCKS, CLOCKS, st.sampled_from(Policy)) | st.builds(Window, MATCHES, policy=st.sampled_from(Policy))


@given(st.lists(WINDOWS, min_size=1, max_size=5))
def test_calendars_survive_their_document(windows: list[Window]) -> None:
    """CAL-01: what is stored is JSON and reads back as equal windows; every window has words."""
    made = Calendar("office", windows=tuple(windows))
    assert parse_calendar(json.loads(json.dumps(calendar_document(made)))) == made
    assert all(describe(window) for window in windows)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.dates()
NAMES = ["weekdays", "dates", "month_days", "holiday", "start", "end", "all_day", "policy", "from", "to"]
VALUES = st.recursive(
    SCALARS | st.sampled_from(["mon", "last", "US:labor-day", "08:00", "skip"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES | st.fixed_dictionaries({"name": VALUES, "windows": st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4))}))
def test_no_document_does_more_than_be_refused(document: Any) -> None:
    """CAL-01: whatever is sent becomes a calendar or Invalid with at least one problem."""
    try:
        assert parse_calendar(document).windows
    except Invalid as error:
        assert error.problems
