"""The API as the command line calls it: documents in and out, problems as errors."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote
from uuid import UUID

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential_jitter

from headway.cli.http import Answer, Http, Request, Send
from headway.core.errors import Conflict, HeadwayError, Invalid, NotFound, Problem, Unavailable

if TYPE_CHECKING:
    from headway.cli.output import Output
    from headway.runtime.settings import ClientSettings

PAGE: Final = 200
ONE_OF: Final = re.compile("(?<=ch)es$|s$")
READING: Final = Retrying(
    stop=stop_after_attempt(4),
    wait=wait_exponential_jitter(multiplier=0.1, max=1.0),
    retry=retry_if_exception_type(Unavailable),
    reraise=True,
)
WRONG: Final = {400, 405, 413, 415, 422, 428}
STANDING: Final = {409, 412}
AWAY: Final = {429, 502, 503, 504}


class Api:
    """One API under an address.  Every call raises Invalid, NotFound, Conflict or Unavailable, as the API says."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def get(self, path: str, **query: Any) -> Any:
        """Return a document; what is read is asked for again while the API does not answer."""
        given = {name: value for name, value in query.items() if value not in (None, (), [])}
        return READING(self._call, Request("GET", path, given))

    def post(self, path: str, document: Mapping[str, Any] | None = None, **query: Any) -> Any:
        """Send a document, fields that are None left out, and return the answer."""
        given = {name: value for name, value in (document or {}).items() if value is not None}
        return self._call(Request("POST", path, query, given))

    def change(self, method: str, path: str, document: Mapping[str, Any] | None = None, *, version: int | None = None) -> Any:
        """PUT, PATCH or DELETE what stands at `version`, as the document says; returns the answer, None when there is none."""
        return self._call(Request(method, path, {}, document, version))

    def items(self, path: str, limit: int | None = None, **query: Any) -> list[Any]:
        """Return the things of a listing, over as many pages as it takes, at most `limit`."""
        found: list[Any] = []
        for page in self._pages(path, min(limit or PAGE, PAGE), query):
            found += page
            if limit is not None and len(found) >= limit:
                return found[:limit]
        return found

    def now(self) -> datetime:
        """Return the instant by the API's own clock."""
        return parsedate_to_datetime(READING(self._send, Request("GET", "/healthz")).headers["Date"])

    def _pages(self, path: str, size: int, query: Mapping[str, Any]) -> Iterator[list[Any]]:
        cursor = None
        while True:
            page = self.get(path, limit=size, cursor=cursor, **query)
            yield page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _call(self, request: Request) -> Any:
        answer = self._send(request)
        if answer.status == 204:
            return None
        if 200 <= answer.status < 300:
            return _document(answer)
        raise problem_of(answer.status, _details(answer))


def problem_of(status: int, details: Mapping[str, Any]) -> HeadwayError:
    """Return the error that problem details tell of."""
    code, detail = details.get("code"), str(details.get("detail") or f"the API answered {status}")
    if status in WRONG:
        fields = [Problem(str(one.get("field", "")), str(one.get("message", ""))) for one in details.get("errors") or ()]
        return Invalid(fields or [Problem("", detail)], code=code)
    if status == 404:
        return NotFound(detail, code=code)
    if status in STANDING:
        return Conflict(detail, code=code)
    kind: Callable[..., HeadwayError] = Unavailable if status in AWAY else HeadwayError
    trace = f" (trace id {details['trace_id']})" if "trace_id" in details else ""
    return kind(detail + trace, code=code)


def path_of(kind: str, name: str, after: str = "") -> str:
    """Return the path of one thing; its name may hold any character."""
    return f"/v1/{kind}/{quote(name, safe='')}{after}"


def path_of_id(kind: str, text: str, after: str = "") -> str:
    """Return the path of one thing that is known by its id.  Raises Invalid for what is no id."""
    try:
        return path_of(kind, str(UUID(text)), after)
    except ValueError:
        raise Invalid.field(ONE_OF.sub("", kind).upper(), f"{text!r} is not an id: headway {kind} list shows them") from None


def api_of(output: "Output") -> Api:
    """Return the API that `--api` or the settings name.  Raises Invalid."""
    from headway.runtime.settings import ClientSettings, load

    return connected(load(ClientSettings, api_url=output.api))


def connected(settings: "ClientSettings") -> Api:
    """Return the API of some settings."""
    key = settings.api_key.reveal() if settings.api_key else None
    return Api(Http(settings.api_url.reveal(), str(settings.api_url), key))


def _document(answer: Answer) -> Any:
    try:
        return answer.json()
    except ValueError:
        raise Unavailable(f"{answer.source} is no Headway API: it answers {answer.headers.get('Content-Type', 'nothing')}") from None


def _details(answer: Answer) -> dict[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}
