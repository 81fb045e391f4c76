"""Which parameters a specification calls secret."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.secret_names import secrets_in

WORD = {"type": "string", "writeOnly": True}
PLAIN = {"type": "string"}


@pytest.mark.parametrize(
    ("spec", "secret", "plain"),
    [
        (None, "", "a"),
        ({"properties": {"a": PLAIN}}, "", "a b"),
        ({"properties": {"a": WORD, "b": PLAIN}}, "a A", "b c"),
        ({"properties": {"a": {"format": "password"}}}, "a", "b"),
        ({"properties": {"a": {"writeOnly": False}, "b": {"format": "date"}}}, "", "a b"),
        ({"properties": {"a": {"anyOf": [WORD, {"type": "null"}]}, "b": PLAIN}}, "a", "b"),
        ({"properties": {"a": {"type": "object", "properties": {"deep": {"items": WORD}}}, "b": PLAIN}}, "a", "b"),
        ({"properties": {"a": {"$ref": "#/$defs/W"}, "b": {"$ref": "#/$defs/P"}}, "$defs": {"W": WORD, "P": PLAIN}}, "a", "b"),
        ({"properties": {"a": {"$ref": "#/$defs/x~1y"}}, "$defs": {"x/y": WORD}}, "a", "b"),
        ({"properties": {"a": {"$ref": "#word"}, "b": PLAIN}, "$defs": {"W": {"$anchor": "word", **WORD}}}, "a", "b"),
        ({"properties": {"a": {"$ref": "elsewhere.json"}, "b": PLAIN, "c": WORD}}, "a c", "b"),
        ({"allOf": [{"properties": {"a": WORD}}], "properties": {"b": PLAIN}}, "a", "b"),
        ({"$ref": "#/$defs/All", "$defs": {"All": {"properties": {"a": WORD}}}}, "a", "b"),
        ({"if": {"properties": {"b": PLAIN}}, "then": {"properties": {"a": WORD}}}, "a", "b"),
        ({"dependentSchemas": {"b": {"properties": {"a": WORD}}}}, "a", "b"),
        ({"properties": {"b": PLAIN}, "additionalProperties": WORD}, "a other", "b"),
        ({"properties": {"b": PLAIN}, "unevaluatedProperties": WORD}, "a other", "b"),
        ({"properties": {"b": PLAIN}, "patternProperties": {"^b": WORD}}, "a b", ""),
        ({"writeOnly": True, "properties": {"b": PLAIN}}, "a b", ""),
        ({"properties": {"a": {"$ref": "#"}, "b": PLAIN, "c": WORD}}, "a c", "b"),
    ],
)
def test_a_parameter_is_secret_when_any_part_of_its_schema_is_marked(spec: Any, secret: str, plain: str) -> None:
    """TPL-07: `writeOnly` or `format: password` marks a parameter as a whole, wherever in its schema it stands."""
    secrets = secrets_in(spec)
    assert [name for name in secret.split() if not secrets.covers(name)] == []
    assert [name for name in plain.split() if secrets.covers(name)] == []
    assert bool(secrets) == bool(secret)


NAMES = st.sampled_from(["a", "b", "c", "$defs", "properties"])
SCHEMAS: Any = st.recursive(
    st.one_of(
        st.booleans(),
        st.just(WORD),
        st.just(PLAIN),
        st.sampled_from([{"$ref": "#"}, {"$ref": "#/$defs/a"}, {"$ref": "#/properties/b"}, {"$ref": "#/no/where"}, {"$ref": "x"}]),
    ),
    lambda inner: st.one_of(
        st.dictionaries(NAMES, inner, max_size=3).map(lambda found: {"properties": found}),
        st.lists(inner, max_size=3).map(lambda found: {"anyOf": found}),
        st.fixed_dictionaries({"items": inner}),
    ),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, SCHEMAS, max_size=4), st.dictionaries(NAMES, SCHEMAS, max_size=3))
def test_every_specification_is_read_to_its_end(properties: dict[str, Any], defs: dict[str, Any]) -> None:
    """TPL-07: references may run in circles; what carries a mark itself is always found."""
    secrets = secrets_in({"properties": properties, "$defs": defs})
    assert all(secrets.covers(name) for name, schema in properties.items() if schema == WORD)


def test_a_chain_of_references_may_be_long() -> None:
    """TPL-07: a specification cannot make the reader run out of stack."""
    defs: dict[str, Any] = {f"d{number}": {"$ref": f"#/$defs/d{number + 1}"} for number in range(20_000)}
    assert secrets_in({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**defs, "d20000": WORD}}).covers("a")
