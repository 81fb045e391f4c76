"""From facts to letters.  Pure: who commits the facts publishes the letters afterwards."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from hashlib import blake2b
from itertools import groupby, islice
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from headway.broker.port import Letter
from headway.broker.topology import BOTH, ENGINE, NONE, SCHEDULER
from headway.messages import (
    MOST_RUNS,
    AlertRaised,
    CompletedRun,
    DefinitionChanged,
    Message,
    QueuePaused,
    RunCancel,
    RunCompleted,
    RunCreated,
    SessionDrain,
    cloudevents,
    encode,
)
from headway.messages.channels import ALERT, CONTROL, DEFINITION_CHANGED, RUN_COMPLETE, RUN_CREATED

Headers = Mapping[str, str | int]
T = TypeVar("T")

NO_HEADERS: Final[Headers] = {}
ENGINES_REACTIONS: Final = frozenset({"workflow"})
"""The kinds of reactions that the workflow engine does; the scheduler does all others."""


class Queued(NamedTuple):
    """A run that a worker may claim now."""

    id: UUID
    queue: str
    priority: int


def created(queued: Iterable[Queued], *, at: datetime | None = None, headers: Headers = NO_HEADERS) -> list[Letter]:
    """Return the hints at queued runs: at most 100 ids of one queue and priority each, the highest priorities first.

    `at` is the instant of the transaction; `headers` carry its trace context.
    """
    return [
        Letter(RUN_CREATED, queue, encode(hint), hint.type, priority=priority, mandatory=True, headers=headers, at=at)
        for (priority, queue), runs in groupby(sorted(queued, key=_by_priority), key=lambda run: (run.priority, run.queue))
        for ids in _chunks(run.id for run in runs)
        for hint in (RunCreated(queue=queue, runs=ids),)
    ]


def completed(runs: Iterable[CompletedRun], *, at: datetime, headers: Headers = NO_HEADERS, publish_all: bool = False) -> list[Letter]:
    """Return the completions of settled runs by who has reactions to do.

    Runs that owe nothing are left out unless `publish_all`, for listeners outside of Headway.
    """
    by_audience = groupby(sorted(runs, key=_audience), key=_audience)
    return [
        letter(RunCompleted(runs=chunk), at=at, headers=headers, key=audience)
        for audience, group in by_audience
        if publish_all or audience != NONE
        for chunk in _chunks(group)
    ]


def letter(message: Message, *, at: datetime | None = None, headers: Headers = NO_HEADERS, key: str | None = None) -> Letter:
    """Return the letter that carries a message through its exchange; a public event gets CloudEvents headers.

    The event's id is made from its body, so that a repetition of one event has one id.
    """
    exchange, natural_key = _address(message)
    body = encode(message)
    event = blake2b(body, digest_size=16).hexdigest()
    public = cloudevents.headers(message, event=event, at=at)
    return Letter(exchange, natural_key if key is None else key, body, message.type, headers={**public, **headers}, at=at)


def _address(message: Message) -> tuple[str, str]:
    match message:
        case RunCreated():
            return RUN_CREATED, message.queue
        case RunCompleted():
            return RUN_COMPLETE, _audience(*message.runs)
        case DefinitionChanged():
            return DEFINITION_CHANGED, ""
        case RunCancel() | QueuePaused() | SessionDrain():
            return CONTROL, message.type.removesuffix(".v1")
        case AlertRaised():
            return ALERT, f"alert.{message.kind}"


def _audience(*runs: CompletedRun) -> str:
    owed = {kind for run in runs for kind in run.reactions}
    engine, scheduler = bool(owed & ENGINES_REACTIONS), bool(owed - ENGINES_REACTIONS)
    if engine and scheduler:
        return BOTH
    if engine:
        return ENGINE
    return SCHEDULER if scheduler else NONE


def _by_priority(run: Queued) -> tuple[int, str]:
    return -run.priority, run.queue


def _chunks(items: Iterable[T], size: int = MOST_RUNS) -> Iterator[tuple[T, ...]]:
    iterator = iter(items)
    while chunk := tuple(islice(iterator, size)):
        yield chunk
