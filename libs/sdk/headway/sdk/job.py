"""A job: a definition declared in code beside its handler."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, Literal, ParamSpec, TypedDict, TypeVar, Unpack

import orjson

from headway.core.ask import Ask
from headway.core.definition import DefinitionDraft
from headway.core.draft import parse_definition
from headway.core.errors import Invalid, Problem
from headway.core.reading import demand
from headway.sdk.asking import AskOptions, ask_of
from headway.sdk.caller import Caller
from headway.sdk.handle import Handle
from headway.sdk.handler import Handler
from headway.sdk.retry import Retry
from headway.sdk.schedules import When

P = ParamSpec("P")
R = TypeVar("R")
OURS = frozenset({"name", "retry", "schedule", "process", "memory_limit"})


class JobOptions(TypedDict, total=False):
    """What a job may say of itself.

    `timeout` zero is the platform's longest; a run that has not started `start_by` after it was due is skipped; `process` runs the
    handler in a process of its own, `memory_limit` in bytes bounds its address space; limits of 0 are off; `retention_days` 0 keeps
    finished runs for ever.  `calendars`, by name, and `calendar`, a document `{"windows": [...]}`, are for schedules that have none of
    their own.
    """

    name: str
    description: str
    owner: str
    queue: str
    priority: int
    timeout: timedelta
    retry: Retry
    start_by: timedelta
    schedule: When | Sequence[When]
    restartable: bool
    allow_triggers: bool
    max_concurrent_runs: int
    max_runs_per_hour: int
    over_limit: Literal["hold", "refuse"]
    overlap: Literal["skip", "delay", "allow", "cancel_previous"]
    calendars: Sequence[str]
    calendar: Mapping[str, Any]
    retention_days: int
    watch: Mapping[str, Any]
    enabled: bool
    process: bool
    memory_limit: int


class Job(Generic[P, R]):
    """What `@app.job` leaves in the function's place: it can be called as before, and enqueued."""

    def __init__(self, function: Callable[P, R], options: JobOptions, caller: Caller) -> None:
        retry = options.get("retry")
        demand(_process_problems(function, options))
        self.function = function
        self.options = options
        self.caller = caller
        self.handler = Handler.of(
            function,
            name=options.get("name"),
            process=options.get("process", False),
            attempts=retry.attempts if retry else 1,
            memory_limit=options.get("memory_limit", 0),
        )
        self.name = self.handler.name
        self.schedules = _listed(options.get("schedule"))
        self.triggers: list[Mapping[str, Any]] = []
        self.draft(with_parameters=False)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<job {self.name}>"

    def add_schedule(self, when: When) -> None:
        """Give the job one more schedule.  Raises Invalid, and then has it not."""
        before = self.schedules
        self.schedules = [*before, when]
        try:
            self.draft(with_parameters=False)
        except Invalid:
            self.schedules = before
            raise

    def add_trigger(self, trigger: Mapping[str, Any]) -> None:
        """Give the job one more trigger, as a definitions document has it.  Raises Invalid, and then has it not."""
        before = self.triggers
        self.triggers = [*before, trigger]
        try:
            self.draft(with_parameters=False)
        except Invalid:
            self.triggers = before
            raise

    def draft(self, *, with_parameters: bool = True) -> DefinitionDraft:
        """Return the definition that the job declares.  Raises Invalid with every field that is wrong, under the job's name.

        Without parameters, neither their JSON Schema is made nor those of the schedules are checked.
        """
        document = {name: value for name, value in self.options.items() if name not in OURS}
        document |= {"name": self.name, "handler": self.name, "description": document.get("description", _first_line(self.function))}
        document["triggers"] = self.triggers
        if retry := self.options.get("retry"):
            document |= retry.document()
        if not with_parameters:
            return parse_definition({**document, "schedules": [one.document({}) for one in self.schedules]}, path=self.name)
        schedules = [one.document(parameters) for one, parameters in zip(self.schedules, self._parameters(), strict=True)]
        return parse_definition({**document, "schedules": schedules, "parameter_spec": self.handler.schema()}, path=self.name)

    def _parameters(self) -> list[Mapping[str, Any]]:
        """The parameters of each schedule, as the handler accepts them."""
        problems: list[Problem] = []
        found: list[Mapping[str, Any]] = []
        for number, when in enumerate(self.schedules):
            try:
                found.append(orjson.loads(self.handler.parameter_text(when.params) or "{}"))
            except Invalid as error:
                problems += [Problem(f"{self.name}.schedules[{number}].{one.field}", one.message) for one in error.problems]
        demand(problems)
        return found

    def ask(self, params: Any = None, **options: Unpack[AskOptions]) -> Ask:
        """Return the ask for one run, for `enqueue_many`.  Raises Invalid with every parameter that is wrong."""
        return ask_of(self.name, self.handler.parameter_text(params), None, self.caller.filled(options))

    async def enqueue(self, params: Any = None, *, tx: Any = None, **options: Unpack[AskOptions]) -> Handle:
        """Have the job run: now, after `delay`, or `at` an instant.

        `params` is what the handler takes: a model, or a mapping.  `key` makes repetitions one run for a day, `unique_while="open"`
        for as long as one is open.  `tx` is the caller's asyncpg connection, SQLAlchemy AsyncConnection or AsyncSession, inside of a
        transaction, or what `app.transaction` gave.  Raises Invalid, NotFound, Conflict, Unavailable.
        """
        return await self.caller.enqueue(lambda: self.ask(params, **options), tx)

    def enqueue_sync(self, params: Any = None, **options: Unpack[AskOptions]) -> Handle:
        """Do what `enqueue` does, from code that is no coroutine."""
        return self.caller.enqueue_sync(lambda: self.ask(params, **options))


def _process_problems(function: Callable[..., Any], options: JobOptions) -> list[Problem]:
    """A process finds its handler by name, and only a process has a memory of its own."""
    name = options.get("name", getattr(function, "__name__", ""))
    if not options.get("process"):
        return [Problem(f"{name}.memory_limit", "is for process=True only")] if options.get("memory_limit") else []
    where = getattr(function, "__qualname__", "")
    return [] if where and "<locals>" not in where else [Problem(f"{name}.process", "needs a function at the top of its module")]


def _listed(schedule: When | Sequence[When] | None) -> list[When]:
    if schedule is None:
        return []
    return [schedule] if isinstance(schedule, When) else list(schedule)


def _first_line(function: Callable[..., Any]) -> str:
    return (function.__doc__ or "").strip().partition("\n")[0]
