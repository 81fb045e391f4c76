"""Finding an application by what a person writes."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.core.errors import Invalid
from headway.sdk.loading import load_app

ONE = "from headway.sdk import Headway\nfrom {neighbour} import NAME\napp = Headway(name=NAME)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a file of one application and its neighbour; whatever is imported from it is forgotten afterwards."""
    before, path = set(sys.modules), list(sys.path)
    neighbour = f"neighbour_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{neighbour}.py").write_text('NAME = "found"\n')
    (tmp_path / "my-jobs.py").write_text(ONE.format(neighbour=neighbour))
    (tmp_path / "two.py").write_text("from headway.sdk import Headway\na = Headway()\nb = Headway()\nnumber = 3\n")
    (tmp_path / "none.py").write_text("number = 3\n")
    (tmp_path / "broken.py").write_text("import headway_does_not_exist\n")
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def complaint(target: object) -> str:
    """What an Invalid says of the field app."""
    with pytest.raises(Invalid) as refused:
        load_app(str(target))
    [problem] = refused.value.problems
    assert problem.field == "app"
    return problem.message


def test_a_file_is_loaded_with_its_neighbours(folder: Path) -> None:
    """A path, with or without attribute, gives the application, once; the file may import what stands beside it."""
    app = load_app(str(folder / "my-jobs.py"))
    assert load_app(f"{folder / 'my-jobs.py'}:app") is app


def test_a_module_is_imported() -> None:
    """`module:attribute` and a bare module with one application in it both give it."""
    assert load_app("tests.sdk.jobs:app") is load_app("tests.sdk.jobs")


def test_what_is_wrong_is_said(folder: Path) -> None:
    """CFG-02: no file, no module, no attribute, no application, several of them: each is said with what could be written instead."""
    assert complaint("") == "is empty: write module:attribute or path/to/file.py"
    assert complaint(folder / "missing.py").startswith("there is no file")
    assert complaint("tests.sdk.no_such_jobs:app").startswith("there is no module tests.sdk.no_such_jobs here")
    assert complaint(f"{folder / 'two.py'}:c") == "two has no c: it has a, b"
    assert "names no attribute: it has a, b" in complaint(folder / "two.py")
    assert "is a int and no Headway application" in complaint(f"{folder / 'two.py'}:number")
    assert "it has no Headway application at its top" in complaint(folder / "none.py")


def test_an_error_of_the_application_is_its_own(folder: Path) -> None:
    """A module that the application misses is told as it is, not as a missing application, and the next try loads anew."""
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="headway_does_not_exist"):
            load_app(str(folder / "broken.py"))
