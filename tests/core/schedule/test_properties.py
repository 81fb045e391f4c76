"""The evaluator against an independent scan, over random expressions, zones, policies and windows."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from hypothesis import given, settings
from hypothesis import strategies as st

from headway.core.errors import Invalid
from headway.core.schedule import evaluate
from headway.core.schedule.rule import Cron, Interval, Rule, parse_rule, to_mapping
from headway.core.schedule.zones import zone_names
from tests.core.schedule import oracle

TICK = timedelta(microseconds=1)
GAPS, FOLDS = st.sampled_from(["skip", "next_valid", "shift_forward"]), st.sampled_from(["first", "second", "both"])


@lru_cache(maxsize=1)
def changes() -> list[tuple[str, datetime]]:
    """Every change of offset of every zone since 2000 that lies on a whole minute."""
    since = datetime(2000, 1, 1, tzinfo=UTC)
    return [(name, at) for name in oracle.zones() for at, _, _ in oracle.transitions(name) if at >= since]


def field(low: int, high: int, names: tuple[str, ...] = ()) -> st.SearchStrategy[str]:
    value = st.integers(low, high)
    spelled = value.map(lambda number: names[number - low] if number - low < len(names) else str(number))
    step = st.integers(1, high - low + 2)
    span = st.tuples(value, value).map(sorted).map(lambda ends: f"{ends[0]}-{ends[1]}")
    item = st.one_of(
        value.map(str),
        spelled,
        span,
        st.builds("{}/{}".format, span, step),
        st.builds("*/{}".format, step),
        st.builds("{}/{}".format, st.integers(low, min(high, 6) if high == 7 else high), step),
    )
    return st.one_of(st.just("*"), item, st.lists(item, min_size=1, max_size=3).map(",".join))


WEEKDAYS = field(0, 7, ("SUN", "Mon", "tue", "wed", "thu", "fri", "sat", "Sun"))
MONTHS = field(1, 12, ("jan", "Feb", "MAR", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"))
EXPRESSIONS = st.builds(
    "{} {} {} {} {}".format, field(0, 59), field(0, 23), st.one_of(st.just("*"), field(1, 28)), st.one_of(st.just("*"), MONTHS), WEEKDAYS
)
WINDOWS = st.sampled_from(changes()).flatmap(
    lambda change: st.tuples(st.just(change[0]), st.integers(-1500, 1500).map(lambda minutes: change[1] + minutes * timedelta(minutes=1)))
)


def walk(rule: Rule, after: datetime, before: datetime) -> list[datetime]:
    """Iterate `next_slot` over (after, before)."""
    found = []
    while (slot := evaluate.next_slot(rule, after)) is not None and slot < before:
        assert slot > after
        found.append(slot)
        after = slot
    return found


@settings(max_examples=500, deadline=None)
@given(EXPRESSIONS, WINDOWS, GAPS, FOLDS, st.integers(1, 900))
def test_slots_are_those_of_a_scan(text: str, place: tuple[str, datetime], gap: str, fold: str, minutes: int) -> None:
    """VER-03, CAL-12, CAL-14: next, previous, matches, between and count agree with the scan around every kind of clock change."""
    zone, start = place
    end = start + minutes * timedelta(minutes=1)
    rule = parse_rule({"cron": text, "zone": zone, "gap": gap, "fold": fold})
    expected = oracle.scan(text, zone, gap, fold, (start, end))
    assert walk(rule, start - TICK, end) == expected
    assert evaluate.between(rule, start - TICK, end - TICK, 1000) == expected
    assert evaluate.count(rule, start - TICK, end - TICK) == len(expected)
    backwards, before = [], end
    while (slot := evaluate.previous_slot(rule, before)) is not None and slot >= start:
        assert slot < before
        backwards.append(slot)
        before = slot
    assert backwards[::-1] == expected
    asked = start + (end - start) // 2 // timedelta(minutes=1) * timedelta(minutes=1)
    assert evaluate.matches(rule, asked) == (asked in expected)


@settings(max_examples=60, deadline=None)
@given(st.builds("0 0 {} {} {}".format, field(1, 31), MONTHS, WEEKDAYS), st.integers(0, 3000))
def test_days_are_those_of_a_walk_over_the_calendar(text: str, shift: int) -> None:
    """DEF-09, CAL-10: over three years the days are those that a walk from day to day finds; forwards, backwards and counted."""
    expression = oracle.Plain(text)
    first = datetime(2023, 1, 1, tzinfo=UTC) + timedelta(days=shift)
    days = [first + timedelta(days=n) for n in range(1100)]
    expected = [day for day in days if expression.on(day)]
    try:
        rule = parse_rule({"cron": text})
    except Invalid as error:
        assert "never matches" in error.message
        assert not expected
        return
    assert walk(rule, first - TICK, days[-1] + TICK) == expected
    assert evaluate.count(rule, first - TICK, days[-1]) == len(expected)
    assert [evaluate.previous_slot(rule, slot + TICK) for slot in expected] == expected


@settings(max_examples=40, deadline=None)
@given(EXPRESSIONS, st.sampled_from(sorted(zone_names())), GAPS, FOLDS)
def test_rules_survive_their_mapping(text: str, zone: str, gap: str, fold: str) -> None:
    """DEF-07: what is stored reads back as an equal rule."""
    rule = parse_rule({"cron": text, "zone": zone, "gap": gap, "fold": fold, "starts_at": "2026-01-01T00:00:00+01:00"})
    assert isinstance(rule, Cron)
    assert parse_rule(to_mapping(rule)) == rule


INSTANTS = st.integers(0, 3 * 10**9).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


@settings(max_examples=60, deadline=None)
@given(st.integers(200, 10**10).map(lambda ms: timedelta(milliseconds=ms)), INSTANTS, INSTANTS, st.integers(1, 50))
def test_an_interval_keeps_to_its_grid(every: timedelta, anchor: datetime, after: datetime, steps: int) -> None:
    """CAL-09, CAL-13: every slot is a whole number of intervals from the anchor, whatever zone is named; nothing lies between two."""
    rule = parse_rule({"every": every, "anchor": anchor, "zone": "Europe/Berlin"})
    assert isinstance(rule, Interval)
    assert parse_rule(to_mapping(rule)) == rule
    slots = evaluate.between(rule, after, after + steps * every, 1000)
    assert len(slots) == steps == evaluate.count(rule, after, after + steps * every)
    assert all((slot - anchor) % every == timedelta() for slot in slots)
    assert all(evaluate.previous_slot(rule, slot + TICK) == slot and evaluate.matches(rule, slot) for slot in slots)
    assert not evaluate.matches(rule, slots[0] + TICK)
