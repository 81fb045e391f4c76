"""A definitions document becomes drafts, or one error that names everything that is wrong with it."""

import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.definition import DefinitionDraft, Watch
from headway.core.draft import parse_definition, parse_document
from headway.core.errors import Invalid
from headway.core.retry import DAY, Backoff, BackoffKind
from headway.core.schedule.rule import RULE_FIELDS

FIELDS = sorted({*DefinitionDraft.__slots__, "breaker_threshold", "kind", "base", "delays", "factor", "jitter", "cap", *RULE_FIELDS})


def complaints(document: Any) -> dict[str, str]:
    """What is wrong with a document, by field; the first thing said of each."""
    with pytest.raises(Invalid) as caught:
        parse_document(document)
    return {problem.field: problem.message for problem in reversed(caught.value.problems)}


def test_a_name_is_enough() -> None:
    """DEF-01: what a document does not say takes its default: off, except one attempt, a month of history and a handler of its name."""
    (draft,) = parse_document({"definitions": [{"name": "report"}]})
    assert draft == DefinitionDraft("report", "report")
    assert (draft.attempts, draft.timeout, draft.retention_days, draft.gated) == (1, timedelta(), 30, False)
    assert draft.watch == Watch(
        heartbeat_monitored=True, heartbeat_tolerance=None, heartbeat_factor=2.0, heartbeat_grace=timedelta(minutes=1)
    )


def test_everything_that_a_document_can_say() -> None:
    """DEF-02, DEF-10: a definition comes with its schedules, each with its own bounds, parameters and policies."""
    document = {
        "name": "report",
        "handler": "reports.nightly",
        "queue": "slow",
        "priority": 7,
        "timeout": "1h",
        "attempts": 5,
        "backoff": {"kind": "exponential", "base": "2s", "cap": "30d"},
        "retry_horizon": 3600,
        "start_by": "15m",
        "parameters": {"format": "csv", "limits": [1, 2.5, None, True]},
        "max_concurrent_runs": 2,
        "over_limit": "refuse",
        "watch": {"alert_after": 3, "must_start_by": "10m"},
        "schedules": [
            {"cron": "0 3 * * *", "zone": "Europe/Berlin", "parameters": {"day": "yesterday"}, "owner": "ann", "allowed_delay": "5m"},
            {"name": "often", "every": "90s", "enabled": False, "misfire": "run_once"},
        ],
    }
    draft = parse_definition(document)
    assert (draft.handler, draft.queue, draft.priority, draft.timeout) == ("reports.nightly", "slow", 7, timedelta(hours=1))
    assert draft.backoff == Backoff(BackoffKind.EXPONENTIAL, timedelta(seconds=2), cap=DAY, jitter=0.25)
    assert (draft.start_by, draft.retry_horizon) == (timedelta(minutes=15), timedelta(hours=1))
    assert (draft.gated, draft.watch.alert_after, draft.watch.must_start_by) == (True, 3, timedelta(minutes=10))
    assert [(one.name, one.enabled, one.misfire) for one in draft.schedules] == [("default", True, "skip"), ("often", False, "run_once")]


def test_every_problem_is_named_at_once() -> None:
    """DEF-08: one answer names every field that is wrong in the whole document, by its path."""
    found = complaints(
        {
            "definitions": [
                {"name": "a b", "priority": 10, "attempts": 0, "colour": "red", "schedules": [{"cron": "61 * * * *", "zone": "Mars/Base"}]},
                {"handler": 5, "backoff": {"kind": "list"}, "watch": {"alert_after": "often"}, "over_limit": "explode"},
                "no mapping",
                {"name": "ok", "schedules": [{"every": "0s"}, {"every": "1h", "misfire": "twice", "overlap": 3}]},
            ],
            "version": 1,
        }
    )
    assert {
        "definitions[0].name",
        "definitions[0].priority",
        "definitions[0].attempts",
        "definitions[0].colour",
        "definitions[0].schedules[0].cron",
        "definitions[0].schedules[0].zone",
        "definitions[1].name",
        "definitions[1].handler",
        "definitions[1].backoff.delays",
        "definitions[1].watch.alert_after",
        "definitions[1].over_limit",
        "definitions[2]",
        "definitions[3].schedules[0].every",
        "definitions[3].schedules[1].misfire",
        "definitions[3].schedules[1].overlap",
        "definitions[3].schedules",
        "version",
    } <= set(found)


@pytest.mark.parametrize("document", [None, [], "text", 5, {}, {"definitions": []}, {"definitions": {}}, {"definitions": None}])
def test_a_document_without_definitions_says_so(document: Any) -> None:
    """DEF-08: what is no document at all is refused with a message, not with a crash."""
    assert complaints(document)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("name", ["", 5, None, "-a", "a-", "a b", "ü", "a" * 129, "a\x00"]),
        ("handler", [5, ["a"], "\ud800", "a" * 257]),
        ("queue", ["", "a b", 3]),
        ("priority", [-1, 10, 1.5, True, "high"]),
        ("timeout", ["soon", -1, "-5s", True, [], math.nan, math.inf, 1e300, "9" * 15 + "d"]),
        ("attempts", [0, 30_001, "3", 2.0]),
        ("parameters", [[], "a", {"n": math.nan}, {"n": math.inf}, {"t": "\x00"}, {1: 2}, {"o": object()}, {"n": 1 << 64}]),
        ("restartable", ["yes", 1, 0]),
        ("retention_days", [-1, 36_501]),
        ("over_limit", ["wait", 1, ["hold"]]),
        ("schedules", ["daily", {"cron": "* * * * *"}]),
        ("backoff", ["linear", ["1s"], {"kind": "list", "delays": ["soon"]}, {"jitter": 2}, {"steps": 3}]),
        ("watch", [[], 1]),
    ],
)
def test_a_wrong_value_is_named_by_its_field(field: str, values: list[Any]) -> None:
    """DEF-08: every value of the wrong type or out of its bounds is refused with the path of its field."""
    for value in values:
        found = complaints({"definitions": [{"name": "ok", field: value}]})
        assert all(path.startswith(f"definitions[0].{field}") for path in found), (value, found)


def test_parameters_have_a_depth() -> None:
    """Parameters are nested at most 64 deep, and the answer says where they are not."""
    deep: Any = 1
    for _ in range(64):
        deep = [deep]
    assert "nested deeper" in next(iter(complaints({"definitions": [{"name": "ok", "parameters": {"deep": deep}}]}).values()))
    parse_document({"definitions": [{"name": "ok", "parameters": {"deep": deep[0]}}]})


def test_two_of_a_name_are_refused() -> None:
    """DEF-15: a definition is named once in a document, and a schedule once in its definition."""
    found = complaints({"definitions": [{"name": "a"}, {"name": "a"}]})
    assert found == {"definitions": "a is named twice"}
    found = complaints({"definitions": [{"name": "a", "schedules": [{"every": "1h"}, {"every": "2h"}]}]})
    assert found == {"definitions[0].schedules": "default is named twice"}


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=12)
    | st.sampled_from(["a", "5m", "hold", "list", "* * * * *", "UTC", "2026-03-01T00:00:00Z", "2026-03-01"])
    | st.timedeltas()
)
names = st.sampled_from([*FIELDS, "definitions"]) | st.text(max_size=5)
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4), max_leaves=12)
definition_like = st.dictionaries(st.sampled_from(FIELDS), anything, max_size=6).map(lambda document: {"name": "job", **document})
schedule_like = st.dictionaries(st.sampled_from([*RULE_FIELDS, "name", "parameters", "misfire", "enabled"]), scalars, max_size=5)


@given(
    anything
    | st.fixed_dictionaries({"definitions": anything | st.lists(definition_like, max_size=2)})
    | st.fixed_dictionaries({"definitions": st.lists(st.fixed_dictionaries({"name": st.just("a"), "schedules": st.lists(schedule_like)}))})
)
def test_no_document_does_more_than_be_refused(document: Any) -> None:
    """DEF-08: whatever stands in a document, it is read or refused as Invalid; nothing else is ever raised, and refusal has words."""
    try:
        drafts = parse_document(document)
    except Invalid as refusal:
        assert refusal.problems
        assert all(problem.message for problem in refusal.problems)
    else:
        assert all(isinstance(draft, DefinitionDraft) for draft in drafts)
