"""The API as the command line calls it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from headway.cli.client import Api, path_of, problem_of
from headway.cli.http import Answer, Request
from headway.cli.main import app
from headway.core.errors import Conflict, HeadwayError, Invalid, NotFound, Unavailable

Answering = Callable[[Request], Answer]


def answered(status: int, document: Any = None, **headers: str) -> Answer:
    """An answer of the API."""
    return Answer("http://api", status, headers, json.dumps(document).encode())


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Invalid),
        (422, Invalid),
        (428, Invalid),
        (404, NotFound),
        (409, Conflict),
        (412, Conflict),
        (503, Unavailable),
        (500, HeadwayError),
    ],
)
def test_a_problem_becomes_an_error_of_its_kind(status: int, kind: type[HeadwayError]) -> None:
    """Each status is one of the four kinds, with its stable code (API-02)."""
    error = problem_of(status, {"code": "some_code", "detail": "because"})
    assert type(error) is kind
    assert error.code == "some_code"
    assert "because" in str(error)


def test_every_field_of_a_problem_is_kept() -> None:
    """A problem about several fields names them all (API-02)."""
    error = problem_of(422, {"errors": [{"field": "params.name", "message": "is required"}, {"field": "at", "message": "is late"}]})
    assert str(error) == "params.name: is required; at: is late"


def test_a_listing_is_read_over_its_pages() -> None:
    """All pages are read by their cursors, and no more than is wanted."""
    asked: list[str] = []

    def answer(request: Request) -> Answer:
        asked.append(request.target)
        first = "cursor" not in request.query
        return answered(200, {"items": [1, 2] if first else [3], "next_cursor": "next" if first else None})

    assert Api(answer).items("/v1/runs", state=["failed", "lost"], queue=None) == [1, 2, 3]
    assert asked == ["/v1/runs?limit=200&state=failed&state=lost", "/v1/runs?limit=200&cursor=next&state=failed&state=lost"]
    assert Api(answer).items("/v1/runs", 1) == [1]


def test_reading_is_tried_again_and_asking_is_not() -> None:
    """What is read is read again while the API is away; what makes a run is never sent twice."""
    calls: list[str] = []

    def answer(request: Request) -> Answer:
        calls.append(request.method)
        return answered(503 if len(calls) % 2 else 200, {"detail": "starting"})

    assert Api(answer).get("/v1/runs/1") == {"detail": "starting"}
    with pytest.raises(Unavailable, match="starting"):
        Api(answer).post("/v1/runs", {})
    assert calls == ["GET", "GET", "POST"]


def test_what_is_not_given_is_not_sent() -> None:
    """Fields that are None are left out, so that the API's own defaults hold."""
    sent: list[Any] = []

    def answer(request: Request) -> Answer:
        sent.append(request.body)
        return answered(201, {})

    Api(answer).post("/v1/runs", {"definition": "x", "key": None})
    assert sent == [b'{"definition":"x"}']


def test_the_clock_is_that_of_the_platform() -> None:
    """`now` is the API's, not this machine's."""
    assert Api(lambda _: answered(503, Date="Sat, 31 Jan 2026 07:00:00 GMT")).now() == datetime(2026, 1, 31, 7, tzinfo=UTC)


def test_somebody_else_at_that_address_is_not_reachable() -> None:
    """A server that answers no JSON is said to be no Headway API."""
    with pytest.raises(Unavailable, match="http://api is no Headway API: it answers text/html"):
        Api(lambda _: Answer("http://api", 200, {"Content-Type": "text/html"}, b"<p>hello")).get("/v1/runs")


def test_a_name_may_hold_any_character() -> None:
    """Names go into paths quoted."""
    assert path_of("definitions", "a/b c?", ":enable") == "/v1/definitions/a%2Fb%20c%3F:enable"


@pytest.mark.parametrize("verb", ["run hello", "runs list", "definitions list", "schedules list", "dead list", "broker rebuild"])
def test_an_api_that_is_away_is_one_line(verb: str) -> None:
    """Exit code 3, and one line with the URL and the next command to try."""
    said = CliRunner().invoke(app, [*verb.split(), "--api", "http://127.0.0.1:9"])
    assert said.exit_code == 3
    assert said.output.count("\n") == 1
    assert "http://127.0.0.1:9 does not answer" in said.output
    assert "headway up" in said.output
