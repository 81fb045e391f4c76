"""Health checks, and the three addresses that show them."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from headway.core.errors import Invalid
from headway.runtime.health import Check, Health, Scope
from headway.runtime.health_server import bind_health, serve_health


def says(ok: bool, **facts: object) -> Check:
    """A check with a fixed answer."""

    def check() -> tuple[bool, Mapping[str, Any]]:
        return ok, facts

    return check


@pytest.fixture
def health() -> Health:
    """No checks yet."""
    return Health()


@pytest.fixture
def port(health: Health) -> Iterator[int]:
    """A server on any free port."""
    with bind_health(health, "127.0.0.1", 0).serving() as bound:
        yield bound


def get(port: int, path: str) -> tuple[int, Any]:
    """Status and body."""
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


def test_liveness_and_readiness_differ(health: Health) -> None:
    """A failing dependency takes a process out of traffic and does not restart it."""
    health.add("loop", says(True), Scope.LIVE)
    health.add("database", says(False, error="away"))
    assert health.live().status == "ok"
    assert health.ready().status == "unhealthy"
    assert health.ready().checks["database"] == {"ok": False, "error": "away"}


def test_a_report_degrades_and_does_not_decide(health: Health) -> None:
    """The liveness of jobs is Degraded and not on readiness (HLT-02)."""
    health.add("headway-jobs", says(False), Scope.REPORT)
    report = health.ready()
    assert (report.ok, report.status) == (True, "degraded")


def test_double_registration_is_a_no_op(health: Health) -> None:
    """The first check of a name stays (HLT-04)."""
    health.add("worker", says(True))
    health.add("worker", says(False))
    assert health.ready().ok


def test_addresses(health: Health, port: int) -> None:
    """`/healthz` and `/readyz` answer JSON with 200 or 503, anything else 404."""
    health.add("worker", says(False, in_flight=3))
    assert get(port, "/healthz")[0] == 200
    status, body = get(port, "/readyz?verbose")
    assert status == 503
    assert json.loads(body) == {"status": "unhealthy", "checks": {"worker": {"ok": False, "in_flight": 3}}}
    assert get(port, "/else")[0] == 404


def test_metrics_are_served(port: int) -> None:
    """Every process serves its metrics for Prometheus (OBS-02)."""
    status, body = get(port, "/metrics")
    assert status == 200
    assert b"headway_run_queue_latency_seconds_bucket" in body


def test_a_port_in_use_is_a_bad_setting(health: Health) -> None:
    """An address that cannot be had is named by its knob (CFG-02)."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(Invalid) as caught, serve_health(health, "127.0.0.1", taken.getsockname()[1]):
            pass
    assert caught.value.problems[0].field == "HEADWAY_HEALTH_PORT"


def test_an_unknown_host_is_a_bad_setting(health: Health) -> None:
    """A host that is not this machine's is named by its knob."""
    with pytest.raises(Invalid) as caught, serve_health(health, "192.0.2.1", 9999):
        pass
    assert caught.value.problems[0].field == "HEADWAY_HEALTH_HOST"


def test_port_zero_serves_nothing(health: Health) -> None:
    """Port 0 turns the server off: no thread is there to answer."""
    with serve_health(health, "127.0.0.1", 0):
        assert "health" not in {thread.name for thread in threading.enumerate()}
