"""Schedules changed one by one over HTTP."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api.rows import Rows, put

NIGHTLY = {"definition": "report", "name": "nightly", "cron": "30 2 * * *", "zone": "Europe/Berlin"}


async def created(api: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    """A schedule of a new definition."""
    await put(api, {"name": "report"})
    answer = await api.post("/v1/schedules", json={**NIGHTLY, **fields})
    assert answer.status_code == 201, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def test_a_schedule_is_created_changed_and_deleted(api: httpx.AsyncClient) -> None:
    """TEN-01, DEF-03: at run time, without a redeploy; each change is a new version of schedule and definition."""
    schedule = await created(api)
    path = f"/v1/schedules/{schedule['id']}"
    assert (schedule["definition"], schedule["cron"], schedule["version"], schedule["source"]) == ("report", "30 2 * * *", 1, "api")
    assert (await api.get("/v1/definitions/report")).json()["version"] == 2
    changed = await api.patch(path, json={"cron": "0 3 * * *", "misfire": "run_once"}, headers={"If-Match": '"1"'})
    assert (changed.json()["cron"], changed.json()["misfire"], changed.json()["version"]) == ("0 3 * * *", "run_once", 2)
    assert changed.headers["ETag"] == '"2"'
    same = await api.patch(path, json=changed.json(), headers={"If-Match": '"2"'})
    assert same.json()["version"] == 2
    assert (await api.delete(path)).status_code == 204
    assert (await api.get(path)).status_code == 404


async def test_a_stored_schedule_carries_a_payload(api: httpx.AsyncClient) -> None:
    """TEN-01: what was stored comes back, and a patch takes it away."""
    schedule = await created(api, payload="<order id='7'/>")
    assert schedule["payload"] == "<order id='7'/>"
    after = await api.patch(f"/v1/schedules/{schedule['id']}", json={"payload": None}, headers={"If-Match": "*"})
    assert (after.json()["payload"], after.json()["version"]) == ("", 2)


async def test_another_kind_of_rule_replaces_the_old_one(api: httpx.AsyncClient) -> None:
    """A patch that names another kind leaves nothing of the old rule but its zone and bounds."""
    schedule = await created(api)
    answer = await api.patch(f"/v1/schedules/{schedule['id']}", json={"times": ["07:30"], "weekdays": ["mon"]}, headers={"If-Match": "*"})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["times"], answer.json()["cron"], answer.json()["zone"]) == (["07:30"], None, "Europe/Berlin")


@pytest.mark.parametrize(
    ("document", "status", "field"),
    [
        ({"definition": "absent"}, 404, ""),
        ({"definition": None}, 422, "definition"),
        ({"cron": "61 * * * *"}, 422, "cron"),
        ({"zone": "Europa/Madrid"}, 422, "zone"),
        ({"every": "5m"}, 422, "cron"),
        ({"weekdays": []}, 422, "weekdays"),
        ({"misfire": "sometimes"}, 422, "misfire"),
        ({"overlap_max": 0}, 422, "overlap_max"),
        ({"colour": "red"}, 422, "colour"),
    ],
)
async def test_a_wrong_schedule_is_refused(api: httpx.AsyncClient, rows: Rows, document: dict[str, Any], status: int, field: str) -> None:
    """DEF-08, TEN-02: one clear answer with the field's name, and nothing written."""
    await put(api, {"name": "report"})
    answer = await api.post("/v1/schedules", json={**NIGHTLY, **document})
    assert answer.status_code == status, answer.text
    if field:
        assert field in [error["field"] for error in answer.json()["errors"]]
    assert await rows.value("SELECT count(*) FROM headway.schedule") == 0


async def test_a_name_is_taken_once(api: httpx.AsyncClient) -> None:
    """A second schedule of the same name is a conflict, and a name is not changed."""
    schedule = await created(api)
    assert (await api.post("/v1/schedules", json=NIGHTLY)).status_code == 409
    renamed = await api.patch(f"/v1/schedules/{schedule['id']}", json={"name": "other"}, headers={"If-Match": "*"})
    assert renamed.json()["errors"][0]["field"] == "name"


async def test_updates_say_what_they_build_on(api: httpx.AsyncClient) -> None:
    """API-08: 428 without a version, 412 for a stale one."""
    path = f"/v1/schedules/{(await created(api))['id']}"
    assert (await api.patch(path, json={"owner": "x"})).status_code == 428
    assert (await api.patch(path, json={"owner": "x"}, headers={"If-Match": '"9"'})).status_code == 412


async def test_a_foreign_schedule_answers_as_a_missing_one(api: httpx.AsyncClient, rows: Rows) -> None:
    """TEN-03, TEN-04: the same answer for every verb, and what belongs to a tenant is in no list of those that belong to nobody."""
    schedule = await created(api)
    await rows.value("UPDATE headway.schedule SET tenant = 'others'")
    for id_ in (schedule["id"], str(uuid4())):
        path = f"/v1/schedules/{id_}"
        answers = [
            await api.get(path),
            await api.patch(path, json={}, headers={"If-Match": "*"}),
            await api.delete(path),
            *[await api.post(f"{path}:{verb}") for verb in ("pause", "resume", "enable", "disable")],
        ]
        assert [answer.status_code for answer in answers] == [404] * 7
        assert {answer.json()["detail"] for answer in answers} == {f"schedule: there is no schedule {id_}"}
    assert (await api.get("/v1/schedules")).json()["items"] == []


async def test_switches_are_turned_and_recorded(api: httpx.AsyncClient, rows: Rows) -> None:
    """API-06, DEF-18: pause and resume, disable and enable, each audited with its reason; turning one twice changes nothing."""
    path = f"/v1/schedules/{(await created(api))['id']}"
    paused = (await api.post(f"{path}:pause", json={"reason": "stocktaking"})).json()
    assert (paused["paused_by"], paused["paused_reason"], paused["paused_at"] is not None) == ("api", "stocktaking", True)
    assert (await api.post(f"{path}:pause")).json()["version"] == paused["version"]
    assert (await api.post(f"{path}:resume")).json()["paused_at"] is None
    assert (await api.post(f"{path}:disable")).json()["enabled"] is False
    assert (await api.post(f"{path}:enable")).json()["enabled"] is True
    said = await rows.value("SELECT array_agg(action || ':' || reason ORDER BY at, id) FROM headway.audit WHERE subject LIKE 'schedule:%'")
    turned = ["paused:stocktaking", "resumed:", "disabled:", "enabled:"]
    assert said == ["schedule.created:", *[f"schedule.{one}" for one in turned]]


async def test_a_definition_is_paused_and_resumed(api: httpx.AsyncClient, rows: Rows) -> None:
    """API-06: what waits is held meanwhile, and let in again."""
    await put(api, {"name": "report"})
    run = (await api.post("/v1/runs", json={"definition": "report"})).json()
    paused = (await api.post("/v1/definitions/report:pause", json={"reason": "no paper", "until": "2100-01-01T00:00:00Z"})).json()
    assert (paused["paused_at"] is not None, paused["version"]) == (True, 2)
    assert (await api.get(f"/v1/runs/{run['id']}")).json()["state"] == "held"
    assert (await api.post("/v1/definitions/report:resume")).json()["paused_at"] is None
    assert (await api.get(f"/v1/runs/{run['id']}")).json()["state"] == "queued"
