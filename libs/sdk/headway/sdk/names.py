"""Which names of parameters a handler's type takes: what it would pass over in silence is refused instead."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter

_INNER: Final = frozenset({"model", "dataclass", "function-after"})
_FIELDS: Final = frozenset({"model-fields", "dataclass-args", "typed-dict"})
Schema: TypeAlias = Mapping[str, Any]


def names_taken(adapter: TypeAdapter[Any]) -> frozenset[str] | None:
    """Return the names at the top of what a type takes, aliases included, or None for a type that may take any.

    That is one with `extra="allow"`, one that reads what it is given by a validator of its own before pydantic does, and no mapping.
    """
    return _names(adapter.core_schema, {}, {})


def closed(schema: dict[str, Any], names: frozenset[str] | None) -> dict[str, Any]:
    """Return a JSON Schema that refuses every other name at its top; None leaves it as it is."""
    if names is None:
        return schema
    properties = {name: {} for name in sorted(names)} | schema.get("properties", {})
    return schema | {"type": "object", "properties": properties, "additionalProperties": False}


def unknown(given: Mapping[Any, Any], names: frozenset[str]) -> list[str]:
    """Return the names that are given and not taken."""
    return [] if names.issuperset(given) else [str(name) for name in given if name not in names]


def alternatives(names: Iterable[str]) -> str:
    """Say which names there are, for whoever wrote another."""
    return f"known are {', '.join(sorted(names))}" if names else "there are none"


def _names(schema: Schema, config: Schema, definitions: Mapping[str, Schema]) -> frozenset[str] | None:
    kind = schema["type"]
    if kind == "definitions":
        return _names(schema["schema"], config, {one["ref"]: one for one in schema["definitions"]})
    if kind == "definition-ref":
        return _names(definitions[schema["schema_ref"]], config, definitions)
    config = schema.get("config") or config
    if kind in _INNER and not schema.get("root_model"):
        return _names(schema["schema"], config, definitions)
    if kind not in _FIELDS or _takes_any(schema, config):
        return None
    return frozenset(name for field, one in _fields(schema["fields"]) for name in _spellings(field, one, config))


def _takes_any(schema: Schema, config: Schema) -> bool:
    return "allow" in (schema.get("extra_behavior"), config.get("extra_fields_behavior")) or "extras_schema" in schema


def _fields(fields: Any) -> Iterator[tuple[str, Schema]]:
    """The fields that may be given; those of a dataclass stand in a list."""
    if isinstance(fields, Mapping):
        yield from fields.items()
    else:
        yield from ((one["name"], one) for one in fields if one.get("init", True))


def _spellings(name: str, field: Schema, config: Schema) -> Iterator[str]:
    """What a field may be called: its aliases, and its own name where there is none or where it counts, too."""
    alias = field.get("validation_alias")
    if alias is None or config.get("validate_by_name") or config.get("populate_by_name"):
        yield name
    yield from _first_steps(alias)


def _first_steps(alias: Any) -> list[str]:
    """The names at the top of an alias: itself, the first step of a path, or that of each of several paths."""
    match alias:
        case None:
            return []
        case str():
            return [alias]
        case [str() as first, *_]:
            return [first]
        case _:
            return [path[0] for path in alias]
