"""docker-compose.yml and the Dockerfile agree with the code, where no container engine is at hand to try them."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from headway.runtime import settings_page
from headway.runtime.settings import (
    ApiSettings,
    MaintenanceSettings,
    SchedulerSettings,
    Settings,
    WorkerSettings,
    WorkflowEngineSettings,
    load,
)
from tests.architecture.source import ROOT
from tests.harness import containers

SERVICES: dict[str, type[Settings]] = {
    "api": ApiSettings,
    "scheduler": SchedulerSettings,
    "workflow-engine": WorkflowEngineSettings,
    "maintenance": MaintenanceSettings,
    "worker": WorkerSettings,
}
VERBS = [*SERVICES, "db migrate"]
FULL_TAG = re.compile(r"^[\w./-]+:\d+\.\d+\.\d+[\w.-]*$|^postgres:\d+\.\d+[\w.-]*$")
VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")


@cache
def compose() -> dict[str, Any]:
    """The file with every variable at its default."""
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(VARIABLE.sub(r"\2", text))
    return found


def environment(service: str) -> dict[str, str]:
    """What a service of the file has in its environment."""
    found: dict[str, str] = compose()["services"][service]["environment"]
    return {name: str(value or "") for name, value in found.items()}


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_is_a_verb(verb: str) -> None:
    """Each container of ours runs a verb of the command line."""
    words = verb.split()
    command = compose()["services"]["migrate" if verb == "db migrate" else verb]["command"]
    assert command[: len(words)] == words
    headway = [str(Path(sys.executable).parent / "headway"), *words, "--help"]
    assert subprocess.run(headway, capture_output=True, check=False).returncode == 0


def test_every_image_has_a_full_version() -> None:
    """No image moves by itself: tags name a release to its last number, in the Dockerfile and for the tests as well."""
    images = [service["image"] for service in compose()["services"].values()]
    images += re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    images += [containers.POSTGRES, containers.RABBIT]
    assert not [image for image in images if not FULL_TAG.match(image)]


@pytest.mark.parametrize("service", SERVICES)
def test_settings_load_from_its_environment(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service of the file starts with settings that are complete and valid, and every variable is a knob."""
    page = settings_page.page()
    for name in [name for name in os.environ if name.startswith("HEADWAY_")]:
        monkeypatch.delenv(name)
    for name, value in environment(service).items():
        assert f"`{name}`" in page, name
        monkeypatch.setenv(name, value)
    settings = load(SERVICES[service])
    assert settings.health_host == "0.0.0.0"  # noqa: S104  # other containers read metrics


@pytest.mark.parametrize("service", SERVICES)
def test_health_is_asked_where_it_is_served(service: str) -> None:
    """The health check asks /healthz on the port that the service's settings have by default."""
    port = SERVICES[service].model_fields["health_port"].default
    assert f"http://127.0.0.1:{port}/healthz" in compose()["services"][service]["healthcheck"]["test"][-1]


def test_only_the_api_is_published_and_on_the_loopback() -> None:
    """Nothing of the stack can be reached from other machines; the API's port is the one of its settings."""
    port = ApiSettings.model_fields["api"].default.port
    published = {name: service["ports"] for name, service in compose()["services"].items() if "ports" in service}
    assert published == {"api": [f"127.0.0.1:{port}:{port}"]}


def test_services_wait_for_the_schema_and_the_broker() -> None:
    """The one-shot migration comes first; each service waits for it and for a healthy broker, and gets time to drain."""
    assert compose()["services"]["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    for name in SERVICES:
        service = compose()["services"][name]
        assert service["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
        assert service["depends_on"]["rabbitmq"] == {"condition": "service_healthy"}
        assert service["stop_signal"] == "SIGTERM"
        assert int(service["stop_grace_period"].rstrip("s")) > Settings.model_fields["drain_seconds"].default


def test_the_image_is_built_from_the_lock_file_and_runs_without_rights() -> None:
    """The build takes what uv.lock says and no development tools; the process is not root and hears SIGTERM."""
    dockerfile = (ROOT / "Dockerfile").read_text()
    last_stage = dockerfile.rsplit("FROM ", 1)[1]
    assert "uv sync --frozen --no-dev" in dockerfile
    assert re.search(r"^USER headway$", last_stage, re.MULTILINE)
    assert re.search(r"^STOPSIGNAL SIGTERM$", last_stage, re.MULTILINE)
    assert re.search(r'^ENTRYPOINT \["headway"\]$', last_stage, re.MULTILINE)
