"""A database with definitions, workers and runs in it, as tests of the store set it up."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from headway.core.ask import Ask
from headway.core.definition import DefinitionDraft, ScheduleDraft
from headway.core.ids import make_id
from headway.core.outcome import Outcome, Success
from headway.core.run import State
from headway.core.run import settle as decide
from headway.core.schedule.rule import parse_rule
from headway.store import catalogue, clock, gates, holding, runs, schedules
from headway.store import claim as claiming
from headway.store import sessions as sessions_of
from headway.store.accept import accept
from headway.store.claim import Claimed
from headway.store.enqueue import Accepted
from headway.store.rescue import Rescued, rescue
from headway.store.sessions import Session
from headway.store.settle import Settled, Verdict, settle
from headway.store.tx import Database, Row, Tx
from headway.store.waiting import let_in

LEASE = timedelta(seconds=30)
HANDLERS = ("job",)


class Scene:
    """What tests do with a database, each in a transaction of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.offset = timedelta()

    async def define(self, name: str = "job", **fields: Any) -> UUID:
        """Save a definition that the handler `job` runs."""
        draft = DefinitionDraft(name, fields.pop("handler", "job"), **fields)
        return (await self.database.transact(lambda tx: catalogue.save(tx, draft, actor="ann"))).id

    async def schedule(self, name: str = "job", every: str = "1m", **fields: Any) -> UUID:
        """Save a definition with one interval schedule and return the schedule's id."""
        await self.define(name, schedules=(ScheduleDraft("default", parse_rule({"every": every})),), **fields)
        async with self.database.begin() as tx:
            (row,) = await schedules.listed(tx, of=name)
        found: UUID = row["id"]
        return found

    async def ask(self, *asks: Ask) -> list[UUID]:
        """Accept asks as the API does; one that is refused raises its error."""
        answers = await self.database.transact(lambda tx: accept(tx, asks))
        return [_accepted(answer).id for answer in answers]

    async def enqueue(self, count: int = 1, name: str = "job", **fields: Any) -> list[UUID]:
        """Accept so many runs of a definition, all in one transaction."""
        return await self.ask(*[Ask(name, **fields) for _ in range(count)])

    async def worker(self, lease: timedelta = LEASE) -> UUID:
        """Register a worker's session."""
        async with self.database.begin() as tx:
            me = Session(make_id(tx.now), "worker", "here", 1, ("default",), HANDLERS, 100)
            await sessions_of.register(tx, me, lease)
        return me.id

    async def claim(self, session: UUID, ids: Sequence[UUID], handlers: Sequence[str] = HANDLERS) -> list[Claimed]:
        """Claim by ids."""
        async with self.database.once() as tx:
            return await claiming.claim(tx, session, ids, handlers=handlers)

    async def claim_next(self, session: UUID, limit: int = 100, handlers: Sequence[str] = HANDLERS) -> list[Claimed]:
        """Claim by order from the default queue."""
        async with self.database.once() as tx:
            return await claiming.claim_next(tx, session, "default", handlers=handlers, limit=limit)

    async def started(self, **fields: Any) -> Claimed:
        """Enqueue one run and claim it by a session of its own."""
        (id_,) = await self.enqueue(**fields)
        (claimed,) = await self.claim(await self.worker(), [id_])
        return claimed

    async def settle(self, session: UUID, claimed: Claimed, outcome: Outcome | None = None) -> list[Settled]:
        """Settle one attempt from its locked row, as a worker does."""

        async def conclude(tx: Tx) -> list[Settled]:
            await gates.lock_of(tx, [claimed.id])
            held = [one for one in await holding.held_by(tx, session, [claimed.id]) if one.open.attempt == claimed.attempt]
            settled = await settle(
                tx, [Verdict(one.open.id, one.open.attempt, decide(one.open, outcome or Success(), tx.now), session) for one in held]
            )
            await let_in(tx, settled)
            return settled

        return await self.database.transact(conclude)

    async def stop_and_rescue(self, session: UUID) -> Rescued:
        """End a session and give back what it held."""
        async with self.database.begin() as tx:
            await sessions_of.stop(tx, session)
        return await self.database.transact(lambda tx: rescue(tx, session))

    async def run(self, id_: UUID) -> Row:
        """A run, open or finished."""
        async with self.database.begin() as tx:
            row = await runs.get(tx, id_, None)
        assert row is not None
        return row

    async def state(self, id_: UUID) -> State:
        """Where a run stands."""
        return State((await self.run(id_))["state"])

    async def states(self, ids: Sequence[UUID]) -> list[State]:
        """Where runs stand, in the order of the ids."""
        async with self.database.begin() as tx:
            found = await runs.states(tx, ids)
        return [found[id_] for id_ in ids]

    async def later(self, by: timedelta) -> None:
        """Step the database's clock."""
        self.offset += by
        async with self.database.begin() as tx:
            await clock.set_offset(tx, self.offset)

    async def somebody_waits(self) -> None:
        """Return when a transaction waits for another one's lock."""
        while not await self.sql("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"):
            await self.sql("SELECT pg_sleep(0.01)")

    async def sql(self, query: str, *values: Any) -> list[Row]:
        """Run plain SQL, to look at what no operation shows and to break what no operation breaks."""
        async with self.database.begin() as tx:
            return list(await tx.connection.fetch(query, *values))


def _accepted(answer: Accepted | Exception) -> Accepted:
    if isinstance(answer, Exception):
        raise answer
    return answer
