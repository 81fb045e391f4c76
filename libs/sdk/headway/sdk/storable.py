"""What may be stored as JSON: finite numbers, whole characters, limited depth and size."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any, Final

import orjson
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from headway.core.ask import LARGEST_INPUT
from headway.core.errors import Invalid

DEEPEST: Final = 64
NOT_STORABLE: Final = "not_storable"
_PLAIN_ONLY: Final = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_SIMPLE: Final = frozenset({int, str, bool, type(None)})


def json_text(value: Any, field: str) -> str:
    """Return a value as JSON text.  Raises Invalid on the field when it is not storable."""
    return _checked(value, _dumped(value, field), field).decode()


def plain_json(value: Any, field: str) -> Any:
    """Return a value as JSON has it: itself if it is plain.  Raises Invalid on the field when it is not storable."""
    try:
        _checked(value, orjson.dumps(value, option=_PLAIN_ONLY), field)
    except TypeError:
        return orjson.loads(json_text(value, field))
    return value


def _dumped(value: Any, field: str) -> bytes:
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid.field(field, f"cannot be stored as JSON: {error}", code=NOT_STORABLE) from error


def _checked(value: Any, text: bytes, field: str) -> bytes:
    if len(text) > LARGEST_INPUT:
        raise Invalid.field(field, f"is {len(text)} bytes of JSON, more than {LARGEST_INPUT}", code=NOT_STORABLE)
    if complaint := _complaint(value):
        raise Invalid.field(field, complaint, code=NOT_STORABLE)
    return text


def _complaint(value: Any) -> str:
    """Say what is wrong with a value that has been written, or nothing: NaN was written as null."""
    if type(value) is dict and _SIMPLE.issuperset(map(type, value.values())):
        return ""
    inside: list[Any] = [value]
    for _ in range(DEEPEST + 1):
        if any(type(one) is float and not isfinite(one) for one in inside):
            return "holds a number that is not finite"
        containers = [one for one in inside if type(one) is not float]
        if not containers:
            return ""
        inside = [inner for one in containers for inner in _inside(one) if type(inner) not in _SIMPLE]
    return f"is nested deeper than {DEEPEST} levels"


def _inside(value: Any) -> Iterable[Any]:
    if type(value) is dict:
        return value.values()
    match value:
        case Mapping():
            return value.values()
        case list() | tuple() | set() | frozenset():
            return value
        case BaseModel():
            return value.__dict__.values()
        case _ if is_dataclass(value) and not isinstance(value, type):
            return [getattr(value, one.name) for one in fields(value)]
        case _:
            return ()


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else to_jsonable_python(value)
