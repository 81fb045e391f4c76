"""The HTTP surface as a whole: every router, and the answers to whatever no route takes."""

from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from headway.api import (
    backfills,
    batches,
    broker,
    calendars,
    definitions,
    doctor,
    previews,
    probes,
    proofs,
    restrictions,
    runs,
    schedule_edits,
    schedules,
    sessions,
    triggers,
)
from headway.api.problems import MEDIA_TYPE, ProblemDetails, answer

# The next slots of a definition lie below its name, and a name may hold slashes: the longer path has to be tried first.
ROUTERS: Final = (
    runs.router,
    batches.router,
    proofs.router,
    previews.router,
    backfills.router,
    schedule_edits.router,
    schedules.router,
    definitions.router,
    triggers.router,
    calendars.router,
    restrictions.router,
    sessions.router,
    broker.router,
    doctor.router,
    probes.router,
)
PROBLEM: Final = {
    "description": "A problem (RFC 9457)",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
}
UNUSED: Final = ("HTTPValidationError", "ValidationError")


def surface() -> FastAPI:
    """Return the application; whoever serves it sets `state.platform` first."""
    app = FastAPI(title="Headway", version=version("headway-api"), openapi_url=None, docs_url=None, redoc_url=None)
    for router in ROUTERS:
        app.include_router(router)
    app.add_exception_handler(HTTPException, _no_route)
    return app


def openapi(app: FastAPI) -> dict[str, Any]:
    """Return the contract of the surface, as OpenAPI 3.1: every operation may also answer with a problem."""
    document = get_openapi(title=app.title, version=app.version, routes=app.routes, openapi_version="3.1.0")
    schemas = document["components"]["schemas"]
    _, problems = models_json_schema([(ProblemDetails, "serialization")], ref_template="#/components/schemas/{model}")
    schemas |= problems["$defs"]
    for name in UNUSED:
        schemas.pop(name, None)
    for operation in (operation for path in document["paths"].values() for operation in path.values()):
        operation["responses"].pop("422", None)
        operation["responses"]["default"] = PROBLEM
    return document


async def _no_route(request: Request, error: Exception) -> Response:
    return answer(error)
