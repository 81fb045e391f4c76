"""Triggers: what is wanted, when it fires, and what must not be closed."""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.condition import Condition, Operator, condition_document, read_condition
from headway.core.draft import parse_definition
from headway.core.errors import Invalid
from headway.core.outcome import SUCCESSES, RunOutcome
from headway.core.parameters import rendered
from headway.core.template import MOST_FACTS
from headway.core.trigger import Firing, TriggerDraft, circle, facts_of_firing, fires, parse_trigger

FIRING = Firing(UUID(int=7), "next", "mail", UUID(int=8))
NOW = datetime(2026, 1, 31, 7, tzinfo=UTC)
EDGES = st.dictionaries(st.integers(0, 7), st.frozensets(st.integers(0, 7), max_size=3), max_size=8)


def test_a_trigger_says_what_it_is() -> None:
    """DEF-02: a trigger has a target, perhaps a condition and parameters; without a name it has that of its target."""
    assert parse_trigger({"target": "mail"}) == TriggerDraft("mail", "mail")
    document = {"name": "late", "target": "mail", "condition": {"key": "rows", "operator": "less", "value": 5}, "parameters": {"a": 1}}
    draft = parse_trigger({**document, "enabled": False, "description": "few rows"})
    assert draft == TriggerDraft("late", "mail", Condition("rows", Operator.LESS, 5), {"a": 1}, "few rows", enabled=False)
    assert draft.condition is not None and condition_document(draft.condition) == document["condition"]


def test_a_definition_carries_its_triggers_or_says_nothing_of_them() -> None:
    """DEF-02: an absent list leaves what stands alone, an empty one has none."""
    assert parse_definition({"name": "a"}).triggers is None
    assert parse_definition({"name": "a", "triggers": []}).triggers == ()
    assert parse_definition({"name": "a", "triggers": [{"target": "b"}]}).triggers == (TriggerDraft("b", "b"),)


def test_every_problem_of_a_trigger_is_named() -> None:
    """DEF-08: all of them at once, each with its field."""
    wrong = [
        {"target": "", "condition": {"key": "Result", "value": "Broken"}},
        {"target": "b", "colour": "red", "parameters": 7},
        {"target": "b"},
        3,
        {"name": "c", "target": "b", "condition": {"key": "x", "value": float("nan")}},
    ]
    with pytest.raises(Invalid) as refused:
        parse_definition({"name": "a", "triggers": wrong})
    assert [problem.field for problem in refused.value.problems] == [
        "triggers[0].target",
        "triggers[0].condition.value",
        "triggers[1].parameters",
        "triggers[1].colour",
        "triggers[3]",
        "triggers[3].target",
        "triggers[4].condition.value",
        "triggers",
    ]


@pytest.mark.parametrize("written", ["timeout", "TIMEOUT", "Timeout"])
def test_outcomes_are_understood_however_they_are_written(written: str) -> None:
    """TRG-06: what a condition says of the key Result is the outcome's own word."""
    assert read_condition({"key": "Result", "value": written}).value == "Timeout"
    several = read_condition({"key": "Result", "operator": "in", "value": [written, "success_with_warnings"]})
    assert several.value == ["Timeout", "SuccessWithWarnings"]


@given(st.sampled_from(RunOutcome), st.none() | st.dictionaries(st.text(max_size=3), st.integers()))
def test_without_a_condition_a_trigger_fires_on_success(outcome: RunOutcome, result: dict[str, Any] | None) -> None:
    """TRG-01: the set of successes is the one that counts everywhere, whatever the result."""
    assert fires(None, outcome, result) == (outcome in SUCCESSES)


@given(st.sampled_from(RunOutcome), st.sampled_from(RunOutcome))
def test_every_outcome_can_be_matched(outcome: RunOutcome, wanted: RunOutcome) -> None:
    """TRG-06: the key Result matches exactly the outcome that it names, with or without a result."""
    condition = read_condition({"key": "Result", "operator": "equals", "value": wanted.word})
    for result in (None, {}, {"Result": "forged"}):
        assert fires(condition, outcome, result) == (outcome is wanted)


@given(st.sampled_from(Operator), st.sampled_from(RunOutcome))
def test_a_run_without_a_result_meets_no_condition_on_one(operator: Operator, outcome: RunOutcome) -> None:
    """TRG-01: a run that left nothing does not differ from a value either, whatever the operator."""
    value: Any = ["x"] if operator in {Operator.IN, Operator.NOT_IN} else "x"
    assert not fires(Condition("rows", operator, value), outcome, None)


@given(EDGES, st.integers(0, 7))
def test_a_circle_is_found_exactly_when_there_is_one(edges: dict[int, frozenset[int]], start: int) -> None:
    """TRG-04: what is found is a way along edges from the start to itself, and it is found if it is there at all."""
    found = circle(edges, start)
    reached: set[int] = set()
    waiting = [start]
    while waiting:
        new = edges.get(waiting.pop(), frozenset()) - reached
        reached |= new
        waiting += new
    assert bool(found) == (start in reached)
    if found:
        assert found[0] == found[-1] == start
        assert all(there in edges[here] for here, there in pairwise(found))
        assert len(set(found)) == len(found) - 1


def test_templates_know_the_run_that_fired() -> None:
    """TRG-03, TPL-03: under TriggeredBy and TriggeredByRun alike; `{-}` is the same however often the end is looked at."""
    known = {"Id": UUID(int=8), "Definition": "report", "Outcome": "Success", "Result": {"files": ["x"]}, "Parameters": {"day": 1}}
    facts = facts_of_firing(FIRING, known, NOW)
    own = {
        "a": "{TriggeredBy.Definition} {triggeredbyrun.result.files.0} {TriggeredByRun.Parameters.day}",
        "b": "{Definition.Name} {Trigger.Name} {TriggeredByRun} {DateTime.UtcNow:%H} {Slot.At}",
        "c": "{-}",
    }
    value, faults = rendered(own, facts)
    assert (value["a"], faults) == ("report x 1", [])
    assert value["b"] == f"mail next {UUID(int=8)} 07 {{Slot.At}}"
    assert value["c"] == rendered(own, facts_of_firing(FIRING, {}, NOW.replace(hour=9))).value["c"]
    assert value["c"] != rendered(own, facts_of_firing(FIRING._replace(run=UUID(int=9)), {}, NOW)).value["c"]


def test_a_result_cannot_pose_as_anything_else() -> None:
    """TPL-06: what a run returned stands under its own name and is limited in number."""
    facts = facts_of_firing(FIRING, {"Result": {str(number): number for number in range(5_000)}}, NOW)
    assert len(facts) <= MOST_FACTS + 6
    assert facts["triggeredbyrun"] == FIRING.run
