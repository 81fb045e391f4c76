"""Calendars as somebody wants them: read from documents, with every problem at once."""

from datetime import date
from typing import Any

import pytest

from headway.core.calendar.draft import coverage_problems, inline_draft, parse_calendar_draft, parse_calendar_drafts
from headway.core.draft import parse_definition
from headway.core.errors import Invalid

TODAY = date(2026, 5, 4)
WEEKEND: dict[str, Any] = {"weekdays": ["sat", "sun"]}


def problems(document: Any) -> dict[str, str]:
    """What is wrong with `{calendars: [...]}`, by field."""
    with pytest.raises(Invalid) as refused:
        parse_calendar_drafts(document)
    return {problem.field: problem.message for problem in refused.value.problems}


def test_every_problem_is_named_at_once() -> None:
    """CAL-01: all calendars of a document are read to the end, and each problem has its path."""
    found = problems(
        {
            "calendars": [
                {"name": "a", "windows": [{"holiday": "easter"}], "colour": "red"},
                {"name": "inline:abc", "windows": []},
                {"name": "a", "windows": [WEEKEND]},
            ]
        }
    )
    assert set(found) == {
        "calendars[0].windows[0].holiday",
        "calendars[0].colour",
        "calendars[1].name",
        "calendars[1].windows",
        "calendars",
    }
    assert found["calendars"] == "a is named twice"
    assert list(problems({})) == ["calendars"]


def test_a_draft_is_what_its_document_says() -> None:
    """CAL-01: name, description and windows, for a tenant; its windows are written as documents again."""
    draft = parse_calendar_draft({"name": "off", "description": "no work", "windows": [WEEKEND]}, tenant="acme")
    assert (draft.name, draft.description, draft.tenant) == ("off", "no work", "acme")
    assert draft.documents == [{"weekdays": ["sat", "sun"], "policy": "skip"}]


def test_inline_windows_are_named_by_what_they_say() -> None:
    """CAL-06: the same windows in other words have one name, other windows another."""
    first, again, other = (
        parse_definition({"name": "a", "calendar": {"windows": windows}}).calendar
        for windows in ([WEEKEND], [{"weekdays": ["sun", "sat"], "all_day": True, "policy": "skip"}], [{**WEEKEND, "policy": "defer"}])
    )
    assert inline_draft(first).name == inline_draft(again).name != inline_draft(other).name


def test_inline_calendars_are_read_with_their_definition() -> None:
    """DEF-02: a definition and its schedules may carry windows; what is wrong with them has the path of the whole document."""
    document = {"name": "a", "calendar": {"windows": [WEEKEND], "name": "x"}, "schedules": [{"every": "1h", "calendar": {}}]}
    with pytest.raises(Invalid) as refused:
        parse_definition(document)
    assert [problem.field for problem in refused.value.problems] == ["schedules[0].calendar.windows", "calendar.name"]


def test_a_calendar_that_leaves_no_time_from_a_day_on_is_a_problem() -> None:
    """A dated range that covers all of the coming years leaves no time, although earlier years are free; one that ends leaves some."""
    for last, expected in (("2040-12-31", ["windows"]), ("2030-12-31", [])):
        draft = parse_calendar_draft({"name": "a", "windows": [{"dates": {"from": "2026-01-01", "to": last}}]})
        assert [problem.field for problem in coverage_problems(draft, TODAY)] == expected
    assert [problem.field for problem in coverage_problems(inline_draft(draft.windows), TODAY)] == []
