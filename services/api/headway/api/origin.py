"""Who may reach an API that asks nobody who they are: this machine's own programs, and no page of a browser that was lured here."""

from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from headway.api.problems import problem
from headway.core.errors import Invalid
from headway.runtime.settings.groups import ApiGroup

LOCAL_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def require_closed(knobs: ApiGroup) -> None:
    """Raise Invalid when others than this machine's programs could use the API, and nobody said that they may."""
    if not (is_loopback(knobs.host) or knobs.allow_unauthenticated):
        raise Invalid.field(
            "HEADWAY_API__HOST",
            f"{knobs.host} is open to other machines: set HEADWAY_API__ALLOW_UNAUTHENTICATED=true if the network is closed otherwise",
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Gatekeeper:
    """Lets requests pass that name this machine as their host, or any host where the API is open, and that no foreign page sent.

    A page can make a browser send a request here, and a name that its owner points at 127.0.0.1 makes this API look like the page's own.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 403."""
        complaint = self._complaint(str(scope["method"]), Headers(scope=scope)) if scope["type"] == "http" else ""
        await (problem(403, "forbidden", complaint) if complaint else self.app)(scope, receive, send)

    def _complaint(self, method: str, headers: Headers) -> str:
        host, origin = headers.get("Host", ""), headers.get("Origin")
        if self.hosts is not None and urlsplit(f"//{host}").hostname not in self.hosts:
            return f"Host: {host} is not this machine: only its own programs may use an API without authentication"
        if origin is not None and method not in SAFE_METHODS and urlsplit(origin).netloc != host:
            return f"Origin: pages of {origin} may change nothing here"
        return ""


def gatekeeper(app: ASGIApp, knobs: ApiGroup) -> Gatekeeper:
    """Return what stands before the application, as its settings want it."""
    return Gatekeeper(app, None if knobs.allow_unauthenticated else LOCAL_NAMES | {knobs.host})
