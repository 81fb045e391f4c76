"""The evaluator against an independent scan, over random expressions, zones, policies and windows."""

import json
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from headway.core.errors import Invalid
from headway.core.schedule import evaluate, values
from headway.core.schedule.plugins import register
from headway.core.schedule.rule import Interval, Plugin, Rule, parse_rule, to_mapping
from headway.core.schedule.zones import zone_names
from tests.core.examples import examples, patient
from tests.core.schedule import oracle

TICK = timedelta(microseconds=1)
register("every-day", lambda parameters: Stored([]))
GAPS, FOLDS = st.sampled_from(["skip", "next_valid", "shift_forward"]), st.sampled_from(["first", "second", "both"])


@lru_cache(maxsize=1)
def changes() -> dict[str, list[datetime]]:
    """The changes of offset since 2000 of every zone that has any; all of them lie on a whole minute."""
    since = datetime(2000, 1, 1, tzinfo=UTC)
    found = {name: [at for at, _, _ in oracle.transitions(name) if at >= since] for name in oracle.zones()}
    return {name: moments for name, moments in found.items() if moments}


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
MINUTE = timedelta(minutes=1)
PLACES = st.sampled_from(sorted(changes())).flatmap(lambda zone: st.tuples(st.just(zone), st.sampled_from(changes()[zone])))
WINDOWS = st.builds(lambda place, minutes: (place[0], place[1] + minutes * MINUTE), PLACES, st.integers(-1500, 1500))
NAMES = st.lists(st.sampled_from(values.WEEKDAYS), min_size=1, unique=True)
CLOCKS = st.builds(time, st.integers(0, 23), st.integers(0, 59))
# Clock changes happen in the small hours: half of the times are there, so that gaps and folds are met.
NEAR_CHANGES = st.one_of(CLOCKS, st.builds(time, st.sampled_from([23, 0, 1, 2, 3]), st.sampled_from([0, 10, 30, 45, 59])))


@st.composite
def local_rules(draw: st.DrawFn) -> tuple[dict[str, Any], oracle.Matcher]:
    """A rule of one of the kinds that name local times, and what says of a wall whether it matches."""
    kind = draw(st.sampled_from(["cron", "cron", "times", "within"]))
    if kind == "cron":
        text = draw(EXPRESSIONS)
        return {"cron": text}, oracle.Plain(text)
    weekdays = draw(NAMES)
    if kind == "times":
        times = [f"{clock:%H:%M}" for clock in draw(st.lists(NEAR_CHANGES, min_size=1, max_size=4))]
        months = draw(st.one_of(st.just(list(range(1, 13))), st.lists(st.integers(1, 12), min_size=1)))
        return {"times": times, "weekdays": weekdays, "months": months}, oracle.PlainDaily(times, weekdays, months)
    minutes, opens, closes = draw(st.integers(1, 1500)), draw(NEAR_CHANGES), draw(NEAR_CHANGES)
    rule = {"every": f"{minutes}m", "from": f"{opens:%H:%M}", "to": f"{closes:%H:%M}", "weekdays": weekdays}
    return rule, oracle.PlainWithin(minutes, opens, closes, weekdays)


def walk(rule: Rule, after: datetime, before: datetime) -> list[datetime]:
    """Iterate `next_slot` over (after, before)."""
    found = []
    while (slot := evaluate.next_slot(rule, after)) is not None and slot < before:
        assert slot > after
        found.append(slot)
        after = slot
    return found


def agrees(rule: Rule, start: datetime, end: datetime, expected: list[datetime]) -> None:
    """Hold every question about the slots in [start, end) to the expected ones."""
    assert walk(rule, start - TICK, end) == expected
    assert evaluate.between(rule, start - TICK, end - TICK, 1000) == expected
    assert list(evaluate.walk(rule, start - TICK, end - TICK)) == expected
    assert evaluate.count(rule, start - TICK, end - TICK) == len(expected)
    backwards, before = [], end
    while (slot := evaluate.previous_slot(rule, before)) is not None and slot >= start:
        assert slot < before
        backwards.append(slot)
        before = slot
    assert backwards[::-1] == expected
    asked = start + (end - start) // 2 // MINUTE * MINUTE
    assert evaluate.matches(rule, asked) == (asked in expected)
    assert all(evaluate.matches(rule, slot) and evaluate.previous_slot(rule, slot + TICK) == slot for slot in expected[:5])


@patient
@examples(500)
@given(local_rules(), WINDOWS, GAPS, FOLDS, st.integers(1, 900), st.integers(0, 900))
def test_slots_are_those_of_a_scan(
    given: tuple[dict[str, Any], oracle.Matcher], place: tuple[str, datetime], gap: str, fold: str, minutes: int, late: int
) -> None:
    """VER-03, CAL-12, CAL-14: next, previous, matches, between and count agree with the scan around every kind of clock change."""
    (mapping, matcher), (zone, start) = given, place
    end, starts_at = start + minutes * MINUTE, start + (late - 600) * MINUTE
    rule = parse_rule({**mapping, "zone": zone, "gap": gap, "fold": fold, "starts_at": starts_at})
    expected = oracle.scan(matcher, zone, gap, fold, (start, end))
    agrees(rule, start, end, [slot for slot in expected if slot >= starts_at])


@examples(100)
@given(st.integers(1, 3000), st.integers(-5000, 5000), WINDOWS, st.integers(1, 900), st.booleans())
def test_instants_are_those_of_a_scan(every: int, shift: int, place: tuple[str, datetime], minutes: int, once: bool) -> None:
    """VER-03, CAL-13: what has no local times is the same scan over instants, whatever the zone does."""
    zone, start = place
    end, anchor = start + minutes * MINUTE, start + shift // (10 if once else 1) * MINUTE
    rule = parse_rule({"at": anchor, "zone": zone} if once else {"every": f"{every}m", "anchor": anchor, "zone": zone})
    seen = [start + n * MINUTE for n in range(minutes)]
    agrees(rule, start, end, [now for now in seen if (now == anchor if once else (now - anchor) // MINUTE % every == 0)])


class Stored:
    """A plug-in of slots that stand in a list."""

    def __init__(self, slots: list[datetime]) -> None:
        self.slots = slots

    def first(self) -> datetime | None:
        """The first of them."""
        return next(iter(self.slots), None)

    def next(self, after: datetime) -> datetime | None:
        """The first behind an instant."""
        return next((slot for slot in self.slots if slot > after), None)


@examples(100)
@given(st.lists(st.integers(-400, 1400), unique=True), WINDOWS, st.integers(1, 900))
def test_a_plug_in_is_searched_both_ways(minutes: list[int], place: tuple[str, datetime], length: int) -> None:
    """DEF-07: a class that only looks ahead is enough: previous, matches, between and count follow from it."""
    zone, start = place
    slots = [start + minute * MINUTE for minute in sorted(minutes)]
    end = start + length * MINUTE
    agrees(Plugin("stored", {}, Stored(slots), zone=zone), start, end, [slot for slot in slots if start <= slot < end])


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


INSTANTS = st.integers(0, 3 * 10**9).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
SPANS = st.integers(0, 10**9).map(lambda ms: timedelta(milliseconds=ms))


@examples(100)
@given(
    st.one_of(
        local_rules().map(lambda pair: pair[0]).flatmap(lambda rule: st.fixed_dictionaries({"gap": GAPS, "fold": FOLDS}).map(rule.__or__)),
        st.fixed_dictionaries({"every": SPANS.map(lambda span: span + timedelta(seconds=1)), "anchor": INSTANTS}),
        st.fixed_dictionaries({"after_completion": st.one_of(st.just("never"), SPANS)}),
    ),
    st.sampled_from(sorted(zone_names())),
    st.one_of(st.just(timedelta()), st.integers(1, 86_400_000).map(lambda ms: timedelta(milliseconds=ms))),
    st.tuples(INSTANTS, INSTANTS).map(sorted),
)
def test_rules_survive_their_mapping(rule: dict[str, Any], zone: str, jitter: timedelta, bounds: list[datetime]) -> None:
    """DEF-07: what is stored is JSON and reads back as an equal rule, of every kind; an equal rule is stored the same."""
    for each in (rule, {"at": bounds[0]}, {"plugin": "every-day", "plugin_parameters": {"days": [1, None, {"a": 1.5}]}}):
        made = parse_rule({**each, "zone": zone, "jitter": jitter, "starts_at": bounds[0], "ends_at": bounds[1]})
        stored = to_mapping(made)
        assert parse_rule(json.loads(json.dumps(stored))) == made
        assert to_mapping(parse_rule(stored)) == stored


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
