"""Proofs of schedules over HTTP."""

from datetime import timedelta
from uuid import uuid4

import httpx
import pytest

from headway.api.platform import Platform
from tests.api.rows import Rows
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

MINUTE = timedelta(minutes=1)


@pytest.fixture
async def ledger(platform: Platform) -> Ledger:
    """A schedule whose first half hour was missed."""
    made = await Ledger(Scene(platform.database)).begin({"every": "1m"}, overlap="allow", overlap_max=100)
    await made.decide(START + 30 * MINUTE)
    await made.decide(START + 31 * MINUTE)
    return made


async def test_a_period_is_proven(api: httpx.AsyncClient, ledger: Ledger, rows: Rows) -> None:
    """OBS-06: what is expected, what was decided and how, what is wrong, and what was filled in afterwards."""
    path = f"/v1/schedules/{ledger.schedule}/proof"
    await rows.value("INSERT INTO headway.backfill VALUES ($1, $2, $1, $2) RETURNING run", ledger.schedule, START + MINUTE)
    whole = (await api.get(path)).json()
    assert (whole["holds"], whole["expected"], whole["slots"], whole["ranges"], whole["slots_in_ranges"]) == (True, 31, 2, 1, 29)
    assert (whole["next_from"], len(whole["backfilled"]), whole["findings"]) == (None, 1, [])
    part = (await api.get(path, params={"from": "2030-01-07T12:10:00Z", "to": "2030-01-07T12:20:00Z"})).json()
    assert (part["holds"], part["expected"], part["from_at"]) == (True, 10, "2030-01-07T12:10:00Z")
    await rows.value("DELETE FROM headway.slot_range")
    broken = (await api.get(path)).json()
    assert (broken["holds"], broken["broken"], broken["findings"][0]["kind"]) == (False, 1, "missing")


async def test_what_cannot_be_proven(api: httpx.AsyncClient, ledger: Ledger, rows: Rows) -> None:
    """API-02, API-09: no such schedule, a foreign one, an instant without an offset, a field that is not known."""
    path = f"/v1/schedules/{ledger.schedule}/proof"
    assert (await api.get(f"/v1/schedules/{uuid4()}/proof")).status_code == 404
    assert (await api.get(path, params={"from": "2030-01-07T12:10:00"})).status_code == 422
    assert (await api.get(path, params={"from_": "2030-01-07T12:10:00Z"})).status_code == 422
    await rows.value("UPDATE headway.schedule SET tenant = 'others'")
    await rows.value("UPDATE headway.schedule_version SET tenant = 'others'")
    assert (await api.get(path)).status_code == 404


async def test_a_deleted_schedule_is_proven(api: httpx.AsyncClient, ledger: Ledger) -> None:
    """DEF-22: the ledger outlives its schedule."""
    assert (await api.delete(f"/v1/schedules/{ledger.schedule}")).status_code == 204
    assert (await api.get(f"/v1/schedules/{ledger.schedule}/proof")).json()["holds"]
