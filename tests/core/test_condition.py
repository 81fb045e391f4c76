"""When a run that has ended matters to others."""

from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.condition import Condition, Operator, holds, read_condition
from headway.core.errors import Invalid

RESULT = {"rows": 12, "share": "0.5", "state": "Done", "at": "2026-01-31T07:00:00Z", "tags": ["a", "b"], "ok": True, "inner": {"n": 1}}


@pytest.mark.parametrize(
    ("key", "operator", "value", "expected"),
    [
        ("rows", "equals", 12, True),
        ("rows", "equals", "12.0", True),
        ("rows", "not_equals", 12, False),
        ("share", "greater", 0.25, True),
        ("rows", "greater", "9", True),
        ("rows", "less", "9", False),
        ("rows", "greater_or_equal", 12, True),
        ("rows", "less_or_equal", 11.9, False),
        ("state", "equals", "done", False),
        ("state", "starts_with", "Do", True),
        ("state", "not_starts_with", "Do", False),
        ("state", "ends_with", "ne", True),
        ("state", "not_ends_with", "ne", False),
        ("state", "contains", "on", True),
        ("state", "not_contains", "x", True),
        ("tags", "contains", "b", True),
        ("at", "less", "2026-01-31T09:00:00+01:00", True),
        ("at", "equals", "2026-01-31T08:00:00+01:00", True),
        ("ok", "equals", True, True),
        ("ok", "equals", "true", True),
        ("ok", "greater", 0, False),
        ("inner.n", "equals", 1, True),
        ("inner.n", "in", [3, "1"], True),
        ("inner.n", "not_in", [2], True),
        ("state", "regex", "^D.+e$", True),
        ("state", "not_regex", "^D", False),
        ("Result", "equals", "Timeout", True),
        ("Result", "in", ["Timeout", "Cancelled"], True),
        ("missing", "equals", "", False),
        ("missing", "not_equals", "x", True),
        ("missing", "less", 5, False),
        ("missing", "regex", ".*", False),
        ("state", "greater", 5, False),
    ],
)
def test_values_are_compared_as_what_they_are(key: str, operator: str, value: Any, expected: bool) -> None:
    """TRG-01, TRG-06: sixteen operators, typed; the outcome is matched through the key Result."""
    assert holds(Condition(key, Operator(operator), value), RESULT, "Timeout") is expected


@given(st.sampled_from(Operator), st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists), st.text())
def test_a_negation_is_the_opposite_and_nothing_raises(operator: Operator, found: Any, wanted: str) -> None:
    """TRG-01: whatever a handler returned, a condition has an answer, and its negation the other one."""
    value: Any = [wanted] if operator in {Operator.IN, Operator.NOT_IN} else "a+" if "regex" in operator.value else wanted
    said = holds(Condition("x", operator, value), {"x": found}, "Success")
    if operator.value.startswith("not_"):
        assert said is not holds(Condition("x", Operator(operator.value[4:]), value), {"x": found}, "Success")


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"operator": "equals", "value": 1}, "condition.key"),
        ({"key": "x", "operator": "resembles", "value": 1}, "condition.operator"),
        ({"key": "x"}, "condition.value"),
        ({"key": "x", "operator": "in", "value": "a"}, "condition.value"),
        ({"key": "x", "operator": "regex", "value": "("}, "condition.value"),
        ({"key": "x", "operator": "regex", "value": "(a+)+$"}, "condition.value"),
        ({"key": "x", "operator": "regex", "value": "(a*b?)*"}, "condition.value"),
        ({"key": "x", "operator": "regex", "value": "a.*b.*c.*d.*e"}, "condition.value"),
        ({"key": "x", "operator": "regex", "value": "a" * 257}, "condition.value"),
        ({"key": "x", "value": 1, "colour": "red"}, "condition.colour"),
    ],
)
def test_a_condition_that_cannot_be_meant_is_refused(document: dict[str, Any], field: str) -> None:
    """TRG-01, TPL-06: each problem with its field; a pattern whose work would be unbounded is one."""
    with pytest.raises(Invalid) as refused:
        read_condition(document)
    assert [problem.field for problem in refused.value.problems] == [field]


def test_work_is_bounded() -> None:
    """TPL-06: the longest text under a pattern that looks everywhere is answered at once."""
    condition = read_condition({"key": "x", "operator": "regex", "value": "a.*b.*c.*d$"})
    started = perf_counter()
    assert not holds(condition, {"x": "ab" * 100_000}, "Success")
    assert perf_counter() - started < 5
