"""Holidays of the United States."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.calendar.us import FEDERAL, US_SLUGS, easter, resolve_us
from headway.core.errors import Invalid

YEARS = st.integers(1900, 2200)
IN_2026 = {
    "new-years-day": "2026-01-01",
    "martin-luther-king-jr-day": "2026-01-19",
    "valentines-day": "2026-02-14",
    "presidents-day": "2026-02-16",
    "st-patricks-day": "2026-03-17",
    "easter-sunday": "2026-04-05",
    "mothers-day": "2026-05-10",
    "memorial-day": "2026-05-25",
    "juneteenth": "2026-06-19",
    "fathers-day": "2026-06-21",
    "independence-day": "2026-07-03",
    "labor-day": "2026-09-07",
    "columbus-day": "2026-10-12",
    "halloween": "2026-10-31",
    "veterans-day": "2026-11-11",
    "thanksgiving-day": "2026-11-26",
    "christmas-day": "2026-12-25",
    "new-years-eve": "2026-12-31",
}


def test_the_holidays_of_a_year() -> None:
    """CAL-02: the eighteen slugs and their days in 2026."""
    assert {slug: [str(day) for day in resolve_us(slug, 2026)] for slug in IN_2026} == {slug: [day] for slug, day in IN_2026.items()}
    assert sorted(US_SLUGS) == sorted([*IN_2026, "federal"])


def test_the_federal_set() -> None:
    """CAL-02: the eleven federal holidays have a slug of their own, which stands for all of them."""
    assert len(set(FEDERAL)) == 11
    assert [str(day) for day in resolve_us("federal", 2026)] == sorted(IN_2026[slug] for slug in FEDERAL)


@pytest.mark.parametrize(
    ("slug", "year", "days"),
    [
        ("new-years-day", 2023, ["2023-01-02"]),
        ("new-years-day", 2021, ["2021-01-01", "2021-12-31"]),
        ("new-years-day", 2022, []),
        ("juneteenth", 2021, ["2021-06-18"]),
        ("juneteenth", 2022, ["2022-06-20"]),
        ("independence-day", 2027, ["2027-07-05"]),
        ("veterans-day", 2028, ["2028-11-10"]),
        ("veterans-day", 2029, ["2029-11-12"]),
        ("christmas-day", 2022, ["2022-12-26"]),
        ("christmas-day", 2027, ["2027-12-24"]),
        ("halloween", 2026, ["2026-10-31"]),
        ("new-years-eve", 2022, ["2022-12-31"]),
    ],
)
def test_observed_days(slug: str, year: int, days: list[str]) -> None:
    """CAL-02: five holidays move from Saturday to Friday and from Sunday to Monday, across New Year too; the others stay."""
    assert [str(day) for day in resolve_us(slug, year)] == days


@given(YEARS, st.sampled_from(US_SLUGS))
def test_no_year_loses_a_holiday(year: int, slug: str) -> None:
    """CAL-02: over two years a holiday stands twice, and an observed one on a weekday."""
    found = [day for one in (year, year + 1, year + 2) for day in resolve_us(slug, one)]
    assert all(day.year in (year, year + 1, year + 2) for day in found)
    assert abs(len(found) - 3 * (11 if slug == "federal" else 1)) <= 1
    if slug in FEDERAL or slug == "federal":
        assert all(day.weekday() < 5 for day in found)


@pytest.mark.parametrize(
    "day", ["1818-03-22", "1943-04-25", "1954-04-18", "1981-04-19", "2000-04-23", "2024-03-31", "2038-04-25", "2049-04-18", "2285-03-22"]
)
def test_easter(day: str) -> None:
    """CAL-02: Easter of years that are hard for it: the earliest, the latest, and the exceptions of 1954, 1981 and 2049."""
    assert easter(date.fromisoformat(day).year) == date.fromisoformat(day)


@given(st.integers(1583, 9999))
def test_easter_is_a_sunday_of_spring(year: int) -> None:
    """CAL-02: Easter is a Sunday from 22 March to 25 April."""
    assert easter(year).weekday() == 6
    assert date(year, 3, 22) <= easter(year) <= date(year, 4, 25)


def test_names_that_are_no_holiday() -> None:
    """CAL-02: an unknown slug is refused; the ends of the calendar are not."""
    with pytest.raises(Invalid, match="US:boxing-day is not known"):
        resolve_us("boxing-day", 2026)
    assert resolve_us("new-years-eve", 9999) == (date(9999, 12, 31),)
    assert resolve_us("christmas-day", 1) == (date(1, 12, 25),)
    assert date(9999, 12, 31) - resolve_us("christmas-day", 9999)[0] < timedelta(days=8)
