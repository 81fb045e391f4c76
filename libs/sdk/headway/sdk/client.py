"""The client: accept, cancel and follow runs.  The one module of the SDK that composes store and broker."""

import asyncio
from asyncio import Event, Task
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Self
from uuid import UUID

from headway.broker import Broker, Queued, hints
from headway.broker.announcer import Announcer
from headway.broker.connect import connect
from headway.core.ask import Ask, problems_of
from headway.core.batch import BatchAsk, batch_problems, children_problems
from headway.core.errors import NotFound, Problem, Unavailable
from headway.core.ids import make_id
from headway.core.reading import demand
from headway.core.run import State
from headway.messages import RunCancel
from headway.runtime.loops import CLOCK
from headway.runtime.metrics import RUN_ENQUEUED
from headway.runtime.settings import Connections, SecretsGroup, load
from headway.runtime.tracing import current_traceparent
from headway.runtime.vault import vault_of
from headway.sdk.accepting import Transaction, Undone, accept_all, accept_none
from headway.sdk.gathering import Gathering
from headway.store import batch_edits, batches, runs
from headway.store.accept import Answer, accept
from headway.store.batch_edits import Appended, Made
from headway.store.caller import all_or_none, begun, callers_tx
from headway.store.cancel import CancelDone, cancel
from headway.store.enqueue import Accepted, create_alone
from headway.store.gates import Placed
from headway.store.replay import replay
from headway.store.rerun import Again, rerun
from headway.store.tx import Database, Row, Tx

KEYS_TOGETHER: Final = timedelta(milliseconds=100)
KEY_APART: Final = timedelta(milliseconds=1900)
FIRST_LOOK: Final = 0.02
LONGEST_LOOK: Final = 1.0
FLUSH: Final = timedelta(seconds=2)


class Client:
    """Accepts runs in few transactions and tells workers after the commit, off the caller's path.

    It tells from the first run on; leaving it (`async with`), or `close`, publishes what waits, for two seconds at most.  The adapters that
    it is given stay open.
    """

    def __init__(self, database: Database, broker: Broker, *, created_by: str) -> None:
        self.database = database
        self.broker = broker
        self.created_by = created_by
        self.announcer = Announcer(broker)
        self._plain: Gathering[Ask, Accepted] = Gathering(self._accept, at_once=True)
        self._keyed: Gathering[Ask, Accepted] = Gathering(self._accept)
        self._telling: Task[None] | None = None
        self._adapters = AsyncExitStack()

    @classmethod
    async def connect(cls, *, created_by: str, secrets: SecretsGroup | None = None, **urls: str | None) -> Self:
        """Return an entered client with adapters of its own: `database_url`, `broker_url` and `secrets`, or else those of the settings.

        Raises Invalid with every setting that is wrong, Unavailable when the database does not answer.  The broker is not waited for.
        """
        settings = load(Connections, secrets=secrets, **urls)
        async with AsyncExitStack() as adapters:
            database = await Database.open(
                settings.database_url.reveal(),
                schema=settings.database_schema,
                name=f"headway {created_by}",
                vault=vault_of(settings.secrets),
            )
            adapters.push_async_callback(database.close)
            broker = connect(settings.broker_url.reveal(), prefix=settings.broker_prefix)
            await broker.open()
            adapters.push_async_callback(broker.close)
            client = cls(database, broker, created_by=created_by)
            client._adapters = adapters.pop_all()
            return await client.__aenter__()

    async def __aenter__(self) -> Self:
        self._start_telling()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Answer whoever waits, publish what waits, and close the adapters that are the client's own."""
        async with self._adapters:
            await self._plain.finish()
            await self._keyed.finish()
            await self._flush()
            if self._telling is not None:
                self._telling.cancel()
                await asyncio.wait([self._telling])

    async def enqueue(self, ask: Ask) -> Accepted:
        """Accept one run, in one transaction with whatever else is asked for at this moment.

        An ask whose key was used for the same request is answered with the run that stands.  Raises Invalid, NotFound, Conflict
        (disabled, over its limit, key used for another request, key contested for two seconds), Unavailable.
        """
        named = self._checked([ask])[0]
        return await (self._plain if named.key is None else self._keyed).add(named)

    async def enqueue_many(self, asks: Sequence[Ask]) -> list[Accepted]:
        """Accept all or none, in one transaction.  Raises Invalid with every ask that is refused, KeyContested, Unavailable."""
        accepted = await self.database.transact(partial(accept_all, asks=self._checked(asks)))
        self._accepted(accepted)
        return accepted

    async def check(self, asks: Sequence[Ask]) -> None:
        """Do everything that `enqueue_many` does but keep the runs: it returns when they would be accepted."""
        with suppress(Undone):
            await self.database.transact(partial(accept_none, asks=self._checked(asks)))

    async def enqueue_within(self, tx: Any, asks: Sequence[Ask]) -> list[Accepted]:
        """Accept all or none inside of the caller's transaction, taking no lock of ours but that of a key.

        `tx` is a connection or what `transaction` gave; with a bare connection workers find the runs by looking.
        """
        checked = self._checked(asks)
        ours = await callers_tx(tx.connection if isinstance(tx, Transaction) else tx, self.database)
        async with all_or_none(ours):
            accepted = await accept_all(ours, checked, admit=False)
        if isinstance(tx, Transaction):
            tx.accepted += accepted
        return accepted

    @asynccontextmanager
    async def transaction(self, connection: Any) -> AsyncIterator[Transaction]:
        """Open a transaction on the caller's connection; it commits when the block ends, and then workers are told."""
        async with begun(connection):
            transaction = Transaction(connection)
            yield transaction
        self._accepted(transaction.accepted)

    async def cancel(self, ids: Sequence[UUID], *, actor: str, reason: str = "") -> dict[UUID, str]:
        """Cancel runs and say what became of each: `cancelled`, `cancelling` (its worker is told to stop it), or `final`.

        `final` is also said of a run that never was.
        """
        said = dict.fromkeys(ids, "final")
        wanted: Sequence[UUID] = sorted(ids)
        while wanted:
            done, at = await self.database.transact(partial(_cancel, ids=wanted, actor=actor, reason=reason))
            self.announcer.put(hints.created((Queued(run.id, run.queue, run.priority) for run in done.promoted), at=at))
            if done.wished:
                self.announcer.put([hints.letter(RunCancel(runs=tuple(done.wished)), at=at)])
            became = dict.fromkeys([*done.wished, *done.parents], "cancelling") | {run.id: "cancelled" for run in done.ended}
            said |= {id_: became[id_] for id_ in said.keys() & became.keys()}
            wanted = done.left
        return said

    async def make_batch(self, wanted: BatchAsk) -> Made:
        """Accept a parent and its children, all or none, in one transaction.

        A batch whose key was used for the same request is answered with the one that stands.  Raises Invalid with everything that is
        refused, children by their index, NotFound, Conflict, Unavailable.
        """
        demand(list(batch_problems(wanted)))
        named = replace(wanted, parent=self._named(wanted.parent), children=[self._named(child) for child in wanted.children])
        made = await self.database.transact(partial(batch_edits.make, wanted=named))
        self._begun(made.queued, 0 if made.existing else 1 + made.total)
        return made

    async def append(self, parent: UUID, children: Sequence[Ask], *, tenant: str | None = None, key: str | None = None) -> Appended:
        """Append children to an open batch, all or none; `tenant` None means every tenant.  The same key appends them once.

        Raises Invalid with every child that is refused by its index, NotFound, Conflict when it is closed, Unavailable.
        """
        demand(list(children_problems(children)))
        named = [self._named(child) for child in children]
        add = partial(batch_edits.append, parent=parent, children=named, tenant=tenant, key=key)
        appended = await self.database.transact(add)
        self._begun(appended.queued, 0 if appended.existing else appended.added)
        return appended

    async def close_batch(self, parent: UUID, *, tenant: str | None = None) -> None:
        """Let a batch take no more children; one that is closed stays so.  Raises NotFound, Unavailable."""
        looked = await self.database.transact(partial(batch_edits.close, parent=parent, tenant=tenant))
        self._begun(looked.queued, 0)

    async def batch(self, parent: UUID, *, tenant: str | None = None) -> Row:
        """Return the row of a batch.  Raises NotFound, Unavailable."""
        async with self.database.once() as tx:
            return await batches.get(tx, parent, tenant)

    async def rerun(self, wanted: Again) -> Accepted:
        """Make a fresh run of what a finished run was given.  Raises NotFound, Conflict, Unavailable."""
        return await self._once_more(rerun, wanted)

    async def replay(self, wanted: Again) -> Accepted:
        """Make the one replay that a failed run may have.  Raises NotFound, Conflict (`not_failed`, `replayed_already`), Unavailable."""
        return await self._once_more(replay, wanted)

    async def again(self, run_id: UUID, *, actor: str, reason: str, replay: bool) -> Accepted:
        """Rerun or replay a run, whosever it is."""
        wanted = Again(run_id, actor, reason, tenant=None)
        return await (self.replay(wanted) if replay else self.rerun(wanted))

    async def _once_more(self, make: Callable[[Tx, Again], Awaitable[Accepted]], wanted: Again) -> Accepted:
        traced = wanted._replace(traceparent=current_traceparent())
        accepted = await self.database.transact(lambda tx: make(tx, traced))
        self._accepted([accepted])
        return accepted

    async def wait(self, run_id: UUID, within: float | None = None) -> Row:
        """Return the row of a run once it is final.  Raises NotFound, and TimeoutError when it is not final in `within` seconds."""
        async with asyncio.timeout(within):
            pause = FIRST_LOOK
            while (row := await self._row(run_id))["outcome"] is None:
                await CLOCK.wait(Event(), pause)
                pause = min(pause * 1.5, LONGEST_LOOK)
            return row

    async def _row(self, run_id: UUID) -> Row:
        row = await self.database.transact(partial(runs.get, run_id=run_id, tenant=None))
        if row is None:
            raise NotFound(f"run: there is no run {run_id}")
        return row

    async def _accept(self, asks: Sequence[Ask], *, apart: bool) -> list[Answer]:
        """Accept asks.  A key that somebody else is taking holds up those beside it for a moment only, then it stands apart."""
        if len(asks) == 1 and asks[0].lone and (alone := await self._accept_alone(asks[0])):
            return [alone]
        answers = await self.database.transact(partial(accept, asks=asks, wait=KEY_APART if apart else KEYS_TOGETHER))
        self._accepted(answers)
        return answers

    async def _accept_alone(self, ask: Ask) -> Accepted | None:
        """Accept what one statement can accept: a third of the round trips for whoever asks for one run now and then."""
        now = self.database.reckoning.now()
        if now is None:
            return None
        async with self.database.once() as tx:
            accepted = await create_alone(tx, ask, make_id(now))
            if accepted is not None:  # it is committed: nothing that follows keeps its hint waiting
                self._accepted([accepted])
        return accepted

    def _accepted(self, answers: Iterable[Answer]) -> None:
        new = [one for one in answers if isinstance(one, Accepted) and not one.existing]
        RUN_ENQUEUED.inc(len(new))
        self._start_telling()
        self.announcer.put(hints.created(Queued(one.id, one.queue, one.priority) for one in new if one.state is State.QUEUED))

    def _begun(self, queued: Sequence[Placed], new: int) -> None:
        RUN_ENQUEUED.inc(new)
        self._start_telling()
        self.announcer.put(hints.created(Queued(one.id, one.queue, one.priority) for one in queued))

    def _named(self, ask: Ask) -> Ask:
        return ask if ask.created_by else ask._replace(created_by=self.created_by)

    def _checked(self, asks: Sequence[Ask]) -> list[Ask]:
        problems = [
            Problem(problem.field if len(asks) == 1 else f"asks[{number}].{problem.field}", problem.message)
            for number, found in enumerate(map(problems_of, asks))
            for problem in found
        ]
        demand(problems)
        return [self._named(ask) for ask in asks]

    async def _flush(self) -> None:
        with suppress(TimeoutError, Unavailable):
            async with asyncio.timeout(FLUSH.total_seconds()):
                if self.announcer.waiting:
                    await self.broker.ready(FLUSH)
                await self.announcer.flush()

    def _start_telling(self) -> None:
        self._telling = self._telling or asyncio.create_task(self._tell(), name="headway.tell")

    async def _tell(self) -> None:
        """Wait for the broker once, so that the first hints find it, then publish for ever."""
        with suppress(Unavailable):
            await self.broker.ready(FLUSH)
        await self.announcer.run()


async def _cancel(tx: Tx, ids: Sequence[UUID], actor: str, reason: str) -> tuple[CancelDone, datetime]:
    return await cancel(tx, ids, actor=actor, reason=reason), tx.now
