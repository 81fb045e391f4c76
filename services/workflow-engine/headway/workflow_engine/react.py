"""What the workflow engine owes for runs that settled: by hint, and by looking."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from headway.broker.consume import ENGINES, CountedConsumer
from headway.broker.port import Broker
from headway.messages import RunCompleted
from headway.messages.channels import ENGINE_COMPLETIONS
from headway.runtime.broker_watch import watch_broker
from headway.runtime.life import Life
from headway.runtime.settings import WorkflowEngineSettings
from headway.store import reactions
from headway.store.reactions import Doing, Owed
from headway.store.tx import Database

DOING: Final[Mapping[int, Doing]] = {}
"""What is done for each kind of reaction.  Workflows are the engine's only kind, and no run belongs to one before they exist."""


class Engine:
    """One of any number of engines; whoever locks a reaction first does it."""

    def __init__(self, settings: WorkflowEngineSettings, database: Database, broker: Broker, doing: Mapping[int, Doing] = DOING) -> None:
        self.knobs = settings.reactions
        self.database = database
        self.broker = broker
        self.doing = doing
        self._broken_off: list[Owed] = []

    async def run(self, life: Life) -> None:
        """React until `life` is asked to stop."""
        consumer = await self.broker.consume(ENGINE_COMPLETIONS, prefetch=self.knobs.batch)
        counted = CountedConsumer(self.broker, consumer, (RunCompleted,), self.handle, patience=ENGINES, probe=self.probe)
        async with life:
            life.health.add("workflow-engine", lambda: (consumer.alive, {"consumer_alive": consumer.alive}))
            watch_broker(life, self.broker)
            life.start_loop("completions", counted.step, timedelta(seconds=1), full=1)
            life.start_loop("reactions", self.look, timedelta(seconds=self.knobs.look_seconds), full=self.knobs.batch)
        await consumer.close()

    async def handle(self, message: RunCompleted) -> None:
        """Do what the named runs owe.  Raises Unavailable."""
        await reactions.work_off(self.database, self.doing, runs=[run.id for run in message.runs])

    async def look(self) -> int:
        """Do what is owed and no message named; says how many reactions were due."""
        return await reactions.work_off(self.database, self.doing, limit=self.knobs.batch, broken_off=self._broken_off)

    async def probe(self) -> None:
        """Raise Unavailable while the database is away."""
        async with self.database.begin():
            return
