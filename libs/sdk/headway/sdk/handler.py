"""A handler: the function, how it is called, and what its arguments are made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import Any, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic_core import PydanticSerializationError

from headway.core.errors import Invalid, Problem
from headway.sdk.dependencies import Recipe
from headway.sdk.kept import unkept
from headway.sdk.names import alternatives, closed, unknown
from headway.sdk.revealing import revealed, revealed_json
from headway.sdk.run import Run
from headway.sdk.signature import Plan, plan_of
from headway.sdk.storable import json_text

Mode: TypeAlias = Literal["async", "thread", "process"]
INVALID: Final = "invalid_parameters"
NO_PARAMETERS: Final = b"{}"
MASKED: Final = b"*" * 10


@dataclass(frozen=True, slots=True, eq=False)
class Handler:
    """A function under a name.  `mode` says where it runs; `memory_limit` is in bytes and for processes only, 0 is none.

    `attempts` is how many the job declares.
    """

    name: str
    function: Callable[..., Any]
    mode: Mode
    plan: Plan
    attempts: int = 1
    memory_limit: int = 0
    plain: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", self.mode == "async" and not self.plan.dependencies)

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        process: bool = False,
        attempts: int = 1,
        memory_limit: int = 0,
    ) -> Self:
        """Return the handler that a function is.  Raises Invalid with every parameter that cannot be filled."""
        called = name or str(getattr(function, "__name__", ""))
        if isasyncgenfunction(function) or isgeneratorfunction(function):
            raise Invalid.field(called, "a generator cannot be a handler")
        mode: Mode = "process" if process else "async" if is_coroutine(function) else "thread"
        return cls(called, function, mode, plan_of(function, called), attempts, memory_limit)

    @property
    def parameters(self) -> TypeAdapter[Any] | None:
        """What validates the parameters, or None for a handler that declares none."""
        return self.plan.parameters

    @property
    def dependencies(self) -> Mapping[str, Recipe]:
        """How to make each argument that is a dependency."""
        return self.plan.dependencies

    def bind(self, run: Run) -> dict[str, Any]:
        """Return the arguments that the run itself gives: its validated parameters and the run.  Raises pydantic's ValidationError."""
        plan = self.plan
        arguments: dict[str, Any] = {}
        if plan.validate is not None:
            value = plan.validate(run.facts.params or NO_PARAMETERS)
            arguments = value if plan.whole is None else {plan.whole: value}
        if plan.run is not None:
            arguments[plan.run] = run
        return arguments

    def parameter_text(self, params: Any) -> str | None:
        """Return parameters as the JSON text that a run holds.  Raises Invalid with every parameter that is wrong."""
        adapter = self.plan.parameters
        stray = self._stray(params)
        if adapter is None:
            _refuse(stray)
            return self._free_text(params)
        try:
            value = adapter.validate_python({} if params is None else params)
            text = adapter.dump_json(value, by_alias=True, round_trip=True)
            text = revealed_json(adapter, value) if MASKED in text else text
        except (PydanticSerializationError, RecursionError, UnicodeEncodeError) as error:
            raise Invalid.field("parameters", f"have a value that JSON cannot hold: {error}", code=INVALID) from None
        except ValidationError as error:
            raise Invalid(list({one.field: one for one in parameter_problems(error) + stray}.values()), code=INVALID) from None
        _refuse(stray)
        _refuse(unkept(text, "parameters"))
        if (b"null" in text or MASKED in text) and not _comes_back(adapter, text, value):
            raise Invalid.field("parameters", "would come back changed: NaN and infinity have no JSON", code=INVALID)
        return text.decode()

    def _stray(self, params: Any) -> list[Problem]:
        """A problem for each name that the handler does not take: pydantic passes over those of most models in silence."""
        names = self.plan.names
        if names is None or not isinstance(params, Mapping):
            return []
        return [Problem(f"parameters.{name}", f"is not a known parameter: {alternatives(names)}") for name in unknown(params, names)]

    def _free_text(self, params: Any) -> str | None:
        if params is None:
            return None
        if self.plan.run is None and params:
            raise Invalid.field("parameters", f"{self.name} takes none", code=INVALID)
        if not isinstance(params, Mapping | BaseModel):
            raise Invalid.field("parameters", "must be a mapping", code=INVALID)
        return json_text(revealed(params), "parameters")

    def schema(self) -> dict[str, Any] | None:
        """Return the JSON Schema of the parameters, None for a handler that takes any.

        Raises Invalid when a parameter's type has none.
        """
        if self.plan.parameters is None:
            return None if self.plan.names is None else closed({}, self.plan.names)
        try:
            return closed(self.plan.parameters.json_schema(), self.plan.names)
        except PydanticInvalidForJsonSchema as error:
            raise Invalid.field(f"{self.name}.parameters", f"have a type that JSON cannot describe: {error.message}") from None


def is_coroutine(function: Callable[..., Any]) -> bool:
    """Whether calling it makes a coroutine; an object counts by its `__call__`."""
    return iscoroutinefunction(function) or iscoroutinefunction(type(function).__call__)


def parameter_problems(error: ValidationError) -> list[Problem]:
    """Return one problem for each parameter that is wrong, without its value."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return [Problem(".".join(["parameters", *map(str, detail["loc"])]), detail["msg"]) for detail in details]


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise Invalid(problems, code=INVALID)


def _comes_back(adapter: TypeAdapter[Any], text: bytes, value: Any) -> bool:
    """Whether stored parameters are read as what they were: pydantic writes NaN as null without saying so."""
    try:
        return bool(adapter.validate_json(text) == value)
    except ValidationError:
        return False
