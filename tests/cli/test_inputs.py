"""What people type, as values."""

import shlex
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from headway.cli.inputs import STRAY, duration, instant, parameters, read_as_json, read_document
from headway.cli.main import app
from headway.cli.verbs.definitions import SHAPE
from headway.core.draft import parse_document
from headway.core.errors import Invalid, Problem


def test_parameters_are_json_where_they_are_json() -> None:
    """`-p` values become what they say in JSON and stay text otherwise; they win over `--json`."""
    given = ["pages=3", "name=Ada", "flags=[true, null]", "note=a=b", 'quoted="3"', "odd=NaN"]
    assert parameters(given, '{"pages": 1, "kept": "x"}') == {
        "pages": 3,
        "kept": "x",
        "name": "Ada",
        "flags": [True, None],
        "note": "a=b",
        "quoted": "3",
        "odd": "NaN",
    }


def test_a_refused_value_is_told_how_to_be_text() -> None:
    """Where a value was read as JSON and is refused, the answer says how its text is written; other problems stay as they are."""
    refused = [Problem("params.zip", "must be of type string"), Problem("params.name", "is wrong"), Problem("params.x", f"{STRAY}: none")]
    with pytest.raises(Invalid) as caught, read_as_json(["zip=01", "zip=5", "name=Ada", "x=1", "it's=7"]):
        raise Invalid([*refused, Problem("params.it's", "must be of type string")], code="invalid_parameters")
    zip_, name, stray, quoted = map(str, caught.value.problems)
    assert zip_ == "params.zip: must be of type string; -p read 5 as JSON, the text is written -p 'zip=\"5\"'"
    assert (name, stray) == ("params.name: is wrong", "params.x: is not a known parameter: none")
    assert shlex.split(quoted.rpartition("-p ")[2]) == ['it\'s="7"']
    assert caught.value.code == "invalid_parameters"


def test_the_help_of_apply_shows_a_document_that_works() -> None:
    """Whoever copies the document out of the help has one that the platform takes."""
    document = yaml.safe_load(SHAPE.partition("The file:\n")[2])
    (draft,) = parse_document(document)
    assert (draft.name, draft.attempts, draft.schedules[0].name) == ("nightly-backup", 3, "nightly")
    shown = CliRunner().invoke(app, ["definitions", "apply", "--help"]).output
    assert '- {name: nightly, cron: "30 2 * * *", zone: Europe/Berlin}\n' in shown


def test_no_parameters_are_none() -> None:
    """Where none are given the definition's own hold."""
    assert parameters([], None) is None


@pytest.mark.parametrize(
    ("pairs", "text", "field"),
    [(["a"], None, "-p"), (["=1"], None, "-p"), ([], "{", "--json"), ([], "[1]", "--json")],
)
def test_bad_parameters_name_their_option(pairs: list[str], text: str | None, field: str) -> None:
    """What cannot be read is said of the option that holds it."""
    with pytest.raises(Invalid) as raised:
        parameters(pairs, text)
    assert raised.value.problems[0].field == field


@pytest.mark.parametrize("text", ["tomorrow", "2026-01-31T07:00:00", "2026-13-01T00:00:00Z"])
def test_an_instant_has_an_offset(text: str) -> None:
    """A time that could mean several instants is refused, with the option's name."""
    with pytest.raises(Invalid, match=r"--at: .*is not an instant with its offset"):
        instant(text, "--at")


def test_instants_and_durations_pass() -> None:
    """ISO 8601 and `5m` are taken."""
    assert instant("2026-01-31T07:00:00Z", "--at") == "2026-01-31T07:00:00+00:00"
    assert duration("5m", "--delay") == "5m"
    assert instant(None, "--at") is duration(None, "--delay") is None


def test_a_document_may_be_yaml_or_json(tmp_path: Path) -> None:
    """Both give the same document; instants of YAML stay the text that they are in JSON."""
    (tmp_path / "a.yaml").write_text("definitions:\n- name: x\n  starts_at: 2026-01-01T00:00:00Z\n  day: 2026-01-01\n")
    (tmp_path / "a.json").write_text('{"definitions": [{"name": "x", "starts_at": "2026-01-01T00:00:00Z", "day": "2026-01-01"}]}')
    assert read_document(str(tmp_path / "a.yaml")) == read_document(str(tmp_path / "a.json"))


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"a: [", "neither YAML nor JSON"), (b"- a", "must hold a mapping"), (b"\xff\xfe\x00", "is not UTF-8"), (None, "cannot read")],
)
def test_an_unreadable_document_is_bad_input(tmp_path: Path, content: bytes | None, said: str) -> None:
    """A file that is no document ends with exit code 2, one line, and no traceback."""
    file = tmp_path / "a.yaml"
    if content is not None:
        file.write_bytes(content)
    ended = CliRunner().invoke(app, ["definitions", "apply", str(file)])
    assert ended.exit_code == 2
    assert said in ended.output
    assert "Traceback" not in ended.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("run hello --delay 5x", "headway: --delay: '5x' is not a duration: write 90s, 5m, 2h or 1d"),
        ("run hello --at noon", "headway: --at: 'noon' is not an instant"),
        ("run hello -p a", "headway: -p: 'a' is not key=value"),
        ("run hello --priority 12", "'--priority'"),
        ("runs show foo", "headway: RUN: 'foo' is not an id: headway runs list shows them"),
        ("schedules show foo", "headway: SCHEDULE: 'foo' is not an id"),
        ("--output xml runs list", "'--output'"),
        ("--api ftp://x runs list", "headway: HEADWAY_API_URL: must begin with http:// or https://"),
        ("import crontab /no/such/file", "headway: FILE: cannot read /no/such/file"),
    ],
)
def test_bad_input_is_refused_before_anything_is_asked(arguments: str, said: str) -> None:
    """Bad input names its option and ends with exit code 2, whether or not an API is there."""
    ended = CliRunner().invoke(app, arguments.split())
    assert ended.exit_code == 2
    assert said in ended.output
