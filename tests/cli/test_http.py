"""HTTP as the command line speaks it, against a server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from headway.cli.client import connected
from headway.cli.http import Http, Request
from headway.core.errors import Invalid, Unavailable
from headway.runtime.settings import ClientSettings, load

Answering = Callable[[BaseHTTPRequestHandler], object]


@contextmanager
def served(answer: Answering) -> Iterator[str]:
    """The address of a server on this machine that answers by a function."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        do_POST = do_GET  # noqa: N815 - the name is the server's

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def plain(handler: BaseHTTPRequestHandler, status: int = 200, body: bytes = b"{}", **headers: str) -> None:
    """Answer with a body."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


@pytest.fixture(autouse=True)
def proxied(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment whose proxy does not answer."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)


def test_a_request_arrives_as_it_was_asked() -> None:
    """Path, query and JSON arrive under the address's own path; a proxy is passed by on this machine."""
    seen: list[Any] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"] or 0))
        seen.append((handler.command, handler.path, handler.headers["Content-Type"], handler.headers["Authorization"], body))
        plain(handler, 201, b'{"id": 1}')

    with served(answer) as address:
        http = Http(f"http://{address}/headway/", "shown", "key")
        found = http(Request("POST", "/v1/a%2Fb", {"dry_run": False, "state": ["x y", "z"]}, {"name": "\u00e9\ud800"}))
        Http(f"http://me:p%40ss@{address}", "shown")(Request("GET", "/"))
    assert (found.status, found.json(), found.source) == (201, {"id": 1}, "shown")
    target = "/headway/v1/a%2Fb?dry_run=false&state=x+y&state=z"
    assert seen[0] == ("POST", target, "application/json", "Bearer key", b'{"name":"\\u00e9\\ud800"}')
    assert seen[1] == ("GET", "/", None, "Basic bWU6cEBzcw==", b"")


def test_every_status_is_an_answer() -> None:
    """An error's document is read like any other, and nobody is followed elsewhere."""
    for status in (302, 307, 404, 422, 500):
        with served(partial(plain, status=status, body=b'{"a": 1}', Location="/other")) as address:
            found = Http(f"http://{address}", "shown")(Request("GET", "/"))
        assert (found.status, found.json(), found.headers["Location"]) == (status, {"a": 1}, "/other")


@pytest.mark.parametrize("raw", [b"", b"hello\n\n", b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\n{}"])
def test_what_is_no_answer_is_unavailable(raw: bytes) -> None:
    """A server that hangs up, speaks something else, or stops in the middle is as good as away."""
    with (
        served(lambda handler: handler.wfile.write(raw)) as address,
        pytest.raises(Unavailable, match=r"^shown does not answer \(.+\): start it with `headway up`"),
    ):
        Http(f"http://{address}", "shown")(Request("GET", "/"))


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://host.invalid", "http://" + "a" * 70 + ".b", "https://127.0.0.1:9"])
def test_who_cannot_be_reached_is_unavailable(url: str) -> None:
    """Whatever keeps an address from answering is one line."""
    with pytest.raises(Unavailable, match=r"shown does not answer \(.+\)"):
        Http(url, "shown")(Request("GET", "/"))


def test_what_json_cannot_hold_is_not_sent() -> None:
    """A document with NaN or a set is bad input before anything is asked."""
    for value in (float("nan"), {1}):
        with pytest.raises(Invalid, match="cannot be sent as JSON"):
            Http("http://127.0.0.1:9", "shown")(Request("POST", "/", {}, {"a": value}))


def test_an_address_is_shown_without_its_password() -> None:
    """CFG-02: what people read of an address that does not answer holds no secret."""
    with pytest.raises(Unavailable) as away:
        connected(load(ClientSettings, api_url="http://me:secret@127.0.0.1:9")).post("/v1/runs")
    assert "127.0.0.1:9 does not answer" in str(away.value) and "secret" not in str(away.value)
