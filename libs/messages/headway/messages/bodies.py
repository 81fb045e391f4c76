"""What each message says: ids and facts, never parameters, results or secrets.

Every body names its `type` with a version.  Unknown fields are ignored, so that a newer sender may add some; a changed meaning is a
new version, and both are understood for one release.
"""

from datetime import datetime
from typing import Annotated, ClassVar, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

MOST_RUNS: Final = 100
"""How many ids one `run.created` names at most."""


class Body(BaseModel):
    """The manner of every message: frozen, tolerant of fields that it does not know."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    public: ClassVar[bool] = False
    """Whether others may build on it: such a message also carries CloudEvents headers."""


class RunCreated(Body):
    """Runs of one queue and priority that a worker may claim now.  `queue` is empty where the sender gave a bare run id."""

    type: Literal["run.created.v1"] = "run.created.v1"
    queue: str
    runs: Annotated[tuple[UUID, ...], Field(min_length=1, max_length=MOST_RUNS)]


class CompletedRun(Body):
    """One run that settled, and the kinds of the reactions that it owes."""

    id: UUID
    definition: str
    state: Literal["succeeded", "failed", "cancelled", "skipped"]
    outcome: str
    attempt: Annotated[int, Field(ge=0)]
    finished_at: datetime
    reactions: tuple[str, ...] = ()


class RunCompleted(Body):
    """Runs that settled for good."""

    public: ClassVar[bool] = True

    type: Literal["run.completed.v1"] = "run.completed.v1"
    runs: Annotated[tuple[CompletedRun, ...], Field(min_length=1)]


Change = Literal["created", "updated", "deleted", "enabled", "disabled", "paused", "resumed"]


class DefinitionChanged(Body):
    """A definition or one of its children changed: who keeps a copy reads it again.  Tenant `''` means that it belongs to none."""

    public: ClassVar[bool] = True

    type: Literal["definition.changed.v1"] = "definition.changed.v1"
    tenant: str = ""
    definition: str
    version: int
    change: Change


class RunCancel(Body):
    """Runs whose cancellation was wished; who holds one of them asks the database."""

    type: Literal["run.cancel.v1"] = "run.cancel.v1"
    runs: Annotated[tuple[UUID, ...], Field(min_length=1)]


class QueuePaused(Body):
    """Queues whose pause began or ended; who claims from one of them asks the database."""

    type: Literal["queue.paused.v1"] = "queue.paused.v1"
    queues: Annotated[tuple[str, ...], Field(min_length=1)]


class SessionDrain(Body):
    """Sessions that shall claim nothing more, finish what they hold and leave."""

    type: Literal["session.drain.v1"] = "session.drain.v1"
    sessions: Annotated[tuple[UUID, ...], Field(min_length=1)]


class AlertRaised(Body):
    """Something that a person may want to know.  `dedupe_key` is the same for repetitions of one event."""

    public: ClassVar[bool] = True

    type: Literal["alert.raised.v1"] = "alert.raised.v1"
    kind: Annotated[str, Field(min_length=1)]
    subject: str
    definition: str | None = None
    run: UUID | None = None
    at: datetime
    message: str
    dedupe_key: str


Message = RunCreated | RunCompleted | DefinitionChanged | RunCancel | QueuePaused | SessionDrain | AlertRaised
MESSAGES: Final[tuple[type[Message], ...]] = (
    RunCreated,
    RunCompleted,
    DefinitionChanged,
    RunCancel,
    QueuePaused,
    SessionDrain,
    AlertRaised,
)


def type_of(kind: type[Message]) -> str:
    """Return the `type` that messages of this kind carry, such as `run.created.v1`."""
    return str(kind.model_fields["type"].default)
