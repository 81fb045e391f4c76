"""What calendars make of instants: cases, and an independent scan around every kind of clock change."""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.calendar.judge import HOPS, VerdictKind, judge
from headway.core.calendar.reading import parse_calendar
from headway.core.calendar.us import resolve_us
from headway.core.calendar.window import Calendar
from headway.core.errors import Invalid
from tests.core.calendar import oracle
from tests.core.examples import examples, patient
from tests.core.schedule.oracle import transitions, zones

MINUTE = timedelta(minutes=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def calendar(*windows: dict[str, Any], name: str = "office", **given: Any) -> Calendar:
    return parse_calendar({"name": name, "windows": list(windows)}, **given)


def blocked(one: Calendar, zone: str, instant: str) -> bool:
    return judge([one], zone, at(instant)).kind is not VerdictKind.FREE


def due(one: Calendar, instant: str, zone: str = "UTC") -> str | None:
    effective_at = judge([one], zone, at(instant)).effective_at
    return None if effective_at is None else f"{effective_at:%Y-%m-%dT%H:%M:%SZ}"


@pytest.mark.parametrize(
    ("instant", "expected"),
    [
        ("2019-09-08T03:59:59Z", False),
        ("2019-09-08T04:00:00Z", True),
        ("2019-09-09T02:59:59Z", True),
        ("2019-09-09T03:00:00Z", False),
        ("2019-04-06T02:59:59Z", False),
        ("2019-04-06T03:00:00Z", True),
        ("2019-04-07T03:30:00Z", True),
        ("2019-04-07T03:59:59Z", True),
        ("2019-04-07T04:00:00Z", False),
    ],
)
def test_whole_days_are_what_the_clock_says(instant: str, expected: bool) -> None:
    """BB-015, CAL-03: a whole day has the 23 or 25 hours that its zone gives it."""
    days = [{"dates": {"from": day, "to": day}, "policy": "skip"} for day in ("2019-09-08", "2019-04-06")]
    assert blocked(calendar(*days), "America/Santiago", instant) is expected


def test_the_first_instant_behind_a_short_day() -> None:
    """BB-015, CAL-04: what is deferred over a day of 23 hours is due at its true end."""
    one = calendar({"dates": {"from": "2019-09-08"}, "policy": "defer"})
    assert due(one, "2019-09-08T10:00:00Z", "America/Santiago") == "2019-09-09T03:00:00Z"


@pytest.mark.parametrize(
    ("instant", "expected"),
    [
        ("2026-12-24T17:59:59Z", "2026-12-24T17:59:59Z"),
        ("2026-12-24T18:00:00Z", "2026-12-25T06:00:00Z"),
        ("2026-12-27T05:59:59Z", "2026-12-27T06:00:00Z"),
        ("2026-12-27T06:00:00Z", "2026-12-27T06:00:00Z"),
        ("2026-12-27T18:00:00Z", "2026-12-27T18:00:00Z"),
        ("2026-12-24T05:00:00Z", "2026-12-24T05:00:00Z"),
    ],
)
def test_a_window_that_crosses_midnight(instant: str, expected: str) -> None:
    """CAL-03: start inclusive, end exclusive; a window that opens on a day that matches runs into the next."""
    window = {"dates": {"from": "2026-12-24", "to": "2026-12-26"}, "start": "18:00", "end": "06:00", "policy": "defer"}
    assert due(calendar(window), instant) == expected


def test_kinds_of_window() -> None:
    """CAL-01: weekdays, dated ranges, days of the month with the last one, and holidays."""
    one = calendar({"weekdays": ["sat", "sun"]}, {"month_days": [1, "last"]}, {"holiday": "labor-day"}, {"dates": {"from": "2026-09-16"}})
    days = [day for day in range(1, 31) if blocked(one, "UTC", f"2026-09-{day:02}T12:00:00Z")]
    assert days == [1, 5, 6, 7, 12, 13, 16, 19, 20, 26, 27, 30]
    assert blocked(one, "UTC", "2028-02-29T12:00:00Z")
    assert not blocked(one, "UTC", "2028-02-28T12:00:00Z")


def test_a_date_overrides_a_weekday() -> None:
    """CAL-01: a dated window speaks before the weekday's, in whatever order they stand; beside weekdays in one window it alone counts."""
    weekend = {"weekdays": ["sat"], "policy": "skip"}
    dated = {"dates": {"from": "2026-03-07"}, "start": "08:00", "end": "10:00", "policy": "defer"}
    assert judge([calendar(weekend, dated)], "UTC", at("2026-03-07T09:00:00Z")).kind is VerdictKind.SKIPPED
    free_after = calendar({**weekend, "start": "08:00", "end": "10:00"}, dated)
    assert due(free_after, "2026-03-07T09:00:00Z") == "2026-03-07T10:00:00Z"
    both = calendar({**dated, "weekdays": ["mon"]})
    assert not blocked(both, "UTC", "2026-03-09T09:00:00Z")


def test_deferred_until_free() -> None:
    """CAL-04: the end of one window may lie in another, of another calendar too; the first window is the one that is named."""
    night = calendar({"weekdays": ["fri"], "start": "20:00", "end": "00:00", "policy": "defer"}, name="night")
    weekend = calendar({"weekdays": ["sat", "sun"], "policy": "defer"}, name="weekend")
    verdict = judge([weekend, night], "Europe/Berlin", at("2026-03-27T21:00:00+01:00"))
    assert verdict.kind is VerdictKind.DEFERRED
    assert verdict.effective_at == at("2026-03-30T00:00:00+02:00")
    assert (verdict.calendar, verdict.window) == ("night", night.windows[0])


def test_deferred_into_a_window_that_skips() -> None:
    """CAL-04: a deferral that ends where slots are skipped is skipped, by that window."""
    one = calendar({"weekdays": ["fri"], "policy": "defer"}, {"weekdays": ["sat"], "policy": "skip"})
    verdict = judge([one], "UTC", at("2026-03-27T09:00:00Z"))
    assert (verdict.kind, verdict.effective_at, verdict.window) == (VerdictKind.SKIPPED, None, one.windows[1])


def test_deferred_without_end() -> None:
    """CAL-04: after a hundred hops a slot is skipped, quickly, and the verdict says that it was deferred without end."""
    one = calendar({"weekdays": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "policy": "defer"})
    started = process_time()
    verdict = judge([one], "Europe/Berlin", at("2026-03-27T09:00:00Z"))
    assert process_time() - started < 0.05
    assert (verdict.kind, verdict.exhausted, verdict.window) == (VerdictKind.SKIPPED, True, one.windows[0])


def test_a_hundred_hops_are_enough_or_not() -> None:
    """CAL-04: the hundredth deferral still counts, one more does not; a dated range of whole days is one hop, however long."""
    days = [date(2026, 1, 1) + timedelta(days=number) for number in range(HOPS + 1)]
    windows = [{"dates": {"from": day}, "policy": "defer"} for day in days]
    assert due(calendar(*windows[:HOPS]), "2026-01-01T09:00:00Z") == "2026-04-11T00:00:00Z"
    assert due(calendar(*windows), "2026-01-01T09:00:00Z") is None
    years = calendar({"dates": {"from": "2026-01-01", "to": "2029-12-31"}, "policy": "defer"})
    assert due(years, "2026-01-01T09:00:00Z", "Europe/Berlin") == "2029-12-31T23:00:00Z"
    round_the_clock = calendar({"dates": {"from": "2026-01-01", "to": "2026-12-31"}, "start": "06:00", "end": "06:00", "policy": "defer"})
    assert due(round_the_clock, "2026-01-01T09:00:00Z") == "2027-01-01T06:00:00Z"


def test_years_that_nobody_resolved() -> None:
    """CAL-02: a year without dates is an error that names holiday and year, never a year without holidays."""
    slug = "DE-BE:labor-day"
    one = calendar({"holiday": slug}, resolved={slug: {2026: [date(2026, 5, 1)], 2027: []}})
    assert blocked(one, "Europe/Berlin", "2026-04-30T22:00:00Z")
    assert not blocked(one, "Europe/Berlin", "2027-05-01T12:00:00Z")
    with pytest.raises(Invalid, match="holiday: DE-BE:labor-day is not resolved for 2028") as refused:
        judge([one], "Europe/Berlin", at("2028-05-01T12:00:00Z"))
    assert refused.value.code == "holiday_not_resolved"


def test_nothing_blocks_without_calendars() -> None:
    """CAL-04: without a window an instant is free and due as it is, in UTC."""
    verdict = judge([], "UTC", at("2026-03-27T09:00:00.000007+02:00"))
    assert (verdict.kind, verdict.effective_at, verdict.calendar) == (VerdictKind.FREE, at("2026-03-27T07:00:00.000007Z"), "")
    assert verdict.effective_at is not None
    assert verdict.effective_at.tzinfo is UTC


def test_each_day_opens_a_window_of_its_own() -> None:
    """CAL-04: what is deferred over a day is judged again at the next, by what that says, also when midnight happens twice or never."""
    week = {"weekdays": ["mon", "tue", "sat", "sun"], "policy": "defer"}
    assert due(calendar(week, {"dates": {"from": "2026-03-03"}}), "2026-03-02T09:00:00Z") is None
    second_midnight = calendar(week, {"dates": {"from": "2004-06-01"}})
    assert due(second_midnight, "2004-06-01T03:00:00Z", "America/Argentina/Catamarca") is None
    no_midnight = calendar(week, {"dates": {"from": "2018-11-04"}, "policy": "skip", "start": "01:00", "end": "02:00"})
    assert due(calendar(week), "2018-11-03T12:00:00Z", "America/Sao_Paulo") == "2018-11-07T02:00:00Z"
    assert due(no_midnight, "2018-11-03T12:00:00Z", "America/Sao_Paulo") is None


def test_a_fold_is_a_window_twice() -> None:
    """CAL-03: a window inside of a repeated hour is open in both passes, and between them time is free."""
    one = calendar({"weekdays": ["sun"], "start": "02:00", "end": "02:30", "policy": "defer"})
    assert due(one, "2026-10-25T00:10:30Z", "Europe/Berlin") == "2026-10-25T00:30:00Z"
    assert due(one, "2026-10-25T01:10:30Z", "Europe/Berlin") == "2026-10-25T01:30:00Z"
    longer = calendar({"weekdays": ["sun"], "start": "01:30", "end": "03:00", "policy": "defer"})
    assert due(longer, "2026-10-25T00:10:30.5Z", "Europe/Berlin") == "2026-10-25T02:00:00Z"


@lru_cache(maxsize=1)
def changes() -> dict[str, list[datetime]]:
    since = datetime(2000, 1, 1, tzinfo=UTC)
    found = {name: [change for change, _, _ in transitions(name) if change >= since] for name in zones()}
    return {name: moments for name, moments in found.items() if moments}


PLACES = st.sampled_from(sorted(changes())).flatmap(lambda zone: st.tuples(st.just(zone), st.sampled_from(changes()[zone])))
CLOCKS = st.one_of(
    st.builds(time, st.integers(0, 23), st.integers(0, 59)), st.builds(time, st.sampled_from([23, 0, 1, 2, 3]), st.sampled_from([0, 1, 30]))
).map(lambda clock: f"{clock:%H:%M}")
NAMES = st.lists(st.sampled_from(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]), min_size=1, max_size=5, unique=True)
HOLIDAYS = st.sampled_from(["US:new-years-day", "US:new-years-eve", "US:halloween", "US:columbus-day", "US:st-patricks-day", "US:federal"])


@st.composite
def windows_near(draw: st.DrawFn, near: date) -> dict[str, Any]:
    """A window of any kind that has to do with the days around one."""
    first = near + timedelta(days=draw(st.integers(-3, 1)))
    match = draw(
        st.one_of(
            st.fixed_dictionaries({"weekdays": NAMES}),
            st.integers(0, 4).map(lambda days: {"dates": {"from": first.isoformat(), "to": (first + timedelta(days=days)).isoformat()}}),
            st.lists(st.one_of(st.just("last"), st.integers(1, 31), st.just(near.day)), min_size=1, max_size=6).map(
                lambda days: {"month_days": days}
            ),
            st.fixed_dictionaries({"holiday": HOLIDAYS}),
        )
    )
    times = draw(st.one_of(st.just({}), st.fixed_dictionaries({"start": CLOCKS, "end": CLOCKS})))
    return {**match, **times, "policy": draw(st.sampled_from(["skip", "defer", "defer"]))}


@st.composite
def situations(draw: st.DrawFn) -> tuple[str, datetime, list[dict[str, Any]]]:
    """A zone, an instant near one of its changes, and windows."""
    zone, change = draw(PLACES)
    instant = change + draw(st.integers(-2000, 1500)) * MINUTE
    near = instant.astimezone(UTC).date()
    return zone, instant, draw(st.lists(windows_near(near), min_size=1, max_size=4))


@patient
@examples(500)
@given(situations())
def test_verdicts_are_those_of_a_scan(situation: tuple[str, datetime, list[dict[str, Any]]]) -> None:
    """VER-03, CAL-01, CAL-03, CAL-04: verdict and due instant agree with a scan that reads the clock minute by minute."""
    zone, instant, windows = situation
    slugs = {window["holiday"] for window in windows if "holiday" in window}
    years = range(instant.year - 1, instant.year + 3)
    holidays = {slug: [day for year in years for day in resolve_us(slug.removeprefix("US:"), year)] for slug in slugs}
    expected = oracle.judged(windows, zone, instant, holidays)
    verdict = judge([calendar(*windows)], zone, instant)
    assert (verdict.kind.value, verdict.effective_at) == expected
    late = judge([calendar(*windows)], zone, instant + timedelta(seconds=59, microseconds=999_999))
    assert late.kind is verdict.kind
    assert late.effective_at == verdict.effective_at or verdict.kind is VerdictKind.FREE
