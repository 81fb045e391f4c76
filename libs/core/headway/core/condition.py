"""When a run that has ended matters to others: a value of its result, compared.

Values are compared as what they are: numbers as numbers, also where one of them is written as text, instants as instants, the rest as
text, case and all; of a long text a pattern sees the beginning.  A value that is missing equals nothing, is in nothing and is greater
than nothing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from math import isfinite
from re import Pattern
from typing import Any, Final

from headway.core.document import problems_of
from headway.core.errors import Invalid, Problem
from headway.core.outcome import RunOutcome
from headway.core.reading import Reader, demand

LONGEST_PATTERN: Final = 256
LONGEST_TEXT: Final = 256
MOST_REPEATS: Final = 3
OUTCOME_KEY: Final = "Result"
_REPEATS: Final = re.compile(r"(?<!\\)(?:\\\\)*[*+]|(?<!\\)(?:\\\\)*\{\d*,\d*\}")
_NESTED: Final = re.compile(r"[*+}]\)?[*+{]|\([^()]*[*+}][^()]*\)\s*[*+{]")
_Found = Any
_MISSING: Final = object()
_OUTCOMES: Final = {one.word.casefold(): one.word for one in RunOutcome}


class Operator(Enum):
    """The sixteen ways to compare."""

    EQUALS = "equals"
    NOT_EQUALS = "not_equals"
    CONTAINS = "contains"
    NOT_CONTAINS = "not_contains"
    STARTS_WITH = "starts_with"
    NOT_STARTS_WITH = "not_starts_with"
    ENDS_WITH = "ends_with"
    NOT_ENDS_WITH = "not_ends_with"
    GREATER = "greater"
    LESS = "less"
    GREATER_OR_EQUAL = "greater_or_equal"
    LESS_OR_EQUAL = "less_or_equal"
    IN = "in"
    NOT_IN = "not_in"
    REGEX = "regex"
    NOT_REGEX = "not_regex"


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison: `key` is a dotted name in the result; the key `Result` is the run's outcome, such as `Success` or `Timeout`."""

    key: str
    operator: Operator
    value: Any


def holds(condition: Condition, result: Mapping[str, Any], outcome: str) -> bool:
    """Whether a run's result and outcome meet a condition.  Never raises."""
    found = outcome if condition.key == OUTCOME_KEY else _at(result, condition.key)
    negated = _POSITIVE.get(condition.operator)
    if negated is not None:
        return not _COMPARE[negated](found, condition.value)
    return _COMPARE[condition.operator](found, condition.value)


def read_condition(document: Any, path: str = "condition") -> Condition:
    """Return the condition that `{key, operator, value}` describes.  Raises Invalid with every problem."""
    problems: list[Problem] = []
    reader = Reader.of(document, path, problems)
    key = reader.text("key", required=True)
    operator = Operator(reader.choice("operator", "equals", [one.value for one in Operator]))
    value = reader.take("value")
    problems += problems_of(value, reader.at("value"))
    if value is None:
        reader.wrong("value", "is required")
    elif operator in {Operator.IN, Operator.NOT_IN} and not isinstance(value, list):
        reader.wrong("value", "must be a list")
    elif operator in {Operator.REGEX, Operator.NOT_REGEX}:
        problems += [Problem(reader.at("value"), complaint) for complaint in _pattern_complaints(value)]
    if key == OUTCOME_KEY and operator in _WHOLE:
        value = _outcomes(reader, value)
    reader.finish()
    demand(problems)
    return Condition(key, operator, value)


def condition_document(condition: Condition) -> dict[str, Any]:
    """Return the document that `read_condition` reads as this condition."""
    return {"key": condition.key, "operator": condition.operator.value, "value": condition.value}


def _outcomes(reader: Reader, value: Any) -> Any:
    """The outcomes that are meant, as they are compared; an outcome that there is not would never match and nobody would hear of it."""
    given = value if isinstance(value, list) else [value]
    meant = [_OUTCOMES.get(str(one).replace("_", "").casefold()) for one in given]
    if value is not None and None in meant:
        reader.wrong("value", f"must be one of {', '.join(_OUTCOMES.values())}, as the key {OUTCOME_KEY} is the run's outcome")
    return meant if isinstance(value, list) else meant[0]


def _at(result: Mapping[str, Any], key: str) -> _Found:
    found: Any = result
    for name in key.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return _MISSING
        found = found[name]
    return found


def _pattern_complaints(value: Any) -> list[str]:
    if not isinstance(value, str) or len(value) > LONGEST_PATTERN:
        return [f"must be a pattern of at most {LONGEST_PATTERN} characters"]
    if _NESTED.search(value):
        return ["repeats what repeats itself, which may take for ever: say it without the inner repetition"]
    if len(_REPEATS.findall(value)) > MOST_REPEATS:
        return [f"repeats more than {MOST_REPEATS} times, which may take for ever on a text of {LONGEST_TEXT} characters"]
    try:
        re.compile(value)
    except re.error as error:
        return [f"is no regular expression: {error}"]
    return []


def _number(value: _Found) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def _instant(value: _Found) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        instant = datetime.fromisoformat(value)
    except ValueError:
        return None
    return instant if instant.tzinfo is not None else None


def _pair(found: _Found, wanted: Any) -> tuple[Any, Any] | None:
    """Both values as one kind that has an order, or None when they have none in common."""
    for kind in (_number, _instant):
        pair = kind(found), kind(wanted)
        if None not in pair:
            return pair
    return (found, wanted) if isinstance(found, str) and isinstance(wanted, str) else None


def _equals(found: _Found, wanted: Any) -> bool:
    if isinstance(found, bool) or isinstance(wanted, bool):
        return _text(found).casefold() == _text(wanted).casefold()
    pair = _pair(found, wanted)
    return bool(pair[0] == pair[1]) if pair is not None else found is not _MISSING and bool(found == wanted)


def _contains(found: _Found, wanted: Any) -> bool:
    if isinstance(found, list):
        return any(_equals(one, wanted) for one in found)
    return found is not _MISSING and _text(wanted) in _text(found)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[_Found, Any], bool]:
    def compared(found: _Found, wanted: Any) -> bool:
        pair = _pair(found, wanted)
        return pair is not None and compare(*pair)

    return compared


def _in(found: _Found, wanted: Sequence[Any]) -> bool:
    return any(_equals(found, one) for one in wanted)


def _matches(found: _Found, wanted: str) -> bool:
    return found is not _MISSING and _compiled(wanted).search(_text(found)[:LONGEST_TEXT]) is not None


def _compiled(pattern: str) -> Pattern[str]:
    if _pattern_complaints(pattern):
        raise Invalid.field("value", "is no regular expression that may be used")
    return re.compile(pattern)


def _text(value: _Found) -> str:
    return "" if value is _MISSING else str(value)


_COMPARE: Final[Mapping[Operator, Callable[[_Found, Any], bool]]] = {
    Operator.EQUALS: _equals,
    Operator.CONTAINS: _contains,
    Operator.STARTS_WITH: lambda found, wanted: found is not _MISSING and _text(found).startswith(_text(wanted)),
    Operator.ENDS_WITH: lambda found, wanted: found is not _MISSING and _text(found).endswith(_text(wanted)),
    Operator.GREATER: _ordered(lambda found, wanted: found > wanted),
    Operator.LESS: _ordered(lambda found, wanted: found < wanted),
    Operator.GREATER_OR_EQUAL: _ordered(lambda found, wanted: found >= wanted),
    Operator.LESS_OR_EQUAL: _ordered(lambda found, wanted: found <= wanted),
    Operator.IN: _in,
    Operator.REGEX: _matches,
}
_WHOLE: Final = frozenset({Operator.EQUALS, Operator.NOT_EQUALS, Operator.IN, Operator.NOT_IN})
_POSITIVE: Final[Mapping[Operator, Operator]] = {
    one: Operator(one.value.removeprefix("not_")) for one in Operator if one.value.startswith("not_")
}
