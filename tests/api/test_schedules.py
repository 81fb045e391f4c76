"""Schedules and their slots over HTTP."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import httpx

from headway.api.platform import Platform
from headway.api.schedules import next_slots
from headway.core.schedule.evaluate import between
from headway.core.schedule.rule import parse_rule
from headway.core.slot import DecisionKind
from headway.store import slots
from headway.store.slots import RangeRecord, SlotRecord
from tests.api.rows import NIGHTLY, Rows, put

MARCH = datetime(2026, 3, 28, 12, tzinfo=UTC)
BERLIN = {"cron": "30 2 * * *", "zone": "Europe/Berlin"}


async def test_schedules_are_listed_and_read(api: httpx.AsyncClient, rows: Rows) -> None:
    """All schedules of a tenant, narrowed to a definition, page by page; a foreign one is not found (API-01, API-09)."""
    await put(api, {"name": "a", "schedules": [NIGHTLY, {"name": "often", "every": "15m"}]})
    await put(api, {"name": "b", "schedules": [{"every": "1h"}]})
    first = (await api.get("/v1/schedules", params={"limit": 2})).json()
    second = (await api.get("/v1/schedules", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    names = sorted((one["definition"], one["name"]) for one in first["items"] + second["items"])
    assert names == [("a", "nightly"), ("a", "often"), ("b", "default")]
    assert second["next_cursor"] is None
    [only] = (await api.get("/v1/schedules", params={"definition": "b"})).json()["items"]
    assert (await api.get(f"/v1/schedules/{only['id']}")).json() == only
    assert (only["every"], only["cron"], only["overlap"]) == ("1h", None, "skip")
    await rows.value("UPDATE headway.schedule SET tenant = 'others' WHERE name = 'default'")
    for path in (f"/v1/schedules/{only['id']}", f"/v1/schedules/{uuid4()}", f"/v1/schedules/{only['id']}/slots"):
        assert (await api.get(path)).status_code == 404


async def test_decided_slots_are_read_newest_first(api: httpx.AsyncClient, platform: Platform) -> None:
    """The ledger of a schedule, page by page, with the stretches that were decided as one (OBS-06)."""
    [schedule] = (await put(api, {"name": "report", "schedules": [{"every": "1h"}]}))["schedules"]
    decided = [MARCH + timedelta(hours=hour) for hour in range(3)]
    fired, skipped = int(DecisionKind.FIRED), int(DecisionKind.SKIPPED)
    async with platform.database.begin() as tx:
        await slots.record(
            tx, [SlotRecord(schedule["id"], at, fired, "", "", at, None, 1) for at in decided], actor="scheduler", tzdata="2026a"
        )
        missed = RangeRecord(schedule["id"], MARCH - timedelta(days=1), MARCH - timedelta(hours=1), skipped, "missed", "", 23, 1)
        await slots.record_ranges(tx, [missed], actor="scheduler", tzdata="2026a")
    path = f"/v1/schedules/{schedule['id']}/slots"
    first = (await api.get(path, params={"limit": 2})).json()
    second = (await api.get(path, params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [datetime.fromisoformat(one["slot_at"]) for one in first["items"] + second["items"]] == decided[::-1]
    assert {one["decision"] for one in first["items"]} == {"fired"}
    assert [(one["decision"], one["reason"], one["slots"]) for one in first["ranges"]] == [("skipped", "missed", 23)]
    assert (second["ranges"], second["next_cursor"]) == ([], None)


async def test_next_slots_are_merged_and_what_is_off_has_none(api: httpx.AsyncClient) -> None:
    """The next slots of all schedules of a definition in one order; a disabled one fires nothing (DEF-21)."""
    schedules = [{"name": "a", "every": "1h"}, {"name": "b", "every": "90m"}, {"name": "off", "every": "1m", "enabled": False}]
    await put(api, {"name": "report", "schedules": schedules})
    found = (await api.get("/v1/definitions/report/next-slots", params={"count": 50})).json()["items"]
    instants = [one["slot_at"] for one in found]
    assert (len(found), instants) == (50, sorted(instants))
    assert {one["schedule_name"] for one in found} == {"a", "b"}
    for count in (0, 1001):
        assert (await api.get("/v1/definitions/report/next-slots", params={"count": count})).status_code == 422
    await api.post("/v1/definitions/report:disable")
    assert (await api.get("/v1/definitions/report/next-slots")).json()["items"] == []
    assert (await api.get("/v1/definitions/nothing/next-slots")).status_code == 404


def test_next_slots_are_those_of_dispatch() -> None:
    """The preview asks the evaluator that dispatch asks, a change of clocks included, and shows the local time beside it (DEF-21)."""
    shown = next_slots([{"id": uuid4(), "name": "nightly", "rule": BERLIN}], MARCH, 3)
    assert [one.slot_at for one in shown] == between(parse_rule(BERLIN), MARCH, MARCH + timedelta(days=9), 3)
    assert [one.local for one in shown] == ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00", "2026-03-31T02:30:00+02:00"]
