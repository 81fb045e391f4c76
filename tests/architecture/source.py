"""The code that the rules are held against, parsed once."""

import ast
import io
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PRODUCT = ("libs", "services")
EVERYWHERE = (*PRODUCT, "tests", "benchmarks", "examples")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One file of Python."""

    path: Path

    def __str__(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self))

    @property
    def functions(self) -> Iterator[Function]:
        """Every function and method, nested ones included."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))

    @property
    def comments(self) -> Iterator[tuple[int, str]]:
        """Every comment with its line."""
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string

    def at(self, node: ast.stmt | ast.expr | ast.excepthandler) -> str:
        """Where a node stands, for a message."""
        return f"{self}:{node.lineno}"


@cache
def sources(folders: Sequence[str] = EVERYWHERE) -> tuple[Source, ...]:
    """Every file below these folders of the repository."""
    return tuple(Source(path) for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))


@cache
def settings() -> dict[str, Any]:
    """The root's pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def called(node: ast.Call) -> str:
    """The dotted name of what a call calls, as written."""
    return ast.unparse(node.func)
