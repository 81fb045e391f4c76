"""A batch under a fleet: made as an application makes it, and watched to its end."""

import re
from dataclasses import dataclass, field
from uuid import UUID

import orjson

from headway.broker.connect import connect
from headway.core.ask import Ask
from headway.core.batch import BatchAsk, Mixed
from headway.sdk.client import Client
from headway.store.tx import Database
from tests.system.fleet import Fleet

SAID = re.compile(r"(\d+)/(\d+) children complete")


async def make(fleet: Fleet, good: int, bad: int, seconds: float = 0) -> UUID:
    """Create a batch of so many children that succeed after a while and fail, a mix that is a partial success, and hint at them."""
    database = await Database.open(fleet.database_url, size=2)
    broker = connect(fleet.broker_url)
    await broker.open()
    try:
        async with Client(database, broker, created_by="test") as client:
            children = [Ask("nap", params=f'{{"seconds": {seconds}}}')] * good + [Ask("wrong")] * bad
            return (await client.make_batch(BatchAsk(Ask("nap"), children, mixed=Mixed.PARTIAL))).parent
    finally:
        await broker.close()
        await database.close()


@dataclass
class Watch:
    """What was seen of a batch's progress, look by look."""

    fleet: Fleet
    parent: UUID
    seen: list[tuple[int, int, int]] = field(default_factory=list)

    async def look(self) -> int:
        """Remember the progress as it stands, and say how many children are complete."""
        (row,) = await self.fleet.rows("SELECT percent, message FROM headway.run_progress WHERE run = $1", self.parent)
        match = SAID.fullmatch(row["message"])
        assert match is not None, row["message"]
        self.seen.append((row["percent"], int(match[1]), int(match[2])))
        return int(match[1])

    async def ended(self) -> dict[str, object]:
        """What stands of the parent when it has ended; there is one row of it, and nothing is left of its children."""
        assert await self.fleet.value("SELECT count(*) FROM headway.run WHERE id = $1 OR parent = $1", self.parent) == 0
        (row,) = await self.fleet.rows("SELECT outcome, result FROM headway.run_done WHERE id = $1", self.parent)
        return {"outcome": row["outcome"], **orjson.loads(row["result"])}

    def check(self, total: int) -> None:
        """Hold that the progress never fell, went by the whole, and came to its end."""
        assert self.seen == sorted(self.seen)
        assert all((percent, of) == (round(100 * done / total), total) for percent, done, of in self.seen)
        assert self.seen[-1] == (100, total, total)
