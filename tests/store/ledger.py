"""Schedules whose slots come due in a scene, decided as schedulers do."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headway.core.definition import DefinitionDraft, ScheduleDraft
from headway.core.schedule.rule import parse_rule
from headway.store import advance, catalogue, schedules
from headway.store.decide import Decided, decide_due
from headway.store.editing import known_of
from headway.store.known import Known, Manner
from headway.store.tx import Row, Tx
from tests.store.scene import Scene

START = datetime.fromisoformat("2030-01-07T12:00:00+00:00")  # a Monday


class Ledger:
    """A definition `job` with one schedule, and a clock that starts at noon of a Monday."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.schedule = UUID(int=0)

    async def begin(self, rule: dict[str, Any], **fields: Any) -> "Ledger":
        """Set the clock and save the schedule."""
        await self.set(START)
        await self.save(rule, **fields)
        return self

    async def save(self, rule: dict[str, Any], **fields: Any) -> None:
        """Save the schedule, as it is to be from now on."""
        draft = ScheduleDraft("default", parse_rule(rule), **fields)
        await self.scene.database.transact(lambda tx: catalogue.save(tx, DefinitionDraft("job", "job", schedules=(draft,)), actor="ann"))
        self.schedule = (await self.row())["id"]

    async def set(self, at: datetime) -> None:
        """Set the database's clock."""
        async with self.scene.database.begin() as tx:
            by = at - tx.now
        await self.scene.later(by)

    async def row(self) -> Row:
        """The schedule as it stands."""
        async with self.scene.database.begin() as tx:
            [row] = await schedules.listed(tx, of="job")
        return row

    async def known(self, tx: Tx) -> Sequence[Known]:
        """The schedule as a scheduler that reads it now knows it."""
        return await known_of(tx, await advance.load(tx, ids=[self.schedule]))

    async def decide(self, at: datetime | None = None, manner: Manner | None = None) -> Decided:
        """Decide what is due, as one scheduler does, at an instant."""
        if at is not None:
            await self.set(at)
        async with self.scene.database.begin() as tx:
            return await decide_due(tx, await self.known(tx), manner or Manner())

    async def slots(self) -> list[tuple[datetime, int, str]]:
        """What was decided, slot by slot."""
        rows = await self.scene.sql("SELECT slot_at, decision, reason FROM headway.slot ORDER BY slot_at")
        return [(row["slot_at"], row["decision"], row["reason"]) for row in rows]

    async def ranges(self) -> list[tuple[datetime, datetime, int, str]]:
        """What was decided, stretch by stretch."""
        rows = await self.scene.sql("SELECT from_at, to_at, slots, reason FROM headway.slot_range ORDER BY from_at")
        return [(row["from_at"], row["to_at"], row["slots"], row["reason"]) for row in rows]

    async def runs(self) -> list[Row]:
        """The runs of the schedule, by slot."""
        return await self.scene.sql("SELECT * FROM headway.all_runs WHERE schedule IS NOT NULL ORDER BY slot_at, id")

    async def end(self, run: Row | UUID) -> None:
        """Let a worker do a run to its end."""
        id_ = run if isinstance(run, UUID) else run["id"]
        worker = await self.scene.worker(timedelta(days=400))
        [claimed] = await self.scene.claim(worker, [id_])
        await self.scene.settle(worker, claimed)
