"""Batches over HTTP."""

from typing import Any
from uuid import UUID

import httpx
import orjson

from headway.core.secret import opened
from headway.runtime.settings import Secret
from headway.runtime.vault import Keyring, new_key
from headway.store import reactions
from headway.store.tx import Database
from tests.api.rows import REPORT, Rows, fields, put
from tests.store.batching import DOING, Batches
from tests.store.scene import Scene

BATCHES = "/v1/batches"


async def made(api: httpx.AsyncClient, **wanted: Any) -> dict[str, Any]:
    """Ask for a batch of the definition `report` and return the answer."""
    given = {"definition": "report", "params": {"customer": "acme"}, "children": [{}, {"params": {"PAGES": 3}}], **wanted}
    response = await api.post(BATCHES, json=given)
    assert response.status_code == 201, response.text
    answer: dict[str, Any] = response.json()
    assert response.headers["Location"] == f"{BATCHES}/{answer['id']}"
    return answer


async def get(api: httpx.AsyncClient, path: str, **query: Any) -> dict[str, Any]:
    """Read something."""
    response = await api.get(path, params=query)
    assert response.status_code == 200, response.text
    shown: dict[str, Any] = response.json()
    return shown


async def test_a_batch_is_made_and_shown(api: httpx.AsyncClient) -> None:
    """BAT-01: children have the definition's, the parent's and their own parameters, the last to name one wins, in any case."""
    await put(api, REPORT)
    batch = await made(api, max_concurrent=1, mixed="partial")
    assert (batch["total"], batch["definition"], batch["existing"]) == (2, "report", False)
    shown = await get(api, f"{BATCHES}/{batch['id']}")
    assert (shown["state"], shown["done"], shown["total"], shown["waiting"], shown["outcomes"]) == ("held", 0, 2, 1, {})
    assert shown["progress"] == {"percent": 0, "message": "0/2 children complete"}
    first, second = (await get(api, f"{BATCHES}/{batch['id']}/children"))["items"]
    assert [(one["batch_index"], one["parent"], one["origin"], one["cause"]) for one in (first, second)] == [
        (0, batch["id"], "child", None),
        (1, batch["id"], "child", "batch"),
    ]
    content = await get(api, f"/v1/runs/{second['id']}/content")
    assert content["params"] == {"pages": 3, "customer": "acme"}
    parent = await get(api, f"/v1/runs/{batch['id']}")
    assert (parent["state"], parent["cause"], parent["progress"]["message"]) == ("held", "children", "0/2 children complete")


async def test_everything_that_is_wrong_is_named(api: httpx.AsyncClient, rows: Rows) -> None:
    """BAT-01: one answer names every child that is wrong by its index, and nothing is written."""
    await put(api, REPORT)
    before = await rows.counts()
    twice = {"delay": 5, "at": "2030-01-01T00:00:00Z"}
    children = [{"params": {"pages": 0}}, {}, {"definition": "nobody"}, {"params": {"nonsense": 1}}]
    response = await api.post(BATCHES, json={"definition": "report", "params": {"customer": "a"}, "children": children})
    assert response.status_code == 422
    assert set(fields(response)) == {"children[0].params.pages", "children[2].definition", "children[3].params.nonsense"}
    for wanted, wrong in (
        ({"definition": "nobody", "children": [{}]}, {"definition"}),
        ({"definition": "report", "children": []}, {"children"}),
        ({"definition": "report", "children": [{"priority": 10}], "mixed": "best"}, {"children[0].priority", "mixed"}),
        ({"definition": "report", "params": {"customer": "a"}, "children": [twice]}, {"children[0].delay"}),
    ):
        response = await api.post(BATCHES, json=wanted)
        assert (response.status_code, set(fields(response))) == (422, wrong), response.text
    assert await rows.counts() == before


async def test_a_key_is_honoured(api: httpx.AsyncClient) -> None:
    """API-03: a repeated create and a repeated append under a key are answered by 200 with what stands; another request by 409."""
    await put(api, REPORT)
    wanted = {"definition": "report", "params": {"customer": "acme"}, "children": [{}], "closed": False}
    first, again = [await api.post(BATCHES, json=wanted, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert (first.status_code, again.status_code, again.json()) == (201, 200, {**first.json(), "existing": True})
    other = await api.post(BATCHES, json={**wanted, "children": [{}, {}]}, headers={"Idempotency-Key": "k"})
    assert other.status_code == 409
    path = f"{BATCHES}/{first.json()['id']}/children"
    one, two = [await api.post(path, json={"children": [{}, {}]}, headers={"Idempotency-Key": "a"}) for _ in range(2)]
    assert (one.status_code, two.status_code, two.json()) == (201, 200, {**one.json(), "existing": True})
    assert (one.json()["first"], one.json()["added"], one.json()["total"]) == (1, 2, 3)


async def test_a_batch_is_appended_to_and_closed(api: httpx.AsyncClient, rows: Rows, database: Database) -> None:
    """BAT-06: appended children inherit too; a close is for good, and both are kept in the audit; the result shows the counts."""
    await put(api, REPORT)
    batch = await made(api, closed=False)
    path = f"{BATCHES}/{batch['id']}"
    response = await api.post(f"{path}/children", json={"children": [{"params": {"pages": 9}}]})
    assert response.json() == {"id": batch["id"], "first": 2, "added": 1, "total": 3, "existing": False}
    response = await api.post(f"{path}/children", json={"children": [{"params": {"pages": 0}}]})
    assert set(fields(response)) == {"children[0].params.pages"}
    closed = (await api.post(f"{path}:close", json={"reason": "enough"})).json()
    assert (closed["closed"], closed["state"]) == (True, "held")
    assert (await api.post(f"{path}/children", json={"children": [{}]})).status_code == 409
    entries = await rows.fetch("SELECT action, reason FROM headway.audit WHERE action LIKE 'batch.%' ORDER BY at")
    assert [tuple(one) for one in entries] == [("batch.append", ""), ("batch.close", "enough")]
    batches = Batches(Scene(database))
    session = await batches.scene.worker()
    for claimed in await batches.scene.claim(session, await batches.ids(UUID(batch["id"])), ["report"]):
        await batches.scene.settle(session, claimed)
    await reactions.work_off(database, DOING)
    ended = await get(api, path)
    assert (ended["state"], ended["outcome"], ended["outcomes"], ended["done"]) == ("succeeded", "success", {"success": 3}, 3)


async def test_a_parent_is_cancelled_as_a_run(api: httpx.AsyncClient) -> None:
    """BAT-06: the cancel of the parent cancels its children, which ends it."""
    await put(api, REPORT)
    batch = await made(api)
    response = await api.post(f"/v1/runs/{batch['id']}:cancel", json={"reason": "wrong customer"})
    assert (response.status_code, response.json()["state"]) == (200, "cancelled")
    shown = await get(api, f"{BATCHES}/{batch['id']}")
    assert (shown["state"], shown["outcomes"], shown["closed"]) == ("cancelled", {"cancelled": 2}, True)


async def test_batches_and_children_are_paged(api: httpx.AsyncClient) -> None:
    """API-02: batches come newest first, children by index, over pages whose cursors belong to their own listing."""
    await put(api, REPORT)
    ids = [(await made(api, children=[{}] * 5))["id"] for _ in range(3)]
    page = await get(api, BATCHES, limit=2)
    rest = await get(api, BATCHES, limit=2, cursor=page["next_cursor"])
    assert [one["id"] for one in [*page["items"], *rest["items"]]] == ids[::-1]
    path = f"{BATCHES}/{ids[0]}/children"
    first = await get(api, path, limit=3)
    second = await get(api, path, limit=3, cursor=first["next_cursor"])
    assert [one["batch_index"] for one in [*first["items"], *second["items"]]] == [0, 1, 2, 3, 4]
    assert second["next_cursor"] is None
    other = await api.get(f"{BATCHES}/{ids[1]}/children", params={"cursor": first["next_cursor"]})
    assert other.status_code == 400


async def test_what_is_no_batch_is_not_found(api: httpx.AsyncClient) -> None:
    """An ordinary run is no batch, nor is an id of nothing: 404 on every route."""
    await put(api, REPORT)
    run = (await api.post("/v1/runs", json={"definition": "report", "params": {"customer": "a"}})).json()["id"]
    for path in (f"{BATCHES}/{run}", f"{BATCHES}/{run}/children"):
        assert (await api.get(path)).status_code == 404
    assert (await api.post(f"{BATCHES}/{run}:close")).status_code == 404
    assert (await api.post(f"{BATCHES}/{run}/children", json={"children": [{}]})).status_code == 404


async def test_appended_children_inherit_secrets(api: httpx.AsyncClient, rows: Rows, database: Database) -> None:
    """TPL-07, BAT-01: a parent keeps a secret sealed, children that come later inherit it sealed anew, and no row tells it."""
    database.vault = Keyring([Secret(new_key())])
    spec = {"properties": {"token": {"type": "string", "writeOnly": True}, "n": {"type": "integer"}}, "required": ["token"]}
    await put(api, {"name": "report", "parameter_spec": spec})
    batch = await made(api, params={"token": "bare-as-can-be"}, children=[{"params": {"n": 1}}], closed=False)
    response = await api.post(f"{BATCHES}/{batch['id']}/children", json={"children": [{"params": {"n": 2}}]})
    assert response.status_code == 201, response.text
    texts = [row["params"] for row in await rows.fetch("SELECT params FROM headway.run ORDER BY id")]
    assert [opened(orjson.loads(text), database.vault) for text in texts] == [
        {"token": "bare-as-can-be"},
        {"token": "bare-as-can-be", "n": 1},
        {"token": "bare-as-can-be", "n": 2},
    ]
    assert not [text for text in texts if "bare" in text]
    shown = await get(api, f"/v1/runs/{batch['id']}/content")
    assert "bare" not in str(shown)
