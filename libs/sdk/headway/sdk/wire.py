"""What a handler's own process and its worker say to one another: a request, reports, and an outcome, one line of JSON each."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

from headway.core.ask import Ask, Origin
from headway.core.batch import BatchAsk, Mixed
from headway.core.outcome import Cancelled, Failure, Lost, Outcome, PartialSuccess, SafeError, Snooze, Success
from headway.sdk.run import Run

_KINDS: Final[Mapping[str, type[Any]]] = {kind.__name__: kind for kind in (Success, PartialSuccess, Failure, Snooze, Cancelled, Lost)}


class Facts(NamedTuple):
    """An attempt as its process knows it."""

    id: UUID
    attempt: int
    handler: str
    definition: str
    tenant: str
    queue: str
    priority: int
    params: str | None
    payload: bytes | None
    token: UUID
    schedule: UUID | None
    slot_at: datetime | None
    available_at: datetime
    started_at: datetime
    deadline_at: datetime
    failures: int
    correlation: str | None
    traceparent: str | None
    parent: UUID | None
    batch_index: int | None
    batch_total: int | None


def facts_document(run: Run) -> dict[str, Any]:
    """Return what the run's process must know of it."""
    facts = {name: getattr(run.facts, name) for name in Facts._fields}
    return facts | {"payload": run.payload.hex() if run.payload is not None else None}


def facts_of(document: Mapping[str, Any]) -> Facts:
    """Return the facts that a document holds."""
    read = {"id": UUID, "token": UUID, "schedule": UUID, "parent": UUID, "payload": bytes.fromhex}
    read |= dict.fromkeys(("slot_at", "available_at", "started_at", "deadline_at"), datetime.fromisoformat)
    return Facts(**_read(document, read))


def ask_document(ask: Ask) -> dict[str, Any]:
    """Return an ask as a document."""
    document = ask._asdict()
    delay = None if ask.delay is None else ask.delay.total_seconds()
    return document | {"delay": delay, "payload": ask.payload.hex() if ask.payload is not None else None}


def ask_from(document: Mapping[str, Any]) -> Ask:
    """Return the ask that a document holds."""
    read: dict[str, Any] = dict.fromkeys(("parent", "schedule", "token"), UUID)
    read |= dict.fromkeys(("at", "slot_at"), datetime.fromisoformat)
    return Ask(**_read(document, read | {"origin": Origin, "payload": bytes.fromhex, "delay": _seconds}))


def batch_document(wanted: BatchAsk) -> dict[str, Any]:
    """Return a batch without children, as a handler opens it, as a document."""
    options = {name: getattr(wanted, name) for name in ("closed", "max_concurrent", "mixed", "counted", "triggers")}
    return {"parent": ask_document(wanted.parent), **options}


def batch_from(document: Mapping[str, Any]) -> BatchAsk:
    """Return the batch that a document holds."""
    return BatchAsk(**_read(document, {"parent": ask_from, "mixed": Mixed}))


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as a document."""
    document = {name: getattr(outcome, name) for name in type(outcome).__slots__}
    for name in document.keys() & {"delay", "retry_after"}:
        document[name] = None if document[name] is None else document[name].total_seconds()
    return {"kind": type(outcome).__name__, **document}


def outcome_from(document: Mapping[str, Any]) -> Outcome:
    """Return the outcome that a document holds."""
    values = dict(document)
    kind = _KINDS[values.pop("kind")]
    read = {"delay": _seconds, "retry_after": _seconds, "warnings": tuple, "error": lambda error: SafeError(**error)}
    outcome: Outcome = kind(**_read(values, read))
    return outcome


def line(**message: Any) -> bytes:
    """Return a message as the line that carries it."""
    return orjson.dumps(message, default=_plain) + b"\n"


def _plain(value: object) -> str:
    """The driver has a UUID of its own kind."""
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} does not travel between a worker and its handler's process")


def _seconds(value: float) -> timedelta:
    return timedelta(seconds=value)


def _read(document: Mapping[str, Any], read: Mapping[str, Any]) -> dict[str, Any]:
    return {name: read[name](value) if name in read and value is not None else value for name, value in document.items()}
