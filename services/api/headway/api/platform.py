"""What routes are given: the adapters of this process, and who is asking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, NamedTuple, Protocol
from uuid import UUID

from fastapi import Depends, Request

from headway.api.cursors import Cursors
from headway.broker import Broker
from headway.broker.announcer import Announcer
from headway.core.ask import Ask
from headway.core.batch import BatchAsk
from headway.runtime.health import Health
from headway.store.batch_edits import Appended, Made
from headway.store.enqueue import Accepted
from headway.store.rerun import Again
from headway.store.tx import Database

ANYBODY: Final = "api"


class Runs(Protocol):
    """Whoever accepts and cancels runs for the API; `headway.sdk.client.Client` does, many requests in one transaction."""

    async def enqueue(self, ask: Ask) -> Accepted:
        """Accept one run.  Raises NotFound, Conflict or Unavailable."""

    async def enqueue_many(self, asks: Sequence[Ask]) -> Sequence[Accepted]:
        """Accept all of these runs or none, in their order.  Raises NotFound, Conflict or Unavailable."""

    async def check(self, asks: Sequence[Ask]) -> None:
        """Return when all of these runs would be accepted; raise what `enqueue_many` would raise."""

    async def rerun(self, wanted: Again) -> Accepted:
        """Make a fresh run of what a finished run was given.  Raises NotFound, Conflict or Unavailable."""

    async def replay(self, wanted: Again) -> Accepted:
        """Make the one replay that a failed run may have.  Raises NotFound, Conflict or Unavailable."""

    async def make_batch(self, wanted: BatchAsk) -> Made:
        """Accept a parent and its children, all or none.  Raises Invalid, NotFound, Conflict or Unavailable."""

    async def append(self, parent: UUID, children: Sequence[Ask], *, tenant: str | None, key: str | None) -> Appended:
        """Append children to an open batch, all or none.  Raises Invalid, NotFound, Conflict or Unavailable."""

    async def close_batch(self, parent: UUID, *, tenant: str | None) -> None:
        """Let a batch take no more children.  Raises NotFound or Unavailable."""

    async def cancel(self, ids: Sequence[UUID], *, actor: str, reason: str) -> Mapping[UUID, str]:
        """Cancel what does not run, ask for the end of what does, and say of each whether it is cancelled, cancelling or final."""


@dataclass(frozen=True, slots=True)
class Platform:
    """Everything a route may use.  Only `headway.api.app` makes one outside of tests."""

    database: Database
    broker: Broker
    announcer: Announcer
    runs: Runs
    cursors: Cursors
    health: Health = field(default_factory=Health)
    max_body_bytes: int = 1_048_576


class Caller(NamedTuple):
    """Who asks, and whose things they may see: as long as nobody has to prove who they are, those of no tenant."""

    actor: str = ANYBODY
    tenant: str = ""


async def _platform(request: Request) -> Platform:
    platform: Platform = request.app.state.platform
    return platform


async def _caller() -> Caller:
    return Caller()


Here = Annotated[Platform, Depends(_platform)]
Who = Annotated[Caller, Depends(_caller)]
