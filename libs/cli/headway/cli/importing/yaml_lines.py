"""YAML, and so JSON, with the line that each part begins at."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from headway.cli.strict import plain_loader
from headway.core.errors import Invalid


class Document(NamedTuple):
    """One document of a file: its first line, its value, and the lines of its parts by key or position."""

    line: int
    value: Any
    lines: dict[Any, int]


def documents(text: str) -> Iterator[Document]:
    """Yield the documents of a text that hold anything.  Raises Invalid for what is neither YAML nor JSON."""
    import yaml

    try:
        loader = plain_loader()(text)
        while loader.check_node():
            node = loader.get_node()
            value = loader.construct_document(node)
            if value is not None:
                yield Document(node.start_mark.line + 1, value, dict(_parts(node)))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Invalid.field("FILE", f"is neither YAML nor JSON: {' '.join(str(error).split())}") from None


def _parts(node: Any) -> Iterator[tuple[Any, int]]:
    if node.id == "mapping":
        yield from ((key.value, key.start_mark.line + 1) for key, _ in node.value)
    elif node.id == "sequence":
        yield from ((index, item.start_mark.line + 1) for index, item in enumerate(node.value))
