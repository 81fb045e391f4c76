"""Values of pydantic's secret kinds as what they hide: JSON would show their stars, and they would never be found again."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Secret, SecretBytes, SecretStr, TypeAdapter
from pydantic_core import to_json


def revealed(value: Any) -> Any:
    """Return a value with what its secrets hide in their places; models that are inside become mappings."""
    match value:
        case SecretStr() | SecretBytes() | Secret():
            return revealed(value.get_secret_value())
        case BaseModel():
            return revealed(value.model_dump(by_alias=True, round_trip=True))
        case Mapping():
            return {name: revealed(inner) for name, inner in value.items()}
        case list() | tuple() | set() | frozenset():
            return [revealed(inner) for inner in value]
        case _:
            return value


def revealed_json(adapter: TypeAdapter[Any], value: Any) -> bytes:
    """Return a validated value as JSON that is read as the same value.  Raises PydanticSerializationError."""
    return to_json(revealed(adapter.dump_python(value, by_alias=True, round_trip=True)))
