"""What a test has to be."""

import ast
from collections.abc import Iterator

from tests.architecture.source import Source, called, sources

SLEEPERS = ("tests/system/", "tests/chaos/", "tests/harness/")


def calls(source: Source) -> Iterator[ast.Call]:
    """Every call in a file."""
    return (node for node in ast.walk(source.tree) if isinstance(node, ast.Call))


def imported(source: Source) -> set[str]:
    """Every module that a file names in an import."""
    plain = {alias.name for node in ast.walk(source.tree) if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in ast.walk(source.tree) if isinstance(node, ast.ImportFrom)}


def test_a_test_states_its_promise() -> None:
    """The docstring of every test says what it holds us to."""
    named = [(source, test) for source in sources(("tests",)) for test in source.functions if test.name.startswith("test_")]
    assert not [f"{source.at(test)} {test.name}" for source, test in named if not ast.get_docstring(test)]


def test_a_test_replaces_nothing_of_ours() -> None:
    """No mock, and no attribute of a module set from outside: what a test must vary is a parameter."""
    assert not [str(source) for source in sources(("tests",)) if imported(source) & {"mock", "unittest.mock"}]
    assert not [source.at(call) for source in sources(("tests",)) for call in calls(source) if called(call) == "monkeypatch.setattr"]


def test_a_test_waits_for_events() -> None:
    """Only tests of whole processes may sleep; all others are told when what they wait for has happened."""
    patient = [source for source in sources(("tests",)) if not str(source).startswith(SLEEPERS)]
    assert not [source.at(call) for source in patient for call in calls(source) if called(call) in ("time.sleep", "asyncio.sleep")]
