"""Text with tokens in single braces: a flat dictionary, one regular expression, one pass.

`{Key}` stands for a fact by its dotted name, compared without case; `{Key:%Y-%m-%d}` for an instant in a format of its own.  What is no
fact stays as it stands, for whoever knows more.  `{{Key}}`, as older systems wrote it, is the same as `{Key}`.  No value is looked into,
nothing that was put in is read again, and text is never longer than `LONGEST`: a template that goes wrong is kept as it was written.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID

from headway.core.secret import is_sealed

Fact: TypeAlias = str | int | float | bool | datetime | UUID
Facts: TypeAlias = Mapping[str, Fact]

LONGEST: Final = 65_536
DEEPEST: Final = 8
MOST_FACTS: Final = 1_000
# Bounded and without a way back: a brace is never crossed, so that each character is looked at a few times at most.
_TOKEN: Final = re.compile(r"\{\{([^{}:]{1,160})(?::([^{}]{1,64}))?\}\}|\{([^{}:]{1,160})(?::([^{}]{1,64}))?\}")
# Neither flags nor widths, by which a few characters would become millions.
_FORMAT: Final = re.compile(r"(?:[^%]|%[aAbBdfGHIjmMpSuUVwWyYzZ%])+")


class Rendered(NamedTuple):
    """What a value became, and what is wrong with the templates in it that were kept as they were written."""

    value: Any
    faults: list[str]


class _Fault(Exception):
    """Why a text is kept."""


def is_template(value: Any) -> bool:
    """Whether there is anything in a value that `render` could change."""
    match value:
        case str():
            return "{" in value
        case Mapping():
            return any(map(is_template, value.values()))
        case list() | tuple():
            return any(map(is_template, value))
        case _:
            return False


def render(value: Any, facts: Facts) -> Rendered:
    """Put facts into every text of a JSON value, keys of mappings excepted; `facts` has its keys in casefolded form.  Never raises."""
    faults: list[str] = []
    return Rendered(_rendered(value, facts, faults), faults)


def flat(prefix: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Fact]]:
    """Yield what a JSON value holds by dotted names under a prefix, casefolded; secrets and what is deeper than `DEEPEST` are left out."""
    if is_sealed(value):
        return
    if isinstance(value, Mapping | list | tuple):
        inside = value.items() if isinstance(value, Mapping) else enumerate(value)
        for name, inner in inside if depth < DEEPEST else ():
            yield from flat(f"{prefix}.{name}", inner, depth + 1)
    elif isinstance(value, str | int | float | datetime | UUID):
        yield prefix.casefold(), value


def _rendered(value: Any, facts: Facts, faults: list[str]) -> Any:
    match value:
        case str():
            return _text(value, facts, faults) if "{" in value else value
        case Mapping():
            return {name: _rendered(inner, facts, faults) for name, inner in value.items()}
        case list() | tuple():
            return [_rendered(inner, facts, faults) for inner in value]
        case _:
            return value


def _text(text: str, facts: Facts, faults: list[str]) -> str:
    try:
        return "".join(_pieces(text, facts))
    except _Fault as fault:
        faults.append(f"{text[:80]!r}: {fault}")
        return text


def _pieces(text: str, facts: Facts) -> Iterator[str]:
    if len(text) > LONGEST:
        raise _Fault(f"is longer than {LONGEST} characters")
    written, length = 0, 0
    for found in _TOKEN.finditer(text):
        fact = facts.get((found[1] or found[3]).strip().casefold())
        pieces = (text[written : found.start()], found[0] if fact is None else _said(fact, found[2] or found[4]))
        length += sum(map(len, pieces))
        if length + len(text) - found.end() > LONGEST:
            raise _Fault(f"becomes longer than {LONGEST} characters")
        yield from pieces
        written = found.end()
    yield text[written:]


def _said(fact: Fact, form: str | None) -> str:
    """A fact as text: instants in ISO 8601 unless a format is given."""
    if form is not None:
        return _formatted(fact, form)
    match fact:
        case datetime():
            return fact.isoformat()
        case bool():
            return "true" if fact else "false"
        case _:
            return str(fact)


def _formatted(fact: Fact, form: str) -> str:
    if not isinstance(fact, datetime):
        raise _Fault(f"the format {form!r} is for instants")
    if not _FORMAT.fullmatch(form):
        raise _Fault(f"the format {form!r} holds what is not known here")
    try:
        return fact.strftime(form)
    except (ValueError, UnicodeError) as error:
        raise _Fault(f"the format {form!r} cannot be used: {error}") from None
