"""One form of answer for everything that goes wrong."""

import asyncio
import re
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from headway.api.contracts import contracts
from headway.api.problems import ProblemDetails
from headway.store.tx import Database
from tests.api.rows import Rows, ask, fields, put

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("DELETE", "/v1/runs", 405, "method_not_allowed"),
        ("GET", "/v1/definitions/x", 404, "definition_unknown"),
    ],
)
async def test_every_problem_has_one_form(api: httpx.AsyncClient, method: str, path: str, status: int, code: str) -> None:
    """Media type, stable code, title, trace id: also for a path that there is not (API-02)."""
    response = await api.request(method, path, headers={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})
    problem = ProblemDetails.model_validate_json(response.content)
    assert (response.status_code, problem.status, problem.code, problem.type) == (status, status, code, f"urn:headway:problem:{code}")
    assert response.headers["Content-Type"] == "application/problem+json"
    assert re.fullmatch("[0-9a-f]{32}", problem.trace_id)


async def test_a_callers_trace_is_told_back(api: httpx.AsyncClient, rows: Rows) -> None:
    """The trace that a request came with is the problem's, and that of the run that it makes (API-02, OBS-03)."""
    await put(api, {"name": "report"})
    traceparent = f"00-{TRACE}-00f067aa0ba902b7-01"
    missing = await api.get("/v1/definitions/x", headers={"traceparent": traceparent})
    assert missing.json()["trace_id"] == TRACE
    await api.post("/v1/runs", json={"definition": "report"}, headers={"traceparent": traceparent})
    assert TRACE in await rows.value("SELECT traceparent FROM headway.run_input")
    await rows.value("DELETE FROM headway.run_input")
    await api.post("/v1/runs", json={"definition": "report"}, headers={"traceparent": "00-zz-00-01"})
    assert (await rows.counts())["run_input"] == 0


async def test_what_nobody_meant_is_logged_and_not_told(api: httpx.AsyncClient, rows: Rows) -> None:
    """A bug answers 500 with the trace id under which the log has the cause, and nothing of its inside (API-02)."""
    await rows.value("ALTER TABLE headway.definition RENAME COLUMN owner TO proprietor")
    with capture_logs() as logged:
        response = await api.get("/v1/definitions")
    problem = response.json()
    assert (response.status_code, problem["code"]) == (500, "internal")
    assert "owner" not in response.text
    [event] = [one for one in logged if one["event"] == "request failed"]
    assert (event["trace"], event["log_level"]) == (problem["trace_id"], "error")


async def test_a_key_that_somebody_is_taking_is_contested(api: httpx.AsyncClient, database: Database) -> None:
    """A create waits 2 s for the one that has its key, then it is 409 with when to try again (RUN-09)."""
    await put(api, {"name": "report"})
    async with database.pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute(
            "INSERT INTO headway.idempotency_key (tenant, definition, key, request_hash, run, expires_at)"
            " VALUES ('', 'report', 'k', '', gen_random_uuid(), now() + interval '1 day')"
        )
        response = await api.post("/v1/runs", json={"definition": "report", "key": "k"})
        await transaction.rollback()
    assert (response.status_code, response.json()["code"]) == (409, "key_contested")
    assert int(response.headers["Retry-After"]) >= 1


async def test_concurrent_creates_are_one(api: httpx.AsyncClient, rows: Rows) -> None:
    """Ten creates at once, of one definition or under one key, are one; the others are told (RUN-09, API-08)."""
    answers = await asyncio.gather(*(api.put("/v1/definitions/report", json={}) for _ in range(10)))
    assert sorted({answer.status_code for answer in answers} - {428}) == [201]
    assert (await rows.counts())["definition"] == 1
    accepted = await asyncio.gather(*(ask(api, "report", key="k") for _ in range(10)))
    assert len({one["id"] for one in accepted}) == 1
    assert [one["existing"] for one in accepted].count(False) == 1


@pytest.mark.parametrize("query", [{"dry_run": "maybe"}, {"dry-run": "true"}])
async def test_what_is_not_known_is_refused_everywhere(api: httpx.AsyncClient, query: dict[str, Any]) -> None:
    """A query that no route takes is an error there, too: a dry run that was misspelt must not be a real one (API-02)."""
    response = await api.post("/v1/definitions:apply", params=query, json={"definitions": [{"name": "a"}]})
    assert (response.status_code, list(fields(response))) == (422, list(query))
    assert (await api.get("/v1/doctor", params={"fix": "true"})).status_code == 422


def test_the_contract_shows_bodies_and_problems() -> None:
    """Every operation of the contract may answer with a problem, and definitions are shown as documents (API-02)."""
    [(path, text)] = contracts().items()
    assert path.name == "openapi.json"
    assert '"openapi": "3.1.0"' in text
    assert "HTTPValidationError" not in text
    assert text.count('"#/components/schemas/ProblemDetails"') == text.count('"operationId"')
    assert '"#/components/schemas/DefinitionDocument"' in text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("[" * 10_000, "is nested too deeply"),
        ('{"definition": ' + "9" * 5000 + "}", "holds a number of too many digits"),
        ('{"definition": NaN}', "is not JSON: NaN is not a JSON number"),
        ("{", "is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (b"\xff", "is not UTF-8: invalid start byte at byte 0"),
    ],
)
async def test_a_body_that_cannot_be_read_is_told_why(api: httpx.AsyncClient, body: str | bytes, said: str) -> None:
    """A body that is no JSON, or more than can be read, is 400 under the field `body`, and says nothing of the interpreter (API-02)."""
    response = await api.post("/v1/runs", content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (400, "malformed")
    assert response.json()["errors"] == [{"field": "body", "message": said}]
    assert response.json()["detail"] == f"body: {said}"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("key", "k" * 129, "must have at most 128 characters"),
        ("key", "", "must not be empty"),
        ("definition", "d" * 129, "must have at most 128 characters"),
        ("correlation", "c" * 257, "must have at most 256 characters"),
    ],
)
async def test_the_length_of_text_is_told_in_characters(api: httpx.AsyncClient, field: str, value: str, said: str) -> None:
    """Text of a wrong length is told of as text (API-02)."""
    response = await api.post("/v1/runs", json={"definition": "report", field: value})
    assert response.status_code == 422
    assert {"field": field, "message": said} in response.json()["errors"]
