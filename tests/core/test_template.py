"""Templates: what is put in, what stays, and that nothing a template holds can do harm."""

import re
from datetime import UTC, datetime
from string import ascii_letters
from time import process_time
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.template import DEEPEST, LONGEST, flat, is_template, render

AT = datetime(2026, 1, 31, 7, 5, 9, tzinfo=UTC)
FACTS: dict[str, Any] = {
    "definition.name": "report",
    "slot.at": AT,
    "slot.local": AT.astimezone(ZoneInfo("Europe/Berlin")),
    "lastrun.parameters.pages": 5,
    "lastrun.parameters.share": 0.5,
    "lastrun.result.ok": True,
    "evil": "{Definition.Name} {{Slot.At}} {0.__class__}",
    "-": UUID(int=7),
}
KEPT = [
    "{Nothing}",
    "{}",
    "{ }",
    "{{}}",
    "{{Nothing}}",
    "{Definition.Name",
    "Definition.Name}",
    '{"a": 1}',
    "{0}",
    "{Definition.Name.__class__}",
    "{Slot.At.year}",
    "{Definition.Name!r}",
    "{Definition[Name]}",
    "awk '{print $1}' ${HOME}",
    "{" + "x" * 200 + "}",
]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{Definition.Name}", "report"),
        ("{definition.NAME}s of { Slot.At }", "reports of 2026-01-31T07:05:09+00:00"),
        ("{Slot.Local}", "2026-01-31T08:05:09+01:00"),
        ("{Slot.Local:%Y-%m-%d}/{Slot.At:%H:%M}", "2026-01-31/07:05"),
        ("{Slot.At:100%%}", "100%"),
        ("{{Definition.Name}}", "report"),
        ("{{Slot.At:%Y}}", "2026"),
        ("{{{Definition.Name}}}", "{report}"),
        ("{LastRun.Parameters.Pages}+{LastRun.Parameters.Share}", "5+0.5"),
        ("{LastRun.Result.OK}", "true"),
        ("{-}", str(UUID(int=7))),
        ("{Nothing} of {Definition.Name}", "{Nothing} of report"),
        ("{Evil}", "{Definition.Name} {{Slot.At}} {0.__class__}"),
    ],
)
def test_tokens_are_put_in(template: str, text: str) -> None:
    """TPL-03: dotted names without case, a format for instants, ISO text for uuids and instants, the older double braces."""
    assert render(template, FACTS) == (text, [])


@pytest.mark.parametrize("text", KEPT)
def test_what_is_no_token_stays(text: str) -> None:
    """TPL-04, TPL-06: what is not known stays for the worker, and nothing but whole names is looked up: no attribute, no index."""
    assert render(text, FACTS) == (text, [])


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{Slot.At:%999999999d}", "not known"),
        ("{Slot.At:%-d}", "not known"),
        ("{Slot.At:%}", "not known"),
        ("{Slot.At:%c}", "not known"),
        ("{Definition.Name:%Y}", "for instants"),
        ("{LastRun.Parameters.Pages:99999999d}", "for instants"),
        ("{Evil}" * 2_000, "becomes longer"),
        ("{" + "x" * LONGEST, "is longer"),
    ],
)
def test_a_bad_template_is_kept(template: str, why: str) -> None:
    """TPL-05: a template that goes wrong is the text that was written, and what is wrong is told."""
    value, (fault,) = render({"a": template, "b": "{Definition.Name}"}, FACTS)
    assert value == {"a": template, "b": "report"}
    assert why in fault and len(fault) < 400


def test_texts_inside_of_values() -> None:
    """TPL-03: texts in lists and mappings are templates, names of fields and other values are not."""
    value = {"{Definition.Name}": ["{Definition.Name}", 1, None, True, 2.5, {"a": ("{Nothing}",)}]}
    assert render(value, FACTS).value == {"{Definition.Name}": ["report", 1, None, True, 2.5, {"a": ["{Nothing}"]}]}
    assert is_template(value) and is_template([{"a": "{"}]) and not is_template({"{": ["}", 1, None]})


def test_values_by_dotted_names() -> None:
    """TPL-03: what a run was given and what it returned has one name for each value, to a limited depth."""
    assert dict(flat("LastRun", {"Result": {"Rows": [1, {"a": "b"}]}, "none": None})) == {
        "lastrun.result.rows.0": 1,
        "lastrun.result.rows.1.a": "b",
    }
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    assert dict(flat("x", deep)) == {}
    assert len(dict(flat("x", [[[[[[[[1]]]]]]]]))) == 1 and DEEPEST == 8


TEXTS = st.lists(st.sampled_from(["{", "}", "{{", "}}", ":", "%", "Evil", "Slot.At", "-", "%Y", " ", "x", "."]), max_size=30).map("".join)


@given(
    TEXTS | st.text(max_size=50),
    st.dictionaries(st.sampled_from(["evil", "x", "slot.at", "-", "a.b"]), TEXTS | st.datetimes() | st.uuids()),
)
def test_any_text_is_answered(text: str, facts: dict[str, Any]) -> None:
    """TPL-05, TPL-06: no text raises; what stands there was written or is a fact, and no fact is read as a template."""
    value, faults = render(text, facts)
    assert isinstance(value, str)
    if faults:
        assert value == text
    if not facts:
        assert (value, faults) == (text, [])
    marks = {name: f"\ue000{index}\ue001" for index, name in enumerate(facts)}
    marked = render(text, marks)
    if not marked.faults and not faults and ":" not in text:
        spelt = {mark: render(f"{{{name}}}", facts).value for name, mark in marks.items()}
        assert value == re.sub("\ue000\\d+\ue001", lambda found: spelt[found[0]], marked.value)


@given(st.lists(st.sampled_from(["{Big}", "{{Big}}", "{Slot.At:%Y%Y%Y}", "{", "}", "x"]), max_size=400).map("".join), st.integers(1, 5_000))
def test_output_is_bounded(text: str, size: int) -> None:
    """TPL-06: whatever is put in, a text stays within its limit."""
    value, faults = render(text, {"big": "y" * size, "slot.at": AT})
    assert len(value) <= LONGEST
    assert faults == [] or value == text


@pytest.mark.parametrize("piece", ["{", "{{", "{a", "{a:", "{{a:b", "{a:%Y", "{Nothing}", "}{"])
def test_work_is_bounded(piece: str) -> None:
    """TPL-06: the longest text is worked off in well under a second, however its braces stand."""
    text = (piece * LONGEST)[:LONGEST]
    began = process_time()
    render(text, FACTS)
    assert process_time() - began < 0.5


@given(st.text(ascii_letters + "_.", min_size=1, max_size=20))
def test_nothing_is_looked_into(attribute: str) -> None:
    """TPL-06: behind a name there is nothing but the name: no attribute of a fact can be reached."""
    token = f"{{Slot.At.{attribute}}}"
    assert render(token, FACTS).value == token
