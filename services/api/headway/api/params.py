"""Parameters of a run, held to the specification of its definition before anything is written."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from headway.api.inputs import value_problems
from headway.core.ask import LARGEST_INPUT
from headway.core.errors import Problem
from headway.core.safe import MASK
from headway.core.secret import is_sealed
from headway.core.secret_names import Secrets, secrets_in

_NOTHING_FETCHED: Final[Registry[Any]] = Registry()


def problems_of(values: Mapping[str, Any], spec: Mapping[str, Any] | None, path: str) -> list[Problem]:
    """Return everything that is wrong with parameters, each by its path; nothing when they may be stored."""
    if unfit := list(value_problems(values, path)):
        return unfit
    if len(orjson.dumps(values)) > LARGEST_INPUT:
        return [Problem(path, f"must be at most {LARGEST_INPUT} bytes as JSON")]
    return [] if spec is None else list(_against(values, spec, path))


def spec_problems(spec: Mapping[str, Any] | None, path: str) -> list[Problem]:
    """Return what keeps a specification from being a JSON Schema (2020-12)."""
    try:
        if spec is not None:
            Draft202012Validator.check_schema(spec)
    except SchemaError as error:
        return [Problem(_at(path, error), f"is not a JSON Schema: {error.message}")]
    return []


def _against(values: Mapping[str, Any], spec: Mapping[str, Any], path: str) -> Iterator[Problem]:
    validator = Draft202012Validator(spec, registry=_NOTHING_FETCHED, format_checker=Draft202012Validator.FORMAT_CHECKER)
    secrets = secrets_in(spec)
    # What is sealed was held to its specification when it was; what is masked stands for it.
    unread = {name for name, value in values.items() if is_sealed(value) or (value == MASK and secrets.covers(name))}
    try:
        for error in validator.iter_errors(values):
            name = error.absolute_path[0] if error.absolute_path else None
            if name not in unread:
                yield from _discreet(error, path, secrets) if secrets else _described(error, path)
    except (Unresolvable, RecursionError) as error:
        yield Problem("parameter_spec", f"cannot be followed: {error}")


def _discreet(error: ValidationError, path: str, secrets: Secrets) -> Iterator[Problem]:
    """Name the field without quoting a secret, as the schema's own messages do."""
    name = error.absolute_path[0] if error.absolute_path else None
    if isinstance(name, str) and secrets.covers(name):
        yield Problem(f"{path}.{name}", f"does not fit its specification: {error.validator}")
    elif name is None and error.validator not in ("required", "additionalProperties", "type"):
        yield Problem(path, f"do not fit their specification: {error.validator}")
    else:
        yield from _described(error, path)


def _described(error: ValidationError, path: str) -> Iterator[Problem]:
    """Name the field that is missing or too much, where the schema's own message names its parent."""
    here = _at(path, error)
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    match error.validator:
        case "required":
            missing = next(name for name in schema["required"] if error.message.startswith(repr(name)))
            yield Problem(f"{here}.{missing}", "is required")
        case "additionalProperties" if schema["additionalProperties"] is False and "patternProperties" not in schema:
            yield from _unknown(error.instance, schema.get("properties", {}), here)
        case "type":
            yield Problem(here, f"must be of type {_types(schema['type'])}")
        case _:
            yield Problem(here, error.message[:500])


def _unknown(given: object, known: Mapping[str, Any], here: str) -> Iterator[Problem]:
    there_are = f"known are {', '.join(sorted(known))}" if known else "there are none"
    names = given if isinstance(given, Mapping) else ()
    yield from (Problem(f"{here}.{name}", f"is not a known parameter: {there_are}") for name in names if name not in known)


def _types(wanted: object) -> str:
    return wanted if isinstance(wanted, str) else " or ".join(map(str, wanted)) if isinstance(wanted, list) else str(wanted)


def _at(path: str, error: ValidationError | SchemaError) -> str:
    return path + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
