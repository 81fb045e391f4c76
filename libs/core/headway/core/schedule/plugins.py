"""Kinds of schedule that an application adds: a name, and what makes a source of slots from stored parameters.

An application registers its kinds when it is imported, in every process that reads schedules.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

from headway.core.errors import Conflict, Invalid, Problem

FAR: Final = timedelta(days=8 * 365 + 2 + 1)
COUNTED: Final = 100_000
_TICK: Final = timedelta(microseconds=1)
# What code raises that is wrong: it is the plug-in's fault, and no reason for others to stop.
FAULTS: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
_EARLIEST: Final = datetime(10, 1, 1, tzinfo=UTC)


class SlotSource(Protocol):
    """Yields slots, as aware instants, and depends on nothing but its parameters: asked twice it answers the same."""

    def first(self) -> datetime | None:
        """Return the first slot of all, or None when there is none."""

    def next(self, after: datetime) -> datetime | None:
        """Return the first slot after an instant that is not before the first slot, or None when there is none."""


Factory = Callable[[Mapping[str, Any]], SlotSource]
_factories: Final[dict[str, Factory]] = {}


def register(name: str, factory: Factory) -> None:
    """Let schedules name a kind; `factory` raises Invalid for parameters that it cannot take, with their fields.

    Raises Conflict when the name stands for something else.
    """
    if _factories.setdefault(name, factory) is not factory:
        raise Conflict(f"the schedule plug-in {name!r} is already registered")


def make_source(name: str, parameters: Mapping[str, Any]) -> SlotSource:
    """Return a kind's source of slots; raises Invalid on `plugin` for a name that is not registered, and for parameters."""
    factory = _factories.get(name)
    if factory is None:
        known = f"known are {', '.join(sorted(_factories))}" if _factories else "none is registered"
        raise Invalid.field("plugin", f"{name[:40]!r} is not a registered plug-in: {known}")
    try:
        return factory(parameters)
    except Invalid as error:
        raise Invalid([Problem(_path(problem.field), problem.message) for problem in error.problems]) from None
    except FAULTS as error:
        raise _failed(error) from error


def following(source: SlotSource, after: datetime) -> datetime | None:
    """Return the first slot after `after`; raises Invalid on `plugin` for an answer that does not lie ahead, and for an error."""
    try:
        first = _checked(source.first(), None)
        if first is None or first > after:
            return first
        return _checked(source.next(after), after)
    except FAULTS as error:
        raise _failed(error) from error


def preceding(source: SlotSource, before: datetime) -> datetime | None:
    """Return the last slot before `before`, or None when there is none within the horizon; found by halving, in some sixty steps."""
    low, high = max(before, _EARLIEST) - FAR, before
    found = None
    while high - low > _TICK:
        middle = low + (high - low) / 2
        slot = following(source, middle)
        if slot is not None and slot < before:
            found = low = slot
        else:
            high = middle
    slot = following(source, low)
    return slot if slot is not None and slot < before else found


def count(source: SlotSource, after: datetime, until: datetime) -> int:
    """Return how many slots lie in (after, until], of which at most 100,000 are counted: a source can only be walked."""
    found = 0
    while found < COUNTED and (slot := following(source, after)) is not None and slot <= until:
        found, after = found + 1, slot
    return found


def _checked(slot: datetime | None, after: datetime | None) -> datetime | None:
    if slot is None:
        return None
    if slot.tzinfo is None or (after is not None and slot <= after):
        raise Invalid.field("plugin", f"answered {slot.isoformat()}, which is not an instant behind the one that it was asked about")
    return slot.astimezone(UTC)


def _failed(error: Exception) -> Invalid:
    return Invalid.field("plugin", f"failed with {type(error).__name__}: {error}")


def _path(field: str) -> str:
    return f"plugin_parameters.{field}" if field else "plugin_parameters"
