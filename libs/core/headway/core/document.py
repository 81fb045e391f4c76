"""What may stand in a JSON document that is stored: finite numbers, whole characters, limited depth."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, Final

from headway.core.errors import Problem

DEEPEST: Final = 64
_LARGEST_NUMBER: Final = (1 << 63) - 1


def problems_of(value: Any, path: str, depth: int = 1) -> Iterator[Problem]:
    """Name everything in a value that could not be stored, each with its path: what is nested too deeply or is no JSON."""
    if isinstance(value, Mapping | list | tuple):
        yield from _inside(value, path, depth)
    elif complaint := _complaint(value):
        yield Problem(path, complaint)


def is_text(value: object) -> bool:
    """Whether a value is text that can be stored: without NUL and without half of a character."""
    return isinstance(value, str) and "\x00" not in value and (value.isascii() or not any("\ud800" <= one <= "\udfff" for one in value))


def _inside(value: Mapping[Any, Any] | list[Any] | tuple[Any, ...], path: str, depth: int) -> Iterator[Problem]:
    if depth > DEEPEST:
        yield Problem(path, f"is nested deeper than {DEEPEST} levels")
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if not is_text(name):
                yield Problem(path, f"has the name {name!r}, which is no text that can be stored")
            yield from problems_of(inner, f"{path}.{name}", depth + 1)
    else:
        for index, inner in enumerate(value):
            yield from problems_of(inner, f"{path}[{index}]", depth + 1)


def _complaint(value: object) -> str:
    match value:
        case None | bool():
            return ""
        case int():
            return "" if abs(value) <= _LARGEST_NUMBER else "is a number beyond 64 bits"
        case float():
            return "" if isfinite(value) else "is a number that is not finite"
        case str():
            return "" if is_text(value) else "is text with NUL or half of a character"
        case _:
            return f"is a {type(value).__name__}, which JSON does not have"
