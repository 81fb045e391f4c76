"""Find an application by what a person writes: `module:attribute`, or a file."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Final

from headway.core.errors import Invalid
from headway.sdk.app import Headway

FIELD: Final = "app"
FORMS: Final = "write module:attribute or path/to/file.py"


def load_app(target: str) -> Headway:
    """Return the application at `module[:attribute]` or `path/to/file.py[:attribute]`; without attribute, the only one in it.

    Raises Invalid when there is none.  What the application itself raises while it is imported passes through.
    """
    place, _, attribute = target.partition(":")
    if not place:
        raise Invalid.field(FIELD, f"is empty: {FORMS}")
    module = load_file(place) if place.endswith(".py") else _load_module(place)
    return _named(module, attribute, target) if attribute else _only(module, target)


def load_file(file: str) -> ModuleType:
    """Return a file as a module; it is loaded once, and may import its neighbours."""
    path = Path(file).resolve()
    known = next((module for module in list(sys.modules.values()) if getattr(module, "__file__", None) == str(path)), None)
    if known is not None and known.__name__ != "__main__":
        return known
    if not path.is_file():
        raise Invalid.field(FIELD, f"there is no file {file}")
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"headway_app_{abs(hash(str(path))):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None, "a file that ends with .py has a loader"
    assert spec.loader is not None, "a file that ends with .py has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _make_importable(path.parent)
    with _forgotten_on_error(name):
        spec.loader.exec_module(module)
    return module


def _load_module(name: str) -> ModuleType:
    _make_importable(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise
        raise Invalid.field(FIELD, f"there is no module {error.name} here: {FORMS}") from None


def _named(module: ModuleType, attribute: str, target: str) -> Headway:
    try:
        app = attrgetter(attribute)(module)
    except AttributeError:
        raise Invalid.field(FIELD, f"{module.__name__} has no {attribute}: {_suggestion(module)}") from None
    if not isinstance(app, Headway):
        raise Invalid.field(FIELD, f"{target} is a {type(app).__name__} and no Headway application: {_suggestion(module)}")
    return app


def _only(module: ModuleType, target: str) -> Headway:
    found = _apps(module)
    if len({id(app) for app in found.values()}) != 1:
        raise Invalid.field(FIELD, f"{target} names no attribute: {_suggestion(module)}")
    return next(iter(found.values()))


def _apps(module: ModuleType) -> dict[str, Headway]:
    return {name: thing for name, thing in vars(module).items() if isinstance(thing, Headway)}


def _suggestion(module: ModuleType) -> str:
    found = sorted(_apps(module))
    return f"it has {', '.join(found)}" if found else "it has no Headway application at its top"


def _make_importable(folder: Path) -> None:
    """Let the application import what stands beside it, from now on."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


@contextmanager
def _forgotten_on_error(name: str) -> Iterator[None]:
    with ExitStack() as undo:
        undo.callback(sys.modules.pop, name, None)
        yield
        undo.pop_all()
