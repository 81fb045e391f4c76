"""Previews: the lines that a person reads before a schedule is stored."""

from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from time import process_time
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.calendar.judge import judge
from headway.core.calendar.reading import parse_calendar
from headway.core.calendar.window import Calendar
from headway.core.errors import Invalid
from headway.core.schedule import evaluate
from headway.core.schedule.jitter import jitter_of
from headway.core.schedule.preview import differences, preview
from headway.core.schedule.rule import parse_rule
from tests.core.examples import examples
from tests.core.schedule import oracle
from tests.core.schedule.test_properties import EXPRESSIONS, FOLDS, WINDOWS

NOW = datetime(2026, 3, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
WEEK = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def calendar(*windows: dict[str, Any]) -> Calendar:
    return parse_calendar({"name": "office", "windows": list(windows)})


def lines(rule: dict[str, Any], *calendars: Calendar, after: str, until: str | None = None, count: int = 20) -> list[str]:
    """What is shown of each line: the slot, the local time, the decision, the due instant and the reason."""
    found = preview(parse_rule(rule), calendars, after=at(after), until=None if until is None else at(until), count=count)
    return [
        " ".join(
            [
                f"{line.slot_at:%dT%H:%MZ}",
                line.local[8:],
                line.decision,
                "never" if line.effective_at is None else f"{line.effective_at:%dT%H:%MZ}",
                line.reason,
            ]
        ).strip()
        for line in found
    ]


def test_every_line_says_what_and_why() -> None:
    """DEF-21: slots with their local time; what a calendar skips or defers says which window of which calendar."""
    windows = calendar({"weekdays": ["sat"], "policy": "defer"}, {"weekdays": ["sun"], "policy": "skip", "start": "12:00", "end": "00:00"})
    rule = {"times": ["09:00", "21:00"], "zone": "Europe/Berlin"}
    assert lines(rule, windows, after="2026-03-27T10:00:00Z", until="2026-03-29T19:00:00Z") == [
        "27T20:00Z 27T21:00:00+01:00 fired 27T20:00Z",
        "28T08:00Z 28T09:00:00+01:00 deferred 28T23:00Z calendar office: sat",
        "28T20:00Z 28T21:00:00+01:00 deferred 28T23:00Z calendar office: sat",
        "29T07:00Z 29T09:00:00+02:00 fired 29T07:00Z",
        "29T19:00Z 29T21:00:00+02:00 skipped never calendar office: sun 12:00-00:00",
    ]


def test_the_ends_of_a_preview() -> None:
    """DEF-21: `after` is exclusive, `until` inclusive, `count` the most; a schedule that has ended has no lines."""
    hourly = {"cron": "0 * * * *"}
    assert len(lines(hourly, after="2026-03-01T00:00:00Z", until="2026-03-01T03:00:00Z")) == 3
    assert len(lines(hourly, after="2026-03-01T00:00:00Z")) == 20
    assert len(lines(hourly, after="2026-03-01T00:00:00Z", count=5000)) == 1000
    assert lines({"at": "2026-01-01T00:00:00Z"}, after="2026-03-01T00:00:00Z") == []
    assert lines({"after_completion": "5m"}, after="2026-03-01T00:00:00Z") == []
    assert len(lines({"after_completion": "5m", "starts_at": "2026-03-02T00:00:00Z"}, after="2026-03-01T00:00:00Z")) == 1


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            {"cron": "30 2 * * *", "gap": "skip"},
            ["29T01:00Z 29T02:30:00 skipped never gap: 02:30 does not exist in Europe/Berlin on 2026-03-29"],
        ),
        (
            {"cron": "30 2 * * *", "gap": "next_valid"},
            ["29T01:00Z 29T03:00:00+02:00 fired 29T01:00Z gap: 02:30 does not exist in Europe/Berlin on 2026-03-29, moved to 03:00"],
        ),
        (
            {"times": ["02:30"], "gap": "shift_forward"},
            ["29T01:30Z 29T03:30:00+02:00 fired 29T01:30Z gap: 02:30 does not exist in Europe/Berlin on 2026-03-29, moved to 03:30"],
        ),
        (
            {"every": "10m", "from": "02:00", "to": "03:10"},
            [
                "29T01:00Z 29T03:00:00+02:00 fired 29T01:00Z "
                "gap: 02:00, 02:10, 02:20 and 3 more do not exist in Europe/Berlin on 2026-03-29, moved to 03:00"
            ],
        ),
        (
            {"every": "20m", "from": "02:30", "to": "03:00", "gap": "skip"},
            [
                "29T01:00Z 29T02:30:00 skipped never gap: 02:30 does not exist in Europe/Berlin on 2026-03-29",
                "29T01:00Z 29T02:50:00 skipped never gap: 02:50 does not exist in Europe/Berlin on 2026-03-29",
            ],
        ),
        (
            {"cron": "30 * * * *", "gap": "skip"},
            ["29T00:30Z 29T01:30:00+01:00 fired 29T00:30Z", "29T01:30Z 29T03:30:00+02:00 fired 29T01:30Z"],
        ),
        ({"cron": "45 3 * * *", "gap": "shift_forward"}, ["29T01:45Z 29T03:45:00+02:00 fired 29T01:45Z"]),
    ],
)
def test_gaps_are_told(rule: dict[str, Any], expected: list[str]) -> None:
    """CAL-12, DEF-21: a local time that does not exist has a line of its own, or says where it went; periodic rules have none there."""
    assert lines({**rule, "zone": "Europe/Berlin"}, after="2026-03-29T00:00:00Z", until="2026-03-29T02:00:00Z") == expected


def test_folds_are_told() -> None:
    """CAL-12, DEF-21: of a local time that happens twice the line says which one it is."""
    rule = {"cron": "30 2 * * *", "zone": "Europe/Berlin", "fold": "both"}
    told = "fold: 02:30 happens twice in Europe/Berlin on 2026-10-25, this is the"
    assert lines(rule, after="2026-10-24T12:00:00Z", until="2026-10-26T12:00:00Z") == [
        f"25T00:30Z 25T02:30:00+02:00 fired 25T00:30Z {told} first",
        f"25T01:30Z 25T02:30:00+01:00 fired 25T01:30Z {told} second",
        "26T01:30Z 26T02:30:00+01:00 fired 26T01:30Z",
    ]


def test_the_first_instant_of_a_second_pass() -> None:
    """DEF-21: the instant at which the clock goes back is the second time that it shows what it then shows."""
    rule = {"cron": "0 2 * * *", "zone": "Europe/Berlin", "fold": "both"}
    first, second = lines(rule, after="2026-10-25T00:00:00Z", count=1), lines(rule, after="2026-10-25T00:59:00Z", count=1)
    assert first == second
    assert second[0].startswith("25T01:00Z 25T02:00:00+01:00")
    assert second[0].endswith("this is the second")


def test_bounds_hold_for_what_is_left_out() -> None:
    """DEF-10: a local time that a gap leaves out before the start or behind the end has no line; behind the last slot it has."""
    rule = {"cron": "30 2 29 3 *", "zone": "Europe/Berlin", "gap": "skip"}
    first, last = "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"
    assert len(lines(rule, after=first, until=last)) == 1
    assert lines({**rule, "starts_at": "2026-03-29T01:00:01Z"}, after=first, until=last) == []
    assert lines({**rule, "ends_at": "2026-03-29T00:59:59Z"}, after=first, until=last) == []
    assert len(lines({**rule, "ends_at": "2026-03-29T01:00:00Z"}, after=first)) == 1


def test_reasons_are_joined() -> None:
    """DEF-21: a slot that a gap moved and a calendar defers says both."""
    rule = {"cron": "30 2 * * *", "zone": "Europe/Berlin"}
    shown = lines(rule, calendar({"weekdays": ["sun"], "policy": "defer"}), after="2026-03-29T00:00:00Z", count=1)
    assert shown[0].endswith("moved to 03:00; calendar office: sun")


def test_jitter_is_in_the_due_instant_alone() -> None:
    """DEF-21: with a schedule's id its jitter delays what fires and what is deferred; the slot stays where it is."""
    rule, schedule = parse_rule({"cron": "0 9 * * *", "jitter": "10m"}), UUID(int=7)
    windows = calendar({"weekdays": ["mon"], "policy": "defer"})
    delay = jitter_of(schedule, timedelta(minutes=10))
    first, second = preview(rule, [windows], after=NOW, count=2, schedule_id=schedule)
    assert (first.slot_at, first.effective_at) == (at("2026-03-01T09:00:00Z"), at("2026-03-01T09:00:00Z") + delay)
    assert (second.slot_at, second.effective_at) == (at("2026-03-02T09:00:00Z"), at("2026-03-03T00:00:00Z") + delay)
    assert delay > timedelta()
    assert preview(rule, after=NOW, count=1)[0].effective_at == first.slot_at


def test_a_year_that_nobody_resolved() -> None:
    """CAL-02: a preview does not guess holidays."""
    with pytest.raises(Invalid, match="is not resolved for 2026"):
        preview(parse_rule({"cron": "0 9 * * *"}), [calendar({"holiday": "DE:labor-day"})], after=NOW)


def test_two_previews_are_compared() -> None:
    """DEF-21: what a change adds and removes, as far as both previews reach; what moved stands on both sides."""
    old = preview(parse_rule({"cron": "0 * * * *"}), after=NOW, count=10)
    new = preview(parse_rule({"cron": "0,30 */2 * * *"}), after=NOW, count=10)
    found = differences(old, new, 10)
    assert [f"{one.slot_at:%H:%M}" for one in found.added] == ["00:30", "02:30", "04:30", "06:30", "08:30"]
    assert [f"{one.slot_at:%H:%M}" for one in found.removed] == ["01:00", "03:00", "05:00", "07:00", "09:00"]
    sundays = calendar({"weekdays": ["sun"], "start": "03:00", "end": "04:00", "policy": "defer"})
    moved = differences(old, preview(parse_rule({"cron": "0 * * * *"}), [sundays], after=NOW, count=10), 10)
    assert [one.slot_at for one in moved.added] == [one.slot_at for one in moved.removed] == [at("2026-03-01T03:00:00Z")]
    assert differences([], new, 10).added == new


@examples(200)
@given(EXPRESSIONS, WINDOWS, FOLDS, st.integers(1, 900))
def test_a_preview_is_the_evaluator_and_the_calendars(text: str, place: tuple[str, datetime], fold: str, minutes: int) -> None:
    """DEF-21, VER-03: the lines are the slots that dispatch sees, as calendars judge them, and every local time that a gap left out."""
    zone, start = place
    end = start + minutes * MINUTE
    rule = parse_rule({"cron": text, "zone": zone, "gap": "skip", "fold": fold})
    windows = calendar({"weekdays": ["sat", "mon"], "policy": "defer"}, {"month_days": [1, "last"], "start": "01:00", "end": "03:00"})
    shown = preview(rule, [windows], after=start, until=end, count=1000)
    assert [line.slot_at for line in shown] == sorted(line.slot_at for line in shown)
    slots = [line for line in shown if "+" in line.local or "-" in line.local[10:]]
    assert [line.slot_at for line in slots] == evaluate.between(rule, start, end, 1000)[: len(slots)]
    assert [line.effective_at for line in slots] == [judge([windows], zone, line.slot_at).effective_at for line in slots]
    missing = [line for line in shown if line not in slots]
    assert len(shown) == 1000 or len(slots) == evaluate.count(rule, start, end)
    plain = oracle.Plain(text)
    seen = oracle.walls(zone, start, end + MINUTE)
    expected = [
        (instant, wall.isoformat())
        for (_, before), (instant, after) in pairwise(seen)
        for wall in (before + n * MINUTE for n in range(1, max(0, (after - before) // MINUTE)))
        if plain.matches(wall) and not plain.periodic
    ]
    assert [(line.slot_at, line.local) for line in missing] == expected[: len(missing)]
    assert len(shown) == 1000 or len(missing) == len(expected)


RULES: dict[str, dict[str, Any]] = {
    "minutely": {"cron": "* * * * *", "zone": "Europe/Berlin"},
    "daily": {"cron": "30 2 * * *", "zone": "America/Santiago", "gap": "skip"},
    "yearly": {"cron": "0 0 1 1 *", "zone": "America/New_York"},
    "leap days": {"cron": "30 2 29 2 *", "zone": "Africa/Casablanca"},
    "every second": {"every": "1s", "from": "22:00", "to": "21:00", "zone": "Australia/Lord_Howe", "gap": "skip"},
    "Sundays of March": {"times": ["02:30"], "weekdays": ["sun"], "months": [3], "zone": "Europe/Paris", "gap": "skip"},
    "interval": {"every": "200ms"},
}
ORDINARY = calendar({"weekdays": ["sat", "sun"], "policy": "defer"}, {"holiday": "US:federal"})


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_thousand_lines_are_quick(rule: dict[str, Any]) -> None:
    """DEF-21: a thousand slots of any schedule, an ordinary calendar with them, take less than 200 ms."""
    made, taken = parse_rule(rule), []
    for _ in range(3):
        started = process_time()
        shown = preview(made, [ORDINARY], after=NOW, count=1000)
        taken.append(process_time() - started)
        assert len(shown) == 1000
    assert min(taken) < 0.2


@pytest.mark.parametrize("policy", ["skip", "defer"])
@pytest.mark.parametrize("rule", ["minutely", "daily", "yearly"])
def test_a_calendar_that_blocks_everything(rule: str, policy: str) -> None:
    """CAL-04, DEF-21: a thousand slots that are all skipped, or deferred a hundred times each, end within two seconds."""
    blocking = calendar({"weekdays": WEEK, "policy": policy})
    started = process_time()
    shown = preview(parse_rule(RULES[rule]), [blocking], after=NOW, count=1000)
    assert process_time() - started < 2
    assert [decision for decision, _ in groupby(line.decision for line in shown)] == ["skipped"]
    assert any("without an end" in line.reason for line in shown) is (policy == "defer")
