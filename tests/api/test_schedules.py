"""Schedules and their slots over HTTP."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import httpx

from headway.api.platform import Platform
from headway.core.slot import DecisionKind
from headway.store import slots
from headway.store.slots import RangeRecord, SlotRecord
from tests.api.rows import NIGHTLY, Rows, put

MARCH = datetime(2026, 3, 28, 12, tzinfo=UTC)


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
