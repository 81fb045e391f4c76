"""Dependencies of a handler: made in a fresh scope for each execution, each once, and closed after it."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from enum import Enum
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from types import TracebackType
from typing import Any, TypeAlias

from headway.sdk.run import Run

Call: TypeAlias = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Calls something that may block, on whatever thread the handler runs."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """The mark that `Depends` leaves at a parameter."""

    factory: Callable[..., Any]


def Depends(factory: Callable[..., Any]) -> Any:  # noqa: N802  # stands at a parameter, where it reads as a mark
    """Mark a parameter whose value `factory` makes: as its default, or inside of `Annotated[...]`.

    A factory is a function, a coroutine function, a class, or a generator, plain or async, that yields the value once and cleans up
    after it.  It may take a `Run` and dependencies of its own.
    """
    return Dependency(factory)


class Kind(Enum):
    """How a factory gives its value."""

    CALL = "call"
    COROUTINE = "coroutine"
    GENERATOR = "generator"
    ASYNC_GENERATOR = "async generator"

    @classmethod
    def of(cls, factory: Callable[..., Any]) -> "Kind":
        """The kind of a factory."""
        if isasyncgenfunction(factory):
            return cls.ASYNC_GENERATOR
        if isgeneratorfunction(factory):
            return cls.GENERATOR
        return cls.COROUTINE if iscoroutinefunction(factory) else cls.CALL


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """A factory with what it takes: the parameter that gets the run, and a recipe for each of its own dependencies."""

    factory: Callable[..., Any]
    kind: Kind
    run: str | None = None
    inputs: Mapping[str, "Recipe"] = field(default_factory=dict)


class Scope:
    """What one execution's dependencies live in; it closes them in the reverse order of their making."""

    def __init__(self, run: Run, call: Call) -> None:
        self.run = run
        self.call = call
        self._closing = AsyncExitStack()
        self._made: dict[Callable[..., Any], Any] = {}

    async def __aenter__(self) -> "Scope":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool | None:
        return await self._closing.__aexit__(kind, error, trace)

    async def make_all(self, recipes: Mapping[str, Recipe]) -> dict[str, Any]:
        """Return the value for each name."""
        return {name: await self._make(recipe) for name, recipe in recipes.items()}

    async def _make(self, recipe: Recipe) -> Any:
        if recipe.factory not in self._made:
            arguments = await self.make_all(recipe.inputs)
            if recipe.run is not None:
                arguments[recipe.run] = self.run
            self._made[recipe.factory] = await self._from(recipe, arguments)
        return self._made[recipe.factory]

    async def _from(self, recipe: Recipe, arguments: dict[str, Any]) -> Any:
        match recipe.kind:
            case Kind.ASYNC_GENERATOR:
                return await self._closing.enter_async_context(asynccontextmanager(recipe.factory)(**arguments))
            case Kind.GENERATOR:
                return await self._enter(contextmanager(recipe.factory)(**arguments))
            case Kind.COROUTINE:
                return await recipe.factory(**arguments)
            case Kind.CALL:
                return await self.call(lambda: recipe.factory(**arguments))

    async def _enter(self, inner: AbstractContextManager[Any]) -> Any:
        """Enter something plain on the handler's thread, and leave it there at the end."""
        value = await self.call(inner.__enter__)

        async def leave(kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool | None:
            return bool(await self.call(lambda: inner.__exit__(kind, error, trace)))

        self._closing.push_async_exit(leave)
        return value
