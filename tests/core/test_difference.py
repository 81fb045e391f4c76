"""What differs between two documents."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.difference import Difference, differences
from headway.core.secret import SEAL

leaves = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", "b"])
names = st.sampled_from("xyz")
documents = st.recursive(leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=3), max_leaves=8)
mappings = st.dictionaries(names, documents, max_size=3)


def seal(token: str) -> dict[str, str]:
    """A secret as rows hold it."""
    return {SEAL: token}


@pytest.mark.parametrize(
    ("kept", "wanted", "found"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, [Difference("b", 2, 3)]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, [Difference("a.c", 2, None)]),
        ({"a": None}, {}, []),
        ({"a": {"b": 1}}, {"a": None}, [Difference("a", {"b": 1}, None)]),
        ({"list": [1, 2]}, {"list": [2, 1]}, [Difference("list", [1, 2], [2, 1])]),
        (
            {"schedules": [{"name": "late", "cron": "0 9 * * *"}, {"name": "early", "every": "1h"}]},
            {"schedules": [{"name": "early", "every": "2h"}, {"name": "new", "cron": "0 1 * * *", "zone": "UTC", "owner": ""}]},
            [
                Difference("schedules.early.every", "1h", "2h"),
                Difference("schedules.new", None, {"name": "new", "cron": "0 1 * * *", "zone": "UTC"}),
                Difference("schedules.late", {"name": "late", "cron": "0 9 * * *"}, None),
            ],
        ),
        ({"p": seal("x")}, {"p": seal("y")}, [Difference("p", "***", "***", secret=True)]),
        ({"p": seal("x")}, {"p": seal("x")}, []),
        ({"p": "open"}, {"p": seal("y")}, [Difference("p", "open", "***")]),
        ({"s": []}, {"s": [{"name": "n", "p": {"k": seal("x")}}]}, [Difference("s.n", None, {"name": "n", "p": {"k": "***"}})]),
    ],
)
def test_each_field_that_differs_is_named_by_its_path(kept: Any, wanted: Any, found: list[Difference]) -> None:
    """DEF-17: named things are compared one by one, null is nothing, and of secrets only that they differ is told."""
    assert list(differences(kept, wanted)) == found


@given(mappings)
def test_a_document_does_not_differ_from_itself(document: dict[str, Any]) -> None:
    """DEF-17: nothing differs from itself."""
    assert list(differences(document, document)) == []


@given(mappings, mappings)
def test_it_is_the_same_from_either_side(one: dict[str, Any], other: dict[str, Any]) -> None:
    """DEF-17: from the other side the same fields differ the other way round, and no path is named twice."""
    there, back = list(differences(one, other)), list(differences(other, one))
    assert sorted(there, key=str) == sorted([Difference(found.path, found.wanted, found.kept) for found in back], key=str)
    assert len({found.path for found in there}) == len(there)
