"""What differs between two documents of the same kind, field by field, by path such as `schedules.nightly.cron`.  Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from headway.core.safe import MASK
from headway.core.secret import is_sealed


class Difference(NamedTuple):
    """A field that differs, as it may be shown: what is kept, and what is wanted; of a `secret` one there is no more to say."""

    path: str
    kept: Any
    wanted: Any
    secret: bool = False


def differences(kept: Any, wanted: Any, path: str = "") -> Iterator[Difference]:
    """Return the fields in which what is kept is not what is wanted, in the order of the latter.

    A list of things with names is compared thing by thing, any other as a whole; what is null and what is not there are the same.
    """
    if _are_named(kept) or _are_named(wanted):
        kept, wanted = _by_name(kept), _by_name(wanted)
    if kept == wanted:
        return
    if isinstance(kept, Mapping) and isinstance(wanted, Mapping) and not (is_sealed(kept) or is_sealed(wanted)):
        for name in dict.fromkeys([*wanted, *kept]):
            yield from differences(kept.get(name), wanted.get(name), f"{path}.{name}" if path else str(name))
    else:
        yield Difference(path, _shown(kept), _shown(wanted), is_sealed(kept) and is_sealed(wanted))


def _are_named(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) and "name" in one for one in value)


def _by_name(value: Any) -> Any:
    return {one["name"]: one for one in value} if _are_named(value) else value or {}


def _shown(value: Any) -> Any:
    """A value without its secrets; what it says nothing about is left out of a whole thing."""
    if is_sealed(value):
        return MASK
    if isinstance(value, Mapping):
        return {name: _shown(inner) for name, inner in value.items() if inner not in (None, "", [], {})}
    return [_shown(one) for one in value] if isinstance(value, list) else value
