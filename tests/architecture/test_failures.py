"""Where an error of any kind may be caught: at the four places that answer for code which is not theirs."""

import ast
from collections.abc import Iterator

from tests.architecture.source import PRODUCT, Source, called, settings, sources

PLACES = {
    "libs/runtime": "the loop",
    "libs/broker": "the consumer",
    "libs/sdk": "the handler's execution",
    "services/api": "the last handler",
}
BLIND = {"Exception", "BaseException"}


def permitted() -> set[str]:
    """The files for which the linter lets blind excepts pass."""
    ignores = settings()["tool"]["ruff"]["lint"]["per-file-ignores"]
    return {file for file, rules in ignores.items() if "BLE001" in rules}


def blind(source: Source) -> Iterator[str]:
    """Where a file catches everything and does not raise it again."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler) and _catches_all(node.type) and not isinstance(node.body[-1], ast.Raise):
            yield source.at(node)
        if isinstance(node, ast.Call) and called(node).endswith("suppress") and any(map(_catches_all, node.args)):
            yield source.at(node)


def _catches_all(kind: ast.expr | None) -> bool:
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(one is None or ast.unparse(one) in BLIND for one in kinds)


def test_one_file_in_each_of_four_places_is_permitted() -> None:
    """No list of exceptions: each place names one file, and a file that is permitted needs it."""
    places = [file.rsplit("/headway/", 1)[0] for file in permitted()]
    assert len(places) == len(set(places))
    assert set(places) <= set(PLACES)
    catching = {str(source) for source in sources(PRODUCT) if list(blind(source))}
    assert permitted() <= catching


def test_nothing_else_catches_everything() -> None:
    """Every other `except` names what it expects; `suppress(Exception)` is the same thing in other clothes."""
    assert not [place for source in sources(PRODUCT) if str(source) not in permitted() for place in blind(source)]
