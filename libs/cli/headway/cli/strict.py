"""Texts that people hand in, read as JSON or YAML with nothing passed over: what cannot be kept as it stands is refused by its name."""

import json
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any, Final

from headway.core.document import problems_of
from headway.core.errors import Invalid, Problem
from headway.core.reading import demand

TOO_DEEP: Final = "is nested too deeply"
MOST_VALUES: Final = 1_000_000  # more than fit into what the API takes
MOST_PROBLEMS: Final = 20
MERGE: Final = "tag:yaml.org,2002:merge"
MISFORMED: Final = (ValueError, LookupError, AttributeError, TypeError)  # what YAML's reader lets through of values under a wrong tag


def read_json(text: str, field: str) -> Any:
    """Return the value of a JSON text.  Raises Invalid, of the field, with what is wrong."""
    try:
        return keepable(json.loads(text, object_pairs_hook=_once), field)
    except json.JSONDecodeError as error:
        raise Invalid.field(field, f"is not JSON: {error}") from None
    except _Twice as error:
        raise Invalid.field(field, f"names {error.args[0]!r} twice") from None
    except RecursionError:
        raise Invalid.field(field, TOO_DEEP) from None
    except ValueError:
        raise Invalid.field(field, "holds a number of too many digits") from None


def read_yaml(text: str, file: str) -> Any:
    """Return the value of a YAML or JSON text.  Raises Invalid, of FILE, with the line of what cannot be read."""
    import yaml

    try:
        return keepable(yaml.load(text, Loader=plain_loader()), "FILE")  # noqa: S506 - a SafeLoader with fewer kinds of value
    except yaml.YAMLError as error:
        raise Invalid.field("FILE", f"{file} is neither YAML nor JSON: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise Invalid.field("FILE", f"{file} {TOO_DEEP}") from None
    except MISFORMED as error:
        raise Invalid.field("FILE", f"{file} holds a value that cannot be read: {error}") from None


def keepable(value: Any, field: str) -> Any:
    """Return the value.  Raises Invalid, each problem under its path, unless it is JSON of a size that can be sent and kept."""
    if _is_larger_than(value, MOST_VALUES):
        raise Invalid.field(field, f"comes to more than {MOST_VALUES} values, or holds itself")
    demand([Problem(_told(one.field, field), one.message) for one, _ in zip(problems_of(value, field), range(MOST_PROBLEMS), strict=False)])
    return value


def plain_loader() -> Any:
    """Return a loader that leaves instants as the text that they are, JSON has none, and takes each key of a mapping once."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_mapping_node(self, anchor: Any) -> Any:
            node = super().compose_mapping_node(anchor)
            for key in _repeated(node):
                raise Invalid.field("FILE", f"names {key.value!r} twice, again in line {key.start_mark.line + 1}")
            return node

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader


class _Twice(ValueError):
    """A name that stands twice in one mapping."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping of pairs with different names.  Raises _Twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice(next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1))
    return found


def _repeated(node: Any) -> Iterator[Any]:
    """Yield the keys of a mapping that stood there before; one that merges may stand as often as it likes."""
    seen: set[Hashable] = set()
    for key, _ in node.value:
        name = (key.tag, key.value) if key.id == "scalar" and key.tag != MERGE else None
        if name in seen:
            yield key
        if name is not None:
            seen.add(name)


def _is_larger_than(value: Any, most: int) -> bool:
    """Whether a value has more parts than that; what is referred to several times counts each time, as it would be written."""
    left, count = [value], 0
    while left and count <= most:
        one = left.pop()
        count += 1
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one
    return count > most


def _told(path: str, field: str) -> str:
    """The path of a problem as the option that it is in, a colon, and the way there."""
    inside = path.removeprefix(field).lstrip(".")
    return f"{field}: {inside}" if inside else field
