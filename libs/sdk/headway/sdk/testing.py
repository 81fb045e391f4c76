"""Try an application: one handler without a platform, or all of it on a platform inside of the test."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID, uuid4

from headway.core.ask import Ask
from headway.core.batch import BatchAsk
from headway.core.outcome import Failure, Outcome, PartialSuccess, Result, Success
from headway.sdk.execute import execute
from headway.sdk.job import Job
from headway.sdk.run import Run

if TYPE_CHECKING:
    from headway.sdk.platform import Platform

__all__ = ["Facts", "Platform", "Recorder", "Tried", "run_handler"]

NOON: Final = datetime(2030, 1, 1, 12, tzinfo=UTC)
HOUR: Final = timedelta(hours=1)


class Facts(NamedTuple):
    """An attempt that nobody claimed; every fact may be chosen."""

    id: UUID
    definition: str = "test"
    handler: str = "test"
    params: str | None = None
    payload: bytes | None = None
    attempt: int = 1
    failures: int = 0
    tenant: str = ""
    queue: str = "default"
    priority: int = 0
    schedule: UUID | None = None
    slot_at: datetime | None = None
    available_at: datetime = NOON
    started_at: datetime = NOON
    deadline_at: datetime = NOON + HOUR
    correlation: str | None = None
    traceparent: str | None = None
    parent: UUID | None = None
    batch_index: int | None = None
    batch_total: int | None = None
    stored_token: UUID | None = None

    @property
    def token(self) -> UUID:
        """The idempotency token."""
        return self.stored_token or self.id


@dataclass
class Recorder:
    """Stands where the platform would be, and remembers what the handler asked of it."""

    progress_said: list[tuple[int, str]] = field(default_factory=list)
    children: list[Ask] = field(default_factory=list)
    batches: list[BatchAsk] = field(default_factory=list)

    async def progress(self, claimed: Any, percent: int, message: str) -> None:
        """Remember progress."""
        self.progress_said.append((percent, message))

    async def enqueue(self, claimed: Any, asks: Sequence[Ask]) -> list[UUID]:
        """Remember children."""
        self.children += asks
        return [uuid4() for _ in asks]

    async def open_batch(self, claimed: Any, wanted: BatchAsk) -> UUID:
        """Remember a batch."""
        self.batches.append(wanted)
        return uuid4()

    async def append(self, claimed: Any, parent: UUID, children: Sequence[Ask]) -> int:
        """Remember children of a batch."""
        self.children += children
        return len(self.children) - len(children)

    async def close_batch(self, claimed: Any, parent: UUID) -> None:
        """A batch that was remembered needs no closing."""


class Tried(NamedTuple):
    """What became of an attempt: its outcome, and what its handler asked of the platform; `children` has those of its batches, too."""

    outcome: Outcome
    progress: list[tuple[int, str]]
    children: list[Ask]
    batches: list[BatchAsk]

    @property
    def result(self) -> Result | None:
        """The results, None when there are none."""
        return self.outcome.result if isinstance(self.outcome, Success | PartialSuccess | Failure) else None


async def run_handler(job: Job[..., Any], params: Any = None, **facts: Any) -> Tried:
    """Execute a job's handler once, as a worker would, but without a platform.

    `params` are validated as by an enqueue; `facts` (attempt, failures, slot_at, payload, ...) win over those of a first attempt.
    Raises Invalid for parameters that an enqueue would refuse.
    """
    text = job.handler.parameter_text(params) if params is not None or facts.get("payload") is None else None
    recorder = Recorder()
    given = {"id": uuid4(), "definition": job.name, "handler": job.name, "params": text, **facts}
    outcome = await execute(job.handler, Run(Facts(**given), recorder))
    return Tried(outcome, recorder.progress_said, recorder.children, recorder.batches)


def __getattr__(name: str) -> Any:
    """Load the platform, drivers and all, for whoever asks for it."""
    if name != "Platform":
        raise AttributeError(f"headway.sdk.testing has no {name}")
    from headway.sdk.platform import Platform

    return Platform
