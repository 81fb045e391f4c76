"""Definitions over HTTP."""

from datetime import timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.api.definition_views import Definition
from headway.api.documents import document_of, parse, patched
from headway.api.platform import Platform
from headway.broker.port import Broker
from headway.messages import DefinitionChanged
from headway.messages import parse as parse_message
from headway.messages.channels import DEFINITION_CHANGED
from headway.store import catalogue, definitions, schedules
from tests.api.rows import NIGHTLY, REPORT, Rows, ask, fields, put

FULL: dict[str, Any] = {
    **REPORT,
    "handler": "reports.send",
    "description": "a report",
    "owner": "team",
    "priority": 4,
    "timeout": "10m",
    "attempts": 5,
    "backoff": {"kind": "exponential", "base": "2s", "cap": "1h", "factor": 2.0, "jitter": 0.5},
    "retry_horizon": "2d",
    "start_by": "15m",
    "restartable": False,
    "max_concurrent_runs": 3,
    "over_limit": "refuse",
    "retention_days": 7,
    "watch": {"breaker_threshold": 3, "must_start_by": "90s", "alert_url": "https://example.org/alerts"},
    "schedules": [NIGHTLY, {"name": "often", "every": "15m", "parameters": {"customer": "acme", "pages": 2}, "allowed_delay": "1m"}],
}


async def test_a_definition_is_created_read_and_replaced_under_its_version(api: httpx.AsyncClient) -> None:
    """PUT creates; what is read may be sent back and changes nothing; a replacement raises the version (DEF-02, DEF-03, API-08)."""
    created = await api.put("/v1/definitions/report", json=FULL)
    assert (created.status_code, created.headers["ETag"]) == (201, '"1"')
    shown = created.json()
    assert shown["timeout"] == "10m"
    assert shown["schedules"][0]["cron"] == "0 7 * * mon-fri"

    again = await api.put("/v1/definitions/report", json=shown, headers={"If-Match": '"1"'})
    assert (again.status_code, again.headers["ETag"]) == (200, '"1"')
    assert again.json() == shown

    changed = await api.put("/v1/definitions/report", json={**shown, "priority": 7}, headers={"If-Match": '"1"'})
    assert (changed.headers["ETag"], changed.json()["priority"]) == ('"2"', 7)
    assert (await api.get("/v1/definitions/report")).json() == changed.json()


async def test_an_update_needs_the_version_that_it_builds_on(api: httpx.AsyncClient) -> None:
    """428 without If-Match, 412 with a stale one, for PUT and PATCH; nothing is changed by either (API-08)."""
    await put(api, REPORT)
    for method in ("PUT", "PATCH"):
        missing = await api.request(method, "/v1/definitions/report", json={"owner": "x"})
        assert (missing.status_code, missing.json()["code"]) == (428, "precondition_required")
        stale = await api.request(method, "/v1/definitions/report", json={"owner": "x"}, headers={"If-Match": '"7"'})
        assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")
    assert (await api.get("/v1/definitions/report")).json()["version"] == 1
    new = await api.put("/v1/definitions/new", json={}, headers={"If-Match": '"1"'})
    assert new.status_code == 412


async def test_a_patch_changes_what_it_names(api: httpx.AsyncClient) -> None:
    """A merge patch sets fields, takes others back to their defaults, and leaves the rest and the schedules alone (DEF-03)."""
    before = await put(api, FULL)
    after = await api.patch(
        "/v1/definitions/report", json={"priority": 9, "owner": None, "watch": {"alert_after": 2}}, headers={"If-Match": '"1"'}
    )
    shown = after.json()
    assert (shown["priority"], shown["owner"], shown["version"]) == (9, "", 2)
    assert shown["watch"] == before["watch"] | {"alert_after": 2}
    moving = {"version", "decided_until", "updated_at"}
    kept = [[{name: one[name] for name in one.keys() - moving} for one in each["schedules"]] for each in (shown, before)]
    assert kept[0] == kept[1]


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"schedules": [{"cron": "61 * * * *"}]}, "schedules[0].cron"),
        ({"schedules": [{"cron": "0 30 2 *"}]}, "schedules[0].cron"),
        ({"schedules": [{"every": "0s"}]}, "schedules[0].every"),
        ({"schedules": [{"cron": "0 7 * * *", "zone": "Europe/Atlantis"}]}, "schedules[0].zone"),
        ({"schedules": [{}]}, "schedules[0].cron"),
        (
            {"schedules": [{"every": "5m", "parameters": {"customer": 7}}], "parameter_spec": REPORT["parameter_spec"]},
            "schedules[0].parameters.customer",
        ),
        ({"schedules": [{"every": "5m"}], "parameter_spec": REPORT["parameter_spec"]}, "schedules[0].parameters.customer"),
        ({"parameter_spec": {"type": "whatever"}}, "parameter_spec.type"),
        ({"parameters": {"text": "\x00"}}, "parameters.text"),
        ({"parameters": {"n": 2**64}}, "parameters.n"),
        ({"colour": "red"}, "colour"),
        ({"tenant": "others"}, "tenant"),
        ({"name": "other"}, "name"),
        ({"priority": 11}, "priority"),
        ({"timeout": "soon"}, "timeout"),
        ({"enabled": "yes"}, "enabled"),
    ],
)
async def test_bad_definitions_are_named_by_field_and_nothing_is_written(
    api: httpx.AsyncClient, rows: Rows, document: dict[str, Any], field: str
) -> None:
    """A broken cron, an unknown zone, wrong parameters: one problem with the field's path, and no row more (DEF-08, API-02)."""
    before = await rows.counts()
    response = await api.put("/v1/definitions/report", json=document)
    assert response.status_code == 422, response.text
    assert response.headers["Content-Type"] == "application/problem+json"
    assert list(fields(response)) == [field]
    assert field in response.json()["detail"]
    assert await rows.counts() == before


async def test_every_problem_of_a_document_is_named_at_once(api: httpx.AsyncClient, rows: Rows) -> None:
    """One answer names what is wrong in every definition, and those that are right are not saved either (DEF-02, API-02)."""
    document = {
        "definitions": [{"name": "good"}, {"name": "bad", "priority": 99}, {"name": "worse", "schedules": [{"cron": "x", "zone": "y"}]}]
    }
    response = await api.post("/v1/definitions:apply", json=document)
    assert set(fields(response)) == {"definitions[1].priority", "definitions[2].schedules[0].cron", "definitions[2].schedules[0].zone"}
    assert (await rows.counts())["definition"] == 0


async def test_apply_saves_all_together_and_says_what_changed(api: httpx.AsyncClient, rows: Rows) -> None:
    """Apply creates and updates in one transaction; a dry run says the same and keeps nothing (DEF-02)."""
    document = {"definitions": [{"name": "b", "schedules": [{"every": "1h"}]}, {"name": "a"}]}
    dry = await api.post("/v1/definitions:apply", params={"dry_run": "true"}, json=document)
    expected = [{"name": "b", "version": 1, "change": "created"}, {"name": "a", "version": 1, "change": "created"}]
    assert dry.json() == {"changes": expected, "dry_run": True}
    assert (await rows.counts())["definition"] == 0

    assert (await api.post("/v1/definitions:apply", json=document)).json()["changes"] == expected
    assert [one["change"] for one in (await api.post("/v1/definitions:apply", json=document)).json()["changes"]] == ["", ""]
    twice = await api.post("/v1/definitions:apply", json={"definitions": [{"name": "a"}, {"name": "a"}]})
    assert fields(twice) == {"definitions": "a is named twice"}


async def test_every_change_is_broadcast_after_it(api: httpx.AsyncClient, broker: Broker, platform: Platform) -> None:
    """Create, update, disable, enable and delete are heard by everybody who listens; what changes nothing is not (DEF-04)."""
    ear = await broker.listen(DEFINITION_CHANGED)
    await put(api, {"name": "report"})
    await api.patch("/v1/definitions/report", json={"owner": "me"}, headers={"If-Match": '"1"'})
    await api.patch("/v1/definitions/report", json={"owner": "me"}, headers={"If-Match": '"2"'})
    await api.post("/v1/definitions/report:disable")
    await api.post("/v1/definitions/report:enable")
    await api.delete("/v1/definitions/report")
    await platform.announcer.flush()
    heard = [change for one in await ear.receive() if isinstance(change := parse_message(one.body), DefinitionChanged)]
    assert [(one.definition, one.version, one.change) for one in heard] == [
        ("report", 1, "created"),
        ("report", 2, "updated"),
        ("report", 3, "disabled"),
        ("report", 4, "enabled"),
        ("report", 4, "deleted"),
    ]


async def test_disabling_skips_what_waits(api: httpx.AsyncClient) -> None:
    """A disabled definition's pending run is skipped and new ones are refused, until it is enabled again (DEF-18)."""
    await put(api, {"name": "report"})
    waiting = await ask(api, "report", delay="1h")
    await api.post("/v1/definitions/report:disable")
    assert (await api.get(f"/v1/runs/{waiting['id']}")).json()["state"] == "skipped"
    refused = await api.post("/v1/runs", json={"definition": "report"})
    assert (refused.status_code, refused.json()["code"]) == (409, "definition_disabled")
    assert (await api.post("/v1/definitions/report:enable")).json()["enabled"] is True
    await ask(api, "report")


async def test_deleting_takes_the_schedules_along_and_spares_what_runs(api: httpx.AsyncClient, rows: Rows) -> None:
    """A definition with a running run is not deleted; afterwards it goes with its schedules, and what waited is skipped (DEF-22)."""
    await put(api, {"name": "report", "schedules": [{"every": "1h"}]})
    run = await ask(api, "report")
    await rows.value(
        "UPDATE headway.run SET state = 3, session = gen_random_uuid(), attempt = 1, deadline_at = now() + interval '1 hour' WHERE id = $1",
        run["id"],
    )
    busy = await api.delete("/v1/definitions/report")
    assert (busy.status_code, busy.json()["code"]) == (409, "definition_busy")
    await rows.value("UPDATE headway.run SET state = 2, session = NULL, deadline_at = NULL WHERE id = $1", run["id"])
    gone = await api.delete("/v1/definitions/report")
    assert gone.json()["change"] == "deleted"
    assert (await rows.counts())["schedule"] == 0
    assert (await api.get(f"/v1/runs/{run['id']}")).json()["state"] == "skipped"
    assert (await api.get("/v1/definitions/report")).status_code == 404


async def test_definitions_are_listed_by_name_page_by_page(api: httpx.AsyncClient) -> None:
    """Pages follow one another by name without gaps; a forged cursor and one of another listing are 400 (API-01)."""
    names = [f"d{number}" for number in range(5)]
    await api.post("/v1/definitions:apply", json={"definitions": [{"name": name} for name in names]})
    first = (await api.get("/v1/definitions", params={"limit": 3})).json()
    second = (await api.get("/v1/definitions", params={"limit": 3, "cursor": first["next_cursor"]})).json()
    assert [one["name"] for one in first["items"] + second["items"]] == names
    assert second["next_cursor"] is None
    for path, cursor in (("/v1/definitions", first["next_cursor"] + "x"), ("/v1/runs", first["next_cursor"]), ("/v1/definitions", "é")):
        refused = await api.get(path, params={"cursor": cursor})
        assert (refused.status_code, list(fields(refused))) == (400, ["cursor"])


async def test_names_may_hold_slashes_and_colons(api: httpx.AsyncClient) -> None:
    """A name is one thing, whatever it holds: verbs and sub-resources are found behind it."""
    await put(api, {"name": "team/job:daily", "schedules": [{"every": "1h"}]})
    assert (await api.post("/v1/definitions/team/job:daily:disable")).json()["enabled"] is False
    await api.post("/v1/definitions/team/job:daily:enable")
    slots = (await api.get("/v1/definitions/team/job:daily/next-slots")).json()
    assert (slots["definition"], len(slots["items"])) == ("team/job:daily", 20)


async def test_the_latest_runs_of_definitions_are_read_at_once(api: httpx.AsyncClient, rows: Rows) -> None:
    """Each name gets its newest run and those that succeeded and failed last, or null (DEF-06)."""
    await put(api, {"name": "report"})
    run = await ask(api, "report")
    await rows.value("INSERT INTO headway.last_definition_run (definition, latest) SELECT id, $1 FROM headway.definition", run["id"])
    latest = (await api.post("/v1/definitions:latest-runs", json={"names": ["report", "nothing"]})).json()
    assert latest["report"]["latest"]["id"] == run["id"]
    assert latest["report"]["succeeded"] is None
    assert latest["nothing"] == {"latest": None, "succeeded": None, "failed": None}


async def test_a_document_of_code_is_overridden_by_hand(api: httpx.AsyncClient, platform: Platform) -> None:
    """A field that is changed here on a definition from code is remembered as overridden (DEF-17)."""
    async with platform.database.begin() as tx:
        await catalogue.save(tx, parse({"name": "coded", "schedules": [NIGHTLY]}, ""), actor="sync", source="code")
    changed = await api.patch("/v1/definitions/coded", json={"priority": 3}, headers={"If-Match": "*"})
    assert (changed.json()["overridden"], len(changed.json()["schedules"])) == (["priority"], 1)


spans = st.integers(1, 10**9).map(lambda millis: timedelta(milliseconds=millis))


@given(st.fixed_dictionaries({}, optional={name: st.just(value) for name, value in FULL.items()}), spans)
def test_what_is_shown_parses_to_what_was_meant(document: dict[str, Any], timeout: timedelta) -> None:
    """The document of a draft's rows parses to the same draft: reading and sending back never changes a meaning."""
    if "schedules" in document and "parameter_spec" in document:
        document = {**document, "parameters": {"pages": 1}}
    draft = parse({**document, "name": "report", "timeout": timeout.total_seconds()}, "")
    row = definitions.meaning(draft) | {"name": draft.name, "used": None, "restrictions": list(draft.restrictions or ())}
    shown = document_of(row, [schedules.meaning(one) | {"name": one.name, "used": None} for one in draft.schedules])
    assert definitions.meaning(parse(shown, "")) == definitions.meaning(draft)
    assert parse(shown, "").schedules == draft.schedules
    assert set(shown) <= set(Definition.model_fields)


@given(st.recursive(st.none() | st.integers(), lambda inner: st.dictionaries(st.sampled_from("abc"), inner)), st.data())
def test_a_merge_patch_follows_its_rules(document: Any, data: st.DataObject) -> None:
    """A patch of a document to another one leaves no null behind, and an empty one changes nothing (RFC 7396)."""
    patch = data.draw(st.dictionaries(st.sampled_from("abc"), st.none() | st.integers()))
    result = patched(document, patch)
    assert None not in {result.get(name) for name, value in patch.items() if value is not None}
    assert all(name not in result for name, value in patch.items() if value is None)
    assert not isinstance(document, dict) or patched(document, {}) == document
