"""The one place where an error becomes an answer: problem details (RFC 9457) with a stable code, a trace id and every field that is wrong.

A request that can be read and asks for something wrong is 422; one that cannot be read, or that carries a forged cursor, is 400.
"""

import secrets
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import orjson
import structlog
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from headway.core.errors import Conflict, HeadwayError, Invalid, NotFound, Problem, Unavailable
from headway.runtime.tracing import current_traceparent

log = structlog.get_logger(__name__)

MEDIA_TYPE: Final = "application/problem+json"
BAD_CURSOR: Final = "bad_cursor"
MALFORMED: Final = "malformed"
PRECONDITION_REQUIRED: Final = "precondition_required"
PRECONDITION_FAILED: Final = "precondition_failed"
STATUS_OF_KIND: Final = {Invalid: 422, NotFound: 404, Conflict: 409, Unavailable: 503}
STATUS_OF_CODE: Final = {BAD_CURSOR: 400, MALFORMED: 400, PRECONDITION_REQUIRED: 428, PRECONDITION_FAILED: 412, "key_contested": 409}
CODE_OF_STATUS: Final = {400: MALFORMED, 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "not_json"}
RETRY_AFTER: Final = {"unavailable": "2", "contested": "1", "key_contested": "1"}
MESSAGES: Final = {
    "missing": "is required",
    "extra_forbidden": "is not a known field",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "dict_type": "must be a mapping",
    "list_type": "must be a list",
    "model_attributes_type": "must be a mapping",
    "literal_error": "must be one of {expected}",
    "string_too_short": "must not be empty",
    "too_short": "must name at least {min_length}",
    "too_long": "must name at most {max_length}",
    "string_too_long": "must have at most {max_length} characters",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}
LENGTHS: Final = ("too_short", "too_long")  # told of lists, and of texts whose length is measured after they were checked


class FieldProblem(BaseModel):
    """One thing that is wrong with a request: the field's path, and what to do about it."""

    field: str
    message: str


class ProblemDetails(BaseModel):
    """What every answer that is no success says."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    trace_id: str
    errors: list[FieldProblem] = []


def answer(error: Exception) -> Response:
    """Return what the caller is told of an error; one that nobody meant to raise is logged here and says nothing of its inside."""
    match error:
        case Invalid():
            return problem(_status(error), error.code, error.message, error.problems)
        case HeadwayError():
            return problem(_status(error), error.code, error.message, headers=_retry(error))
        case RequestValidationError():
            return _unreadable(error)
        case HTTPException(__cause__=HeadwayError() as cause):  # what reading a body raises comes wrapped
            return answer(cause)
        case HTTPException():
            return problem(error.status_code, CODE_OF_STATUS.get(error.status_code, "error"), error.detail, headers=error.headers)
        case _:
            trace = _trace_id()
            log.error("request failed", trace=trace, exc_info=error)
            return problem(500, "internal", "something went wrong here; the log has the cause under the trace id", trace=trace)


def problem(
    status: int,
    code: str,
    detail: str,
    errors: Sequence[Problem] = (),
    *,
    headers: Mapping[str, str] | None = None,
    trace: str | None = None,
) -> Response:
    """Return an answer in the form of RFC 9457."""
    body = {
        "type": f"urn:headway:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "trace_id": trace or _trace_id(),
        "errors": [{"field": error.field, "message": error.message} for error in errors],
    }
    return Response(orjson.dumps(body), status, headers, MEDIA_TYPE)


def _status(error: HeadwayError) -> int:
    by_kind = next((status for kind, status in STATUS_OF_KIND.items() if isinstance(error, kind)), 500)
    return STATUS_OF_CODE.get(error.code, by_kind)


def _retry(error: HeadwayError) -> dict[str, str]:
    seconds = RETRY_AFTER.get(error.code)
    return {} if seconds is None else {"Retry-After": seconds}


def _unreadable(error: RequestValidationError) -> Response:
    details = error.errors()
    if any(detail["loc"][0] == "path" for detail in details):
        return answer(NotFound("there is nothing under this path"))
    return answer(Invalid([Problem(_field(detail["loc"]), _message(detail)) for detail in details]))


def _field(location: Sequence[str | int]) -> str:
    where, *path = location
    if where == "header":
        return str(path[0])
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".") or str(where)


def _message(detail: Mapping[str, Any]) -> str:
    text = "string_" if detail["type"] in LENGTHS and isinstance(detail["input"], str) else ""
    known = MESSAGES.get(text + detail["type"])
    return known.format(**detail.get("ctx", {})) if known else str(detail["msg"]).removeprefix("Value error, ")


def _trace_id() -> str:
    parts = (current_traceparent() or "").split("-")
    return parts[1] if len(parts) == 4 else secrets.token_hex(16)
