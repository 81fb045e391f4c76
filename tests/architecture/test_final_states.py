"""Settle is the only way into a final state."""

import ast
import re
from collections.abc import Iterator

from tests.architecture.source import PRODUCT, Source, called, sources

FINISHED = "run_done"
THE_WAY = "libs/store/headway/store/finish.py"
WRITES = re.compile(rf"\b(INSERT\s+INTO|UPDATE|MERGE\s+INTO|COPY)\s+(\w+\.)?{FINISHED}\b", re.IGNORECASE)


def writes(source: Source) -> Iterator[str]:
    """Where a file writes to the table of finished runs, by statement builder or by text."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and re.search(r"\b(insert|update)$", called(node)) and FINISHED in ast.unparse(node):
            yield source.at(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and WRITES.search(node.value):
            yield source.at(node)


def test_one_module_writes_finished_runs() -> None:
    """Only the store's `finish` puts a row into `run_done`, and settling, cancelling and skipping go through it."""
    assert {str(source) for source in sources(PRODUCT) if list(writes(source))} == {THE_WAY}
