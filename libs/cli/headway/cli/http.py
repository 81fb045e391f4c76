"""HTTP from the standard library, as much as the command line needs: a larger client takes longer to import than the API to answer."""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, unquote, urlencode, urlsplit, urlunsplit
from urllib.request import BaseHandler, HTTPRedirectHandler, HTTPSHandler, OpenerDirector, ProxyHandler, build_opener
from urllib.request import Request as Call

from headway.core.errors import HeadwayError, Invalid, Unavailable

if TYPE_CHECKING:
    from email.message import Message

TIMEOUT: Final = 30.0
LARGE: Final = 1_048_576  # bytes that an API takes unless its HEADWAY_API__MAX_BODY_BYTES says otherwise
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of an API: `query` values may be lists, `document` is sent as JSON unless it is None.

    `version` is the one that a change builds on.
    """

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    document: Mapping[str, Any] | None = None
    version: int | None = None

    @property
    def target(self) -> str:
        """The path with its query."""
        pairs = {name: _words(value) for name, value in self.query.items()}
        return f"{self.path}?{urlencode(pairs, doseq=True)}" if pairs else self.path

    @property
    def body(self) -> bytes | None:
        """The document as JSON.  Raises Invalid for one that JSON cannot hold."""
        if self.document is None:
            return None
        try:
            return json.dumps(self.document, separators=(",", ":"), allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise Invalid.field("", f"cannot be sent as JSON: {error}") from None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, and from where."""

    source: str
    status: int
    headers: "Mapping[str, str] | Message"
    body: bytes

    def json(self) -> Any:
        """Return the body as a value.  Raises ValueError for one that is no JSON."""
        return json.loads(self.body)


Send: TypeAlias = Callable[[Request], Answer]


class Http:
    """An address that answers requests.  Raises Unavailable when it does not; `shown` stands for it in what people read.

    A proxy of the environment is passed by where the address is on this machine.
    """

    def __init__(self, url: str, shown: str, key: str | None = None) -> None:
        self._parts = urlsplit(url)
        self._shown = shown
        self._headers = {"Accept": "application/json", **_authorization(self._parts, key)}

    def __call__(self, request: Request) -> Answer:
        """Send a request; whatever the status is, it is an answer."""
        try:
            return self._send(request)
        except (TimeoutError, URLError) as error:
            if isinstance(getattr(error, "reason", error), ConnectionResetError | BrokenPipeError):
                raise self._cut_off(error, request) from None
            if not isinstance(getattr(error, "reason", error), TimeoutError):
                raise self._silent(error) from None
            raise Unavailable(f"{self._shown} took longer than {TIMEOUT:g} s: look at its log, then try again") from None
        except (OSError, HTTPException, UnicodeError) as error:
            raise self._silent(error) from None

    def _send(self, request: Request) -> Answer:
        body = request.body
        headers = self._headers | ({"Content-Type": "application/json"} if body is not None else {})
        if request.version is not None:
            headers["If-Match"] = f'"{request.version}"'
        call = Call(self._base + request.target, data=body, headers=headers, method=request.method)  # noqa: S310 - the setting is http
        try:
            with self._opener.open(call, timeout=TIMEOUT) as found:
                return Answer(self._shown, found.status, found.headers, found.read())
        except HTTPError as error:
            with error:
                return Answer(self._shown, error.code, error.headers, error.read())

    @cached_property
    def _base(self) -> str:
        host = self._parts.netloc.rpartition("@")[2]
        return urlunsplit((self._parts.scheme, host, self._parts.path.rstrip("/"), "", ""))

    @cached_property
    def _opener(self) -> OpenerDirector:
        handlers: list[BaseHandler] = [_NoRedirect()]
        if self._parts.hostname in LOOPBACK:
            handlers.append(ProxyHandler({}))
        if self._parts.scheme == "https":
            from ssl import create_default_context

            handlers.append(HTTPSHandler(context=create_default_context()))
        return build_opener(*handlers)

    def _cut_off(self, error: Exception, request: Request) -> HeadwayError:
        """What a connection that ended while the body was sent means: a server that has read enough of a large one hangs up."""
        size = len(request.body or b"")
        if size <= LARGE:
            return self._silent(error)
        return Invalid.field("", f"what would be sent, {size} bytes, is larger than {self._shown} takes: divide it", code="too_large")

    def _silent(self, error: Exception) -> Unavailable:
        why = "no HTTP" if isinstance(error, HTTPException) else str(getattr(error, "reason", error)) or type(error).__name__
        return Unavailable(f"{self._shown} does not answer ({why}): start it with `headway up`, or name another with --api")


class _NoRedirect(HTTPRedirectHandler):
    """An API that sends its callers elsewhere is not the one that was named."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nothing."""


def _authorization(parts: SplitResult, key: str | None) -> dict[str, str]:
    """The key, or what stands in front of the host for a server between here and the API."""
    if key is not None:
        return {"Authorization": f"Bearer {key}"}
    if parts.username is None:
        return {}
    account = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {b64encode(account.encode()).decode()}"}


def _words(value: Any) -> Any:
    """A query's value as the API reads it."""
    if isinstance(value, list | tuple):
        return [_words(one) for one in value]
    return str(value).lower() if isinstance(value, bool) else str(value)
