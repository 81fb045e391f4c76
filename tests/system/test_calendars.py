"""Calendars from the command to the ledger, over processes."""

import json
import socket
from pathlib import Path

import pytest

from tests.system.fleet import Fleet, eventually

pytestmark = [pytest.mark.system, pytest.mark.timeout(120)]
CALENDARS = """
calendars:
  - name: closed
    description: all but one second in twelve hours
    windows:
      - {weekdays: [mon, tue, wed, thu, fri, sat, sun], start: "FREE:01", end: "FREE:00"}
  - name: later
    windows:
      - {weekdays: [mon, tue, wed, thu, fri, sat, sun], start: "FREE:01", end: "FREE:00", policy: defer}
"""
DEFINITIONS = """
definitions:
  - name: skips
    handler: tick
    calendars: [closed]
    schedules: [{name: seconds, every: 1s}]
  - name: defers
    handler: tick
    schedules: [{name: seconds, every: 1s, calendars: [later]}]
"""
OPEN = """
calendars:
  - name: closed
    windows: [{dates: {from: 2020-01-01}}]
"""
ICS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:tests
BEGIN:VEVENT
UID:1
DTSTART;TZID=Europe/Berlin:20990501T090000
DURATION:PT8H
END:VEVENT
END:VCALENDAR
"""
DECIDED = (
    "SELECT slot.* FROM headway.slot JOIN headway.schedule ON schedule.id = slot.schedule"
    " JOIN headway.definition ON definition.id = schedule.definition WHERE definition.name = $1 ORDER BY slot_at"
)


async def start(fleet: Fleet) -> None:
    """Start what decides and runs, and wait for the API."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    fleet.settings["HEADWAY_API_URL"] = f"http://127.0.0.1:{port}"
    fleet.sync()
    fleet.start("api", HEADWAY_API__PORT=str(port))
    fleet.start("scheduler")
    fleet.start("worker")

    async def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    await eventually(answers, 30, what="the API listens", report=fleet.report)


def said(fleet: Fleet, *args: str) -> str:
    """What a command prints that has to succeed."""
    done = fleet.run(*args)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def test_slots_are_skipped_and_deferred_by_the_calendar_that_was_in_force(fleet: Fleet, tmp_path: Path) -> None:
    """CAL-04, CAL-05, OBS-06: schedules with a calendar skip and defer, the ledger says by which one and in which version; after an edit
    slots fire, and those before it stay as the old version decided them; what is in use is not deleted (CAL-07)."""
    free = await fleet.value("SELECT to_char(now() AT TIME ZONE 'UTC' + interval '12 hours', 'HH24:MI')")
    files = {name: tmp_path / name for name in ("calendars.yaml", "definitions.yaml", "open.yaml", "fair.ics")}
    for file, text in zip(files.values(), (CALENDARS, DEFINITIONS, OPEN, ICS), strict=True):
        file.write_text(text.replace("FREE", free))
    await start(fleet)
    assert "2 created" in said(fleet, "calendars", "apply", str(files["calendars.yaml"]))
    assert "nothing changed" in said(fleet, "calendars", "apply", str(files["calendars.yaml"]))
    said(fleet, "definitions", "apply", str(files["definitions.yaml"]))
    await fleet.until(f"SELECT count(*) >= 2 FROM ({DECIDED}) AS slots", "skips")
    await fleet.until(f"SELECT count(*) >= 1 FROM ({DECIDED}) AS slots", "defers")

    deferred = (await fleet.rows(DECIDED, "defers"))[0]
    assert (deferred["decision"], deferred["calendar_versions"]) == (2, "later 1")
    assert deferred["detail"].startswith("calendar later: ")
    assert f"{deferred['effective_at']:%H:%M:%S}" == f"{free}:00" and deferred["run"] is not None

    assert "1 updated" in said(fleet, "calendars", "apply", str(files["open.yaml"]))
    await fleet.until(f"SELECT count(*) >= 2 FROM ({DECIDED}) AS slots WHERE decision = 1", "skips")
    slots = await fleet.rows(DECIDED, "skips")
    by_version = {version: [slot for slot in slots if slot["calendar_versions"] == version] for version in ("closed 1", "closed 2")}
    assert {(slot["decision"], slot["reason"]) for slot in by_version["closed 1"]} == {(3, "calendar")}
    assert all(slot["detail"].startswith("calendar closed: ") for slot in by_version["closed 1"])
    assert max(slot["slot_at"] for slot in by_version["closed 1"]) < min(slot["slot_at"] for slot in by_version["closed 2"])
    assert "calendar" not in {slot["reason"] for slot in by_version["closed 2"]}
    assert len(slots) == sum(map(len, by_version.values())) == len({slot["slot_at"] for slot in slots})

    refused = fleet.run("calendars", "delete", "closed")
    assert refused.returncode != 0 and "definition skips" in refused.stderr
    assert "1 window," in said(fleet, "calendars", "import", str(files["fair.ics"]), "--name", "fair", "--policy", "defer")
    [fair] = [one for one in json.loads(said(fleet, "--output", "json", "calendars", "list")) if one["name"] == "fair"]
    assert fair["windows"][0]["start"] == "09:00"
    assert "fair" in said(fleet, "calendars", "show", "fair")
    assert "deleted" in said(fleet, "calendars", "delete", "fair")
