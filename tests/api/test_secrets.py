"""Secret parameters over HTTP: taken in the clear, never given back."""

from typing import Any

import httpx
import pytest

from headway.api.platform import Platform
from headway.runtime.settings import Secret
from headway.runtime.vault import Keyring, new_key
from headway.store.tx import Database
from tests.api.rows import Rows, ask, fields, put
from tests.store.dump import CANARY, places_of

SPEC = {
    "type": "object",
    "properties": {
        "word": {"type": "string", "format": "password", "minLength": 3, "pattern": "^c4"},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}, "writeOnly": True},
        "customer": {"type": "string"},
    },
    "required": ["word"],
    "additionalProperties": False,
}
NIGHTLY = {"name": "nightly", "cron": "0 7 * * *", "parameters": {"customer": "all", "headers": {"X-Key": CANARY}}}
CALL = {"name": "call", "parameters": {"word": CANARY}, "parameter_spec": SPEC, "schedules": [NIGHTLY]}


@pytest.fixture(autouse=True)
def key(database: Database) -> None:
    """The API has a key."""
    database.vault = Keyring([Secret(new_key())])


async def everything(api: httpx.AsyncClient, *paths: str) -> str:
    """What the API says of everything here, in one text."""
    said = ["/v1/definitions", "/v1/definitions/call", "/v1/schedules", "/v1/runs", "/v1/definitions/call/next-slots", *paths]
    answers = [await api.get(path) for path in said]
    assert {answer.status_code for answer in answers} == {200}
    return "\n".join(answer.text for answer in answers)


async def test_nothing_gives_a_secret_back(api: httpx.AsyncClient, rows: Rows, database: Database) -> None:
    """TPL-07: definitions, schedules, runs and their content show stars; the database holds no secret."""
    shown = await put(api, CALL)
    run = await ask(api, "call", params={"word": CANARY, "customer": "acme"}, key="k")
    assert run["existing"] is False and (await ask(api, "call", params={"word": CANARY, "customer": "acme"}, key="k"))["existing"]
    default = await ask(api, "call", params={"customer": "acme"})
    paths = [f"/v1/runs/{one['id']}{what}" for one in (run, default) for what in ("", "/content", "/attempts", "/history")]
    said = await everything(api, *paths, f"/v1/schedules/{shown['schedules'][0]['id']}/preview")
    assert "c4nary" not in said and "$secret" not in said
    content = (await api.get(f"/v1/runs/{default['id']}/content")).json()
    assert content["params"] == {"word": "***", "customer": "acme"}
    assert (shown["parameters"], shown["schedules"][0]["parameters"]) == ({"word": "***"}, {"customer": "all", "headers": "***"})
    assert await places_of(database, CANARY) == []


async def test_what_is_read_can_be_sent_back(api: httpx.AsyncClient) -> None:
    """TPL-07: a masked secret in a put, a patch, an apply or a switch is the one that stands, and changes nothing."""
    shown = await put(api, CALL)
    back = await api.put("/v1/definitions/call", json=shown, headers={"If-Match": '"1"'})
    assert (back.status_code, back.json()["version"]) == (200, 1)
    for document in (CALL, shown):
        applied = await api.post("/v1/definitions:apply", json={"definitions": [document]})
        assert applied.json()["changes"] == [{"name": "call", "version": 1, "change": ""}]
    other = await api.post("/v1/definitions:apply?dry_run=true", json={"definitions": [CALL | {"parameters": {"word": "c4other"}}]})
    assert other.json()["changes"][0]["change"] == "updated" and "c4other" not in other.text
    patched = await api.patch("/v1/definitions/call", json={"parameters": {"customer": "x"}}, headers={"If-Match": '"1"'})
    assert patched.json()["parameters"] == {"word": "***", "customer": "x"}
    assert (await api.post("/v1/definitions/call:disable")).json()["parameters"] == {"word": "***", "customer": "x"}
    schedule = shown["schedules"][0]
    version = (await api.get(f"/v1/schedules/{schedule['id']}")).json()["version"]
    moved = await api.patch(f"/v1/schedules/{schedule['id']}", json={"zone": "Europe/Berlin"}, headers={"If-Match": f'"{version}"'})
    assert moved.json()["parameters"] == {"customer": "all", "headers": "***"}


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"word": "xx"}, {"params.word": "does not fit its specification: minLength"}),
        ({"word": 12345}, {"params.word": "does not fit its specification: type"}),
        ({"word": CANARY, "headers": {"X-Key": 12345}}, {"params.headers": "does not fit its specification: type"}),
        ({"word": {"$secret": "x"}}, {"params.word": "must not hold $secret: that is how secrets are kept"}),
        ({"word": "***"}, {"params.word": "is masked: give the secret itself"}),
        ({}, {"params.word": "is required"}),
    ],
)
async def test_a_wrong_secret_is_named_and_not_quoted(api: httpx.AsyncClient, rows: Rows, params: Any, problem: dict[str, str]) -> None:
    """TPL-07: the field and the rule that it breaks, never the value; nothing is written."""
    await put(api, {name: value for name, value in CALL.items() if name not in ("parameters", "schedules")})
    before = await rows.counts()
    refused = await api.post("/v1/runs", json={"definition": "call", "params": params})
    assert refused.status_code == 422
    assert problem.items() <= fields(refused).items()
    assert "12345" not in refused.text and '"xx"' not in refused.text
    assert await rows.counts() == before


async def test_masks_and_lookalikes_in_documents(api: httpx.AsyncClient, rows: Rows) -> None:
    """TPL-07: stars that stand for nothing, and what looks like a kept secret, are refused by their fields."""
    refused = await api.put("/v1/definitions/call", json=CALL | {"parameters": {"word": "***"}})
    assert fields(refused) == {"parameters.word": "is masked: give the secret itself"}
    lookalike = {"schedules": [NIGHTLY | {"parameters": {"word": {"$secret": "x"}}}], "parameters": {"word": {"$secret": "x"}}}
    refused = await api.put("/v1/definitions/call", json=CALL | lookalike)
    assert set(fields(refused)) == {"parameters.word", "schedules[0].parameters.word"}
    assert (await rows.counts())["definition"] == 0


async def test_without_a_key_the_setting_is_named(api: httpx.AsyncClient, platform: Platform, rows: Rows) -> None:
    """TPL-07: saving or passing a secret without a key is 422 with the parameter and the setting; everything else goes on."""
    await put(api, CALL)
    platform.database.vault = None
    before = await rows.counts()
    told = "is secret, and there is no key: set HEADWAY_SECRETS__KEYS"
    refused = await api.post("/v1/runs", json={"definition": "call", "params": {"word": CANARY}})
    assert (refused.status_code, fields(refused)) == (422, {"params.word": told})
    saved = await api.put("/v1/definitions/other", json=CALL | {"name": "other"})
    assert (saved.status_code, fields(saved)) == (422, {"parameters.word": told})
    assert await rows.counts() == before
    assert (await api.post("/v1/definitions/call:disable")).status_code == 200
    assert (await api.post("/v1/definitions/call:enable")).status_code == 200
    assert (await ask(api, "call", params={"customer": "acme"}))["state"] == "queued"
