"""Who may import whom: import-linter holds the layers (`make check`), these tests what it does not see."""

from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from tests.architecture.source import PRODUCT, ROOT, settings

MEMBERS = sorted(path.parent for folder in PRODUCT for path in (ROOT / folder).glob("*/pyproject.toml"))


@cache
def imports() -> Mapping[str, set[str]]:
    """Which of our modules imports which, under TYPE_CHECKING too."""
    packages = settings()["tool"]["importlinter"]["root_packages"]
    graph = grimp.build_graph(*packages, cache_dir=None, exclude_type_checking_imports=False)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_no_module_imports_itself_by_a_detour() -> None:
    """There is no cycle of imports, those that only types need included."""
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as error:
        pytest.fail("a cycle of imports: " + " -> ".join(error.args[1]))


def test_every_package_stands_in_a_layer() -> None:
    """The import contracts know every member of the workspace, so that a new one cannot escape them."""
    packages = {f"headway.{member.name.replace('-', '_')}" for member in MEMBERS}
    linter = settings()["tool"]["importlinter"]
    layers = next(contract["layers"] for contract in linter["contracts"] if contract["type"] == "layers")
    assert packages == set(linter["root_packages"])
    assert packages == {package.strip() for layer in layers for package in layer.split("|")}


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: str(member.name))
def test_a_member_is_a_portion_of_the_namespace(member: Path) -> None:
    """Each member holds `headway/<name>/` with types, and nothing that would close the namespace for the others."""
    package = member / "headway" / member.name.replace("-", "_")
    assert (package / "py.typed").is_file()
    assert not (member / "headway" / "__init__.py").exists()
    assert [path.name for path in (member / "headway").iterdir() if path.name != "__pycache__"] == [package.name]
