"""A fresh virtual host for each test, where the broker's management API can make one."""

import base64
import http.client
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote, urlsplit

from headway.cli.embedded.holders import alone
from tests.harness.rundir import RunDir


@contextmanager
def vhost(run: RunDir, broker: dict[str, str]) -> Iterator[str]:
    """The URL of a virtual host that nobody else uses while the block runs.

    A broker without an API has one virtual host: tests of other workers wait for it."""
    if not broker["api"]:
        with alone(run.path / "vhost.lock"):
            yield broker["url"]
        return
    name = f"test-{secrets.token_hex(6)}"
    user = quote(urlsplit(broker["url"]).username or "guest")
    _request(broker["api"], "PUT", f"/api/vhosts/{name}", "{}")
    _request(broker["api"], "PUT", f"/api/permissions/{name}/{user}", '{"configure": ".*", "write": ".*", "read": ".*"}')
    try:
        yield urlsplit(broker["url"])._replace(path=f"/{name}").geturl()
    finally:
        _request(broker["api"], "DELETE", f"/api/vhosts/{name}")


def _request(api: str, method: str, path: str, body: str | None = None) -> None:
    parts = urlsplit(api)
    credentials = base64.b64encode(f"{parts.username}:{parts.password}".encode()).decode()
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 15672, timeout=30)
    try:
        connection.request(method, path, body, {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.read().decode(errors='replace')}")
    finally:
        connection.close()
