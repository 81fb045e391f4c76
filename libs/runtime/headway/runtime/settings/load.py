"""Reading settings, and saying everything that is wrong with them at once."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from headway.core.errors import Invalid, Problem
from headway.runtime.settings.sources import KnobPath, Origin, env_name, knobs
from headway.runtime.settings.strangers import misspelt

T = TypeVar("T", bound=Origin)

MESSAGES: Final = {
    "missing": "is required",
    "extra_forbidden": "there is no such knob",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "bool_parsing": "must be true or false",
    "string_pattern_mismatch": "must match {pattern}",
    "literal_error": "must be one of {expected}",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "finite_number": "must be finite",
    "too_short": "must not be empty",
}


def load(settings: type[T], **code: Any) -> T:
    """The settings of one process.  Values given in code win over the environment, that over `*_FILE`, that over the TOML file.

    A value None in code counts as not given.  Raises Invalid with every bad value and every variable that is almost the name of a knob,
    each by the name of its environment variable and never with the value itself.
    """
    given = {name: value for name, value in code.items() if value is not None}
    wrong = misspelt()
    try:
        loaded = settings(**given)
    except ValidationError as error:
        raise Invalid(problems_of(error, settings, env_name) + wrong, code="settings") from None
    if wrong:
        raise Invalid(wrong, code="settings")
    return loaded


def problems_of(error: ValidationError, model: type[BaseModel], name: Callable[[KnobPath], str]) -> list[Problem]:
    """Everything that is wrong, one problem for a knob, named by `name`."""
    known = {path for path, _ in knobs(model)}
    found: dict[str, Problem] = {}
    for detail in error.errors(include_url=False, include_input=False):
        path = _knob(tuple(str(part) for part in detail["loc"]), known)
        found.setdefault(name(path), Problem(name(path), _message(detail)))
    return list(found.values())


def _knob(location: KnobPath, known: set[KnobPath]) -> KnobPath:
    """The knob that an error is about: pydantic adds positions and alternatives inside of a value."""
    for length in range(len(location), 0, -1):
        if location[:length] in known:
            return location[:length]
    return location


def _message(detail: ErrorDetails) -> str:
    if message := MESSAGES.get(detail["type"]):
        return message.format(**{name: _plain(value) for name, value in detail.get("ctx", {}).items()})
    return detail["msg"].removeprefix("Value error, ").removeprefix("Input ")


def _plain(limit: Any) -> Any:
    """A limit as a person writes it: 0, not 0.0."""
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit
