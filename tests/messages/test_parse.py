"""What the wire understands, and what it refuses."""

import contextlib
import json
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.messages import MESSAGES, RunCreated, Unparseable, encode, parse, type_of

EXAMPLES = Path(__file__).parents[2] / "contracts" / "examples"
RUN = UUID("019b0a1e-6c00-7000-8000-000000000001")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.json")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_messages_of_past_releases_parse_for_ever(path: Path) -> None:
    """MSG-04: every example parses to a message of the type that its folder names, and survives encoding."""
    message = parse(path.read_bytes())
    assert message.type == path.parent.name
    assert parse(encode(message)) == message


def test_every_type_has_an_example() -> None:
    """MSG-04: no message type goes without an example of what it looked like."""
    assert {folder.name for folder in EXAMPLES.iterdir()} == {type_of(kind) for kind in MESSAGES}


@pytest.mark.parametrize("body", [str(RUN), f'"{RUN}"', f" {RUN}\n", str(RUN).upper()])
def test_a_bare_run_id_is_accepted(body: str) -> None:
    """MSG-04: a body that is nothing but a run's id is a hint at this run, in a queue that the body does not name."""
    assert parse(body.encode()) == RunCreated(queue="", runs=(RUN,))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00\xff\xfe",
        b"not json",
        b"[]",
        b"null",
        b"{}",
        b'{"type": "run.created.v2", "queue": "q", "runs": ["019b0a1e-6c00-7000-8000-000000000001"]}',
        b'{"type": "run.created.v1", "queue": "q", "runs": []}',
        b'{"type": "run.created.v1", "queue": "q", "runs": ["x"]}',
        b'{"type": "run.created.v1", "runs": ["019b0a1e-6c00-7000-8000-000000000001"]}',
        b'{"type": "run.created.v1", "queue": "\\ud800", "runs": ["019b0a1e-6c00-7000-8000-000000000001"]}',
        b"[" * 100_000,
        json.dumps({"type": "run.created.v1", "queue": "q", "runs": [str(RUN)] * 101}).encode(),
    ],
    ids=range(13),
)
def test_what_is_no_message_is_unparseable(body: bytes) -> None:
    """MSG-04: bytes that are no message, and unknown major versions, raise one error of our own and nothing else."""
    with pytest.raises(Unparseable):
        parse(body)


def test_the_reason_does_not_repeat_the_body() -> None:
    """A reason is logged and kept: it names the field and never the value, which may be somebody's secret."""
    with pytest.raises(Unparseable) as caught:
        parse(b'{"type": "run.created.v1", "queue": "q", "runs": ["hunter2"]}')
    assert "runs" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_unparseable(body: bytes) -> None:
    """MSG-08: whatever arrives either parses or is Unparseable, so that poison always ends in the dead queue."""
    with contextlib.suppress(Unparseable):
        parse(body)


@given(st.lists(st.uuids(), min_size=1, max_size=100), st.text(st.characters(exclude_categories=["Cs"])))
def test_a_hint_survives_the_wire(runs: list[UUID], queue: str) -> None:
    """MSG-01: what is encoded parses to an equal message."""
    hint = RunCreated(queue=queue, runs=tuple(runs))
    assert parse(encode(hint)) == hint
