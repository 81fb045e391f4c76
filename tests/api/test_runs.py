"""Runs over HTTP."""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from headway.core.ask import LARGEST_INPUT
from tests.api.rows import REPORT, Rows, ask, fields, put

DEEP = "[" * 70 + "]" * 70
ACME = {"customer": "acme"}


async def test_a_run_is_accepted_and_read(api: httpx.AsyncClient, rows: Rows) -> None:
    """201 with the run's place; its parameters are the definition's with the caller's over them (RUN-16, DEF-03, OBS-04)."""
    await put(api, REPORT)
    response = await api.post(
        "/v1/runs", json={"definition": "report", "params": ACME, "priority": 7}, headers={"X-Correlation-Id": "order-4711"}
    )
    accepted = response.json()
    assert (response.status_code, response.headers["X-Correlation-Id"]) == (201, "order-4711")
    assert response.headers["Location"] == f"/v1/runs/{accepted['id']}"
    shown = (await api.get(response.headers["Location"])).json()
    assert {name: shown[name] for name in ("state", "queue", "priority", "correlation", "created_by", "definition_version")} == {
        "state": "queued",
        "queue": "reports",
        "priority": 7,
        "correlation": "order-4711",
        "created_by": "api",
        "definition_version": 1,
    }
    assert "params" not in shown
    content = (await api.get(f"/v1/runs/{accepted['id']}/content")).json()
    assert content == {"id": accepted["id"], "params": {"customer": "acme", "pages": 1}, "payload": None, "result": None}


async def test_content_reads_are_audited_and_misses_are_not(api: httpx.AsyncClient, rows: Rows) -> None:
    """Whoever reads parameters and result leaves a line in the trail (API-03, OBS-08)."""
    await put(api, {"name": "report"})
    run = await ask(api, "report", payload="<xml/> é")
    before = (await rows.counts())["audit"]
    assert (await api.get(f"/v1/runs/{uuid4()}/content")).status_code == 404
    assert (await rows.counts())["audit"] == before
    assert (await api.get(f"/v1/runs/{run['id']}/content")).json()["payload"] == "<xml/> é"
    [entry] = await rows.fetch("SELECT actor, action FROM headway.audit WHERE subject = $1", f"run:{run['id']}")
    assert tuple(entry) == ("api", "run.content.read")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"definition": "nothing"}, "definition"),
        ({}, "definition"),
        ({"definition": "report"}, "params.customer"),
        ({"definition": "report", "params": {"customer": 7}}, "params.customer"),
        ({"definition": "report", "params": {"customer": "a", "pages": 0}}, "params.pages"),
        ({"definition": "report", "params": {"customer": "a", "colour": "red"}}, "params.colour"),
        ({"definition": "report", "params": {"customer": "a", "filters": [{}, {"age": "old"}]}}, "params.filters[1].age"),
        ({"definition": "report", "params": {"customer": "\x00"}}, "params.customer"),
        ({"definition": "report", "params": {"customer": "\ud800"}}, "params.customer"),
        ({"definition": "report", "params": {"customer": "a" * LARGEST_INPUT}}, "params"),
        ({"definition": "report", "params": {"customer": 10**400}}, "params.customer"),
        ({"definition": "report", "params": [1]}, "params"),
        ({"definition": "report", "params": ACME, "payload": "x"}, "payload"),
        ({"definition": "report", "payload": "\x00"}, "payload"),
        ({"definition": "report", "payload": "é" * (LARGEST_INPUT // 2 + 1)}, "payload"),
        ({"definition": "report", "params": ACME, "priority": 10}, "priority"),
        ({"definition": "report", "params": ACME, "priority": "5"}, "priority"),
        ({"definition": "report", "params": ACME, "at": "tomorrow"}, "at"),
        ({"definition": "report", "params": ACME, "at": "2026-01-01T00:00:00"}, "at"),
        ({"definition": "report", "params": ACME, "at": "0001-01-01T00:00:00+14:00"}, "at"),
        ({"definition": "report", "params": ACME, "delay": "soon"}, "delay"),
        ({"definition": "report", "params": ACME, "delay": -1}, "delay"),
        ({"definition": "report", "params": ACME, "delay": "5m", "at": "2026-01-01T00:00:00Z"}, "delay"),
        ({"definition": "report", "params": ACME, "key": ""}, "key"),
        ({"definition": "report", "params": ACME, "key": "k" * 129}, "key"),
        ({"definition": "report", "params": ACME, "key": "a\nb"}, "key"),
        ({"definition": "report", "params": ACME, "correlation": "\x07"}, "correlation"),
        ({"definition": "report", "params": ACME, "tenant": "others"}, "tenant"),
    ],
)
async def test_a_bad_request_is_named_by_field_and_nothing_is_written(
    api: httpx.AsyncClient, rows: Rows, body: dict[str, Any], field: str
) -> None:
    """An unknown definition, a parameter of the wrong type, anything that is not known: 422 with the field, no row (API-02, RUN-09)."""
    await put(api, REPORT)
    before = await rows.counts()
    response = await api.post("/v1/runs", content=json.dumps(body), headers={"Content-Type": "application/json"})
    problem = response.json()
    assert (response.status_code, list(fields(response))) == (422, [field]), problem
    assert problem["trace_id"]
    assert problem["type"] == f"urn:headway:problem:{problem['code']}"
    assert await rows.counts() == before


async def test_parameters_of_a_call_win_whatever_their_case(api: httpx.AsyncClient) -> None:
    """TPL-02: a call's parameters go over the definition's, names compared without case and kept as the definition spells them."""
    await put(api, REPORT)
    accepted = await ask(api, "report", params={"customer": "acme", "PAGES": 7})
    content = (await api.get(f"/v1/runs/{accepted['id']}/content")).json()
    assert content["params"] == {"customer": "acme", "pages": 7}


async def test_an_unknown_parameter_is_answered_with_the_known_ones(api: httpx.AsyncClient, rows: Rows) -> None:
    """RUN-09: whoever misspells a parameter reads its right name, be it of a run or of a schedule; a job that takes none says so."""
    await put(api, REPORT)
    await put(api, {"name": "plain", "parameter_spec": {"type": "object", "additionalProperties": False}})
    said = fields(await api.post("/v1/runs", json={"definition": "report", "params": {"customer": "a", "colour": "red"}}))
    assert said["params.colour"].startswith("is not a known parameter: known are customer, ")
    said = fields(await api.post("/v1/runs", json={"definition": "plain", "params": {"colour": "red"}}))
    assert said == {"params.colour": "is not a known parameter: there are none"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ('{"definition": "report", "params": {"customer": NaN}}', 400),
        ('{"definition": "report", "params": {"customer": 1e999}}', 422),
        (f'{{"definition": "report", "params": {{"customer": {DEEP}}}}}', 422),
        ("[" * 100_000, 400),
        ("{", 400),
        ("\ufeff{}", 400),
        (b"\xff", 400),
        ("[]", 422),
        (f'{{"definition": "report", "payload": "{"x" * 1_100_000}"}}', 413),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused(api: httpx.AsyncClient, rows: Rows, body: str | bytes, status: int) -> None:
    """No JSON, no numbers that are none, no depth and no size without limit; nothing is written (API-02)."""
    await put(api, REPORT)
    before = await rows.counts()
    response = await api.post("/v1/runs", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"] == "application/problem+json"
    assert await rows.counts() == before


async def test_only_json_is_read(api: httpx.AsyncClient) -> None:
    """A body of another type is 415: no page can send one without asking first."""
    response = await api.post("/v1/runs", content="{}", headers={"Content-Type": "text/plain"})
    assert (response.status_code, response.json()["code"]) == (415, "not_json")


async def test_a_known_key_is_one_run(api: httpx.AsyncClient, rows: Rows) -> None:
    """The same request under the same key answers 200 with the run that exists; another request under it is 409 (RUN-09, API-08)."""
    await put(api, REPORT)
    wanted = {"definition": "report", "params": ACME, "delay": "1h"}
    first = await api.post("/v1/runs", json=wanted, headers={"Idempotency-Key": "invoice-42"})
    again = await api.post("/v1/runs", json={**wanted, "key": "invoice-42"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json() | {"existing": True}
    other = await api.post("/v1/runs", json={**wanted, "params": {"customer": "b"}, "key": "invoice-42"})
    assert (other.status_code, other.json()["code"]) == (409, "key_reused")
    differing = await api.post("/v1/runs", json={**wanted, "key": "a"}, headers={"Idempotency-Key": "b"})
    assert list(fields(differing)) == ["Idempotency-Key"]
    assert (await rows.counts())["run"] == 1


async def test_a_dry_run_checks_and_keeps_nothing(api: httpx.AsyncClient, rows: Rows) -> None:
    """A dry run says what would be accepted, refuses what would be refused, and stores nothing (RUN-11)."""
    await put(api, REPORT)
    before = await rows.counts()
    good = await api.post("/v1/runs", json={"definition": "report", "params": ACME, "dry_run": True, "key": "k"})
    assert (good.status_code, good.json()["id"], good.json()["queue"], good.json()["dry_run"]) == (200, None, "reports", True)
    assert (await api.post("/v1/runs", json={"definition": "report", "dry_run": True})).status_code == 422
    many = await api.post("/v1/runs:bulk", json={"runs": [{"definition": "report", "params": ACME}], "dry_run": True})
    assert (many.status_code, many.json()["runs"][0]["id"]) == (200, None)
    assert await rows.counts() == before


async def test_bulk_is_all_or_nothing(api: httpx.AsyncClient, rows: Rows) -> None:
    """Several runs are accepted in one transaction in their order, or every problem of all of them is named (RUN-17)."""
    await put(api, REPORT)
    good = [{"definition": "report", "params": {"customer": str(number)}} for number in range(5)]
    bad = await api.post("/v1/runs:bulk", json={"runs": [*good, {"definition": "report"}, {"definition": "x"}, {**good[0], "at": 1}]})
    assert list(fields(bad)) == ["runs[7].at"]
    bad = await api.post("/v1/runs:bulk", json={"runs": [*good, {"definition": "report"}, {"definition": "x"}]})
    assert list(fields(bad)) == ["runs[5].params.customer", "runs[6].definition"]
    assert (await rows.counts())["run"] == 0
    made = await api.post("/v1/runs:bulk", json={"runs": good}, headers={"X-Correlation-Id": "c"})
    assert made.status_code == 201
    assert [one["correlation"] for one in (await api.get("/v1/runs")).json()["items"]] == ["c"] * 5
    ids = [one["id"] for one in made.json()["runs"]]
    assert [(await api.get(f"/v1/runs/{one}/content")).json()["params"]["customer"] for one in ids] == ["0", "1", "2", "3", "4"]


async def test_a_delayed_run_is_due_by_the_clock_of_the_database(api: httpx.AsyncClient) -> None:
    """A delay counts from the acceptance; instants go out in UTC, whatever offset they came with (RUN-17, API-09)."""
    await put(api, {"name": "report"})
    delayed = (await api.get(f"/v1/runs/{(await ask(api, 'report', delay='90s'))['id']}")).json()
    dated = (await api.get(f"/v1/runs/{(await ask(api, 'report', at='2100-01-01T07:00:00+02:00'))['id']}")).json()
    assert delayed["state"] == dated["state"] == "scheduled"
    assert dated["available_at"] == "2100-01-01T05:00:00Z"
    assert delayed["available_at"] > delayed["created_at"]


async def test_runs_are_listed_newest_first_narrowed_and_paged(api: httpx.AsyncClient) -> None:
    """Filters narrow, pages follow one another without gaps; a cursor belongs to its listing (API-05)."""
    await api.post("/v1/definitions:apply", json={"definitions": [{"name": "a", "queue": "qa"}, {"name": "b", "queue": "qb"}]})
    ids = [(await ask(api, name, correlation=f"c-{name}"))["id"] for name in "aababa"]
    ids_a = [one for one, name in zip(ids, "aababa", strict=True) if name == "a"]

    async def pages(**narrowed: Any) -> list[str]:
        found: list[str] = []
        query: dict[str, Any] = {**narrowed, "limit": 2}
        while True:
            page = (await api.get("/v1/runs", params=query)).json()
            found += [one["id"] for one in page["items"]]
            if page["next_cursor"] is None:
                return found
            query["cursor"] = page["next_cursor"]

    assert await pages() == ids[::-1]
    for narrowed in ({"definition": "a"}, {"queue": "qa"}, {"correlation": "c-a"}):
        assert await pages(**narrowed) == ids_a[::-1]
    created = (await api.get(f"/v1/runs/{ids[3]}")).json()["created_at"]
    assert await pages(since=created) == ids[:2:-1]
    assert await pages(until=created) == ids[2::-1]
    assert await pages(state=["running", "failed"]) == []
    assert await pages(state=["queued"], schedule=str(uuid4())) == []
    cursor = (await api.get("/v1/runs", params={"limit": 2})).json()["next_cursor"]
    assert (await api.get("/v1/runs", params={"definition": "a", "cursor": cursor})).status_code == 400


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"limit": "x"}, "limit"),
        ({"state": "sleeping"}, "state[0]"),
        ({"schedule": "x"}, "schedule"),
        ({"since": "1700000000"}, "since"),
        ({"until": "yesterday"}, "until"),
        ({"definition": "\x00"}, "definition"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_a_listing_refuses_what_it_does_not_know(api: httpx.AsyncClient, query: dict[str, Any], field: str) -> None:
    """A filter of another kind, or one that there is not, is an error and no empty page (API-02)."""
    response = await api.get("/v1/runs", params=query)
    assert (response.status_code, list(fields(response))) == (422, [field])


async def test_unknown_and_foreign_ids_answer_the_same(api: httpx.AsyncClient, rows: Rows) -> None:
    """A run of another tenant and one that never was cannot be told apart; what is no id is not found either (API-09)."""
    await put(api, {"name": "report"})
    foreign = (await ask(api, "report"))["id"]
    await rows.value("UPDATE headway.run SET tenant = 'others'")
    for path, method in (("", "GET"), ("/content", "GET"), ("/attempts", "GET"), ("/history", "GET"), (":cancel", "POST")):
        unknown = str(uuid4())
        answers = [await api.request(method, f"/v1/runs/{one}{path}") for one in (foreign, unknown)]
        assert [answer.status_code for answer in answers] == [404, 404]
        one, other = (answer.json() | {"trace_id": ""} for answer in answers)
        assert one["detail"].replace(foreign, unknown) == other.pop("detail")
        assert {**one, "detail": ""} == {**other, "detail": ""}
    assert (await api.get("/v1/runs/no-id")).status_code == 404
    assert (await api.get("/v1/runs")).json()["items"] == []


async def test_cancel_ends_what_waits_at_once(api: httpx.AsyncClient, rows: Rows) -> None:
    """A run that is not running is cancelled when the request answers; again is the same; it says who and why (RUN-06)."""
    await put(api, {"name": "report"})
    run = await ask(api, "report", delay="1h")
    for _ in range(2):
        cancelled = await api.post(f"/v1/runs/{run['id']}:cancel", json={"reason": "a typo"})
        assert (cancelled.status_code, cancelled.json()["state"], cancelled.json()["reason"]) == (200, "cancelled", "a typo")
    events = (await api.get(f"/v1/runs/{run['id']}/history")).json()
    assert [event["state"] for event in events] == ["scheduled", "cancelled"]
    [entry] = await rows.fetch("SELECT actor, action, reason FROM headway.audit WHERE subject = $1", f"run:{run['id']}")
    assert tuple(entry) == ("api", "run.cancel", "a typo")


async def test_cancel_of_a_running_run_is_a_wish(api: httpx.AsyncClient, rows: Rows) -> None:
    """A running run shows as cancelling; its history tells who asked and why (RUN-03, RUN-06)."""
    await put(api, {"name": "report"})
    run = await ask(api, "report")
    await rows.value(
        "UPDATE headway.run SET state = 3, session = gen_random_uuid(), attempt = 1, started_at = headway.headway_now(),"
        " deadline_at = now() + interval '1 hour'"
    )
    shown = (await api.post(f"/v1/runs/{run['id']}:cancel")).json()
    assert (shown["state"], shown["display"], shown["cancel_by"]) == ("running", "cancelling", "api")
    events = (await api.get(f"/v1/runs/{run['id']}/history")).json()
    assert [(event["state"], event["by"]) for event in events][::2] == [("queued", "api"), ("cancelling", "api")]
    [attempt] = (await api.get(f"/v1/runs/{run['id']}/attempts")).json()
    assert (attempt["attempt"], attempt["outcome"], attempt["ended_at"]) == (1, None, None)


async def test_a_finished_run_cannot_be_cancelled(api: httpx.AsyncClient, rows: Rows) -> None:
    """Final states have no way out: 409 (RUN-13)."""
    await put(api, {"name": "report"})
    run = await ask(api, "report")
    await api.post("/v1/definitions/report:disable")
    refused = await api.post(f"/v1/runs/{run['id']}:cancel")
    assert (refused.status_code, refused.json()["code"]) == (409, "run_final")
