"""What a running handler can ask of the platform: report progress, and enqueue children; both under its fence."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

from headway.core.ask import Ask
from headway.core.batch import BatchAsk, Opener
from headway.core.errors import HeadwayError
from headway.core.run import State
from headway.sdk.run import Attempted
from headway.store import batch_edits, batches, fence, progress
from headway.store.accept import accept
from headway.store.batch_edits import Appended, Made
from headway.store.enqueue import Accepted
from headway.store.fence import Fence
from headway.store.gates import Placed
from headway.store.tx import Database, Tx

Announce = Callable[[Sequence[Accepted | Placed]], Awaitable[None]]


class FencedLink:
    """Writes for an attempt only while its session still holds it."""

    def __init__(self, database: Database, holder: Callable[[UUID], UUID | None], announce: Announce) -> None:
        self.database = database
        self.holder = holder
        self.announce = announce

    async def progress(self, claimed: Attempted, percent: int, message: str) -> None:
        """Record progress.  Raises LeaseLost when the attempt is no longer held."""
        async with self.database.once() as tx:
            await progress.report(tx, self._fence(claimed), percent, message)

    async def enqueue(self, claimed: Attempted, asks: Sequence[Ask]) -> list[UUID]:
        """Create children of a run, all or none; a key finds the child of an earlier attempt.

        Raises LeaseLost, or the error of the first ask that was refused.
        """

        async def create_children(tx: Tx) -> list[Accepted]:
            await fence.require(tx, self._fence(claimed))
            return [_accepted(answer) for answer in await accept(tx, asks)]

        made = await self.database.transact(create_children)
        await self.announce([run for run in made if run.state is State.QUEUED and not run.existing])
        return [run.id for run in made]

    async def open_batch(self, claimed: Attempted, wanted: BatchAsk) -> UUID:
        """Open a batch that is closed when this attempt ends.  Raises LeaseLost, NotFound, Conflict."""

        async def open_one(tx: Tx) -> Made:
            await fence.require(tx, self._fence(claimed))
            return await batch_edits.make(tx, replace(wanted, opener=Opener(claimed.id, claimed.attempt)))

        return (await self.database.transact(open_one)).parent

    async def append(self, claimed: Attempted, parent: UUID, children: Sequence[Ask]) -> int:
        """Append children to a batch, all or none, and return the index of the first.

        Raises LeaseLost, Conflict when it is closed, Invalid with every child that is refused.
        """

        async def add(tx: Tx) -> Appended:
            await batches.get(tx, parent, claimed.tenant, locked=True)  # a batch comes before a run
            await fence.require(tx, self._fence(claimed))
            return await batch_edits.append(tx, parent, children, tenant=claimed.tenant)

        appended = await self.database.transact(add)
        await self.announce(appended.queued)
        return appended.first

    async def close_batch(self, claimed: Attempted, parent: UUID) -> None:
        """Let a batch take no more children.  It may be closed by whoever no longer holds the attempt: it is closed then in any case."""
        looked = await self.database.transact(partial(batch_edits.close, parent=parent, tenant=claimed.tenant))
        await self.announce(looked.queued)

    def _fence(self, claimed: Attempted) -> Fence:
        return Fence(claimed.id, self.holder(claimed.id) or UUID(int=0), claimed.attempt)


def _accepted(answer: Accepted | HeadwayError) -> Accepted:
    if isinstance(answer, HeadwayError):
        raise answer
    return answer
