"""The built-in handler `http`: what it sends, what it returns, and which answers are tried again."""

import json
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any, cast
from uuid import UUID

import pytest
from pydantic import ValidationError

from headway.sdk.run import Run
from headway.sdk.verdicts import PermanentError, RetryAfter
from headway.worker.builtin.http import HttpFailed, HttpParams, http


class Asked:
    """As much of a run as the handler looks at."""

    token = UUID(int=7)


class Server:
    """A server on this machine: what it was sent, and what it answers."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        self.headers: dict[str, str] = {}
        self.body = b"hello"
        self.seen: dict[str, Any] = {}


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers as it is told."""
    told = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            told.seen = {"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body}
            self.send_response_only(told.status)
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(told.body)))
            self.end_headers()
            self.wfile.write(told.body)

        do_GET = do_PUT = do_POST  # noqa: N815 - the names are the server's

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as listening:
        told.url = f"http://127.0.0.1:{listening.server_port}"
        thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield told
        finally:
            listening.shutdown()
            thread.join()


async def asked(url: str, **params: Any) -> dict[str, Any]:
    """The answer to one request."""
    return await http(HttpParams(url=url, **params), cast(Run, Asked()))


async def test_a_request_is_sent_and_its_answer_returned(server: Server) -> None:
    """LSE-07, RUN-19: method, headers, query and body go out, with the run's token; status and body come back."""
    server.headers = {"Content-Type": "text/plain; charset=utf-8", "X-Other": "1"}
    result = await asked(f"{server.url}/orders", json={"n": 1}, headers={"X-Team": "a"}, query={"page": "2"})
    assert result | {"seconds": 0} == {
        "status": 200,
        "headers": {"content-type": "text/plain; charset=utf-8"},
        "body": "hello",
        "truncated": False,
        "seconds": 0,
    }
    assert (server.seen["method"], server.seen["path"], json.loads(server.seen["body"])) == ("POST", "/orders?page=2", {"n": 1})
    assert (server.seen["headers"]["X-Team"], server.seen["headers"]["Idempotency-Key"]) == ("a", str(UUID(int=7)))
    await asked(server.url, method="PUT", body="as it is", token_header="")
    assert (server.seen["method"], server.seen["body"], "Idempotency-Key" in server.seen["headers"]) == ("PUT", b"as it is", False)


async def test_a_long_answer_is_cut(server: Server) -> None:
    """RUN-19: the beginning of a body is kept, with what PostgreSQL refuses replaced."""
    server.body = b"a\0" + b"b" * 300_000
    result = await asked(server.url, output_limit=10)
    assert (result["body"], result["truncated"]) == ("a\ufffdbbbbbbbb", True)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
async def test_an_answer_that_may_change_is_tried_again(server: Server, status: int) -> None:
    """RTY-01: these fail the attempt and leave the run its retries, with the answer kept."""
    server.status = status
    with pytest.raises(HttpFailed, match=f"answered {status}: hello") as failed:
        await asked(server.url)
    assert failed.value.result is not None and failed.value.result["status"] == status


@pytest.mark.parametrize("status", [301, 400, 401, 404, 409, 422, 501])
async def test_any_other_answer_fails_for_good(server: Server, status: int) -> None:
    """RTY-06: no repetition makes such an answer another one."""
    server.status = status
    with pytest.raises(PermanentError, match=f"answered {status}"):
        await asked(server.url)


async def test_what_is_expected_can_be_said(server: Server) -> None:
    """A 404 may be a success, and then a 200 is none."""
    server.status = 404
    assert (await asked(server.url, expected=[404]))["status"] == 404
    server.status = 200
    with pytest.raises(PermanentError):
        await asked(server.url, expected=[404])
    with pytest.raises(HttpFailed):
        await asked(server.url, expected=[404], retry_on=[200])


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, timedelta(seconds=7)),
        ({"Retry-After": "999999999999"}, timedelta(days=1)),
        ({"Retry-After": "Sat, 31 Jan 2026 07:01:00 GMT", "Date": "Sat, 31 Jan 2026 07:00:00 GMT"}, timedelta(minutes=1)),
        ({"Retry-After": "Sat, 31 Jan 2026 07:00:00 GMT", "Date": "Sat, 31 Jan 2026 07:01:00 GMT"}, timedelta()),
    ],
)
async def test_whoever_answers_may_say_when_to_try_again(server: Server, headers: dict[str, str], wait: timedelta) -> None:
    """RTY-02: Retry-After in seconds, or as a date by the answering clock, never longer than a day."""
    server.status, server.headers = 503, headers
    with pytest.raises(RetryAfter) as later:
        await asked(server.url)
    assert later.value.delay == wait


async def test_nobody_there_is_worth_a_retry_and_tells_no_secret() -> None:
    """OBS-05: a refused connection fails the attempt; user, password and query of the URL are in no message."""
    with pytest.raises(HttpFailed) as failed:
        await asked("http://ann:secret@127.0.0.1:9/x?key=secret", method="GET", timeout=5)
    assert "secret" not in str(failed.value)
    assert "http://127.0.0.1:9/x" in str(failed.value)


@pytest.mark.parametrize(
    "params",
    [
        {"url": "ftp://example.com"},
        {"url": "http://example.com", "headers": {"X": "a\r\nY: b"}},
        {"url": "http://example.com", "body": "a", "json": 1},
        {"url": "http://example.com", "method": "BREW"},
        {"url": "http://example.com", "timeout": 0},
        {"url": "http://example.com", "colour": "red"},
        {"url": "http://example.com", "expected": [99]},
    ],
)
def test_a_wrong_request_is_refused_when_it_is_asked_for(params: dict[str, Any]) -> None:
    """RUN-16: parameters are checked before a run exists, headers for what would split them included."""
    with pytest.raises(ValidationError):
        HttpParams(**params)
