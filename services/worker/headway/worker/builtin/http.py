"""The built-in handler `http`: a request as a run, with the answer as its result."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from headway.sdk.run import Run
from headway.sdk.verdicts import PermanentError, RetryAfter
from headway.worker.builtin.shell import Seconds, Text

if TYPE_CHECKING:
    import httpx

TAIL: Final = 2_000
WORTH_A_RETRY: Final = (408, 425, 429, 500, 502, 503, 504)
SHOWN: Final = ("content-type", "location", "etag", "date")
LONGEST_WAIT: Final = timedelta(days=1)


def _without_line_ends(value: object) -> object:
    if isinstance(value, str) and any(one in value for one in "\r\n\0"):
        raise ValueError("must not hold line ends or NUL")
    return value


Header = Annotated[str, BeforeValidator(_without_line_ends)]


class HttpParams(BaseModel):
    """What to ask: `body` is text that is sent as it is, `json` a value; `timeout` is seconds or a text such as `30s`.

    An answer whose status is among `expected` (any 2xx when empty) is a success; one among `retry_on` is tried again, after what its
    Retry-After says; any other fails for good.  The run's idempotency token is sent in `token_header`, an empty name sends none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    url: Annotated[Text, Field(pattern=r"^https?://", max_length=8_000)]
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] = "POST"
    headers: dict[Header, Header] = Field(default_factory=dict)
    query: dict[str, str | list[str]] = Field(default_factory=dict)
    body: str | None = None
    json_: Any = Field(default=None, alias="json")
    timeout: Seconds = Field(default=30.0, gt=0, le=86_400)
    expected: list[Annotated[int, Field(ge=100, le=599)]] = Field(default_factory=list)
    retry_on: list[Annotated[int, Field(ge=100, le=599)]] = Field(default_factory=lambda: list(WORTH_A_RETRY))
    token_header: Header = "Idempotency-Key"  # noqa: S105 - the name of a header
    follow_redirects: bool = False
    output_limit: int = Field(default=65_536, ge=0, le=131_072)

    @model_validator(mode="after")
    def _one_body(self) -> "HttpParams":
        if self.body is not None and self.json_ is not None:
            raise ValueError("give either body or json")
        return self


class HttpFailed(Exception):
    """A request that may be tried again; `result` holds what a success would have returned, None when nobody answered."""

    def __init__(self, message: str, result: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.result = None if result is None else dict(result)


async def http(params: HttpParams, run: Run) -> dict[str, Any]:
    """Send the request and return {status, headers, body, truncated, seconds}.

    Raises HttpFailed when nobody answers or the answer is worth a retry, RetryAfter when the answer says when, PermanentError for any
    other answer that is not expected.
    """
    import httpx  # a worker that sends nothing does not hold it

    identity = {params.token_header: str(run.token)} if params.token_header else {}
    headers = {"User-Agent": "headway", **identity, **params.headers}
    asked = {"params": params.query or None, "headers": headers, "content": params.body, "json": params.json_}
    began = time.monotonic()
    try:
        async with (
            httpx.AsyncClient(timeout=params.timeout, follow_redirects=params.follow_redirects, trust_env=False) as client,
            client.stream(params.method, params.url, **asked) as answer,
        ):
            body, truncated = await _read(answer, params.output_limit)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise HttpFailed(f"{params.method} {_shown(params.url)} was not answered: {str(error) or type(error).__name__}") from error
    return judge(params, answer, _result(answer, body, truncated, time.monotonic() - began))


def judge(params: HttpParams, answer: "httpx.Response", result: dict[str, Any]) -> dict[str, Any]:
    """Return the result of an answer that was expected; raises as `http` says otherwise."""
    status = answer.status_code
    if status in params.expected or (not params.expected and answer.is_success):
        return result
    told = f"{params.method} {_shown(params.url)} answered {status}: {result['body'].strip()[:TAIL]}".rstrip(": ")
    if status not in params.retry_on:
        raise PermanentError(told)
    wait = _retry_after(answer.headers)
    if wait is not None:
        raise RetryAfter(wait, told)
    raise HttpFailed(told, result)


async def _read(answer: "httpx.Response", limit: int) -> tuple[str, bool]:
    """The beginning of a body, and whether there was more of it, which is not read."""
    kept = b""
    async for part in answer.aiter_bytes():
        kept += part
        if len(kept) > limit:
            break
    return kept[:limit].decode(answer.charset_encoding or "utf-8", "replace").replace("\0", "\ufffd"), len(kept) > limit


def _result(answer: "httpx.Response", body: str, truncated: bool, seconds: float) -> dict[str, Any]:
    headers = {name: answer.headers[name] for name in SHOWN if name in answer.headers}
    return {"status": answer.status_code, "headers": headers, "body": body, "truncated": truncated, "seconds": round(seconds, 3)}


def _retry_after(headers: "httpx.Headers") -> timedelta | None:
    """What a Retry-After asks for (RFC 9110, 10.2.3), at most a day, by the clock of whoever answered; None when it says nothing."""
    text = headers.get("Retry-After", "").strip()
    if text.isdigit():
        return min(timedelta(seconds=int(text[:9])), LONGEST_WAIT)
    try:
        wait = _instant(text) - _instant(headers.get("Date", ""))
    except ValueError:
        return None
    return min(max(wait, timedelta()), LONGEST_WAIT)


def _instant(text: str) -> datetime:
    at = parsedate_to_datetime(text)
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _shown(url: str) -> str:
    """A URL as it may be told: without what a query or a user part may hold of secrets."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
