"""What a running handler can ask of the platform: report progress, and enqueue children; both under its fence."""

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from headway.core.errors import HeadwayError
from headway.sdk.run import Attempted
from headway.store import fence, gates, progress
from headway.store.enqueue import Accepted, Ask, create
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
        """Create children of a run, all or none.  Raises LeaseLost, or the error of the first ask that was refused."""

        async def create_children(tx: Tx) -> list[Accepted]:
            await fence.require(tx, self._fence(claimed))
            accepted = [_accepted(answer) for answer in await create(tx, asks)]
            await gates.place(tx, [run.id for run in accepted if run.gated])
            return accepted

        made = await self.database.transact(create_children)
        await self.announce(made)
        return [run.id for run in made]

    def _fence(self, claimed: Attempted) -> Fence:
        return Fence(claimed.id, self.holder(claimed.id) or UUID(int=0), claimed.attempt)


def _accepted(answer: Accepted | HeadwayError) -> Accepted:
    if isinstance(answer, HeadwayError):
        raise answer
    return answer
