"""Each service is its own deployment: it installs and loads with nothing but what it names."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVICES = sorted(path.parent.name for path in (ROOT / "services").glob("*/pyproject.toml"))
WEB = {"fastapi", "starlette", "uvicorn"}
SHOW = """
import importlib, importlib.metadata, json, sys
importlib.import_module(f"headway.{sys.argv[1]}.app")
print(json.dumps([found.name for found in importlib.metadata.distributions()]))
"""


@pytest.fixture(scope="module")
def uv() -> str:
    """The uv that set this checkout up."""
    found = shutil.which("uv", path=os.pathsep.join([os.environ["PATH"], str(ROOT / ".tools/bin")]))
    assert found, "make setup installs uv"
    return found


@pytest.mark.system
@pytest.mark.timeout(300)
@pytest.mark.parametrize("service", SERVICES)
def test_a_service_loads_alone(service: str, uv: str, tmp_path: Path) -> None:
    """Installed by itself, a service imports; it brings no other service along, and only api a web framework."""
    environment = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(tmp_path / "venv"), "UV_PYTHON": sys.executable}
    environment.pop("VIRTUAL_ENV", None)
    sync = [uv, "sync", "--frozen", "--quiet", "--no-dev", "--package", f"headway-{service}"]
    installed = subprocess.run(sync, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed.stderr
    show = [str(tmp_path / "venv/bin/python"), "-c", SHOW, service.replace("-", "_")]
    loaded = subprocess.run(show, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert loaded.returncode == 0, loaded.stderr
    brought = set(json.loads(loaded.stdout))
    assert not {f"headway-{other}" for other in SERVICES if other != service} & brought
    assert bool(WEB & brought) == (service == "api")
