"""Runs as the API shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import orjson
from pydantic import BaseModel, Field

from headway.core.ask import Origin
from headway.core.outcome import AttemptOutcome, RunOutcome
from headway.core.run import Cause, State
from headway.core.secret import masked
from headway.store.enqueue import Accepted
from headway.store.tx import Row

StateName = Literal["held", "scheduled", "queued", "running", "succeeded", "failed", "cancelled", "skipped"]


class RunAccepted(BaseModel):
    """The answer to a request for a run: one that is new, or the existing one of a known key.  A dry run has no id and no state."""

    id: UUID | None
    state: StateName | None
    definition: str
    queue: str
    priority: int
    existing: bool = False
    dry_run: bool = False

    @classmethod
    def of(cls, accepted: Accepted, definition: str) -> "RunAccepted":
        """Show a run that now exists."""
        return cls(
            id=accepted.id,
            state=state_name(accepted.state),
            definition=definition,
            queue=accepted.queue,
            priority=accepted.priority,
            existing=accepted.existing,
        )


class RunsAccepted(BaseModel):
    """The answers to a request for several runs, in its order."""

    runs: list[RunAccepted]


class Progress(BaseModel):
    """What the handler said last: per cent, and a message."""

    percent: int
    message: str
    updated_at: datetime


class SafeError(BaseModel):
    """An error that may be shown."""

    kind: str
    message: str
    stack: str = ""


class Run(BaseModel):
    """A run without its parameters and result.  `display` is its state as people say it: also *retrying* and *cancelling*."""

    id: UUID
    tenant: str
    definition: str
    definition_version: int
    handler: str
    queue: str
    priority: int
    state: StateName
    display: str
    cause: str | None = Field(description="Why a held run is held.")
    reason: str | None
    outcome: str | None
    error: SafeError | None
    available_at: datetime
    created_at: datetime
    created_by: str
    started_at: datetime | None
    finished_at: datetime | None
    origin: str
    parent: UUID | None = Field(description="The run that asked for this one, by its handler or by a trigger, or that was run again.")
    batch_index: int | None = Field(description="Its place among the children of its batch, whose parent is `parent`.")
    depth: int = Field(description="How many triggers lie between this run and the one that nobody triggered.")
    schedule: UUID | None
    slot_at: datetime | None
    key: str | None
    correlation: str | None
    attempt: int
    failures: int
    crashes: int
    session: UUID | None
    cancel_requested_at: datetime | None
    cancel_by: str | None
    rerun_of: UUID | None
    replay_of: UUID | None
    replayed_by: UUID | None
    progress: Progress | None = None

    @classmethod
    def of(cls, row: Row, progress: Row | None = None) -> "Run":
        """Show a row of `headway.store.runs`."""
        named = {
            "state": state_name(row["state"]),
            "display": _display(row),
            "cause": Cause(row["cause"]).name.lower() if row["cause"] else None,
            "outcome": RunOutcome(row["outcome"]).name.lower() if row["outcome"] is not None else None,
            "origin": Origin(row["origin"]).name.lower(),
            "rerun_of": row["parent"] if row["origin"] == Origin.RERUN else None,
            "replay_of": row["parent"] if row["origin"] == Origin.REPLAY and row["batch_index"] is None else None,
            "progress": None if progress is None else {name: progress[name] for name in Progress.model_fields},
        }
        return cls.model_validate({name: named[name] if name in named else row[name] for name in cls.model_fields})


class RunPage(BaseModel):
    """A page of runs, newest first; `next_cursor` is null on the last one."""

    items: list[Run]
    next_cursor: str | None


class RunContent(BaseModel):
    """What a run was given and what it made; secret parameters are three stars."""

    id: UUID
    params: Any = None
    payload: str | None = None
    result: Any = None

    @classmethod
    def of(cls, row: Row, params: str | None, payload: bytes | None) -> "RunContent":
        """Show the content of a run; a payload that is no text shows replacement characters."""
        return cls(
            id=row["id"],
            params=_shown(params),
            payload=None if payload is None else payload.decode(errors="replace"),
            result=_value(row["result"]),
        )


class Attempt(BaseModel):
    """One try of a run."""

    attempt: int
    session: UUID | None
    started_at: datetime | None
    ended_at: datetime | None
    outcome: str | None
    reason: str
    error: SafeError | None


def attempts_of(run: Row, kept: Sequence[Row]) -> list[Attempt]:
    """Return the attempts of a run; the one under way, and a first one that succeeded, are shown from the run itself."""
    shown = [Attempt.model_validate({**row, "outcome": AttemptOutcome(row["outcome"]).name.lower()}) for row in kept]
    number = run["attempt"]
    if number == 0 or run["started_at"] is None or number in {one.attempt for one in shown}:
        return shown
    outcome = RunOutcome(run["outcome"]).name.lower() if run["outcome"] is not None else None
    reason = run["reason"] or ""
    present = {"attempt": number, "ended_at": run["finished_at"], "outcome": outcome, "reason": reason}
    return [*shown, Attempt.model_validate({**present, **{name: run[name] for name in ("session", "started_at", "error")}})]


def state_name(state: int) -> StateName:
    """Return a state as the API names it."""
    names: tuple[StateName, ...] = ("held", "scheduled", "queued", "running", "succeeded", "failed", "cancelled", "skipped")
    return names[state]


def _display(row: Row) -> str:
    state = State(row["state"])
    if state is State.SCHEDULED and row["attempt"] > 0:
        return "retrying"
    if state is State.RUNNING and row["cancel_requested_at"] is not None:
        return "cancelling"
    return state_name(state)


def _shown(params: str | None) -> Any:
    values = _value(params)
    return masked(values) if isinstance(values, dict) else values


def _value(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)
