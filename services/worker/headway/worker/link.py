"""What a running handler can ask of the platform: report progress, and enqueue children; both under its fence."""

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from headway.core.ask import Ask
from headway.core.errors import HeadwayError
from headway.core.run import State
from headway.sdk.run import Attempted
from headway.store import fence, progress
from headway.store.accept import accept
from headway.store.enqueue import Accepted
from headway.store.fence import Fence
from headway.store.tx import Database, Tx

Announce = Callable[[Sequence[Accepted]], Awaitable[None]]


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

    def _fence(self, claimed: Attempted) -> Fence:
        return Fence(claimed.id, self.holder(claimed.id) or UUID(int=0), claimed.attempt)


def _accepted(answer: Accepted | HeadwayError) -> Accepted:
    if isinstance(answer, HeadwayError):
        raise answer
    return answer
