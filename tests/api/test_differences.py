"""What applying a document would change, before it is applied."""

from typing import Any

import httpx
import pytest

from headway.core.definition import DefinitionDraft, ScheduleDraft
from headway.core.schedule.rule import parse_rule
from headway.runtime.settings import Secret
from headway.runtime.vault import Keyring, new_key
from headway.store import catalogue
from headway.store.tx import Database
from tests.api.rows import Rows, put

NIGHTLY = {"name": "nightly", "cron": "30 2 * * *", "zone": "Europe/Berlin"}
REPORT = {"name": "report", "handler": "report", "timeout": "30m", "schedules": [NIGHTLY]}


@pytest.fixture(autouse=True)
def key(database: Database) -> None:
    """The API has a key for secrets."""
    database.vault = Keyring([Secret(new_key())])


async def compared(api: httpx.AsyncClient, *documents: dict[str, Any]) -> list[dict[str, Any]]:
    """What applying documents would change."""
    answer = await api.post("/v1/definitions:diff", json={"definitions": list(documents)})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["definitions"]
    return found


async def changed(api: httpx.AsyncClient, document: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The fields in which one document differs, as kept and as wanted, by path."""
    [one] = await compared(api, document)
    assert (one["change"] == "unchanged") == (one["fields"] == [])
    return {field["path"]: (field["kept"], field["wanted"]) for field in one["fields"]}


async def test_each_field_is_named_and_nothing_is_written(api: httpx.AsyncClient, rows: Rows) -> None:
    """DEF-17: what differs is named by path, in a definition, its schedules and calendars; everything stays as it is."""
    await put(api, REPORT)
    before = await rows.counts()
    assert await changed(api, REPORT) == {}
    monthly = {"name": "monthly", "every": "30d"}
    edited = {
        **REPORT,
        "timeout": "45m",
        "calendar": {"windows": [{"weekdays": ["sun"]}]},
        "schedules": [{**NIGHTLY, "cron": "0 3 * * *"}, monthly],
    }
    found = await changed(api, edited)
    assert found.pop("schedules.monthly")[1]["every"] == "30d"
    calendar = found.pop("calendar")
    assert (calendar[0], [window["weekdays"] for window in calendar[1]["windows"]]) == (None, [["sun"]])
    assert found == {"timeout": ("30m", "45m"), "schedules.nightly.cron": ("30 2 * * *", "0 3 * * *")}
    assert set(await changed(api, {**REPORT, "schedules": []})) == {"schedules.nightly"}
    assert await rows.counts() == before


async def test_it_answers_for_each_definition_as_an_apply_would(api: httpx.AsyncClient) -> None:
    """DEF-17: what is new, changed and unchanged is what apply then creates, updates and leaves."""
    await put(api, REPORT)
    documents: list[dict[str, Any]] = [
        {"name": "new", "handler": "x"},
        REPORT,
        {"name": "other", "handler": "x", "restrictions": ["report"]},
    ]
    found = await compared(api, *documents)
    assert [(one["name"], one["change"], one["version"]) for one in found] == [
        ("new", "created", None),
        ("report", "changed", 1),
        ("other", "created", None),
    ]
    assert [(field["path"], field["wanted"]) for field in found[1]["fields"]] == [("restrictions", ["other"])]
    applied = (await api.post("/v1/definitions:apply", json={"definitions": documents})).json()["changes"]
    assert [one["change"] for one in applied] == ["created", "updated", "created"]
    assert [one["change"] for one in await compared(api, *documents)] == ["unchanged"] * 3


async def test_secrets_differ_and_that_is_all(api: httpx.AsyncClient) -> None:
    """TPL-07, DEF-17: another secret is a difference, the same one or its stars are none, and no answer shows any."""
    spec = {"type": "object", "properties": {"word": {"type": "string", "format": "password"}}}
    call = {"name": "call", "handler": "call", "parameters": {"word": "open sesame"}, "parameter_spec": spec}
    await put(api, call)
    assert await changed(api, call) == await changed(api, {**call, "parameters": {"word": "***"}}) == {}
    answer = await api.post("/v1/definitions:diff", json={"definitions": [{**call, "parameters": {"word": "open barley"}}]})
    [field] = answer.json()["definitions"][0]["fields"]
    assert field == {"path": "parameters.word", "kept": "***", "wanted": "***", "secret": True, "overridden": False}
    assert "barley" not in answer.text and "$secret" not in answer.text


async def test_what_an_operator_set_over_code_is_marked(api: httpx.AsyncClient, database: Database) -> None:
    """DEF-17: fields that were set over what code declares are listed, and marked where they differ; others are not."""
    draft = DefinitionDraft("coded", "coded", schedules=(ScheduleDraft("nightly", parse_rule({"cron": "30 2 * * *"})),))
    await database.transact(lambda tx: catalogue.save(tx, draft, actor="sync", source="code"))
    declared = {"name": "coded", "handler": "coded", "attempts": 1, "schedules": [{"name": "nightly", "cron": "30 2 * * *"}]}
    operators = {**declared, "priority": 7, "schedules": [{"name": "nightly", "cron": "0 3 * * *"}]}
    assert (await api.post("/v1/definitions:apply", json={"definitions": [operators]})).status_code == 200
    [one] = await compared(api, {**declared, "queue": "slow"})
    assert {"priority", "schedules.nightly.cron"} <= set(one["overridden"]) and "queue" not in one["overridden"]
    marks = {field["path"]: field["overridden"] for field in one["fields"]}
    assert marks == {"priority": True, "schedules.nightly.cron": True, "queue": False}


async def test_a_document_that_cannot_be_applied_cannot_be_compared(api: httpx.AsyncClient) -> None:
    """DEF-08: the same problems, all at once, as from an apply."""
    document = {"definitions": [{"name": "a", "priority": 12}, {"name": "b", "handler": "b", "schedules": [{"cron": "61 * * * *"}]}]}
    answers = [await api.post(f"/v1/definitions:{verb}", json=document) for verb in ("diff", "apply")]
    assert [answer.status_code for answer in answers] == [422, 422] and answers[0].json()["errors"] == answers[1].json()["errors"]
