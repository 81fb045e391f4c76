"""Previews over HTTP: before a schedule is saved, of one that is, and of a change of one."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from headway.api.platform import Platform
from tests.api.rows import Rows, fields, put
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

MARCH: dict[str, Any] = {"from": "2026-03-28T12:00:00Z", "count": 3}
BERLIN = {"cron": "30 2 * * *", "zone": "Europe/Berlin"}
SUNDAYS = {"windows": [{"weekdays": ["sun"], "policy": "defer"}]}


async def previewed(api: httpx.AsyncClient, draft: dict[str, Any], **asked: Any) -> dict[str, Any]:
    """The preview of a draft."""
    response = await api.post("/v1/schedules:preview", json={"draft": draft, **asked})
    assert response.status_code == 200, response.text
    document: dict[str, Any] = response.json()
    return document


async def test_a_draft_is_previewed(api: httpx.AsyncClient, rows: Rows) -> None:
    """DEF-21, CAL-12: each line with UTC, local time, decision and reason, a change of clocks included; nothing is saved."""
    before = await rows.counts()
    found = await previewed(api, BERLIN, **MARCH)
    assert [(line["slot_at"], line["local"], line["decision"], line["effective_at"]) for line in found["items"]] == [
        ("2026-03-29T01:00:00Z", "2026-03-29T03:00:00+02:00", "fired", "2026-03-29T01:00:00Z"),
        ("2026-03-30T00:30:00Z", "2026-03-30T02:30:00+02:00", "fired", "2026-03-30T00:30:00Z"),
        ("2026-03-31T00:30:00Z", "2026-03-31T02:30:00+02:00", "fired", "2026-03-31T00:30:00Z"),
    ]
    assert found["items"][0]["reason"].startswith("gap: 02:30 does not exist")
    assert (len(found["next_slots"]), found["added"], found["removed"]) == (5, [], [])
    assert await rows.counts() == before


@pytest.mark.parametrize(
    ("cron", "rule"),
    [
        ("0 0 13 * 5", "day of month or day of week"),
        ("0 0 */10 * 5", "day of month or day of week"),
        ("0 0 13 * *", "day of month"),
        ("0 0 * * 5", "day of week"),
        ("0 0 * * *", "every day"),
    ],
)
async def test_the_day_rule_is_told(api: httpx.AsyncClient, cron: str, rule: str) -> None:
    """BB-020: the API says which rule for days an expression goes by, and the next five slots, before anything is saved."""
    found = await previewed(api, {"cron": cron})
    assert (found["day_rule"], len(found["next_slots"])) == (rule, 5)


async def test_calendars_of_a_draft(api: httpx.AsyncClient) -> None:
    """CAL-04, CAL-06: inline windows, with holidays of any country; a definition's default calendars where the draft has none."""
    found = await previewed(api, {**BERLIN, "calendar": SUNDAYS}, **MARCH)
    assert (found["items"][0]["decision"], found["items"][0]["effective_at"]) == ("deferred", "2026-03-29T22:00:00Z")
    holiday = {"windows": [{"holiday": "DE:labor-day"}]}
    labor_day = await previewed(api, {**BERLIN, "calendar": holiday}, **{"from": "2027-04-30T12:00:00Z", "count": 1})
    assert labor_day["items"][0]["decision"] == "skipped"
    await put(api, {"name": "report", "calendar": SUNDAYS})
    owned = await previewed(api, BERLIN, definition="report", **MARCH)
    assert owned["items"][0]["decision"] == "deferred"


async def test_a_wrong_draft_is_refused(api: httpx.AsyncClient) -> None:
    """DEF-08: every problem at once, with its field."""
    draft = {"cron": "61 * * * *", "zone": "Europa/Madrid"}
    assert set(fields(await api.post("/v1/schedules:preview", json={"draft": draft}))) == {"cron", "zone"}
    unknown = await api.post("/v1/schedules:preview", json={"draft": {**BERLIN, "calendars": ["none"]}})
    assert fields(unknown) == {"calendars": "there is no calendar 'none'"}
    assert "count" in fields(await api.post("/v1/schedules:preview", json={"draft": BERLIN, "count": 1001}))
    assert (await api.post("/v1/schedules:preview", json={"draft": BERLIN, "schedule": str(uuid4())})).status_code == 404
    assert (await api.post("/v1/schedules:preview", json={"draft": BERLIN, "definition": "none"})).status_code == 404


async def test_a_stored_schedule_and_a_change_of_it(api: httpx.AsyncClient) -> None:
    """DEF-21: a stored schedule with its calendars; of a change, what it adds and removes."""
    [kept] = (await put(api, {"name": "report", "schedules": [{**BERLIN, "calendar": SUNDAYS}]}))["schedules"]
    stored = (await api.get(f"/v1/schedules/{kept['id']}/preview", params=MARCH)).json()
    assert [line["decision"] for line in stored["items"]] == ["deferred", "fired", "fired"]
    changed = await previewed(api, {"cron": "30 2 * * MON"}, schedule=kept["id"], **MARCH)
    assert [line["slot_at"] for line in changed["removed"]] == ["2026-03-29T01:00:00Z", "2026-03-31T00:30:00Z"]
    assert changed["added"] == []
    assert changed["items"][0]["local"] == "2026-03-30T02:30:00+02:00"
    same = await previewed(api, kept, schedule=kept["id"], **MARCH)
    assert (same["items"], same["added"], same["removed"]) == (stored["items"], [], [])
    assert (await api.get(f"/v1/schedules/{uuid4()}/preview")).status_code == 404


async def test_a_chain_shows_the_slot_that_is_set(api: httpx.AsyncClient, platform: Platform) -> None:
    """DEF-07: of an after-completion schedule the one slot that is known to come."""
    ledger = await Ledger(Scene(platform.database)).begin({"after_completion": "5m"})
    await ledger.decide(START + timedelta(minutes=10))
    shown = (await api.get(f"/v1/schedules/{ledger.schedule}/preview")).json()
    assert [line["slot_at"][:16] for line in shown["items"]] == ["2030-01-07T12:15"]


async def test_next_slots_are_merged_and_what_is_off_has_none(api: httpx.AsyncClient) -> None:
    """DEF-21: the next slots of all schedules of a definition in one order, with what calendars make of them; a disabled one has none."""
    always = {"windows": [{"weekdays": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "start": "00:00", "end": "23:59"}]}
    schedules = [
        {"name": "a", "every": "1h"},
        {"name": "b", "every": "90m", "calendar": always},
        {"name": "off", "every": "1m", "enabled": False},
    ]
    await put(api, {"name": "report", "schedules": schedules})
    found = (await api.get("/v1/definitions/report/next-slots", params={"count": 50})).json()["items"]
    instants = [one["slot_at"] for one in found]
    assert (len(found), instants) == (50, sorted(instants))
    assert {(one["schedule_name"], one["decision"]) for one in found} == {("a", "fired"), ("b", "skipped")}
    assert len((await api.get("/v1/definitions/report/next-slots")).json()["items"]) == 20
    for count in (0, 1001):
        assert (await api.get("/v1/definitions/report/next-slots", params={"count": count})).status_code == 422
    await api.post("/v1/definitions/report:disable")
    assert (await api.get("/v1/definitions/report/next-slots")).json()["items"] == []
    assert (await api.get("/v1/definitions/nothing/next-slots")).status_code == 404
