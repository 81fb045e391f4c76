"""What a handler may know of the run that it executes, and ask of the platform."""

from asyncio import AbstractEventLoop
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from typing import Any, Protocol, Unpack
from uuid import UUID

import orjson

from headway.core.ask import Ask, Origin, problems_of
from headway.core.errors import Invalid
from headway.core.reading import demand
from headway.sdk.asking import Askable, AskOptions, ask_by_name
from headway.sdk.batch import BatchLink, BatchOptions, RunBatch, batch_ask
from headway.sdk.pending import Pending


class Attempted(Protocol):
    """An attempt as it was claimed."""

    @property
    def id(self) -> UUID: ...
    @property
    def attempt(self) -> int: ...
    @property
    def handler(self) -> str: ...
    @property
    def definition(self) -> str: ...
    @property
    def tenant(self) -> str: ...
    @property
    def queue(self) -> str: ...
    @property
    def priority(self) -> int: ...
    @property
    def params(self) -> str | None: ...
    @property
    def payload(self) -> bytes | None: ...
    @property
    def token(self) -> UUID: ...
    @property
    def schedule(self) -> UUID | None: ...
    @property
    def slot_at(self) -> datetime | None: ...
    @property
    def available_at(self) -> datetime: ...
    @property
    def started_at(self) -> datetime: ...
    @property
    def deadline_at(self) -> datetime: ...
    @property
    def failures(self) -> int: ...
    @property
    def correlation(self) -> str | None: ...
    @property
    def traceparent(self) -> str | None: ...
    @property
    def parent(self) -> UUID | None: ...
    @property
    def batch_index(self) -> int | None: ...
    @property
    def batch_total(self) -> int | None: ...


class Link(BatchLink, Protocol):
    """The way from a handler back to the platform, fenced: what an attempt says that is no longer held raises LeaseLost."""

    async def progress(self, claimed: Any, percent: int, message: str) -> None:
        """Record progress, 0 to 100."""

    async def enqueue(self, claimed: Any, asks: Sequence[Ask]) -> list[UUID]:
        """Create children of the run, all or none, and return their ids in order."""


class Run:
    """One attempt of a run, as its handler sees it.  Made for every attempt, so everything but the facts is made when it is asked for."""

    __slots__ = ("_context", "_logger", "_params", "attempts", "cancelled", "facts", "lingering", "link", "loop")

    def __init__(self, claimed: Attempted, link: Link) -> None:
        self.facts = claimed
        self.link = link
        self._params: Mapping[str, Any] | None = None
        self._logger: Any = None
        self.attempts = 1
        self.cancelled = False
        self.loop: AbstractEventLoop | None = None
        self.lingering: Future[Any] | None = None

    @property
    def id(self) -> UUID:
        """The run's id, the same for all its attempts."""
        return self.facts.id

    @property
    def attempt(self) -> int:
        """The number of this attempt, from 1; it only rises."""
        return self.facts.attempt

    @property
    def is_last_attempt(self) -> bool:
        """Whether a failure of this attempt is final, by the attempts that the job declares."""
        return self.facts.failures + 1 >= self.attempts

    @property
    def is_recurring(self) -> bool:
        """Whether a schedule made this run."""
        return self.facts.schedule is not None

    @property
    def slot(self) -> datetime | None:
        """The instant at which the schedule meant it to run; None for a run that was asked for."""
        return self.facts.slot_at

    @property
    def scheduled_for(self) -> datetime:
        """The slot, or the instant from which this attempt was due."""
        return self.facts.slot_at or self.facts.available_at

    @property
    def deadline(self) -> datetime:
        """The instant at which the attempt is cancelled as timed out."""
        return self.facts.deadline_at

    @property
    def token(self) -> UUID:
        """The idempotency token: the same for all attempts and replays of a slot or key.  Give it to whatever must happen once."""
        return self.facts.token

    @property
    def definition(self) -> str:
        """The name of what runs."""
        return self.facts.definition

    @property
    def tenant(self) -> str:
        """The tenant; empty for none."""
        return self.facts.tenant

    @property
    def correlation(self) -> str | None:
        """The correlation id that came with the run; what the handler enqueues carries it on."""
        return self.facts.correlation

    @property
    def parent(self) -> UUID | None:
        """The run that this one was made by: the parent of its batch, or whatever enqueued it as a child; None for others."""
        return self.facts.parent

    @property
    def batch_index(self) -> int | None:
        """The place among the children of its batch, from 0; None for a run that is in none."""
        return self.facts.batch_index

    @property
    def batch_total(self) -> int | None:
        """How many children its batch had when this attempt began; None for a run that is in none."""
        return self.facts.batch_total

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters as they are stored, secret ones opened; empty when there are none."""
        if self._params is None:
            self._params = orjson.loads(self.facts.params) if self.facts.params else {}
        return self._params

    @property
    def payload(self) -> bytes | None:
        """The opaque payload, or None."""
        return self.facts.payload

    @property
    def logger(self) -> Any:
        """A structlog logger whose lines name the run."""
        if self._logger is None:
            import structlog  # as heavy as everything else together, and few handlers log

            named = {"run": str(self.id), "attempt": self.attempt, "definition": self.definition}
            more = {"schedule": self.facts.schedule, "tenant": self.tenant, "correlation": self.correlation}
            self._logger = structlog.get_logger("headway.run").bind(**named, **{name: str(value) for name, value in more.items() if value})
        return self._logger

    def add_context(self, **fields: object) -> None:
        """Add fields to every line that `logger` writes from now on."""
        self._logger = self.logger.bind(**fields)

    def progress(self, fraction: float, message: str = "") -> Pending[None]:
        """Report how much is done, 0 to 1, with a message of at most 2,000 characters.  Raises LeaseLost when the attempt is not held."""
        if not 0 <= fraction <= 1:
            raise Invalid.field("progress", "must be a fraction from 0 to 1")
        return self._asked(self.link.progress(self.facts, round(fraction * 100), message))

    def enqueue(self, job: Askable | str, params: Any = None, **options: Unpack[AskOptions]) -> Pending[UUID]:
        """Enqueue a child of this run, by job or by name, and answer its id.  Raises LeaseLost when the attempt is not held."""
        return self._asked(self._child(job, params, options))

    def batch(self, job: Askable | str | None = None, **options: Unpack[BatchOptions]) -> RunBatch:
        """Open a batch of a job, this run's own by default: `async with run.batch(job) as batch: await batch.append([...])`.

        Its parent is a run beside this one, whose `id` the batch has.  Leaving the block closes it, and so does the end of the attempt.
        Raises Invalid, LeaseLost when the attempt is not held.
        """
        name = job or self.definition
        head = ask_by_name(name if isinstance(name, str) else name.name)
        wanted = batch_ask(self._as_child(head), (), closed=False, options=options)
        return RunBatch(self.link, self.facts, wanted, partial(_ask, name), self._asked)

    async def _child(self, job: Askable | str, params: Any, options: AskOptions) -> UUID:
        child = self._as_child(_ask(job, params, **options))
        demand(problems_of(child))
        return (await self.link.enqueue(self.facts, [child]))[0]

    def _as_child(self, ask: Ask) -> Ask:
        return ask._replace(
            tenant=self.tenant,
            origin=Origin.CHILD,
            parent=self.id,
            created_by=self.definition,
            correlation=ask.correlation or self.correlation,
        )

    def _asked(self, work: Coroutine[Any, Any, Any]) -> Pending[Any]:
        return Pending(work, self.loop)


def _ask(job: Askable | str, params: Any = None, **options: Unpack[AskOptions]) -> Ask:
    return ask_by_name(job, params, **options) if isinstance(job, str) else job.ask(params, **options)
