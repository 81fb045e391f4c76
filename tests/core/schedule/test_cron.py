"""The cron dialect: what is read, and what is refused with which words."""

from time import perf_counter

import pytest

from headway.core.errors import Invalid
from headway.core.schedule.cron import DayRule, parse_cron
from headway.core.schedule.fields import DAY, HOUR, MINUTE, MONTH, WEEKDAY, Field, read_field


def values(field: Field, text: str) -> set[int]:
    reading = read_field(field, text)
    assert not reading.complaints
    return {value for value in range(64) if reading.mask >> value & 1}


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        (MINUTE, "5-5", {5}),
        (MINUTE, "5-5/2", {5}),
        (MINUTE, "50/4", {50, 54, 58}),
        (MINUTE, "59/15", {59}),
        (MINUTE, "*/100", {0}),
        (MINUTE, "*,5", set(range(60))),
        (MINUTE, "0-59", set(range(60))),
        (MINUTE, "007", {7}),
        (HOUR, "8-18/5,23", {8, 13, 18, 23}),
        (DAY, "1-31", set(range(1, 32))),
        (DAY, "*/10", {1, 11, 21, 31}),
        (MONTH, "jan-mar,dec", {1, 2, 3, 12}),
        (WEEKDAY, "0", {0}),
        (WEEKDAY, "7", {0}),
        (WEEKDAY, "5-7", {5, 6, 0}),
        (WEEKDAY, "fri-sun", {5, 6, 0}),
        (WEEKDAY, "sun-tue", {0, 1, 2}),
        (WEEKDAY, "0-7", set(range(7))),
        (WEEKDAY, "1-7/2", {1, 3, 5, 0}),
        (WEEKDAY, "2-7/3", {2, 5}),
        (WEEKDAY, "7-7", {0}),
        (WEEKDAY, "*/2", {0, 2, 4, 6}),
    ],
)
def test_values_of_a_field(field: Field, text: str, expected: set[int]) -> None:
    """DEF-09: lists, ranges, steps and names mean what they say; a range of one value is that value."""
    assert values(field, text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 0 L * *", "day of month: 'l': L, W and # are not supported"),
        ("0 0 15W * *", "L, W and # are not supported"),
        ("0 0 * * 1#2", "day of week: '1#2': L, W and # are not supported"),
        ("0 0 * * 5L", "L, W and # are not supported"),
        ("0 22-4 * * *", "hour: the range 22-4 wraps around: write 22-23,0-4"),
        ("0 0 * nov-feb *", "write 11-12,1-2"),
        ("0 0 * * sat-mon", "write 6,0-1"),
        ("0 0 * * 5-0", "write 5-6,0"),
        ("0 0 * * 7-3", "write 0-3"),
        ("*/0 * * * *", "minute: the step of '*/0' is 0"),
        ("60 * * * *", "minute: 60 is out of range, 0 to 59"),
        ("0 24 * * *", "hour: 24 is out of range"),
        ("0 0 0 * *", "day of month: 0 is out of range, 1 to 31"),
        ("0 0 * 13 *", "month: 13 is out of range"),
        ("0 0 * * 8", "day of week: 8 is out of range"),
        ("mon * * * *", "minute: 'mon' is not a number"),
        ("0 0 * * foo", "day of week: 'foo' is not a number or one of sun, mon"),
        ("h * * * *", "'h' is not a value, a range or a step"),
        ("r * * * *", "'r' is not a value"),
        ("1,,2 * * * *", "an item of the list is empty"),
        ("-5 * * * *", "'-5' is not a value"),
        ("1/2/3 * * * *", "'1/2/3' is not a value"),
        ("?/5 * * * *", "is not a value"),
        ("1\n * * * *", "is not a value"),
        ("* * * *", "has 4 fields: five are needed, or six with the seconds in front"),
        ("* * * * * * *", "has 7 fields"),
        ("", "has 0 fields"),
        ("@daily", "@daily is not supported: write 0 0 * * *"),
        ("\u0663 * * * *", "ASCII"),
        ("*\u00a0* * * * *", "ASCII"),
        ("0," * 70 + "0 * * * *", "longer than 128 characters"),
        ("0 0 30 2 *", "never matches"),
        ("0 0 31 2,4,jun *", "never matches"),
    ],
)
def test_refusals(text: str, words: str) -> None:
    """DEF-08: what the dialect does not have is refused on field `cron`, in words that say what to write."""
    with pytest.raises(Invalid) as refused:
        parse_cron(text)
    assert {problem.field for problem in refused.value.problems} == {"cron"}
    assert words in str(refused.value)


def test_every_wrong_item_is_named() -> None:
    """DEF-08: all errors at once."""
    with pytest.raises(Invalid) as refused:
        parse_cron("61,*/0 25 * 1-13 *")
    assert len(refused.value.problems) == 4


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("0 0 * * *", DayRule.EVERY),
        ("0 0 ? * ?", DayRule.EVERY),
        ("0 0 1 * ?", DayRule.OF_MONTH),
        ("0 0 */1 * *", DayRule.OF_MONTH),
        ("0 0 * * mon", DayRule.OF_WEEK),
        ("0 0 1 * 0-6", DayRule.EITHER),
    ],
)
def test_day_rule(text: str, rule: DayRule) -> None:
    """DEF-09: the expression says which of its day fields count."""
    assert parse_cron(text).day_rule is rule


@pytest.mark.parametrize(
    ("text", "periodic"),
    [
        ("5 * * * *", True),
        ("5 ? * * *", True),
        ("5 */3 * * *", True),
        ("5 0-23 * * *", False),
        ("5 0/2 * * *", False),
        ("5 1 * * *", False),
    ],
)
def test_periodic(text: str, periodic: bool) -> None:
    """CAL-12: only a bare star or a star with a step in the hour field makes a schedule periodic."""
    assert parse_cron(text).periodic is periodic


def test_seconds_stand_in_front() -> None:
    """DEF-07: of six fields the first is the seconds."""
    expression = parse_cron("*/30 5 4 3 2 1")
    assert (expression.seconds, expression.minutes, expression.hours) == (1 | 1 << 30, 1 << 5, 1 << 4)
    assert (expression.days, expression.months, expression.weekdays) == (1 << 3, 1 << 2, 1 << 1)


def test_names_in_any_case_and_spacing() -> None:
    """DEF-09: case and the width of spaces change nothing."""
    assert parse_cron(" 0  7\t* JAN Mon-FRI ") == parse_cron("0 7 * jan mon-fri")


def test_an_impossible_date_is_refused_at_once() -> None:
    """BB-018: under 50 ms."""
    started = perf_counter()
    with pytest.raises(Invalid):
        parse_cron("0 0 31 2,4,6,9,11 ?")
    assert perf_counter() - started < 0.05
