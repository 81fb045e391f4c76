"""Kinds of schedule that installed packages add: every process knows them before it reads a schedule."""

from importlib.metadata import EntryPoint, entry_points
from typing import Final

from headway.core.errors import Invalid
from headway.core.schedule.plugins import Factory, register

GROUP: Final = "headway.schedules"


def register_plugins() -> list[str]:
    """Register what packages declare as entry points of the group `headway.schedules`, and return the names.

    Raises Invalid naming an entry point that cannot be imported.
    """
    found = sorted(entry_points(group=GROUP), key=lambda one: one.name)
    for one in found:
        register(one.name, _loaded(one))
    return [one.name for one in found]


def _loaded(one: EntryPoint) -> Factory:
    try:
        factory: Factory = one.load()
    except (ImportError, AttributeError) as error:
        raise Invalid.field(f"entry point {GROUP}.{one.name}", f"{one.value} cannot be imported: {error}") from error
    return factory
