"""`headway schedules preview`: of drafts without any platform, of stored schedules, and of changes to them."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headway.cli.main import app
from tests.cli.served import Served

BERLIN = ["--cron", "30 2 * * *", "--zone", "Europe/Berlin", "--from", "2026-03-28T12:00:00Z", "--count", "3"]
OFFICE = """
name: office
windows:
  - {weekdays: [mon], policy: defer}
  - {holiday: "DE:labor-day"}
"""


def drafted(*options: str) -> list[dict[str, Any]]:
    """The lines of a draft, asked of nobody."""
    result = CliRunner().invoke(app, ["schedules", "preview", *options, "--output", "json", "--api", "http://127.0.0.1:9"])
    assert result.exit_code == 0, result.output
    lines: list[dict[str, Any]] = json.loads(result.stdout)
    return lines


def test_a_draft_needs_no_platform() -> None:
    """DEF-21, CAL-12: a list of lines with exactly these fields, a change of clocks included."""
    lines = drafted(*BERLIN)
    assert [set(line) for line in lines] == [{"slot_at", "local", "decision", "effective_at", "reason"}] * 3
    assert lines[1] == {
        "slot_at": "2026-03-30T00:30:00Z",
        "local": "2026-03-30T02:30:00+02:00",
        "decision": "fired",
        "effective_at": "2026-03-30T00:30:00Z",
        "reason": "",
    }
    assert "does not exist" in lines[0]["reason"]
    assert drafted(*BERLIN, "--gap", "skip")[0]["effective_at"] is None
    assert len(drafted(*BERLIN, "--until", "2026-03-29T01:00:00Z")) == 1
    assert len(drafted("--every", "1h")) == 20


def test_a_table_is_for_people() -> None:
    """DEF-21: a line each, and which days an expression with both day fields means (BB-020)."""
    result = CliRunner().invoke(app, ["schedules", "preview", "--cron", "0 0 13 * 5", "--from", "2026-03-01T00:00:00Z", "--count", "2"])
    assert "either of them does" in result.stdout
    assert "2026-03-06T00:00:00Z  2026-03-06T00:00:00+00:00  fired" in result.stdout


def test_calendars_come_from_files(tmp_path: Path) -> None:
    """CAL-02, CAL-04: windows of a YAML file with a country's holidays, and events of an iCalendar file."""
    office, closed = tmp_path / "office.yaml", tmp_path / "closed.ics"
    office.write_text(OFFICE)
    closed.write_text(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:1\nDTSTAMP:20290101T000000Z\n"
        "DTSTART;VALUE=DATE:20290331\nDTEND;VALUE=DATE:20290401\nEND:VEVENT\nEND:VCALENDAR\n".replace("\n", "\r\n")
    )
    lines = drafted(*BERLIN, "--calendar", str(office))
    assert [(line["decision"], line["reason"]) for line in lines[1:]] == [("deferred", "calendar office: mon"), ("fired", "")]
    march = ["--cron", "0 9 * * *", "--from", "2029-03-30T12:00:00Z", "--count", "2"]
    assert [line["decision"] for line in drafted(*march, "--calendar", str(closed))] == ["skipped", "fired"]
    may = ["--cron", "0 9 * * *", "--from", "2027-04-30T12:00:00Z", "--count", "1"]
    assert drafted(*may, "--calendar", str(office))[0]["reason"] == "calendar office: DE:labor-day"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--cron", "61 * * * *", "--zone", "Mars"], ["cron:", "zone:"]),
        (["--cron", "* * * * *", "--calendar", "absent.yaml"], ["cannot read absent.yaml"]),
        (["--cron", "* * * * *", "--from", "tomorrow"], ["--from: 'tomorrow' is not an instant"]),
        ([], ["name one, or say --cron"]),
    ],
)
def test_a_wrong_draft_is_told(options: list[str], told: list[str]) -> None:
    """CFG-03, DEF-08: exit code 2, and a line for each problem."""
    result = CliRunner().invoke(app, ["schedules", "preview", *options])
    assert result.exit_code == 2
    assert all(words in result.stderr for words in told)


@pytest.mark.parametrize("text", ["windows: 5", "calendars: 7", "calendars: [7]", "windows: [{weekdays: [sun], until: 4}]"])
def test_a_wrong_calendar_is_told(tmp_path: Path, text: str) -> None:
    """CFG-03: exit code 2, whatever a file of windows holds."""
    (tmp_path / "odd.yaml").write_text(text)
    assert CliRunner().invoke(app, ["schedules", "preview", *BERLIN, "--calendar", str(tmp_path / "odd.yaml")]).exit_code == 2


async def test_a_stored_schedule_and_a_change_of_it(platform: Served, tmp_path: Path) -> None:
    """DEF-21: a stored schedule by name; with options, what they would add and remove."""
    await platform.ledger.begin({"cron": "0 * * * *"})
    stored = await platform.said("schedules", "preview", "job/default", "--count", "4")
    assert [line["slot_at"][11:13] for line in stored] == ["13", "14", "15", "16"]
    changed = await platform.said("schedules", "preview", "job/default", "--cron", "0 */2 * * *", "--count", "4")
    assert [(line["slot_at"][11:13], line["change"]) for line in changed][:4] == [
        ("13", "removed"),
        ("14", ""),
        ("15", "removed"),
        ("16", ""),
    ]
    table = await platform.headway("schedules", "preview", "job/default", "--cron", "30 * * * *", "--count", "2")
    assert table.stdout.splitlines()[1].startswith("added    2030-01-07T12:30:00Z")
    office = tmp_path / "office.yaml"
    office.write_text(OFFICE)
    deferred = await platform.said("schedules", "preview", "job/default", "--calendar", str(office), "--count", "1")
    assert {(line["decision"], line["change"]) for line in deferred} == {("deferred", "added"), ("fired", "removed")}
