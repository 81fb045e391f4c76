"""Faults that other systems had with cron, zones and clock changes; each test names its case."""

from datetime import UTC, datetime, timedelta

import pytest

from headway.core.errors import Invalid
from headway.core.schedule.evaluate import between, count, matches, next_slot, previous_slot
from headway.core.schedule.rule import Rule, parse_rule, to_mapping
from headway.core.schedule.zones import load_zone

TICK = timedelta(microseconds=1)
ALL_GAPS = ("skip", "next_valid", "shift_forward")
ALL_FOLDS = ("first", "second", "both")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def instants(text: str) -> list[datetime]:
    return [at(one) for one in text.split()]


def cron(text: str, zone: str = "UTC", **policies: str) -> Rule:
    return parse_rule({"cron": text, "zone": zone, **policies})


def listed(rule: Rule, after: str, until: str) -> list[datetime]:
    return between(rule, at(after), at(until), 10_000)


def test_offset_of_the_day_of_change() -> None:
    """BB-001: a daily slot takes the offset of its own day, not the one of the slot before."""
    rule = cron("30 9 * * *", "Europe/Zurich")
    first = next_slot(rule, at("2025-03-29T08:30:00Z"))
    assert first == at("2025-03-30T07:30:00Z")
    assert next_slot(rule, first) == at("2025-03-31T07:30:00Z")


@pytest.mark.parametrize(
    ("fold", "expected"),
    [
        ("first", "2020-10-25T00:20:00Z 2020-10-26T01:20:00Z"),
        ("second", "2020-10-25T01:20:00Z 2020-10-26T01:20:00Z"),
        ("both", "2020-10-25T00:20:00Z 2020-10-25T01:20:00Z 2020-10-26T01:20:00Z"),
    ],
)
def test_slot_in_the_repeated_hour(fold: str, expected: str) -> None:
    """BB-003: under every fold policy the search moves forwards."""
    slots = listed(cron("20 2 * * *", "Europe/Paris", fold=fold), "2020-10-24T22:00:00Z", "2020-10-26T22:00:00Z")
    assert slots == instants(expected)
    for slot in slots:
        following = next_slot(cron("20 2 * * *", "Europe/Paris", fold=fold), slot)
        assert following is not None
        assert following > slot


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        ("skip", "2013-03-11T06:00:00Z"),
        ("next_valid", "2013-03-10T07:00:00Z 2013-03-11T06:00:00Z"),
        ("shift_forward", "2013-03-10T07:00:00Z 2013-03-11T06:00:00Z"),
    ],
)
def test_start_of_the_missing_hour(gap: str, expected: str) -> None:
    """BB-004: a missing wall time is never returned as such."""
    slots = listed(cron("0 2 * * *", "US/Eastern", gap=gap), "2013-03-09T12:00:00Z", "2013-03-11T12:00:00Z")
    assert slots == instants(expected)
    assert [slot.astimezone(load_zone("US/Eastern")).astimezone(UTC) for slot in slots] == slots


@pytest.mark.parametrize("days", ["0-4", "7,1-4"])
def test_midnight_after_a_short_day(days: str) -> None:
    """BB-006: no day is stepped over by elapsed hours, and Sunday is 0 or 7."""
    slots = listed(cron(f"0 0 * * {days}", "US/Central"), "2021-03-12T06:00:00Z", "2021-03-17T12:00:00Z")
    assert slots == instants("2021-03-14T06:00:00Z 2021-03-15T05:00:00Z 2021-03-16T05:00:00Z 2021-03-17T05:00:00Z")


def test_iterating_equals_asking_afresh() -> None:
    """BB-007: slots do not depend on where the iteration began."""
    rule = cron("0 20 * * *", "Europe/Paris")
    slots = between(rule, at("2022-10-29T22:00:00Z"), at("2022-11-02T00:00:00Z"), 3)
    assert slots == instants("2022-10-30T19:00:00Z 2022-10-31T19:00:00Z 2022-11-01T19:00:00Z")
    assert [next_slot(rule, slot - timedelta(hours=hours)) for slot, hours in zip(slots, (1, 5, 23), strict=True)] == slots


def test_half_an_hour_of_change() -> None:
    """BB-008: Lord Howe moves by thirty minutes; forwards, backwards and matching agree."""
    hourly = cron("0 * * * *", "Australia/Lord_Howe")
    assert next_slot(hourly, at("2019-10-05T15:13:00Z")) == at("2019-10-05T16:00:00Z")
    assert previous_slot(hourly, at("2019-10-05T16:00:00Z")) == at("2019-10-05T14:30:00Z")
    assert not matches(hourly, at("2019-10-05T15:30:00Z"))


@pytest.mark.parametrize(
    ("gap", "expected"), [("skip", ""), ("next_valid", "2019-10-05T15:30:00Z"), ("shift_forward", "2019-10-05T15:45:00Z")]
)
def test_half_an_hour_of_gap(gap: str, expected: str) -> None:
    """BB-008: the gap policies know its true length."""
    rule = cron("15 2 * * *", "Australia/Lord_Howe", gap=gap)
    assert listed(rule, "2019-10-05T13:30:00Z", "2019-10-06T13:00:00Z") == instants(expected)


def test_stepping_back_across_a_gap() -> None:
    """BB-011 A: before < latest <= now < next, next to a gap."""
    rule, now = cron("0 2 * * *", "America/New_York", gap="next_valid"), at("2024-03-10T07:30:00Z")
    latest = previous_slot(rule, now + TICK)
    assert latest == at("2024-03-10T07:00:00Z")
    assert previous_slot(rule, latest) == at("2024-03-09T07:00:00Z")
    assert next_slot(rule, now) == at("2024-03-11T06:00:00Z")


@pytest.mark.parametrize(("fold", "following"), [("first", "2024-11-04T06:00:00Z"), ("both", "2024-11-03T06:00:00Z")])
def test_stepping_back_into_a_fold(fold: str, following: str) -> None:
    """BB-011 B: the same inside a fold."""
    rule, now = cron("0 1 * * *", "America/New_York", fold=fold), at("2024-11-03T05:30:00Z")
    assert previous_slot(rule, now + TICK) == at("2024-11-03T05:00:00Z")
    assert next_slot(rule, now) == at(following)


@pytest.mark.parametrize(("gap", "launches"), [("skip", []), ("next_valid", ["2019-03-10T07:00:00Z"])])
def test_looking_every_second_across_a_gap(gap: str, launches: list[str]) -> None:
    """BB-012: looking every second, the gap gives the policy's one slot or none, and the next is always ahead."""
    rule, clock = cron("0 2 * * *", "America/New_York", gap=gap), at("2019-03-10T06:59:00Z")
    found = []
    for second in range(361):
        now = clock + timedelta(seconds=second)
        found += between(rule, now - timedelta(seconds=1), now, 10)
        following = next_slot(rule, now)
        assert following is not None
        assert following > now
    assert found == [at(launch) for launch in launches]
    assert next_slot(rule, at("2019-03-10T07:05:00Z")) == at("2019-03-11T06:00:00Z")


def test_every_minute_through_the_second_pass() -> None:
    """BB-014: a schedule of every minute goes on, minute by minute, and has all 120 minutes of the doubled hour."""
    rule = cron("* * * * *", "Europe/Amsterdam")
    slots = listed(rule, "2023-10-29T01:10:30Z", "2023-10-29T01:20:30Z")
    assert slots == [at("2023-10-29T01:11:00Z") + timedelta(minutes=n) for n in range(10)]
    assert len(listed(rule, "2023-10-29T00:00:01Z", "2023-10-29T02:00:00Z")) == 120


@pytest.mark.parametrize(
    ("gap", "expected"), [("skip", ""), ("next_valid", "2016-03-13T07:00:00Z"), ("shift_forward", "2016-03-13T07:30:00Z")]
)
def test_missing_local_time_raises_nothing(gap: str, expected: str) -> None:
    """BB-017: a local time that does not exist is answered by the policy and disturbs no other schedule's answer."""
    window = ("2016-03-13T06:59:59Z", "2016-03-13T07:30:00Z")
    assert listed(cron("30 2 * * *", "America/New_York", gap=gap), *window) == instants(expected)
    assert listed(cron("*/5 * * * *"), *window) == [at("2016-03-13T07:00:00Z") + timedelta(minutes=5 * n) for n in range(7)]


def test_leap_days() -> None:
    """BB-018: a leap day is found across eight years, in both directions; a day that never comes is refused."""
    assert next_slot(cron("0 9 29 2 *"), at("2016-02-29T09:00:00Z")) == at("2020-02-29T09:00:00Z")
    assert next_slot(cron("0 9 29 2 *"), at("2096-02-29T09:00:00Z")) == at("2104-02-29T09:00:00Z")
    assert previous_slot(cron("0 9 29 2 *"), at("2024-02-29T00:00:00Z")) == at("2020-02-29T09:00:00Z")
    with pytest.raises(Invalid, match="never matches"):
        cron("0 0 30 2 *")


def test_either_day_field() -> None:
    """BB-019: an impossible day of month adds nothing to the weekdays, and either field suffices."""
    assert listed(cron("0 0 31 2 0"), "2025-12-31T12:00:00Z", "2026-12-31T12:00:00Z") == [
        at(f"2026-02-{day:02}T00:00:00Z") for day in (1, 8, 15, 22)
    ]
    days = listed(cron("0 4 1 * 1-5"), "2026-07-31T00:00:00Z", "2026-08-08T23:00:00Z")
    assert [(day.month, day.day) for day in days] == [(7, 31), (8, 1), (8, 3), (8, 4), (8, 5), (8, 6), (8, 7)]


@pytest.mark.parametrize("days", ["1-31/10", "*/10"])
def test_a_star_with_a_step_restricts(days: str) -> None:
    """BB-020: only a bare star is unrestricted, so `*/10` and `1-31/10` mean the same."""
    slots = listed(cron(f"0 0 {days} 1 1"), "2025-12-31T12:00:00Z", "2026-02-01T12:00:00Z")
    assert [slot.day for slot in slots] == [1, 5, 11, 12, 19, 21, 26, 31]


def test_month_ends() -> None:
    """BB-021: the end of a month and a change day are no boundary for an hourly schedule; the 31st is found where it exists."""
    hourly = cron("55 * * * *", "Europe/Belgrade")
    assert next_slot(hourly, at("2026-03-31T21:55:01Z")) == at("2026-03-31T22:55:00Z")
    assert next_slot(hourly, at("2026-03-29T21:55:01Z")) == at("2026-03-29T22:55:00Z")
    slots = listed(cron("0 0 31 * *"), "2025-12-31T12:00:00Z", "2026-12-31T12:00:00Z")
    assert [slot.month for slot in slots] == [1, 3, 5, 7, 8, 10, 12]


def test_a_missing_midnight_hides_no_day() -> None:
    """BB-023 A, B: days whose midnight is missing have their later slots; a periodic schedule has none in the gap."""
    assert next_slot(cron("0 1 4 11 *", "America/Sao_Paulo"), at("2018-11-04T02:00:00Z")) == at("2018-11-04T03:00:00Z")
    assert listed(cron("0 */2 * * *", "Africa/Cairo"), "2023-04-27T20:00:00Z", "2023-04-28T04:00:00Z") == instants(
        "2023-04-27T23:00:00Z 2023-04-28T01:00:00Z 2023-04-28T03:00:00Z"
    )


@pytest.mark.parametrize(
    ("fold", "expected"),
    [("first", "2018-02-18T01:30:00Z"), ("second", "2018-02-18T02:30:00Z"), ("both", "2018-02-18T01:30:00Z 2018-02-18T02:30:00Z")],
)
def test_a_fold_at_midnight(fold: str, expected: str) -> None:
    """BB-023 C: the last hour of a day happens twice."""
    rule = cron("30 23 * * *", "America/Sao_Paulo", fold=fold)
    assert listed(rule, "2018-02-17T02:00:00Z", "2018-02-18T02:59:00Z") == instants(expected)


SPRING = {
    "skip": "2025-03-29T01:30:00Z 2025-03-31T00:30:00Z",
    "next_valid": "2025-03-29T01:30:00Z 2025-03-30T01:00:00Z 2025-03-31T00:30:00Z",
    "shift_forward": "2025-03-29T01:30:00Z 2025-03-30T01:30:00Z 2025-03-31T00:30:00Z",
}
AUTUMN = {
    "first": "2025-10-25T00:30:00Z 2025-10-26T00:30:00Z 2025-10-27T01:30:00Z",
    "second": "2025-10-25T00:30:00Z 2025-10-26T01:30:00Z 2025-10-27T01:30:00Z",
    "both": "2025-10-25T00:30:00Z 2025-10-26T00:30:00Z 2025-10-26T01:30:00Z 2025-10-27T01:30:00Z",
}


@pytest.mark.parametrize("gap", ALL_GAPS)
@pytest.mark.parametrize("fold", ALL_FOLDS)
def test_stated_policies(gap: str, fold: str) -> None:
    """BB-025: zero, one or two slots on change days, as the policies state; neither policy touches the other's day."""
    rule = cron("30 2 * * *", "Europe/Berlin", gap=gap, fold=fold)
    assert listed(rule, "2025-03-28T22:00:00Z", "2025-03-31T22:00:00Z") == instants(SPRING[gap])
    assert listed(rule, "2025-10-24T22:00:00Z", "2025-10-27T22:00:00Z") == instants(AUTUMN[fold])


def test_two_nominal_times_at_one_instant() -> None:
    """BB-025: a moved time that meets an ordinary one is one slot, also when counted."""
    rule = cron("30 2,3 * * *", "Europe/Berlin", gap="shift_forward")
    day = ("2025-03-29T23:00:00Z", "2025-03-30T21:00:00Z")
    assert listed(rule, *day) == [at("2025-03-30T01:30:00Z")]
    assert count(rule, at(day[0]), at(day[1])) == 1


@pytest.mark.parametrize(
    "zone",
    ["UTC+3", "Europa/Madrid", "europe/berlin", "../etc/passwd", "/etc/passwd", "", "localtime", "posixrules", "right/UTC", "Factory",
     "Europe/Berlin\0", "x" * 300],
)  # fmt: skip
def test_names_that_are_no_zone(zone: str) -> None:
    """BB-026, CAL-11: a name that is not listed is refused with its field, whatever files a machine has."""
    with pytest.raises(Invalid) as refused:
        cron("* * * * *", zone)
    assert [problem.field for problem in refused.value.problems] == ["zone"]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Etc/GMT+3", "America/Argentina/Buenos_Aires"])
def test_names_that_are_zones(zone: str) -> None:
    """BB-026, CAL-11: listed names are taken as they are."""
    assert cron("* * * * *", zone).zone == zone


def test_rules_that_a_government_changed() -> None:
    """BB-027: slots follow the pinned tzdata alone: Jordan kept its summer time in 2022, and the instant of the older rules is no slot."""
    rule, now = cron("0 8 * * *", "Asia/Amman"), at("2022-10-27T12:00:00Z")
    assert next_slot(rule, now) == at("2022-10-28T05:00:00Z")
    assert count(rule, now, at("2022-10-28T07:00:00Z")) == 1
    assert not matches(rule, at("2022-10-28T06:00:00Z"))


def test_the_name_that_two_lists_have() -> None:
    """BB-026, CAL-11: UTC is an IANA id before it is a Windows id, and is stored as it was written."""
    assert to_mapping(cron("* * * * *", "UTC"))["zone"] == "UTC"
    assert to_mapping(cron("* * * * *", "UTC-11"))["zone"] == "Etc/GMT+11"
