"""Triggers over HTTP."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from headway.api.platform import Platform
from headway.api.trigger_views import Operator
from headway.broker.port import Broker
from headway.core.ask import QUIET
from headway.core.condition import Operator as Known
from headway.messages import DefinitionChanged
from headway.messages import parse as parse_message
from headway.messages.channels import DEFINITION_CHANGED
from headway.runtime.settings import Secret
from headway.runtime.vault import Keyring, new_key
from headway.store.tx import Database
from tests.api.rows import Rows, ask, fields, put
from tests.store.dump import CANARY, places_of

MANY: dict[str, Any] = {"key": "rows", "operator": "greater", "value": 0}
NEXT: dict[str, Any] = {"source": "a", "target": "b", "name": "next", "condition": MANY, "parameters": {"of": "{TriggeredBy.Id}"}}


async def created(api: httpx.AsyncClient, **given: Any) -> dict[str, Any]:
    """A trigger between two new definitions."""
    for name in ("a", "b"):
        await put(api, {"name": name})
    answer = await api.post("/v1/triggers", json={**NEXT, **given})
    assert answer.status_code == 201, answer.text
    document: dict[str, Any] = answer.json()
    return document


def test_the_contract_names_every_operator() -> None:
    """TRG-01: the sixteen operators of the core are those of the contract."""
    assert list(Operator.__args__) == [one.value for one in Known]  # type: ignore[attr-defined]  # a Literal has them


async def test_a_trigger_is_created_read_changed_and_deleted(api: httpx.AsyncClient) -> None:
    """API-01, API-08, DEF-03: each change is a version of the trigger and of the definition that fires it."""
    trigger = await created(api)
    path = f"/v1/triggers/{trigger['id']}"
    assert {name: trigger[name] for name in NEXT} == NEXT
    assert (trigger["version"], trigger["declared"], trigger["enabled"]) == (1, "api", True)
    assert (await api.get("/v1/definitions/a")).json()["triggers"] == [trigger]
    assert (await api.get("/v1/definitions/a")).json()["version"] == 2
    changed = await api.patch(path, json={"condition": {"value": 5}, "description": "many"}, headers={"If-Match": '"1"'})
    assert (changed.headers["ETag"], changed.json()["condition"], changed.json()["description"]) == ('"2"', {**MANY, "value": 5}, "many")
    same = await api.patch(path, json=changed.json(), headers={"If-Match": '"2"'})
    assert same.json() == changed.json() == (await api.get(path)).json()
    off = await api.post(f"{path}:disable")
    on = await api.post(f"{path}:enable", headers={"If-Match": off.headers["ETag"]})
    assert [(one.json()["enabled"], one.json()["version"]) for one in (off, on)] == [(False, 3), (True, 4)]
    gone = await api.delete(path, headers={"If-Match": '"4"'})
    assert gone.json() == {"id": trigger["id"], "source": "a", "name": "next", "version": 4, "change": "deleted"}
    assert (await api.get(path)).status_code == 404
    assert (await api.get("/v1/definitions/a")).json()["version"] == 6


async def test_an_update_needs_the_version_that_it_builds_on(api: httpx.AsyncClient) -> None:
    """API-08: 428 without If-Match, 412 with a stale one, and nothing changes; a deletion may leave it out."""
    path = f"/v1/triggers/{(await created(api))['id']}"
    answers = [
        await api.patch(path, json={"description": "x"}),
        await api.patch(path, json={"description": "x"}, headers={"If-Match": '"7"'}),
        await api.delete(path, headers={"If-Match": '"7"'}),
        await api.post(f"{path}:disable", headers={"If-Match": '"7"'}),
    ]
    assert [answer.status_code for answer in answers] == [428, 412, 412, 412]
    assert (await api.get(path)).json()["version"] == 1
    assert (await api.delete(path)).status_code == 200


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"source": None}, "source"),
        ({"source": "absent"}, "source"),
        ({"target": "absent"}, "target"),
        ({"target": None}, "target"),
        ({"target": "a"}, "target"),
        ({"name": "/"}, "name"),
        ({"condition": {"key": "x", "operator": "resembles", "value": 1}}, "condition.operator"),
        ({"condition": {"key": "x", "operator": "regex", "value": "("}}, "condition.value"),
        ({"condition": {"key": "Result", "value": "Broken"}}, "condition.value"),
        ({"parameters": [1]}, "parameters"),
        ({"parameters": {"x": "\x00"}}, "parameters.x"),
        ({"enabled": "yes"}, "enabled"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_bad_triggers_are_named_by_field_and_nothing_is_written(
    api: httpx.AsyncClient, rows: Rows, given: dict[str, Any], field: str
) -> None:
    """API-02, TRG-04: one problem with its field, and no row; one that would close a circle says which."""
    for name in ("a", "b"):
        await put(api, {"name": name})
    before = await rows.counts()
    answer = await api.post("/v1/triggers", json={**NEXT, **given})
    assert (answer.status_code, list(fields(answer))) == (422, [field]), answer.text
    assert await rows.value("SELECT count(*) FROM headway.trigger") == 0
    assert await rows.counts() == before
    if given == {"target": "a"}:
        assert fields(answer) == {"target": "closes a circle: a -> a"}


async def test_what_cannot_be_changed_is_said(api: httpx.AsyncClient) -> None:
    """A trigger keeps its name and source, is created once, and one that is not there is 404."""
    trigger = await created(api)
    for name in ("name", "source"):
        refused = await api.patch(f"/v1/triggers/{trigger['id']}", json={name: "b"}, headers={"If-Match": "*"})
        assert fields(refused) == {name: "cannot be changed"}
    again = await api.post("/v1/triggers", json=NEXT)
    assert (again.status_code, again.json()["code"]) == (409, "trigger_exists")
    absent = f"/v1/triggers/{uuid4()}"
    assert [(await call).status_code for call in (api.get(absent), api.delete(absent), api.post(f"{absent}:enable"))] == [404] * 3


async def test_triggers_are_applied_together_and_listed(api: httpx.AsyncClient, rows: Rows) -> None:
    """API-01: apply saves all or none, a dry run says the same and keeps nothing; pages and filters follow."""
    for name in ("a", "b", "c"):
        await put(api, {"name": name})
    document = {"triggers": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}, {"source": "a", "target": "c"}]}
    dry = await api.post("/v1/triggers:apply", params={"dry_run": "true"}, json=document)
    assert [one["change"] for one in dry.json()["changes"]] == ["created"] * 3
    assert await rows.value("SELECT count(*) FROM headway.trigger") == 0
    done = (await api.post("/v1/triggers:apply", json=document)).json()["changes"]
    assert [(one["source"], one["name"], one["change"]) for one in done] == [(one, two, "created") for one, two in ("ab", "bc", "ac")]
    first = (await api.get("/v1/triggers", params={"limit": 2})).json()
    second = (await api.get("/v1/triggers", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    shown = first["items"] + second["items"]
    assert (len(shown), second["next_cursor"]) == (3, None)
    assert sorted((one["source"], one["target"]) for one in shown) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert (await api.get("/v1/triggers", params={"cursor": first["next_cursor"], "source": "a"})).status_code == 400
    narrowed = (await api.get("/v1/triggers", params={"target": "c", "source": "a"})).json()["items"]
    assert [one["name"] for one in narrowed] == ["c"]
    again = await api.post("/v1/triggers:apply", json={"triggers": shown})
    assert [one["change"] for one in again.json()["changes"]] == [""] * 3
    bad = await api.post("/v1/triggers:apply", json={"triggers": [{"source": "c", "target": "a"}, {"source": "c", "target": "x"}]})
    assert list(fields(bad)) == ["triggers[1].target"]
    circle = await api.post("/v1/triggers:apply", json={"triggers": [{"source": "c", "target": "a"}]})
    assert fields(circle) == {"triggers[0].target": "closes a circle: c -> a -> c"}
    twice = await api.post("/v1/triggers:apply", json={"triggers": [{"source": "a", "target": "b"}] * 2})
    assert fields(twice) == {"triggers": "b of a is named twice"}
    unfits: list[dict[str, Any]] = [{}, {"triggers": 7}, {"triggers": []}, {"triggers": [7]}]
    for unfit in unfits:
        assert (await api.post("/v1/triggers:apply", json=unfit)).status_code == 422


async def test_a_definition_is_saved_with_its_triggers(api: httpx.AsyncClient) -> None:
    """DEF-02: in one document, whatever stands first; what is read may be sent back; a patch that does not name them leaves them."""
    document = {"definitions": [{"name": "a", "triggers": [{"target": "b", "condition": MANY}]}, {"name": "b"}]}
    assert (await api.post("/v1/definitions:apply", json=document)).status_code == 200
    shown = (await api.get("/v1/definitions/a")).json()
    assert [(one["name"], one["condition"]) for one in shown["triggers"]] == [("b", MANY)]
    again = await api.put("/v1/definitions/a", json=shown, headers={"If-Match": '"1"'})
    assert again.json() == shown
    patched = await api.patch("/v1/definitions/a", json={"priority": 3}, headers={"If-Match": '"1"'})
    assert (patched.json()["version"], patched.json()["triggers"]) == (2, shown["triggers"])
    emptied = await api.patch("/v1/definitions/a", json={"triggers": []}, headers={"If-Match": '"2"'})
    assert emptied.json()["triggers"] == []
    wrong = await api.post("/v1/definitions:apply", json={"definitions": [{"name": "a", "triggers": [{"target": "b", "x": 1}]}]})
    assert list(fields(wrong)) == ["definitions[0].triggers[0].x"]


async def test_schedulers_hear_of_a_trigger(api: httpx.AsyncClient, broker: Broker, platform: Platform) -> None:
    """DEF-04: the definition that fires it changed; so did one that loses its target."""
    await platform.announcer.flush()
    trigger = await created(api)
    await platform.announcer.flush()
    ear = await broker.listen(DEFINITION_CHANGED)
    await api.post(f"/v1/triggers/{trigger['id']}:disable")
    await api.delete("/v1/definitions/b")
    await platform.announcer.flush()
    heard = [parse_message(one.body) for one in await ear.receive()]
    assert [(one.definition, one.change, one.version) for one in heard if isinstance(one, DefinitionChanged)] == [
        ("a", "updated", 3),
        ("b", "deleted", 1),
        ("a", "updated", 4),
    ]


async def test_a_run_is_asked_for_without_triggers(api: httpx.AsyncClient, rows: Rows) -> None:
    """TRG-05: `no_triggers` makes a quiet run, one by one and in bulk."""
    await put(api, {"name": "a"})
    run = await ask(api, "a", no_triggers=True)
    await api.post("/v1/runs:bulk", json={"runs": [{"definition": "a"}, {"definition": "a", "no_triggers": True}]})
    assert [row["owes"] for row in await rows.fetch("SELECT owes FROM headway.run ORDER BY id")] == [QUIET, 0, QUIET]
    assert (await api.get(f"/v1/runs/{run['id']}")).json()["depth"] == 0


async def test_the_children_of_a_run_are_listed(api: httpx.AsyncClient, rows: Rows) -> None:
    """TRG-04: lineage is readable: parent, depth and origin of a run, its history, and the runs behind a parent."""
    await put(api, {"name": "a"})
    parent, child, _ = [(await ask(api, "a"))["id"] for _ in range(3)]
    made = "UPDATE headway.run SET parent = $1, origin = 6, depth = 3, created_by = 'trigger:next' WHERE id = $2 RETURNING id"
    await rows.value(made, parent, child)
    listed = (await api.get("/v1/runs", params={"parent": parent})).json()["items"]
    assert [(one["id"], one["parent"], one["depth"], one["origin"]) for one in listed] == [(child, parent, 3, "trigger")]
    [born, *_] = (await api.get(f"/v1/runs/{child}/history")).json()
    assert born["why"] == f"triggered by run {parent} through trigger next"
    assert (await api.get("/v1/runs", params={"parent": "x"})).status_code == 422


async def test_a_secret_of_a_trigger_is_never_given_back(api: httpx.AsyncClient, rows: Rows, database: Database) -> None:
    """TPL-07: what the target calls secret is stars in every answer; sent back it is the one that stands, and no version more."""
    database.vault = Keyring([Secret(new_key())])
    await put(api, {"name": "a"})
    await put(api, {"name": "b", "parameter_spec": {"properties": {"word": {"writeOnly": True}}}})
    made = await api.post("/v1/triggers", json={"source": "a", "target": "b", "parameters": {"word": CANARY, "note": "n"}})
    trigger = made.json()
    assert (made.status_code, trigger["parameters"]) == (201, {"word": "***", "note": "n"})
    path = f"/v1/triggers/{trigger['id']}"
    assert (await api.patch(path, json=trigger, headers={"If-Match": '"1"'})).json()["version"] == 1
    definition = (await api.get("/v1/definitions/a")).json()
    back = await api.put("/v1/definitions/a", json=definition, headers={"If-Match": "*"})
    assert back.json() == definition and definition["triggers"][0]["parameters"]["word"] == "***"
    forged = await api.patch(path, json={"parameters": {"word": {"$secret": "x"}}}, headers={"If-Match": "*"})
    assert list(fields(forged)) == ["parameters.word"]
    assert await places_of(database, CANARY) == []
