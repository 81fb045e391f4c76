"""Read a handler's signature: which parameters come from the run's parameters, which is the run, which are dependencies."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass
from inspect import Parameter
from typing import Annotated, Any, Final, NotRequired, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.errors import PydanticUserError
from typing_extensions import TypedDict, is_typeddict

from headway.core.errors import Invalid, Problem
from headway.core.reading import demand
from headway.sdk.dependencies import Dependency, Kind, Recipe
from headway.sdk.names import names_taken
from headway.sdk.run import Run

UNFIT: Final = frozenset({Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD, Parameter.POSITIONAL_ONLY})


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a function's arguments are made of.

    `parameters` validates the run's parameters: as one value for the argument `whole`, or as a mapping of arguments by name.
    `names` are those that they may have, None for any.
    """

    parameters: TypeAdapter[Any] | None = None
    validate: Callable[[str | bytes], Any] | None = None
    whole: str | None = None
    run: str | None = None
    dependencies: Mapping[str, Recipe] = field(default_factory=dict)
    names: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class _Sorted:
    """A signature's parameters by what fills them."""

    free: Mapping[str, Parameter]
    run: str | None
    dependencies: Mapping[str, Dependency]


def plan_of(function: Callable[..., Any], called: str) -> Plan:
    """Return how to fill a handler's parameters.  Raises Invalid with every one that cannot be filled."""
    found = _sort(function, called)
    recipes = {name: recipe_of(depends, f"{called}.{name}") for name, depends in found.dependencies.items()}
    if not found.free:
        return Plan(run=found.run, dependencies=recipes, names=None if found.run else frozenset())
    names = list(found.free)
    whole = names[0] if len(names) == 1 and _is_model(found.free[names[0]].annotation) else None
    adapter = _adapter(found.free[whole].annotation if whole else _mapping(called, found.free), called)
    return Plan(adapter, adapter.validator.validate_json, whole, found.run, recipes, names_taken(adapter))


def recipe_of(depends: Dependency, path: str) -> Recipe:
    """Return how to make a dependency.  Raises Invalid when its factory takes anything but the run and dependencies."""
    found = _sort(depends.factory, path)
    missing = [name for name, parameter in found.free.items() if parameter.default is Parameter.empty]
    demand([Problem(f"{path}.{name}", "a factory takes a Run and dependencies, nothing else") for name in missing])
    inputs = {name: recipe_of(inner, f"{path}.{name}") for name, inner in found.dependencies.items()}
    return Recipe(depends.factory, Kind.of(depends.factory), found.run, inputs)


def _sort(function: Callable[..., Any], path: str) -> _Sorted:
    parameters = _parameters(function, path)
    demand([Problem(f"{path}.{name}", "must be passed by its name") for name, one in parameters.items() if one.kind in UNFIT])
    dependencies = {name: depends for name, one in parameters.items() if (depends := _marked(one)) is not None}
    runs = [name for name, one in parameters.items() if one.annotation is Run]
    demand([Problem(f"{path}.{name}", "a second parameter for the run") for name in runs[1:]])
    free = {name: one for name, one in parameters.items() if name not in dependencies and name not in runs}
    return _Sorted(free, runs[0] if runs else None, dependencies)


def _parameters(function: Callable[..., Any], path: str) -> dict[str, Parameter]:
    """The parameters with their annotations evaluated; a class is asked for those of its constructor."""
    try:
        parameters = dict(inspect.signature(function).parameters)
        hints = get_type_hints(_annotated(function), include_extras=True)
    except ValueError:
        return {}
    except (NameError, TypeError) as error:
        raise Invalid.field(path, f"an annotation cannot be evaluated: {error}") from None
    return {name: one.replace(annotation=hints.get(name, one.annotation)) for name, one in parameters.items()}


def _annotated(function: Callable[..., Any]) -> Any:
    if inspect.isclass(function):
        return function.__init__
    unwrapped = inspect.unwrap(function)
    while hasattr(unwrapped, "func"):
        unwrapped = unwrapped.func
    return unwrapped if inspect.isroutine(unwrapped) else type(unwrapped).__call__


def _marked(parameter: Parameter) -> Dependency | None:
    if isinstance(parameter.default, Dependency):
        return parameter.default
    if get_origin(parameter.annotation) is Annotated:
        return next((extra for extra in get_args(parameter.annotation)[1:] if isinstance(extra, Dependency)), None)
    return None


def _is_model(annotation: Any) -> bool:
    return inspect.isclass(annotation) and (issubclass(annotation, BaseModel) or is_dataclass(annotation) or is_typeddict(annotation))


def _mapping(called: str, free: Mapping[str, Parameter]) -> Any:
    """A mapping with one entry for each parameter, and no others; the function itself fills in its defaults."""
    entries = {name: _entry(parameter) for name, parameter in free.items()}
    make: Any = TypedDict
    mapping = make(f"{called}_parameters", entries)
    mapping.__pydantic_config__ = ConfigDict(extra="forbid")
    return mapping


def _entry(parameter: Parameter) -> Any:
    annotation = Any if parameter.annotation is Parameter.empty else parameter.annotation
    return annotation if parameter.default is Parameter.empty else NotRequired[annotation]


def _adapter(kind: Any, called: str) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(kind)
    except PydanticUserError as error:
        raise Invalid.field(f"{called}.parameters", f"have a type that cannot be validated: {error.message}") from None
