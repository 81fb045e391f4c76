"""Batches in a scene: made, their children ended, their reactions done."""

from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID

from headway.core.ask import Ask
from headway.core.batch import BatchAsk
from headway.core.outcome import Outcome
from headway.store import batch_edits, batches, cancel, progress, reactions, tallying
from headway.store.batch_edits import Appended
from headway.store.cancel import CancelDone
from headway.store.reactions import Kind
from headway.store.tx import Row
from tests.store.scene import Scene

DOING = {int(Kind.BATCH): tallying.react}


class Batches:
    """What tests do with batches of a scene's database."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    async def make(self, count: int = 3, name: str = "job", child: str = "job", **fields: Any) -> UUID:
        """Create a batch of so many children."""
        wanted = BatchAsk(Ask(name, created_by="ann"), [Ask(child)] * count, **fields)
        return (await self.scene.database.transact(partial(batch_edits.make, wanted=wanted))).parent

    async def append(self, parent: UUID, count: int = 1, key: str | None = None) -> Appended:
        """Append children to an open batch."""
        add = partial(batch_edits.append, parent=parent, children=[Ask("job")] * count, tenant="", key=key)
        return await self.scene.database.transact(add)

    async def close(self, parent: UUID) -> None:
        """Close a batch."""
        await self.scene.database.transact(partial(batch_edits.close, parent=parent, tenant=""))

    async def cancel(self, *ids: UUID) -> CancelDone:
        """Cancel runs as Ann."""
        return await self.scene.database.transact(partial(cancel.cancel, ids=ids, actor="ann"))

    async def end(self, ids: Sequence[UUID], outcome: Outcome | None = None) -> None:
        """Let queued runs start and end so."""
        session = await self.scene.worker()
        for claimed in await self.scene.claim(session, ids):
            await self.scene.settle(session, claimed, outcome)

    async def react(self) -> int:
        """Do what is owed, as one scheduler."""
        return await reactions.work_off(self.scene.database, DOING, limit=1000)

    async def look(self) -> int:
        """Give every batch that is stuck its second chance, and say how many there were."""
        async with self.scene.database.begin() as tx:
            stuck = await batches.stuck(tx)
        for row in stuck:
            await self.scene.database.transact(partial(batch_edits.second_chance, stuck=row))
        return len(stuck)

    async def counts(self) -> tuple[int, int]:
        """How many runs and batches there are."""
        (row,) = await self.scene.sql("SELECT (SELECT count(*) FROM headway.run) AS runs, (SELECT count(*) FROM headway.batch) AS batches")
        return row["runs"], row["batches"]

    async def row(self, parent: UUID) -> Row:
        """The row of a batch."""
        async with self.scene.database.begin() as tx:
            return await batches.get(tx, parent)

    async def children(self, parent: UUID) -> list[Row]:
        """The children, in the order of their index."""
        async with self.scene.database.begin() as tx:
            return list(await batches.children(tx, parent, limit=100_000))

    async def ids(self, parent: UUID) -> list[UUID]:
        """The ids of the children, in the order of their index."""
        return [row["id"] for row in await self.children(parent)]

    async def said(self, parent: UUID) -> tuple[int, str]:
        """The progress of a parent."""
        async with self.scene.database.begin() as tx:
            row = await progress.of_run(tx, parent)
        assert row is not None
        return row["percent"], row["message"]
