"""The services of this installation, by entry point."""

from types import ModuleType
from typing import Final

from headway.core.errors import Invalid

GROUP: Final = "headway.services"
SERVICES: Final = ("api", "scheduler", "workflow-engine", "maintenance", "worker")


def service(name: str) -> ModuleType:
    """Return the module `app` of a service.  Raises Invalid when it is not installed."""
    from importlib.metadata import entry_points  # slow, and no help text needs it

    found = entry_points(group=GROUP, name=name)
    if not found:
        raise Invalid.field(name, f"is not installed here: install headway-{name}")
    module: ModuleType = next(iter(found)).load()
    return module
