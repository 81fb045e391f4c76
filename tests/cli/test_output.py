"""How answers are written."""

import json

import pytest

from headway.cli.output import Format, Output, cell
from headway.cli.verbs.run import ending, printed, told

ROWS: list[dict[str, object]] = [{"name": "a" * 150, "state": "failed"}, {"name": "[red]b", "state": None}]


def test_a_table_in_a_pipe_is_plain_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe there are no colours, and nothing is wrapped, cut or taken for markup."""
    Output().table(ROWS, ("name", "state"), none="nothing")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [["name", "state"], ["a" * 150, "failed"], ["[red]b"]]
    assert not any("\x1b" in line for line in lines)


def test_instants_are_short_in_tables(capsys: pytest.CaptureFixture[str]) -> None:
    """A table shows instants to the second, still as ISO 8601; JSON has them whole."""
    rows = [{"at": "2026-01-31T07:00:00.123456Z", "note": "1.5Z"}]
    Output().table(rows, ("at", "note"), none="")
    assert capsys.readouterr().out.split() == ["at", "note", "2026-01-31T07:00:00Z", "1.5Z"]


def test_no_rows_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty listing says so to people, and is an empty list to programs."""
    Output().table([], ("name",), none="no runs")
    Output(Format.JSON).table([], ("name",), none="no runs")
    assert capsys.readouterr().out == "no runs\n[]\n"


def test_json_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """Programs get every field, also those that no column shows."""
    Output(Format.JSON).table(ROWS, ("name",), none="")
    assert json.loads(capsys.readouterr().out) == ROWS


def test_progress_is_for_terminals(capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe nothing moves."""
    with Output().progress("waiting") as status:
        assert status is None
    assert capsys.readouterr() == ("", "")


def test_words_for_people_do_not_mix_with_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Where a program reads along, what is said to people goes to stderr."""
    Output(Format.JSON).say("done")
    assert capsys.readouterr() == ("", "done\n")


@pytest.mark.parametrize(("value", "text"), [(None, ""), (True, "yes"), (3, "3"), ("x", "x"), ({"a": "é"}, '{"a": "é"}')])
def test_a_cell_is_readable(value: object, text: str) -> None:
    """Values are shown as a person writes them."""
    assert cell(value) == text


@pytest.mark.parametrize(
    ("result", "text"), [({"value": "Hello"}, "Hello"), ({"value": 3}, "3"), ({"sent": 3}, '{\n  "sent": 3\n}'), ("Hello", "Hello")]
)
def test_a_result_is_printed_as_it_was_returned(result: object, text: str) -> None:
    """Text that a handler returned is printed as text."""
    assert printed(result) == text


def test_an_accepted_run_names_the_next_command() -> None:
    """What is told of a run says what to try next; a dry run says that nothing was kept."""
    accepted = {"id": "1", "state": "queued", "existing": True, "definition": "hello"}
    assert told(accepted) == "1 queued, asked for before under this key\nheadway runs show 1"
    assert told({**accepted, "id": None}) == "hello would run: nothing was kept"


def test_a_failure_says_why() -> None:
    """A run that did not succeed is told with its error, or else with its reason."""
    run = {"id": "1", "state": "failed", "attempt": 0, "reason": "gave up", "error": {"kind": "ValueError", "message": "no"}}
    assert ending(run) == "run failed, ValueError: no; headway runs show 1"
    assert ending({**run, "error": None}) == "run failed, gave up; headway runs show 1"
