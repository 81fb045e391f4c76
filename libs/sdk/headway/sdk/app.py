"""An application: its jobs, and the way to the platform that runs them."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, ParamSpec, Self, TypeVar, Unpack, overload
from uuid import UUID

from headway.core.ask import Ask
from headway.core.definition import DefinitionDraft
from headway.core.errors import Invalid, Problem
from headway.core.reading import demand
from headway.sdk.asking import AskOptions, ask_by_name
from headway.sdk.batch import BatchHandle, BatchOptions, asks_of, batch_ask
from headway.sdk.caller import Caller, Platform
from headway.sdk.handle import Handle
from headway.sdk.handler import Handler
from headway.sdk.job import Job, JobOptions
from headway.sdk.middleware import Middleware
from headway.sdk.schedules import When
from headway.sdk.triggers import TriggerOptions, trigger_document

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M", bound=Middleware)
C = TypeVar("C", bound=Callable[[], str | None])


class Headway:
    """Jobs declared in code.  Making one opens nothing; the first enqueue connects.

    The platform is where `database_url` and `broker_url` say, or else HEADWAY_DATABASE_URL and HEADWAY_BROKER_URL.  `name` stands in
    the runs that it creates.
    """

    def __init__(self, *, name: str = "", database_url: str | None = None, broker_url: str | None = None) -> None:
        self.jobs: dict[str, Job[..., Any]] = {}
        self._middleware: list[Middleware] = []
        self._caller = Caller(database_url, broker_url, name)

    @overload
    def job(self, function: Callable[P, R], /) -> Job[P, R]: ...

    @overload
    def job(self, function: None = None, /, **options: Unpack[JobOptions]) -> Callable[[Callable[P, R]], Job[P, R]]: ...

    def job(self, function: Callable[..., Any] | None = None, /, **options: Unpack[JobOptions]) -> Any:
        """Declare a function as a job, under its own name or another.  Raises Invalid with every option that is wrong."""
        return self._add(function, options) if function is not None else lambda decorated: self._add(decorated, options)

    def schedule(self, job: "Job[..., Any] | str", when: When, *, name: str | None = None) -> None:
        """Give a job one more schedule; several need names.  Raises Invalid."""
        known = self.jobs.get(job) if isinstance(job, str) else job
        if known is None:
            raise Invalid.field("job", f"there is no job {job!r} here")
        known.add_schedule(when.named(name))

    def trigger(self, source: "Job[..., Any] | str", target: "Job[..., Any] | str", **options: Unpack[TriggerOptions]) -> None:
        """Have each run of a job that ends ask for a run of a target: any definition, of this application or not.

        Without `when` it does so when the run succeeded.  Raises Invalid.
        """
        known = self.jobs.get(source) if isinstance(source, str) else source
        if known is None:
            raise Invalid.field("source", f"there is no job {source!r} here")
        known.add_trigger(trigger_document(target if isinstance(target, str) else target.name, options))

    def middleware(self, middleware: M) -> M:
        """Put something around every handler, inside of what is there already.  May be used as a decorator."""
        self._middleware.append(middleware)
        return middleware

    def correlation(self, provider: C) -> C:
        """Let `provider` name the correlation id of what is enqueued; that of a running handler wins.  May be used as a decorator."""
        self._caller.correlate = provider
        return provider

    @property
    def middlewares(self) -> Sequence[Middleware]:
        """What stands around every handler, the outermost first."""
        return tuple(self._middleware)

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """The handlers by name."""
        return {name: job.handler for name, job in self.jobs.items()}

    def drafts(self) -> list[DefinitionDraft]:
        """Return what the jobs declare, by name.  Raises Invalid with every problem of all of them."""
        problems: list[Problem] = []
        drafts: list[DefinitionDraft] = []
        for _, job in sorted(self.jobs.items()):
            try:
                drafts.append(job.draft())
            except Invalid as error:
                problems += error.problems
        demand(problems)
        return drafts

    def bind(self, client: Platform) -> None:
        """Use a client that is open already, and that whoever opened it closes."""
        self._caller.bind(client)

    def ask(
        self, name: str, params: Mapping[str, Any] | None = None, *, payload: bytes | str | None = None, **options: Unpack[AskOptions]
    ) -> Ask:
        """Return the ask for a run by name.  Parameters of a job of this application are validated, others only have to be JSON."""
        if name in self.jobs and payload is None:
            return self.jobs[name].ask(params, **options)
        return ask_by_name(name, params, payload, **self._caller.filled(options))

    async def enqueue(
        self,
        name: str,
        params: Mapping[str, Any] | None = None,
        *,
        payload: bytes | str | None = None,
        tx: Any = None,
        **options: Unpack[AskOptions],
    ) -> Handle:
        """Have a definition run by name, as `Job.enqueue` does.  A payload is opaque: its size is checked and nothing else."""
        return await self._caller.enqueue(lambda: self.ask(name, params, payload=payload, **options), tx)

    async def enqueue_many(self, asks: Sequence[Ask], *, tx: Any = None) -> list[Handle]:
        """Enqueue what `job.ask` or `app.ask` gave, all or none, in one transaction.  Raises Invalid with every ask that is wrong."""
        return await self._caller.enqueue_many(asks, tx)

    async def batch(
        self,
        job: Job[..., Any] | str,
        children: Sequence[Any] = (),
        *,
        parent: Mapping[str, Any] | None = None,
        closed: bool = True,
        key: str | None = None,
        **options: Unpack[BatchOptions],
    ) -> BatchHandle:
        """Have a job run for each of `children`, under a parent that ends with the last of them; all are accepted or none.

        A child is parameters for the job, over those of `parent`, or what `job.ask` of any job gives.  One that is not `closed` takes more
        by `append` until `close`.  `key` makes repetitions one batch.  Raises Invalid with every child that is wrong by its index,
        NotFound, Conflict, Unavailable.
        """
        name = job if isinstance(job, str) else job.name
        make_ask = partial(self.ask, name)
        head = ask_by_name(name, parent, **self._caller.filled({} if key is None else {"key": key}))
        wanted = batch_ask(head, asks_of(make_ask, children, parent), closed=closed, options=options)
        made = await self._caller.make_batch(wanted)
        return BatchHandle(made.parent, made.existing, self._caller, make_ask, parent)

    def enqueue_sync(
        self, name: str, params: Mapping[str, Any] | None = None, *, payload: bytes | str | None = None, **options: Unpack[AskOptions]
    ) -> Handle:
        """Do what `enqueue` does, from code that is no coroutine."""
        return self._caller.enqueue_sync(lambda: self.ask(name, params, payload=payload, **options))

    async def cancel(self, run_id: UUID, reason: str = "") -> str:
        """Cancel a run: `cancelled` at once, `cancelling` when its handler was asked to stop, `final` when it had ended or never was."""
        return (await self._caller.cancel([run_id], reason))[run_id]

    async def rerun(self, run_id: UUID, reason: str = "") -> Handle:
        """Make a fresh run of what a finished run was given, secrets included.  Raises NotFound, Conflict, Unavailable."""
        return await self._caller.again(run_id, reason, replay=False)

    async def replay(self, run_id: UUID, reason: str = "") -> Handle:
        """Make the one replay that a failed run may have, for the same slot, token and key.  Raises NotFound, Conflict, Unavailable."""
        return await self._caller.again(run_id, reason, replay=True)

    @asynccontextmanager
    async def transaction(self, connection: Any) -> AsyncIterator[Any]:
        """Open a transaction on the caller's connection for `tx=`; it commits when the block ends, and then workers are told."""
        platform = await self._caller.platform()
        async with platform.transaction(connection) as tx:
            yield tx

    async def close(self) -> None:
        """Tell workers what they were not told yet and disconnect; an enqueue after it connects again."""
        await self._caller.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _add(self, function: Callable[P, R], options: JobOptions) -> Job[P, R]:
        job = Job(function, options, self._caller)
        if job.name in self.jobs:
            raise Invalid.field(f"{job.name}.name", "another job of this application has it")
        self.jobs[job.name] = job
        return job
