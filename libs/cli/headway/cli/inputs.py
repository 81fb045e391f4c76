"""What people type, as values: parameters, lengths of time, instants, documents."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import Any, Final

from headway.cli.strict import TOO_DEEP, keepable, read_json, read_yaml
from headway.core.durations import parse_duration
from headway.core.errors import Invalid, Problem
from headway.core.reading import demand

STDIN: Final = "-"
STRAY: Final = "is not a known parameter"


def parameters(pairs: Sequence[str], text: str | None) -> dict[str, Any] | None:
    """Return the parameters of `--json` with those of `-p key=value` over them, None when neither is given.

    A value that is JSON is taken as such, any other as text.  Raises Invalid with every problem.
    """
    if not pairs and text is None:
        return None
    demand([Problem("-p", f"{pair!r} is not key=value") for pair in pairs if not pair.partition("=")[0] or "=" not in pair])
    given = [(key, value) for key, _, value in (pair.partition("=") for pair in pairs)]
    demand([Problem("-p", f"{key!r} is given {times} times") for key, times in Counter(key for key, _ in given).items() if times > 1])
    return {**_mapping(text), **{key: _kept(key, value) for key, value in given}}


@contextmanager
def read_as_json(pairs: Sequence[str]) -> Iterator[None]:
    """Say of a `-p` that the block's Invalid names how its value is written as text, where it was read as something else."""
    try:
        yield
    except Invalid as error:
        hints = dict(_hints(pairs))
        found = [
            one if one.message.startswith(STRAY) else Problem(one.field, one.message + hints.get(one.field, "")) for one in error.problems
        ]
        raise Invalid(found, code=error.code) from None


def _hints(pairs: Sequence[str]) -> Iterator[tuple[str, str]]:
    for key, _, text in (pair.partition("=") for pair in pairs):
        if not isinstance(_value(key, text), str):
            written = quote(f"{key}={json.dumps(text, ensure_ascii=False)}")
            yield f"params.{key}", f"; -p read {text[:40]} as JSON, the text is written -p {written}"


def _mapping(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    found = read_json(text, "--json")
    if not isinstance(found, dict):
        raise Invalid.field("--json", 'must be a mapping, such as {"name": "Ada"}')
    return found


def _kept(key: str, text: str) -> Any:
    return keepable(_value(key, text), f"params.{key}")


def _value(key: str, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise Invalid.field(f"params.{key}", TOO_DEEP) from None
    except ValueError:
        return text


def _refuse(name: str) -> None:
    raise ValueError(name)


def duration(text: str | None, option: str) -> str | None:
    """Return a length of time as the API takes it.  Raises Invalid."""
    if text is not None:
        parse_duration(text, option)
    return text


def instant(text: str | None, option: str) -> str | None:
    """Return an instant as ISO 8601 with its offset.  Raises Invalid."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise Invalid.field(option, f"{text!r} is not an instant with its offset: write 2026-01-31T07:00:00Z")
    return found.isoformat()


def read_text(file: str) -> str:
    """Return what stands in a file, or on stdin for `-`.  Raises Invalid."""
    try:
        return sys.stdin.read() if file == STDIN else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise Invalid.field("FILE", f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Invalid.field("FILE", f"{file} is not UTF-8") from None


def read_document(file: str, of: str = "definitions") -> dict[str, Any]:
    """Return the document of a YAML or JSON file, which holds things of a kind.  Raises Invalid, with the line of what cannot be read."""
    document = read_yaml(read_text(file), file)
    if not isinstance(document, dict):
        raise Invalid.field("FILE", f"{file} must hold a mapping with `{of}`")
    return document


def read_items(file: str, of: str, *, header: bool) -> tuple[dict[str, Any], Any]:
    """Return the document of a file without its items, and the items.

    They are what the document has under `of`; of JSON Lines, a file *.jsonl, each line is one, but the first where that is a `header`, the
    document itself.  Raises Invalid with what cannot be read.
    """
    if not file.endswith(".jsonl"):
        document = read_document(file, of)
        return {name: value for name, value in document.items() if name != of}, document.get(of, [])
    numbered = enumerate(read_text(file).splitlines(), 1)
    lines = [read_json(line, f"FILE: line {number}") for number, line in numbered if line.strip()]
    if not header:
        return {}, lines
    if not lines or not isinstance(lines[0], dict):
        raise Invalid.field("FILE", f"{file} must have a mapping in its first line, what all {of} have in common")
    return lines[0], lines[1:]
