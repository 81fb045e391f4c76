"""Rules from mappings: defaults, bounds, and every problem at once."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import Invalid
from headway.core.schedule import evaluate
from headway.core.schedule.policies import Fold, Gap
from headway.core.schedule.resolve import changes_near
from headway.core.schedule.rule import EPOCH, Cron, Interval, parse_rule, to_mapping
from headway.core.schedule.windows import WINDOWS_ZONES
from headway.core.schedule.zones import load_zone, shifts, tzdata_version, zone_names
from tests.core.examples import examples
from tests.core.schedule import oracle

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def problems(**given: object) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refused:
        parse_rule(given)
    return [(problem.field, problem.message) for problem in refused.value.problems]


def test_defaults() -> None:
    """CAL-11, CAL-12: without a word a rule is in UTC, or the zone that the caller prefers; gaps are closed, folds fire once."""
    rule = parse_rule({"cron": "0 7 * * *", "starts_at": None})
    assert isinstance(rule, Cron)
    assert (rule.zone, rule.gap, rule.fold, rule.starts_at) == ("UTC", Gap.NEXT_VALID, Fold.FIRST, None)
    assert parse_rule({"cron": "0 7 * * *"}, default_zone="Europe/Oslo").zone == "Europe/Oslo"
    interval = parse_rule({"every": "5m"})
    assert isinstance(interval, Interval)
    assert (interval.every, interval.anchor) == (timedelta(minutes=5), EPOCH)


def test_every_problem_with_its_field() -> None:
    """DEF-08: one answer names all fields that are wrong."""
    found = problems(
        cron="0 25 * * *", zone="Mars/Base", gap="jump", fold=3, starts_at="2026-02-01T00:00:00Z", ends_at="2026-01-01T00:00:00Z"
    )
    assert [field for field, _ in found] == ["zone", "ends_at", "cron", "gap", "fold"]
    assert dict(found)["gap"] == "must be one of skip, next_valid, shift_forward"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "cron"),
        ({"cron": 5}, "cron"),
        ({"cron": "* * * * *", "every": "5m"}, "cron"),
        ({"cron": "* * * * *", "anchor": "2026-01-01T00:00:00Z"}, "anchor"),
        ({"cron": "* * * * *", "colour": "red"}, "colour"),
        ({"every": "5m", "gap": "skip"}, "gap"),
        ({"every": "0s"}, "every"),
        ({"every": -5}, "every"),
        ({"every": "100ms"}, "every"),
        ({"every": 0.20000123}, "every"),
        ({"every": True}, "every"),
        ({"every": [5]}, "every"),
        ({"every": "soon"}, "every"),
        ({"every": "5m", "anchor": "2026-01-01T00:00:00"}, "anchor"),
        ({"every": "5m", "anchor": "yesterday"}, "anchor"),
        ({"every": "5m", "starts_at": "0001-01-01T00:00:00+14:00"}, "starts_at"),
    ],
)
def test_refused_fields(given: dict[str, object], field: str) -> None:
    """DEF-08: each wrong field is named."""
    assert field in [name for name, _ in problems(**given)]


def test_windows_ids_become_iana_ids() -> None:
    """CAL-11, CFG-04: a Windows id is taken and stored as the IANA id that it stands for; all of them are known."""
    assert to_mapping(parse_rule({"cron": "0 7 * * *", "zone": "W. Europe Standard Time"}))["zone"] == "Europe/Berlin"
    assert set(WINDOWS_ZONES.values()) <= zone_names()


def test_bounds_are_inclusive() -> None:
    """DEF-10, DEF-16: no slot lies outside the bounds, and one that lies on a bound exists."""
    rule = parse_rule({"cron": "0 * * * *", "starts_at": "2026-03-01T14:00:00Z", "ends_at": "2026-03-01T16:00:00Z"})
    expected = [NOW + timedelta(hours=hours) for hours in (2, 3, 4)]
    far = timedelta(days=9000)
    assert evaluate.between(rule, NOW - far, NOW + far, 100) == expected
    assert evaluate.count(rule, NOW - far, NOW + far) == 3
    assert evaluate.previous_slot(rule, NOW + far) == expected[-1]
    assert evaluate.previous_slot(rule, expected[0]) is None
    assert evaluate.next_slot(rule, expected[-1]) is None
    assert evaluate.count(rule, NOW + far, NOW + far + far) == 0


@pytest.mark.parametrize("given", [{"cron": "* * * * * *"}, {"cron": "0 0 29 2 *", "zone": "Pacific/Apia"}, {"every": "99999999d"}])
def test_the_calendar_ends(given: dict[str, str]) -> None:
    """CAL-10: at the ends of the calendar there is no slot, and nothing is raised."""
    rule = parse_rule(given)
    assert evaluate.next_slot(rule, datetime(9999, 12, 31, tzinfo=UTC)) is None
    assert evaluate.previous_slot(rule, datetime(1, 1, 1, tzinfo=UTC)) is None


def test_a_day_that_is_left_out() -> None:
    """CAL-12: Apia had no 30 December 2011; the policies answer for the whole day."""
    window = (datetime(2011, 12, 30, 10, tzinfo=UTC) - timedelta(days=1), datetime(2011, 12, 31, 9, 59, tzinfo=UTC))
    slots = {
        gap: evaluate.between(parse_rule({"cron": "30 9 30 12 *", "zone": "Pacific/Apia", "gap": gap}), *window, 10)
        for gap in ("skip", "next_valid", "shift_forward")
    }
    change = datetime(2011, 12, 30, 10, tzinfo=UTC)
    assert slots == {"skip": [], "next_valid": [change], "shift_forward": [change + timedelta(hours=9, minutes=30)]}


def test_zones_come_from_the_pinned_package() -> None:
    """CAL-14: zones are read from tzdata; the release is known to whoever records a decision."""
    assert tzdata_version()[:2] == "20"
    assert load_zone("Africa/Casablanca") is load_zone("Africa/Casablanca")


def test_no_two_changes_of_a_zone_are_close() -> None:
    """CAL-12: looking at a zone once in six days misses no change of its offset, in any zone or year of tzdata."""
    for name in oracle.zones():
        moments = [at for at, _, _ in oracle.transitions(name)]
        assert all(later - earlier > timedelta(days=6) for earlier, later in pairwise(moments))


def test_zones_keep_one_rule_from_2100_on() -> None:
    """CAL-12: no zone of tzdata has a change of its own behind 2100."""
    for name in oracle.zones():
        moments = [at for at, _, _ in oracle.transitions(name)]
        assert all(at.year < 2100 for at in moments)


@examples(150)
@given(st.sampled_from(oracle.zones()), st.integers(2090, 9997))
def test_later_years_are_copies(zone: str, year: int) -> None:
    """CAL-12: the changes of any year are those that a walk through it finds, whichever year they were copied from."""
    begin, end = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    assert list(changes_near(zone, year)) == list(shifts(zone, begin - timedelta(days=2), end + timedelta(days=2)))


@pytest.mark.parametrize("given", [{"cron": "* * * * *", "zone": "America/New_York"}, {"cron": "* * 0-23 * * *", "zone": "Pacific/Apia"}])
def test_a_year_is_counted_without_a_walk(given: dict[str, str]) -> None:
    """CAL-10: a year's outage of a dense schedule is counted in under 50 ms, and rightly."""
    rule = parse_rule(given)
    evaluate.count(rule, NOW, NOW + timedelta(days=400))
    started = perf_counter()
    found = evaluate.count(rule, NOW, NOW + timedelta(days=365))
    assert perf_counter() - started < 0.05
    assert found == 365 * 1440 * (60 if given["zone"] == "Pacific/Apia" else 1)
