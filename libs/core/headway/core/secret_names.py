"""Which parameters a specification marks as secret: those whose JSON Schema says `writeOnly: true` or `format: password`.

A parameter is secret as a whole when any part of its schema is marked, also behind `$ref`, `anyOf` and the like: better one too many.
Names are compared without case, as parameters are merged.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

Schema = Mapping[str, Any]
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("if", "then", "else", "not")
_REFERENCES: Final = ("$ref", "$dynamicRef")
_ANCHORS: Final = ("$anchor", "$dynamicAnchor", "$id")
_REST: Final = ("additionalProperties", "unevaluatedProperties")


class Secrets(NamedTuple):
    """The names of secret parameters, casefolded; with `others` all are secret that are not among the `plain` ones."""

    names: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    others: bool = False

    def __bool__(self) -> bool:
        return bool(self.names) or self.others

    def covers(self, name: str) -> bool:
        """Whether a parameter is secret."""
        folded = name.casefold()
        return folded in self.names or (self.others and folded not in self.plain)


NONE: Final = Secrets()


def secrets_in(spec: Schema | None) -> Secrets:
    """Return which parameters a specification marks."""
    if not spec or not _is_marked(spec, spec):
        return NONE
    shapes = list(_shapes(spec))
    if any(_marks(shape) for shape in shapes):
        return Secrets(others=True)
    named = [(name.casefold(), one) for shape in shapes for name, one in _mapping(shape, "properties").items()]
    names = frozenset(name for name, one in named if _is_marked(one, spec))
    patterns = any(_is_marked(one, spec) for shape in shapes for one in _mapping(shape, "patternProperties").values())
    rest = any(_is_marked(shape.get(rule), spec) for shape in shapes for rule in _REST)
    plain = frozenset() if patterns else frozenset(name for name, _ in named) - names
    return Secrets(names, plain, patterns or rest)


def _shapes(root: Schema) -> Iterator[Schema]:
    """The specification and every schema that speaks of the same value: what it refers to, its alternatives and conditions."""
    waiting: list[Any] = [root]
    seen: set[int] = set()
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, Mapping) and id(schema) not in seen:
            seen.add(id(schema))
            yield schema
            waiting += [one for rule in _LISTS for one in _items(schema.get(rule))]
            waiting += [schema.get(rule) for rule in _SINGLE]
            waiting += _mapping(schema, "dependentSchemas").values()
            waiting += _targets(schema, root)


def _is_marked(schema: Any, root: Schema) -> bool:
    """Whether a schema is marked in any of its parts, or what they refer to."""
    return any(_marks(part) for part in _parts(schema, root))


def _parts(schema: Any, root: Schema) -> Iterator[Schema]:
    waiting: list[Any] = [schema]
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Mapping):
            yield part
            waiting += [*part.values(), *_targets(part, root)]
        else:
            waiting += _items(part)


def _marks(schema: Schema) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


def _targets(schema: Schema, root: Schema) -> list[Any]:
    return [_target(schema[rule], root) for rule in _REFERENCES if isinstance(schema.get(rule), str)]


def _target(reference: str, root: Schema) -> Any:
    """What a reference means; the whole specification where that cannot be found out."""
    if reference.startswith("#/"):
        return _pointed(unquote(reference[2:]).split("/"), root)
    wanted = reference.removeprefix("#")
    if not wanted:
        return root
    return next((part for part in _nested(root) if wanted in [part.get(anchor) for anchor in _ANCHORS]), root)


def _pointed(steps: Sequence[str], root: Schema) -> Any:
    found: Any = root
    for step in steps:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            return root
    return found


def _nested(root: Schema) -> Iterator[Schema]:
    """Every mapping inside of a specification, references not followed."""
    waiting: list[Any] = [root]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            yield part
            waiting += part.values()
        else:
            waiting += _items(part)


def _mapping(schema: Schema, rule: str) -> Schema:
    found = schema.get(rule)
    return found if isinstance(found, Mapping) else {}


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
