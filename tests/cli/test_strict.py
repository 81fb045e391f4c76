"""Texts that people hand in, where they cannot be kept as they stand."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headway.cli.http import LARGE, Http, Request
from headway.cli.inputs import parameters, read_as_json
from headway.cli.main import app
from headway.cli.strict import read_json, read_yaml
from headway.core.errors import Invalid, Unavailable
from tests.cli.test_http import served

DEEP = "[" * 10_000 + "]" * 10_000
BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "\n".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def problems(read: Callable[[], object]) -> list[str]:
    """The lines that a person is told."""
    with pytest.raises(Invalid) as caught:
        read()
    return [str(one) for one in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DEEP, "--json: is nested too deeply"),
        ('{"a": {"b": [0, NaN]}}', "--json: a.b[1]: is a number that is not finite"),
        ('{"a": 1e999}', "--json: a: is a number that is not finite"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "--json: names 'c' twice"),
        (f'{{"a": {"9" * 5000}}}', "--json: holds a number of too many digits"),
        (f'{{"a": {"9" * 30}}}', "--json: a: is a number beyond 64 bits"),
        ("{", "--json: is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ],
)
def test_json_that_cannot_be_kept_is_one_line(text: str, said: str) -> None:
    """What is nested too deeply, is no number or has two values names its option and its place."""
    assert problems(lambda: read_json(text, "--json")) == [said]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: " + DEEP, "FILE: x.yaml is nested too deeply"),
        ("a: {b: [0, .nan]}", "FILE: a.b[1]: is a number that is not finite"),
        ("a: {b: !!set {x, y}}", "FILE: a.b: is a set, which JSON does not have"),
        ("a: 1\nb:\n  c: 1\n  c: 2", "FILE: names 'c' twice, again in line 4"),
        ("a: {1: x}", "FILE: a: has the name 1, which is no text that can be stored"),
        ("a: &a [*a]", "FILE: comes to more than 1000000 values, or holds itself"),
        (BOMB, "FILE: comes to more than 1000000 values, or holds itself"),
        ("a: !!int ''", "FILE: x.yaml holds a value that cannot be read: string index out of range"),
    ],
)
def test_yaml_that_is_no_json_is_one_line(text: str, said: str) -> None:
    """Sets, cycles, aliases that multiply and keys that stand twice are refused with their place, before anything is sent."""
    assert problems(lambda: read_yaml(text, "x.yaml")) == [said]


def test_yaml_that_merges_is_taken() -> None:
    """A mapping may override what it merges, which is no key that stands twice."""
    found = read_yaml("a: &a {x: 1, y: 1}\nb: &b {<<: *a, x: 2}\nc: {<<: *a, y: 3}", "x.yaml")
    assert found == {"a": {"x": 1, "y": 1}, "b": {"x": 2, "y": 1}, "c": {"x": 1, "y": 3}}


def test_parameters_are_refused_by_their_name() -> None:
    """`-p` names the parameter that is given twice, is no number or is nested too deeply, and how its text is written."""
    assert problems(lambda: parameters(["a=1", "b=1", "a=2"], None)) == ["-p: 'a' is given 2 times"]
    with pytest.raises(Invalid) as caught, read_as_json(["a=1e999"]):
        parameters(["a=1e999"], None)
    assert str(caught.value) == "params.a: is a number that is not finite; -p read 1e999 as JSON, the text is written -p 'a=\"1e999\"'"
    with pytest.raises(Invalid, match=r"^params\.a: is nested too deeply$"), read_as_json([f"a={DEEP}"]):
        parameters([f"a={DEEP}"], None)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["runs", "list", "--correlation", "\udcff"], "--correlation"),
        (["runs", "list", "--correlation=\udcff"], "--correlation"),
        (["run", "\udcff"], "arguments"),
    ],
)
def test_bytes_that_are_no_text_name_their_option(arguments: list[str], field: str) -> None:
    """CFG-03: what the shell hands over undecoded is bad input, not a crash."""
    ended = CliRunner().invoke(app, arguments)
    assert (ended.exit_code, ended.stderr) == (2, f"headway: {field}: '\\udcff' is no text in UTF-8\n")


def test_a_document_is_read_before_anything_is_asked(tmp_path: Path) -> None:
    """A file nested without end ends with exit code 2 and one line."""
    file = tmp_path / "deep.json"
    file.write_text(DEEP)
    ended = CliRunner().invoke(app, ["definitions", "apply", str(file)])
    assert (ended.exit_code, ended.stderr) == (2, f"headway: FILE: {file} is nested too deeply\n")


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """Read nothing, answer nothing, and end the connection."""
    handler.close_connection = True
    handler.connection.close()


def test_a_body_that_is_cut_off_is_too_large() -> None:
    """A server that hangs up on a large body has had enough of it; on a small one it does not answer."""
    with served(hang_up) as address:
        http = Http(f"http://{address}", address)
        with pytest.raises(Invalid, match=f"is larger than {address} takes"):
            http(Request("POST", "/", document={"text": "x" * (20 * LARGE)}))
        with pytest.raises(Unavailable, match="does not answer"):
            http(Request("POST", "/", document={"text": "x"}))
