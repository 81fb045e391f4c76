"""Restrictions over HTTP."""

from typing import Any

import httpx
import pytest

from headway.api.platform import Platform
from headway.broker.port import Broker
from headway.messages import DefinitionChanged
from headway.messages import parse as parse_message
from headway.messages.channels import DEFINITION_CHANGED
from tests.api.rows import Rows, ask, fields, put

PAIR = {"first": "load", "second": "vacuum", "description": "both take the table"}


async def restrict(api: httpx.AsyncClient) -> dict[str, Any]:
    """Two definitions that must not be active together."""
    for name in ("load", "vacuum"):
        await put(api, {"name": name})
    created = await api.post("/v1/restrictions", json=PAIR)
    assert created.status_code == 201, created.text
    shown: dict[str, Any] = created.json()
    return shown


async def test_a_restriction_is_created_read_and_deleted(api: httpx.AsyncClient, rows: Rows) -> None:
    """DEF-20: 201 with its place; what was read is gone after DELETE, and whoever waited runs."""
    shown = await restrict(api)
    assert {shown["first"], shown["second"], shown["description"]} == set(PAIR.values())
    assert (await api.get(f"/v1/restrictions/{shown['id']}")).json() == shown
    assert (await ask(api, "load"))["state"] == "queued"
    held = await ask(api, "vacuum")
    assert (held["state"], (await api.get(f"/v1/runs/{held['id']}")).json()["cause"]) == ("held", "gate")
    gone = await api.delete(f"/v1/restrictions/{shown['id']}")
    assert gone.json()["change"] == "deleted"
    assert (await api.get(f"/v1/runs/{held['id']}")).json()["state"] == "queued"
    missing = await api.delete(f"/v1/restrictions/{shown['id']}")
    assert (missing.status_code, missing.json()["code"]) == (404, "restriction_unknown")
    assert await rows.value("SELECT count(*) FROM headway.audit WHERE action LIKE 'restriction.%' AND actor = 'api'") == 2


@pytest.mark.parametrize(
    ("document", "wrong"),
    [
        ({"first": "load"}, ["second"]),
        ({**PAIR, "colour": "red"}, ["colour"]),
        ({**PAIR, "first": "x", "second": "y"}, ["first", "second"]),
        ({**PAIR, "first": ""}, ["first"]),
        ({**PAIR, "description": 7}, ["description"]),
    ],
)
async def test_what_is_wrong_is_named_by_field(api: httpx.AsyncClient, rows: Rows, document: dict[str, Any], wrong: list[str]) -> None:
    """API-02: every problem at once, by field, and nothing is written."""
    for name in ("load", "vacuum"):
        await put(api, {"name": name})
    response = await api.post("/v1/restrictions", json=document)
    assert (response.status_code, list(fields(response))) == (422, wrong), response.text
    assert await rows.value("SELECT count(*) FROM headway.restriction") == 0


async def test_a_pair_is_restricted_once(api: httpx.AsyncClient) -> None:
    """DEF-20: 409 for the same pair in either order."""
    await restrict(api)
    again = await api.post("/v1/restrictions", json={"first": "vacuum", "second": "load"})
    assert (again.status_code, again.json()["code"]) == (409, "restriction_exists")


async def test_restrictions_are_applied_together_and_listed(api: httpx.AsyncClient, rows: Rows) -> None:
    """DEF-02, API-01: all or none, a dry run says the same and keeps nothing; pages follow one another, those of one definition alone."""
    for name in ("a", "b", "c"):
        await put(api, {"name": name})
    document = {"restrictions": [{"first": "a", "second": "b"}, {"first": "c", "second": "b"}, {"first": "a", "second": "a"}]}
    dry = await api.post("/v1/restrictions:apply", params={"dry_run": "true"}, json=document)
    assert [one["change"] for one in dry.json()["changes"]] == ["created"] * 3
    assert await rows.value("SELECT count(*) FROM headway.restriction") == 0
    done = (await api.post("/v1/restrictions:apply", json=document)).json()
    assert [(one["first"], one["second"], one["change"]) for one in done["changes"]] == [
        ("a", "b", "created"),
        ("c", "b", "created"),
        ("a", "a", "created"),
    ]
    first = (await api.get("/v1/restrictions", params={"limit": 2})).json()
    second = (await api.get("/v1/restrictions", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [one["id"] for one in first["items"] + second["items"]] == [one["id"] for one in done["changes"]]
    assert second["next_cursor"] is None
    of_c = (await api.get("/v1/restrictions", params={"definition": "c"})).json()["items"]
    assert [{one["first"], one["second"]} for one in of_c] == [{"b", "c"}]
    assert (await api.get("/v1/restrictions", params={"definition": "c", "cursor": first["next_cursor"]})).status_code == 400
    again = await api.post("/v1/restrictions:apply", json={"restrictions": [{"first": "b", "second": "a"}]})
    assert [one["change"] for one in again.json()["changes"]] == [""]
    bad = await api.post("/v1/restrictions:apply", json={"restrictions": [PAIR, {"first": "a", "second": "x"}]})
    assert list(fields(bad)) == ["restrictions[0].first", "restrictions[0].second", "restrictions[1].second"]


async def test_a_definitions_document_has_its_restrictions(api: httpx.AsyncClient) -> None:
    """DEF-02: shown with both definitions, kept where a document says nothing of them, replaced by a list, taken away by null."""
    await restrict(api)
    shown = (await api.get("/v1/definitions/load")).json()
    assert (shown["restrictions"], shown["version"]) == (["vacuum"], 2)
    kept = await api.put("/v1/definitions/load", json={"name": "load", "description": "x"}, headers={"If-Match": '"2"'})
    assert kept.json()["restrictions"] == ["vacuum"]
    together = {"definitions": [{"name": "load", "restrictions": ["load", "index"]}, {"name": "index"}]}
    applied = (await api.post("/v1/definitions:apply", json=together)).json()["changes"]
    assert [(one["name"], one["change"]) for one in applied] == [("load", "updated"), ("index", "created"), ("vacuum", "updated")]
    load = (await api.get("/v1/definitions/load")).json()
    again = await api.put("/v1/definitions/load", json=load, headers={"If-Match": f'"{load["version"]}"'})
    assert again.json() == load and load["restrictions"] == ["index", "load"]
    tag = {"If-Match": f'"{load["version"]}"'}
    assert list(fields(await api.patch("/v1/definitions/load", json={"restrictions": ["x"]}, headers=tag))) == ["restrictions"]
    assert list(fields(await api.patch("/v1/definitions/load", json={"restrictions": [7]}, headers=tag))) == ["restrictions[0]"]
    assert (await api.patch("/v1/definitions/load", json={"restrictions": None}, headers=tag)).json()["restrictions"] == []
    [*listed] = (await api.get("/v1/definitions")).json()["items"]
    assert [one["restrictions"] for one in listed] == [[], [], []]


async def test_a_run_may_be_forced(api: httpx.AsyncClient, rows: Rows) -> None:
    """DEF-20: `force` starts a run beside its partner, and the trail says who did."""
    await restrict(api)
    await ask(api, "load")
    forced = await ask(api, "vacuum", force=True)
    assert forced["state"] == "queued"
    [entry] = await rows.fetch("SELECT actor, subject FROM headway.audit WHERE action = 'run.forced'")
    assert (entry["actor"], entry["subject"]) == ("api", f"run:{forced['id']}")
    assert (await api.post("/v1/runs", json={"definition": "load", "force": "yes"})).status_code == 422


async def test_schedulers_hear_of_both_definitions(api: httpx.AsyncClient, broker: Broker, platform: Platform) -> None:
    """DEF-04: a restriction that is made or taken away changes two definitions, and both are named."""
    shown = await restrict(api)
    await platform.announcer.flush()
    ear = await broker.listen(DEFINITION_CHANGED)
    await api.delete(f"/v1/restrictions/{shown['id']}")
    await platform.announcer.flush()
    heard = [parse_message(one.body) for one in await ear.receive()]
    assert [(one.definition, one.version) for one in heard if isinstance(one, DefinitionChanged)] == [("load", 3), ("vacuum", 3)]
