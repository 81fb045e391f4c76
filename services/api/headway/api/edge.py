"""Where requests come in: every route is measured, reads JSON strictly, refuses what it does not know, and ends in an answer."""

import json
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from headway.api.problems import MALFORMED, answer
from headway.core.errors import Invalid, Problem
from headway.runtime.logs import log_fields
from headway.runtime.metrics import API_REQUEST_DURATION, API_REQUESTS
from headway.runtime.tracing import span

CORRELATION: Final = "X-Correlation-Id"
TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


class StrictRequest(Request):
    """A request whose body is bounded, and JSON as the standard has it: UTF-8, no NaN, no Infinity."""

    async def body(self) -> bytes:
        """Return the body.  Answers 413 as soon as it is known to be too large."""
        if not hasattr(self, "_body"):
            self._body = await self._bounded(self.app.state.platform.max_body_bytes)
        return self._body

    async def json(self) -> Any:
        """Return the body's value.  Raises Invalid, answered by 400, when it is not JSON."""
        return value_of(await self.body())

    async def _bounded(self, limit: int) -> bytes:
        chunks = bytearray()
        async for chunk in self.stream():
            chunks += chunk
            if len(chunks) > limit:
                raise HTTPException(413, f"body: is larger than {limit} bytes")
        return bytes(chunks)


class Route(APIRoute):
    """A route whose every way out is an answer: the last handler of the API stands here."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]  # any awaitable will do
        """Return what is called with each request."""
        handle = super().get_route_handler()
        known = frozenset(query_names(self.dependant))

        async def last(request: Request) -> Response:
            try:
                _refuse_unknown(request, known)
                if self.body_field is not None:
                    _require_json(request)
                return await handle(StrictRequest(request.scope, request.receive))
            except Exception as error:
                return answer(error)

        async def measured(request: Request) -> Response:
            began = time.monotonic()
            with span("api.request", parent=_traceparent(request), attributes={"method": request.method, "route": self.path_format}):
                response = await _correlated(request, last)
            API_REQUESTS.labels(request.method, self.path_format, str(response.status_code)).inc()
            API_REQUEST_DURATION.observe(time.monotonic() - began, request.method, self.path_format)
            return response

        return measured


def value_of(body: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.  Raises Invalid, of the field `body`, with what is wrong."""
    try:
        return json.loads(body.decode(), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise _malformed(f"is not JSON: {error}") from None
    except UnicodeDecodeError as error:
        raise _malformed(f"is not UTF-8: {error.reason} at byte {error.start}") from None
    except RecursionError:
        raise _malformed("is nested too deeply") from None
    except ValueError:  # a whole number beyond what Python reads
        raise _malformed("holds a number of too many digits") from None


def query_names(dependant: Dependant) -> set[str]:
    """Return the names of all query parameters that a route and its dependencies take."""
    names: set[str] = set()
    for field in dependant.query_params:
        kind = field.field_info.annotation
        names |= _aliases(kind) if isinstance(kind, type) and issubclass(kind, BaseModel) else {field.alias}
    return names.union(*map(query_names, dependant.dependencies))


def _aliases(kind: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in kind.model_fields.items()}


async def _correlated(request: Request, handle: Callable[[Request], Awaitable[Response]]) -> Response:
    correlation = request.headers.get(CORRELATION)
    if correlation is None:
        return await handle(request)
    with log_fields(correlation=correlation):
        response = await handle(request)
    response.headers[CORRELATION] = correlation
    return response


def _refuse_unknown(request: Request, known: frozenset[str]) -> None:
    if unknown := [name for name in request.query_params if name not in known]:
        raise Invalid([Problem(name, "is not a known parameter") for name in unknown])


def _require_json(request: Request) -> None:
    has_body = request.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in request.headers
    media_type = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if has_body and media_type != "application/json" and not media_type.endswith("+json"):
        raise HTTPException(415, "body: must be application/json")


def _traceparent(request: Request) -> str | None:
    given = request.headers.get("traceparent", "")
    return given if TRACEPARENT.fullmatch(given) else None


def _refuse_constant(name: str) -> None:
    raise _malformed(f"is not JSON: {name} is not a JSON number")


def _malformed(message: str) -> Invalid:
    return Invalid.field("body", message, code=MALFORMED)
