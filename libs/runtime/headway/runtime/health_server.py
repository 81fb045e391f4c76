"""`/healthz`, `/readyz` and `/metrics` on the health port, answered by a thread: also while the event loop stands still."""

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from headway.core.errors import Invalid
from headway.runtime.health import Health, Report
from headway.runtime.metrics import REGISTRY

log = structlog.get_logger(__name__)

JSON: Final = "application/json"
PATIENCE: Final = 10  # seconds that a client may take to send its request


class HealthServer(ThreadingHTTPServer):
    """Serves one Health; `port` is the one that was bound."""

    daemon_threads = True

    def __init__(self, health: Health, host: str, port: int) -> None:
        super().__init__((host, port), _Handler)
        self.health = health
        self.port = self.server_address[1]

    @contextmanager
    def serving(self) -> Iterator[int]:
        """Answer from a thread until the block ends; gives the bound port."""
        thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, name="health", daemon=True)
        thread.start()
        try:
            yield self.port
        finally:
            self.shutdown()
            self.server_close()
            thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, or a check that is broken: logged, and the server goes on."""
        log.exception("health request failed")


class _Handler(BaseHTTPRequestHandler):
    server: HealthServer
    server_version = "headway"
    sys_version = ""
    timeout = PATIENCE

    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/healthz":
                self._report(self.server.health.live())
            case "/readyz":
                self._report(self.server.health.ready())
            case "/metrics":
                self._answer(200, CONTENT_TYPE_LATEST, generate_latest(REGISTRY))
            case _:
                self._answer(404, JSON, b'{"status": "not found"}')

    def log_message(self, *args: Any) -> None:
        """Probes are not worth a line each."""

    def _report(self, report: Report) -> None:
        self._answer(200 if report.ok else 503, JSON, json.dumps(report.body(), default=str).encode())

    def _answer(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serve_health(health: Health, host: str, port: int) -> Iterator[None]:
    """Answer on this address until the block ends; port 0 serves nothing.  Raises Invalid when the address cannot be bound."""
    if port == 0:
        yield
        return
    with bind_health(health, host, port).serving():
        yield


def bind_health(health: Health, host: str, port: int) -> HealthServer:
    """A server that holds its address and does not answer yet; port 0 is any free one.  Raises Invalid when it cannot be bound."""
    try:
        return HealthServer(health, host, port)
    except OSError as error:
        said = f"cannot listen on {host}:{port}: {error.strerror}"
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            raise Invalid.field("HEADWAY_HEALTH_PORT", f"{said}; set HEADWAY_HEALTH_PORT to another, or 0 for none") from error
        raise Invalid.field("HEADWAY_HEALTH_HOST", said) from error
