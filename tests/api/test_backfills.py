"""Backfills over HTTP: a plan, and then exactly that plan."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from headway.api.platform import Platform
from tests.api.rows import Rows, fields
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

PERIOD = {"from": "2030-01-07T12:00:00Z", "to": "2030-01-08T12:00:00Z"}


@pytest.fixture
async def ledger(platform: Platform) -> Ledger:
    """A schedule that missed five hours."""
    made = await Ledger(Scene(platform.database)).begin({"every": "1h"})
    await made.decide(START + timedelta(hours=5.5))
    return made


async def test_a_plan_is_made_and_applied(api: httpx.AsyncClient, ledger: Ledger, rows: Rows) -> None:
    """BB-030: the plan comes back as it went out, its runs are named by slot, and the proof lists them; a second time it is refused."""
    path = f"/v1/schedules/{ledger.schedule}:backfill"
    planned = (await api.post(path, json=PERIOD)).json()
    assert (planned["applied"], planned["runs"], len(planned["plan"]["slots"])) == (False, [], 5)
    assert await rows.value("SELECT count(*) FROM headway.run") == 0
    applied = await api.post(path, json={"apply": True, "plan": planned["plan"]})
    assert applied.status_code == 200, applied.text
    assert applied.json()["plan"] == planned["plan"]
    made = [(one["slot_at"], one["run"]) for one in applied.json()["runs"]]
    proof = (await api.get(f"/v1/schedules/{ledger.schedule}/proof")).json()
    assert [(one["slot_at"], one["run"]) for one in proof["backfilled"]] == made
    assert (proof["holds"], len(made)) == (True, 5)
    again = await api.post(path, json={"apply": True, "plan": planned["plan"]})
    assert (again.status_code, again.json()["code"]) == (409, "plan_outdated")
    assert await rows.value("SELECT count(*) FROM headway.run") == 5


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        ({}, {"from", "to"}),
        ({"from": PERIOD["from"]}, {"to"}),
        ({"from": PERIOD["to"], "to": PERIOD["from"]}, {"to"}),
        ({"apply": True}, {"plan"}),
        ({"apply": True, "plan": {}, **PERIOD}, {"from", "to"}),
        ({"plan": {"digest": "x"}, **PERIOD}, {"plan"}),
        ({"apply": True, "plan": {"digest": "x"}}, {"plan"}),
        ({"apply": True, "plan": {"digest": "x", "nul": "\x00"}}, {"plan.nul"}),
    ],
)
async def test_what_is_no_plan(api: httpx.AsyncClient, ledger: Ledger, asked: dict[str, Any], wrong: set[str]) -> None:
    """API-02: every field that is wrong, and nothing is written."""
    answer = await api.post(f"/v1/schedules/{ledger.schedule}:backfill", json=asked)
    assert (answer.status_code, set(fields(answer))) == (422, wrong)
    assert await ledger.runs() == []


async def test_a_schedule_that_is_not_there(api: httpx.AsyncClient) -> None:
    """API-02: 404."""
    assert (await api.post(f"/v1/schedules/{uuid4()}:backfill", json=PERIOD)).status_code == 404
