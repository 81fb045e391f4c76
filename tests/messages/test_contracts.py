"""Generated contracts, compared with what is committed."""

from datetime import UTC, datetime
from pathlib import Path

from headway.messages import MESSAGES, RunCancel, parse, type_of
from headway.messages.cloudevents import headers
from headway.messages.contracts import contracts, write

CONTRACTS = Path(__file__).parents[2] / "contracts"
AT = datetime(2026, 3, 1, 2, 0, 5, tzinfo=UTC)


def test_contracts_have_not_drifted() -> None:
    """The committed JSON Schemas and AsyncAPI document are exactly what the models generate."""
    assert {str(path): (CONTRACTS / path).read_text() for path in contracts()} == {str(path): text for path, text in contracts().items()}


def test_no_schema_outlives_its_message() -> None:
    """There is one committed schema for each message type and none besides."""
    assert {path.stem for path in (CONTRACTS / "messages").iterdir()} == {type_of(kind) for kind in MESSAGES}


def test_writing_removes_what_is_forgotten(tmp_path: Path) -> None:
    """A schema whose message is gone does not stay behind."""
    (tmp_path / "messages").mkdir()
    (tmp_path / "messages" / "gone.v1.json").touch()
    assert write(tmp_path) == len(MESSAGES) + 1
    assert not (tmp_path / "messages" / "gone.v1.json").exists()


def test_public_events_carry_cloudevents_headers() -> None:
    """MSG-04: completions, definition changes and alerts carry the four required CloudEvents attributes, and a time."""
    alert = parse((CONTRACTS / "examples" / "alert.raised.v1" / "failed-run.json").read_bytes())
    assert headers(alert, event="e-1", at=AT) == {
        "cloudEvents:specversion": "1.0",
        "cloudEvents:id": "e-1",
        "cloudEvents:source": "/headway",
        "cloudEvents:type": "headway.alert.raised.v1",
        "cloudEvents:time": "2026-03-01T02:00:05+00:00",
        "cloudEvents:subject": "nightly-report failed",
    }


def test_private_messages_carry_none() -> None:
    """Messages between Headway's own processes promise nothing to others."""
    assert headers(RunCancel(runs=("019b0a1e-6c00-7000-8000-000000000001",)), event="e-1", at=AT) == {}
