"""`/healthz`, `/readyz` and `/metrics` on the API's own port, for whoever cannot reach the health port."""

import orjson
from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from headway.api.edge import Route
from headway.api.platform import Here
from headway.runtime.health import Report
from headway.runtime.metrics import REGISTRY

router = APIRouter(tags=["probes"], route_class=Route, include_in_schema=False)


@router.get("/healthz")
async def live(here: Here) -> Response:
    """Say whether the process should go on."""
    return _answer(here.health.live())


@router.get("/readyz")
async def ready(here: Here) -> Response:
    """Say whether the process does its work."""
    return _answer(here.health.ready())


@router.get("/metrics")
async def metrics() -> Response:
    """Show every metric of this process."""
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)


def _answer(report: Report) -> Response:
    return Response(orjson.dumps(report.body(), default=str), 200 if report.ok else 503, media_type="application/json")
