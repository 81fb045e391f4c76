"""Calendars over HTTP."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from headway.api.platform import Platform
from headway.broker.port import Broker
from headway.messages import DefinitionChanged
from headway.messages import parse as parse_message
from headway.messages.channels import DEFINITION_CHANGED
from headway.store.clock import set_offset
from tests.api.rows import Rows, fields, put

QUIET: dict[str, Any] = {"description": "no work", "windows": [{"weekdays": ["sat", "sun"], "policy": "skip"}]}
NIGHTS: dict[str, Any] = {"windows": [{"month_days": [1, "last"], "start": "22:00", "end": "06:00", "policy": "defer"}]}
LABOUR: dict[str, Any] = {"windows": [{"holiday": "DE-BE:labor-day"}]}
ICS = """BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:1
DTSTART;VALUE=DATE:20991224
DTEND;VALUE=DATE:20991227
END:VEVENT
END:VCALENDAR
"""


async def test_a_calendar_is_created_read_and_replaced_under_its_version(api: httpx.AsyncClient) -> None:
    """PUT creates, what is read may be sent back and changes nothing, a replacement needs the version that it builds on (API-08)."""
    created = await api.put("/v1/calendars/quiet", json=QUIET)
    assert (created.status_code, created.headers["ETag"]) == (201, '"1"')
    shown = created.json()
    again = await api.put("/v1/calendars/quiet", json=shown, headers={"If-Match": '"1"'})
    assert (again.status_code, again.json()) == (200, shown)
    changed = await api.put("/v1/calendars/quiet", json={**shown, **NIGHTS}, headers={"If-Match": '"1"'})
    assert (changed.headers["ETag"], changed.json()["windows"], changed.json()["description"]) == ('"2"', NIGHTS["windows"], "no work")
    assert (await api.get("/v1/calendars/quiet")).json() == changed.json()
    missing = await api.put("/v1/calendars/quiet", json=QUIET)
    stale = await api.put("/v1/calendars/quiet", json=QUIET, headers={"If-Match": '"1"'})
    assert [(one.status_code, one.json()["code"]) for one in (missing, stale)] == [
        (428, "precondition_required"),
        (412, "precondition_failed"),
    ]
    assert (await api.put("/v1/calendars/new", json=QUIET, headers={"If-Match": '"1"'})).status_code == 412
    assert (await api.get("/v1/calendars/new")).json()["code"] == "calendar_unknown"


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"windows": []}, "windows"),
        ({}, "windows"),
        ({"windows": [{"weekdays": ["sat"], "month_days": [1]}]}, "windows[0]"),
        ({"windows": [{"holiday": "DE-BE:labour-day"}]}, "windows"),
        ({"windows": [{"month_days": list(range(1, 32))}]}, "windows"),
        ({**QUIET, "colour": "red"}, "colour"),
        ({**QUIET, "name": "other"}, "name"),
        ({**QUIET, "description": "\x00"}, "description"),
    ],
)
async def test_bad_calendars_are_named_by_field_and_nothing_is_written(
    api: httpx.AsyncClient, rows: Rows, document: dict[str, Any], field: str
) -> None:
    """A window without days, a holiday that nobody knows, all of the time: one problem with its field, and no row (API-02)."""
    response = await api.put("/v1/calendars/quiet", json=document)
    assert (response.status_code, list(fields(response))) == (422, [field]), response.text
    assert await rows.value("SELECT count(*) FROM headway.calendar") == 0


async def test_a_name_of_inline_calendars_is_refused(api: httpx.AsyncClient) -> None:
    """CAL-06: names that are made of windows cannot be taken by hand."""
    assert list(fields(await api.put("/v1/calendars/inline:abc", json=QUIET))) == ["name"]


async def test_a_calendar_in_use_cannot_be_deleted(api: httpx.AsyncClient) -> None:
    """CAL-07: 409 names who uses it; taken from there it is deleted, under its version if that is sent along."""
    await api.put("/v1/calendars/quiet", json=QUIET)
    await put(api, {"name": "report", "calendars": ["quiet"]})
    refused = await api.delete("/v1/calendars/quiet")
    assert (refused.status_code, refused.json()["code"]) == (409, "calendar_in_use")
    assert "definition report" in refused.json()["detail"]
    await api.patch("/v1/definitions/report", json={"calendars": None}, headers={"If-Match": '"1"'})
    assert (await api.delete("/v1/calendars/quiet", headers={"If-Match": '"7"'})).status_code == 412
    gone = await api.delete("/v1/calendars/quiet", headers={"If-Match": '"1"'})
    assert gone.json() == {"name": "quiet", "version": 1, "change": "deleted"}
    assert (await api.delete("/v1/calendars/quiet")).status_code == 404


async def test_calendars_are_applied_together_and_listed(api: httpx.AsyncClient, rows: Rows) -> None:
    """Apply saves all or none, a dry run says the same and keeps nothing; pages follow one another by name (API-01)."""
    document = {"calendars": [{"name": name, **QUIET} for name in ("c", "a", "b")]}
    dry = await api.post("/v1/calendars:apply", params={"dry_run": "true"}, json=document)
    expected = [{"name": name, "version": 1, "change": "created"} for name in ("c", "a", "b")]
    assert dry.json() == {"changes": expected, "dry_run": True}
    assert await rows.value("SELECT count(*) FROM headway.calendar") == 0
    assert (await api.post("/v1/calendars:apply", json=document)).json()["changes"] == expected
    first = (await api.get("/v1/calendars", params={"limit": 2})).json()
    second = (await api.get("/v1/calendars", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [one["name"] for one in first["items"] + second["items"]] == ["a", "b", "c"]
    again = await api.post("/v1/calendars:apply", json={"calendars": first["items"]})
    assert [one["change"] for one in again.json()["changes"]] == ["", ""]
    bad = await api.post("/v1/calendars:apply", json={"calendars": [{"name": "d", **QUIET}, {"name": "e"}]})
    assert list(fields(bad)) == ["calendars[1].windows"]
    for unfit in ({}, {"calendars": 7}, {"calendars": [], "x": 1}):
        assert (await api.post("/v1/calendars:apply", json=unfit)).status_code == 422


async def test_holidays_are_shown_with_their_dates(api: httpx.AsyncClient, rows: Rows) -> None:
    """CAL-02: what was resolved is told by year."""
    shown = (await api.put("/v1/calendars/labour", json=LABOUR)).json()
    this_year = await rows.value("SELECT extract(year FROM now())::int")
    assert shown["resolved"]["DE-BE:labor-day"][str(this_year)] == [f"{this_year}-05-01"]


async def test_a_calendar_is_made_of_an_icalendar_file(api: httpx.AsyncClient) -> None:
    """The events become its windows; the same file again changes nothing, a bad one is named (CAL-01)."""
    created = await api.post("/v1/calendars/holidays:import", json={"ics": ICS, "policy": "defer"})
    assert created.status_code == 201
    assert created.json()["windows"] == [{"dates": {"from": "2099-12-24", "to": "2099-12-26"}, "policy": "defer"}]
    again = await api.post("/v1/calendars/holidays:import", json={"ics": ICS, "policy": "defer"})
    assert (again.status_code, again.json()["version"]) == (200, 1)
    assert list(fields(await api.post("/v1/calendars/holidays:import", json={"ics": "hello"}))) == ["ics"]
    assert list(fields(await api.post("/v1/calendars/holidays:import", json={"ics": ICS, "zone": "Mars"}))) == ["zone"]


async def test_calendars_of_definitions_and_schedules_are_read_and_sent_back(api: httpx.AsyncClient, rows: Rows) -> None:
    """DEF-02, CAL-06: names and inline windows are shown where they were put, what is read changes nothing, a patch takes them away."""
    await api.put("/v1/calendars/quiet", json=QUIET)
    schedules = [
        {"name": "both", "every": "1h", "calendars": ["quiet"], "calendar": NIGHTS},
        {"name": "inherits", "every": "1h"},
        {"name": "none", "every": "1h", "calendars": []},
        {"name": "own", "every": "1h", "calendar": NIGHTS},
    ]
    shown = await put(api, {"name": "report", "calendars": ["quiet"], "calendar": NIGHTS, "schedules": schedules})
    assert (shown["calendars"], shown["calendar"]) == (["quiet"], NIGHTS)
    assert [(one["name"], one["calendars"], one["calendar"]) for one in shown["schedules"]] == [
        ("both", ["quiet"], NIGHTS),
        ("inherits", None, None),
        ("none", [], None),
        ("own", None, NIGHTS),
    ]
    again = await api.put("/v1/definitions/report", json=shown, headers={"If-Match": '"1"'})
    assert again.json() == shown
    own = shown["schedules"][3]
    patched = await api.patch(f"/v1/schedules/{own['id']}", json={"calendar": None}, headers={"If-Match": '"1"'})
    assert (patched.json()["calendars"], patched.json()["calendar"]) == (None, None)
    assert await rows.value("SELECT calendars IS NULL FROM headway.schedule WHERE name = 'own'")
    [listed] = (await api.get("/v1/definitions")).json()["items"]
    assert (listed["calendars"], listed["calendar"]) == (["quiet"], NIGHTS)
    assert await rows.value("SELECT count(*) FROM headway.calendar") == 2


async def test_schedulers_hear_of_an_edit(api: httpx.AsyncClient, broker: Broker, platform: Platform) -> None:
    """DEF-04: each definition whose schedules go by other windows is named once."""
    await api.put("/v1/calendars/quiet", json=NIGHTS)
    schedules = [{"name": "a", "every": "1h"}, {"name": "b", "every": "1h"}]
    await put(api, {"name": "report", "calendars": ["quiet"], "schedules": schedules})
    async with platform.database.begin() as tx:
        await set_offset(tx, timedelta(hours=1))
    await platform.announcer.flush()
    ear = await broker.listen(DEFINITION_CHANGED)
    edited = await api.put("/v1/calendars/quiet", json=QUIET, headers={"If-Match": '"1"'})
    assert edited.json()["version"] == 2
    await platform.announcer.flush()
    heard = [parse_message(one.body) for one in await ear.receive()]
    assert [(one.definition, one.change) for one in heard if isinstance(one, DefinitionChanged)] == [("report", "updated")]
