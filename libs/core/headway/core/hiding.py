"""Keep the texts of a run's secrets out of whatever its handler says: results, errors, reasons, progress, log lines."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from headway.core.outcome import Outcome, SafeError
from headway.core.safe import MASK

T = TypeVar("T", bound=Outcome | SafeError)


def hidden(value: Any, words: Sequence[str]) -> Any:
    """Return a JSON value with stars in the place of each of the words, in the names of fields, too."""
    match value:
        case str():
            return _without(value, words)
        case Mapping():
            return {hidden(name, words): hidden(inner, words) for name, inner in value.items()}
        case list() | tuple():
            return type(value)(hidden(inner, words) for inner in value)
        case int() | float() if str(value) in words:
            return MASK
        case _:
            return value


def hidden_in(outcome: T, words: Sequence[str]) -> T:
    """Return an outcome that tells none of the words."""
    return replace(outcome, **{one.name: _hidden(getattr(outcome, one.name), words) for one in fields(outcome)}) if words else outcome


def _hidden(value: Any, words: Sequence[str]) -> Any:
    return hidden_in(value, words) if isinstance(value, SafeError) else hidden(value, words)


def _without(text: str, words: Sequence[str]) -> str:
    for word in words:
        text = text.replace(word, MASK)
    return text
