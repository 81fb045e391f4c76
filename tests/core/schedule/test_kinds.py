"""Each kind of rule: what it yields, how it is spelled, and everything that is wrong with it at once."""

from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any

import pytest

from headway.core.errors import Conflict, Invalid
from headway.core.schedule import evaluate
from headway.core.schedule.chain import first_slot, following_finish
from headway.core.schedule.plugins import COUNTED, register
from headway.core.schedule.rule import AfterCompletion, Rule, parse_rule, to_mapping

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FAR = timedelta(days=9000)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def listed(rule: Rule, after: str, until: str) -> list[str]:
    return [f"{slot:%Y-%m-%dT%H:%MZ}" for slot in evaluate.between(rule, at(after), at(until), 1000)]


def problems(**given: object) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refused:
        parse_rule({name.removesuffix("_"): value for name, value in given.items()})
    return [(problem.field, problem.message) for problem in refused.value.problems]


def chain(gap: object, **given: object) -> AfterCompletion:
    rule = parse_rule({"after_completion": gap, **given})
    assert isinstance(rule, AfterCompletion)
    return rule


class Doubling:
    """Slots one, two, four, eight ... `unit`s after the start of 2026."""

    def __init__(self, unit: timedelta) -> None:
        self.unit, self.start = unit, at("2026-01-01T00:00:00Z")

    def first(self) -> datetime | None:
        """One unit after the start."""
        return self.start + self.unit

    def next(self, after: datetime) -> datetime | None:
        """The next power of two."""
        return self.start + (1 << ((after - self.start) // self.unit).bit_length()) * self.unit


class Astray:
    """Answers what it was told to, whatever it is asked."""

    def __init__(self, slot: datetime) -> None:
        self.slot = slot

    def first(self) -> datetime | None:
        """The slot."""
        return self.slot

    def next(self, after: datetime) -> datetime | None:
        """The slot again."""
        return self.slot


class Seconds:
    """Every second there is."""

    def first(self) -> datetime | None:
        """The first second of 2000."""
        return datetime(2000, 1, 1, tzinfo=UTC)

    def next(self, after: datetime) -> datetime | None:
        """The next whole second."""
        return after.replace(microsecond=0) + timedelta(seconds=1)


def doubling(parameters: Any) -> Doubling:
    """A plug-in with one parameter, in hours."""
    if not isinstance(parameters.get("hours"), int):
        raise Invalid.field("hours", "must be a whole number")
    return Doubling(timedelta(hours=parameters["hours"]))


register("doubling", doubling)
register("astray", lambda parameters: Astray(datetime.fromisoformat(parameters["slot"])))
register("seconds", lambda parameters: Seconds())


def test_set_times_of_a_day() -> None:
    """DEF-07: local times in any order, on the weekdays and in the months that are named."""
    rule = parse_rule({"times": ["19:30", "07:00", "07:00"], "weekdays": ["Fri", "mon"], "months": [3, 4], "zone": "Europe/Berlin"})
    assert listed(rule, "2026-03-26T00:00:00Z", "2026-03-31T00:00:00Z") == [
        "2026-03-27T06:00Z",
        "2026-03-27T18:30Z",
        "2026-03-30T05:00Z",
        "2026-03-30T17:30Z",
    ]
    assert evaluate.next_slot(rule, at("2026-04-27T18:00:00Z")) == at("2027-03-01T06:00:00Z")
    assert evaluate.previous_slot(rule, at("2027-03-01T06:00:00Z")) == at("2026-04-27T17:30:00Z")
    assert to_mapping(rule) == {
        "times": ["07:00", "19:30"],
        "weekdays": ["mon", "fri"],
        "months": [3, 4],
        "gap": "next_valid",
        "fold": "first",
        "zone": "Europe/Berlin",
    }


@pytest.mark.parametrize(("gap", "hour"), [("skip", None), ("next_valid", "01:00"), ("shift_forward", "01:30")])
def test_set_times_in_a_gap(gap: str, hour: str | None) -> None:
    """CAL-12: the policies hold for set times as they do for cron."""
    rule = parse_rule({"times": ["02:30"], "zone": "Europe/Berlin", "gap": gap})
    expected = [] if hour is None else [f"2026-03-29T{hour}Z"]
    assert listed(rule, "2026-03-29T00:00:00Z", "2026-03-29T20:00:00Z") == expected


def test_interval_inside_a_window() -> None:
    """DEF-07: from the window's opening every so often, before its end, on the weekdays on which it opens."""
    rule = parse_rule({"every": "25m", "from": "09:00", "to": "10:40", "weekdays": ["tue"]})
    assert listed(rule, "2026-03-01T00:00:00Z", "2026-03-08T00:00:00Z") == [
        f"2026-03-03T{hour}Z" for hour in ("09:00", "09:25", "09:50", "10:15")
    ]
    assert to_mapping(rule)["to"] == "10:40"


def test_a_window_past_midnight() -> None:
    """DEF-07: what lies past midnight belongs to the day on which the window opened, and the steps go on across it."""
    rule = parse_rule({"every": "50m", "from": "23:00", "to": "01:00", "weekdays": ["sat"]})
    assert listed(rule, "2026-03-01T12:00:00Z", "2026-03-10T00:00:00Z") == ["2026-03-07T23:00Z", "2026-03-07T23:50Z", "2026-03-08T00:40Z"]
    whole_day = parse_rule({"every": "8h", "from": "06:00", "to": "06:00"})
    assert listed(whole_day, "2026-03-01T00:00:00Z", "2026-03-02T05:59:00Z") == [
        "2026-03-01T06:00Z",
        "2026-03-01T14:00Z",
        "2026-03-01T22:00Z",
    ]


def test_a_window_with_seconds() -> None:
    """DEF-07: openings and steps may be told to the second; a step that is longer than the window leaves its opening."""
    rule = parse_rule({"every": "1d", "from": "09:00:30", "to": "10:00"})
    assert evaluate.next_slot(rule, NOW) == at("2026-03-02T09:00:30Z")
    assert to_mapping(rule)["from"] == "09:00:30"


def test_one_instant() -> None:
    """DEF-07: a single instant is a slot once."""
    rule = parse_rule({"at": "2026-03-01T13:00:00+01:00"})
    assert evaluate.next_slot(rule, NOW - timedelta(microseconds=1)) == NOW
    assert evaluate.next_slot(rule, NOW) is None
    assert evaluate.previous_slot(rule, NOW) is None
    assert evaluate.previous_slot(rule, NOW + FAR) == NOW
    assert evaluate.matches(rule, NOW)
    assert evaluate.count(rule, NOW - FAR, NOW + FAR) == 1
    assert to_mapping(rule) == {"at": "2026-03-01T12:00:00+00:00", "zone": "UTC"}


def test_a_chain_of_finishes() -> None:
    """DEF-07: the first slot is the start, or at once; each other one is `finish + gap`, to the microsecond."""
    finished = NOW + timedelta(microseconds=7)
    assert following_finish(chain("5m"), finished) == finished + timedelta(minutes=5)
    assert first_slot(chain("5m"), NOW) == NOW + timedelta(microseconds=1)
    assert first_slot(chain("5m", starts_at=NOW + FAR), NOW) == NOW + FAR
    assert first_slot(chain("5m", starts_at=NOW - FAR), NOW) == NOW + timedelta(microseconds=1)
    assert first_slot(chain("5m", ends_at=NOW), NOW) is None
    assert following_finish(chain("5m", ends_at=NOW), NOW) is None
    assert following_finish(chain("99999999d"), NOW) is None


@pytest.mark.parametrize("given", [0, "0s", "50ms"])
def test_a_gap_of_nothing(given: object) -> None:
    """DEF-07: a gap of zero, or of less than the floor, is the floor of 200 ms."""
    assert following_finish(chain(given), NOW) == NOW + timedelta(milliseconds=200)


def test_a_gap_without_end() -> None:
    """DEF-07: an infinite gap means once."""
    once = chain("never", starts_at=NOW)
    assert (first_slot(once, NOW - FAR), following_finish(once, NOW)) == (NOW, None)
    assert to_mapping(once)["after_completion"] == "never"


def test_what_the_clock_knows_of_a_chain() -> None:
    """DEF-07: the evaluator has a chain's start and nothing else."""
    begun = chain("5m", starts_at=NOW)
    assert evaluate.between(begun, NOW - FAR, NOW + FAR, 10) == [NOW]
    assert evaluate.previous_slot(begun, NOW + FAR) == NOW
    assert evaluate.count(begun, NOW - FAR, NOW + FAR) == 1
    assert evaluate.next_slot(chain("5m"), NOW) is None


def test_a_plug_in() -> None:
    """DEF-07: a registered class yields the slots, from stored parameters, within the rule's bounds."""
    rule = parse_rule({"plugin": "doubling", "plugin_parameters": {"hours": 3}, "ends_at": "2026-01-03T00:00:00Z"})
    expected = [at("2026-01-01T00:00:00Z") + timedelta(hours=hours) for hours in (3, 6, 12, 24, 48)]
    assert evaluate.between(rule, NOW - FAR, NOW, 100) == expected
    assert evaluate.previous_slot(rule, NOW) == expected[-1]
    assert evaluate.previous_slot(rule, expected[0]) is None
    assert to_mapping(rule)["plugin_parameters"] == {"hours": 3}


def test_a_plug_in_that_nobody_registered() -> None:
    """DEF-08: an unknown name is refused when it is written; so are parameters, with their path; a name stands for one kind."""
    assert problems(plugin="lunar")[0][0] == "plugin"
    assert problems(plugin="doubling", plugin_parameters={"hours": "x"}) == [("plugin_parameters.hours", "must be a whole number")]
    with pytest.raises(Conflict):
        register("doubling", lambda parameters: Seconds())


@pytest.mark.parametrize("slot", ["2026-03-01T12:00:00+00:00", "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00"])
def test_a_plug_in_that_breaks_its_promise(slot: str) -> None:
    """CAL-12: an answer that does not lie ahead, or is no instant, is an error and never a loop."""
    rule = parse_rule({"plugin": "astray", "plugin_parameters": {"slot": slot}})
    with pytest.raises(Invalid, match="plugin: answered"):
        evaluate.between(rule, NOW, NOW + FAR, 10)


def test_a_plug_in_is_walked_in_bounded_time() -> None:
    """CAL-10: counting a dense plug-in stops, and looking back takes some sixty steps."""
    rule = parse_rule({"plugin": "seconds"})
    assert evaluate.count(rule, NOW, NOW + FAR) == COUNTED
    started = process_time()
    assert evaluate.previous_slot(rule, NOW) == NOW - timedelta(seconds=1)
    assert process_time() - started < 0.05


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({"times": []}, ["times"]),
        ({"times": "07:00"}, ["times"]),
        ({"times": ["7:00", "24:00", 1170, "\u0660\u0667:\u0660\u0660", "07:00\n"]}, [f"times[{index}]" for index in range(5)]),
        ({"times": ["07:00"], "weekdays": [], "months": []}, ["weekdays", "months"]),
        ({"times": ["07:00"], "weekdays": ["monday", 1], "months": [0, 13, True]},
         ["weekdays[0]", "weekdays[1]", "months[0]", "months[1]", "months[2]"]),
        ({"times": ["07:00"], "every": "5m", "colour": "red"}, ["colour", "every"]),
        ({"weekdays": ["mon"], "cron": "* * * * *"}, ["weekdays"]),
        ({"every": "5m", "from_": "09:00"}, ["to"]),
        ({"from_": "09:00", "to": "25:00"}, ["every", "to"]),
        ({"every": "1500ms", "from_": "09:00", "to": "10:00"}, ["every"]),
        ({"every": "0s", "from_": "09:00", "to": "10:00", "anchor": "2026-01-01T00:00:00Z"}, ["anchor", "every"]),
        ({"at": "2026-01-01T00:00:00"}, ["at"]),
        ({"at": "2026-01-01T00:00:00Z", "starts_at": "2026-01-02T00:00:00Z"}, ["at"]),
        ({"at": "2026-01-03T00:00:00Z", "ends_at": "2026-01-02T00:00:00Z"}, ["at"]),
        ({"at": "soon", "starts_at": "2026-01-02T00:00:00Z"}, ["at"]),
        ({"at": "2026-01-01T00:00:00Z", "gap": "skip"}, ["gap"]),
        ({"after_completion": timedelta(seconds=-1)}, ["after_completion"]),
        ({"after_completion": "for ever"}, ["after_completion"]),
        ({"after_completion": 0.0005}, ["after_completion"]),
        ({"plugin": 5, "plugin_parameters": [1]}, ["plugin", "plugin_parameters"]),
        ({"plugin": "doubling", "plugin_parameters": {"hours": float("nan")}}, ["plugin_parameters.hours"]),
        ({"cron": "* * * * *", "jitter": "2d"}, ["jitter"]),
        ({"cron": "* * * * *", "jitter": -1}, ["jitter"]),
        ({"every": "5m", "jitter": 0.0001}, ["jitter"]),
        ({"times": ["x"], "zone": "Mars", "gap": "no", "fold": "no", "jitter": "no", "starts_at": "no"},
         ["zone", "starts_at", "jitter", "times[0]", "gap", "fold"]),
    ],
)  # fmt: skip
def test_everything_that_is_wrong(given: dict[str, object], fields: list[str]) -> None:
    """DEF-08: empty sets, negative spans, times that are none: all at once, each with its field."""
    assert [field for field, _ in problems(**given)] == fields


@pytest.mark.parametrize(
    "given",
    [
        {"every": "1m", "from": "00:00", "to": "00:00", "zone": "America/New_York"},
        {"every": "1s", "from": "22:00", "to": "21:00", "zone": "Australia/Lord_Howe", "gap": "shift_forward"},
        {"times": [f"{n // 60:02}:{n % 60:02}" for n in range(1440)], "zone": "America/New_York"},
        {"every": "1s"},
    ],
)
def test_a_year_is_counted_without_a_walk(given: dict[str, Any]) -> None:
    """CAL-10: a year's outage of a dense schedule of any kind is counted in under 50 ms, zones not yet loaded included."""
    rule = parse_rule(given)
    started = process_time()
    assert evaluate.count(rule, NOW, NOW + timedelta(days=366)) > 500_000
    assert process_time() - started < 0.05
