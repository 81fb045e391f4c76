"""Writes docs/telemetry.md: metrics and spans from their tables, log events from the source.

`python -m headway.runtime.telemetry_page DIR ROOT`, where ROOT is the folder that holds `libs` and `services`.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headway.runtime.metrics import TABLE
from headway.runtime.tracing import SPANS

NAME: Final = "telemetry.md"
LEVELS: Final = frozenset({"debug", "info", "warning", "error", "exception", "critical"})

HEAD: Final = """# Telemetry

<!-- Generated from headway.runtime.metrics, headway.runtime.tracing and the log calls in the source; `make contracts` writes it again. -->

Every process serves its metrics at `/metrics` on its health port. Traces go to `HEADWAY_OTLP_ENDPOINT` when it is set; the W3C trace
context travels with a run either way. Logs go to stderr, one event a line; while a run is handled every event carries `run`, `attempt`,
`definition`, `tenant` and `correlation`.
"""


@dataclass(frozen=True, slots=True, order=True)
class Event:
    """One kind of log line."""

    name: str
    level: str
    fields: tuple[str, ...]
    module: str


def events(root: Path) -> list[Event]:
    """Every event that the packages under `root` log by `log.<level>("...", ...)`."""
    members = [member for top in ("libs", "services") for member in (root / top).iterdir()]
    return sorted({event for member in members for file in member.glob("headway/**/*.py") for event in _events(file, member)})


def _events(file: Path, member: Path) -> Iterator[Event]:
    module = ".".join(file.relative_to(member).with_suffix("").parts).removesuffix(".__init__")
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="log"), attr=level), args=[ast.Constant(value=str(name)), *_], keywords=fields
            ) if level in LEVELS:
                yield Event(name, "error" if level == "exception" else level, tuple(_fields(fields)), module)


def _fields(keywords: list[ast.keyword]) -> Iterator[str]:
    """The names of an event's fields, whether structlog or the standard library (`extra`) takes them."""
    for keyword in keywords:
        match keyword:
            case ast.keyword(arg="extra", value=ast.Dict(keys=keys)):
                yield from (key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
            case ast.keyword(arg=str(name)) if name not in {"exc_info", "stack_info", "extra"}:
                yield name


def page(root: Path) -> str:
    """The whole page."""
    metrics = (f"| `{row.name}` | {row.kind} | `{row.exported}` | {_names(row.labels)} | {row.meaning} |\n" for row in TABLE)
    spans = (f"| `{row.name}` | {_names(row.attributes)} | {row.meaning} |\n" for row in SPANS)
    logged = (f"| {row.name} | {row.level} | {_names(row.fields)} | `{row.module}` |\n" for row in events(root))
    return "".join(
        [
            HEAD,
            "\n## Metrics\n\n| name | kind | in Prometheus | labels | meaning |\n|---|---|---|---|---|\n",
            *metrics,
            "\n## Spans\n\n| name | attributes | meaning |\n|---|---|---|\n",
            *spans,
            "\n## Log events\n\n| event | level | fields | logged by |\n|---|---|---|---|\n",
            *logged,
        ]
    )


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def main(folder: str, root: str) -> None:
    """Write the page into a folder."""
    (Path(folder) / NAME).write_text(page(Path(root)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
