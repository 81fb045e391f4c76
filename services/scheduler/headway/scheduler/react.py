"""What the scheduler owes for runs that settled: by hint, and by looking."""

from collections.abc import Mapping
from datetime import timedelta

from headway.broker.consume import SCHEDULERS, CountedConsumer
from headway.broker.port import Broker
from headway.messages import RunCompleted
from headway.messages.channels import SCHEDULER_COMPLETIONS
from headway.runtime.life import Life
from headway.runtime.settings.groups import ReactionGroup
from headway.store import reactions
from headway.store.reactions import After, Doing, Owed
from headway.store.tx import Database


class Reactions:
    """Works off reactions; whoever locks one first does it.  `after` is told of each commit and of the runs that it queued."""

    def __init__(self, knobs: ReactionGroup, database: Database, broker: Broker, doing: Mapping[int, Doing], after: After) -> None:
        self.knobs = knobs
        self.database = database
        self.broker = broker
        self.doing = doing
        self.after = after
        self._broken_off: list[Owed] = []

    async def start(self, life: Life) -> None:
        """React for as long as `life` lasts."""
        consumer = await self.broker.consume(SCHEDULER_COMPLETIONS, prefetch=self.knobs.batch)
        counted = CountedConsumer(self.broker, consumer, (RunCompleted,), self.handle, patience=SCHEDULERS, probe=self.probe)
        life.start_loop("completions", counted.step, timedelta(seconds=1), full=1)
        life.start_loop("reactions", self.look, timedelta(seconds=self.knobs.look_seconds), full=self.knobs.batch)

    async def handle(self, message: RunCompleted) -> None:
        """Do what the named runs owe.  Raises Unavailable."""
        await reactions.work_off(self.database, self.doing, runs=[run.id for run in message.runs], after=self.after)

    async def look(self) -> int:
        """Do what is owed and no message named; says how many reactions were due."""
        return await reactions.work_off(self.database, self.doing, limit=self.knobs.batch, after=self.after, broken_off=self._broken_off)

    async def probe(self) -> None:
        """Raise Unavailable while the database is away."""
        async with self.database.begin():
            return
