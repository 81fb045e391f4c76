"""Parameters: which layer wins, and what templates in them become."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from headway.core.parameters import Disabled, SlotOf, documents_in, facts_of_slot, merged, rendered
from headway.core.template import MOST_FACTS

AT = datetime(2026, 1, 31, 7, tzinfo=UTC)
SLOT = SlotOf("report", "nightly", UUID(int=1), AT, ZoneInfo("Europe/Berlin"))
NOW = AT + timedelta(seconds=3)


def test_the_last_layer_wins() -> None:
    """TPL-02: definition, schedule, trigger, call: the last wins, names without case keep their first spelling, disabled ones are none."""
    layers: list[dict[str, Any] | None] = [
        {"Day": "all", "pages": 1, "format": "csv"},
        {"day": "monday", "to": Disabled("x")},
        None,
        {"PAGES": 2, "format": Disabled()},
    ]
    assert merged(*layers) == {"Day": "monday", "pages": 2, "format": "csv"}
    assert merged() == {}


@given(st.lists(st.dictionaries(st.sampled_from(["a", "A", "b", "B", "c"]), st.integers()), max_size=4))
def test_one_value_for_each_name(layers: list[dict[str, int]]) -> None:
    """TPL-02: there is one value for each name without case, that of the last layer that has it."""
    found = merged(*layers)
    assert len({name.casefold() for name in found}) == len(found)
    for name, value in found.items():
        given_ = [one for layer in layers for other, one in layer.items() if other.casefold() == name.casefold()]
        assert value == given_[-1]


def test_facts_of_a_slot() -> None:
    """TPL-03: a run of a slot knows its definition, schedule, slot in UTC and local, the instant of the decision, and other runs."""
    last = {"LastRun": {"Parameters": {"pages": 5}, "Result": {"rows": [1]}}}
    facts = facts_of_slot(SLOT, NOW, last)
    value = {
        "a": "{Definition.Name}/{Schedule.Name}/{Schedule.Id}",
        "b": "{Slot.At} {Slot.Local:%H} {DateTime.UtcNow:%S}",
        "c": "{LastRun.Parameters.pages} {LastRun.Result.rows.0} {LastFailure.Id}",
    }
    assert rendered(value, facts) == (
        {"a": f"report/nightly/{UUID(int=1)}", "b": "2026-01-31T07:00:00+00:00 08 03", "c": "5 1 {LastFailure.Id}"},
        [],
    )


def test_other_runs_cannot_pose_as_the_slot() -> None:
    """TPL-06: what a run returned is held under its own name, limited in number, and never stands for the slot's own facts."""
    huge = {"Slot": {"At": "forged", **{str(number): number for number in range(5_000)}}, "-": {}}
    facts = facts_of_slot(SLOT, NOW, huge)
    assert facts["slot.at"] == AT
    assert len(facts) <= MOST_FACTS + 7


def test_a_new_uuid_is_fixed_for_its_slot() -> None:
    """TPL-03: `{-}` is the same whenever the slot is decided, another one in each parameter, each slot and each schedule."""

    def made(slot: SlotOf, now: datetime = NOW) -> dict[str, str]:
        found: dict[str, str] = rendered({"a": "{-} {-}", "b": "{-}"}, facts_of_slot(slot, now)).value
        return found

    first = made(SLOT)
    assert first == made(SLOT, NOW + timedelta(hours=1)) == made(SLOT._replace(at=AT.astimezone(ZoneInfo("Asia/Tokyo"))))
    one, same = first["a"].split()
    assert one == same and str(UUID(one)) == one
    others = [made(SLOT._replace(at=AT + timedelta(seconds=1)))["b"], made(SLOT._replace(id=UUID(int=2)))["b"]]
    assert len({one, first["b"], *others}) == 4


def test_documents_are_left_alone() -> None:
    """TPL-04: text that its specification calls XML or JSON is not a template."""
    spec = {"properties": {"Body": {"contentMediaType": "application/json"}, "page": {"contentMediaType": "text/xml"}, "a": True, "to": {}}}
    untouched = documents_in(spec)
    given_ = {"body": "{Definition.Name}", "PAGE": "{Definition.Name}", "to": "{Definition.Name}", "count": 5}
    assert rendered(given_, facts_of_slot(SLOT, NOW), untouched).value == {**given_, "to": "report"}
    assert documents_in(None) == documents_in({"properties": []}) == frozenset()


def test_a_bad_template_costs_only_itself() -> None:
    """TPL-05: a parameter whose template goes wrong keeps its text and is named; the others are put into words."""
    value, (fault,) = rendered({"bad": "{Slot.At:%9d}", "good": "{Definition.Name}"}, facts_of_slot(SLOT, NOW))
    assert value == {"bad": "{Slot.At:%9d}", "good": "report"}
    assert fault.startswith("bad: '{Slot.At:%9d}': the format")
