"""The life of runs, as any order of events may make it: the invariants of model.md hold after every step."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from headway.core.errors import LeaseLost
from headway.core.outcome import Cancelled, Failure, HandedBack, Lost, Outcome, PartialSuccess, SafeError, Snooze, Success, Timeout
from headway.core.retry import Backoff, BackoffKind
from headway.core.run import FINAL, NEXT, State
from headway.store import cancel, due, rescue, sessions
from headway.store.claim import Claimed
from headway.store.tx import Database, Row
from tests.store.scene import LEASE, Scene

T = TypeVar("T")
SECOND = timedelta(seconds=1)
ERROR = SafeError("E", "e")
OUTCOMES: tuple[Outcome, ...] = (
    Success({"rows": 1}),
    PartialSuccess(),
    Failure(ERROR),
    Failure(ERROR, permanent=True),
    Failure(ERROR, retry_after=timedelta()),
    Timeout(),
    Lost(),
    HandedBack(),
    Snooze(5 * SECOND),
    Cancelled("had enough"),
)
LIMIT = 2
TABLES = ("run", "run_done", "attempt", "session", "definition", "definition_version", "schedule", "rate_bucket")
EVERYTHING = """
SELECT id, state, attempt, failures, crashes, session, definition, available_at, false AS done, cause, deadline_at FROM headway.run
UNION ALL SELECT id, state, attempt, failures, crashes, session, definition, available_at, true, 0, NULL FROM headway.run_done
"""


def reachable(state: State) -> set[State]:
    """Every state that a run can have come to from this one, this one included: one event may move it twice."""
    found = {state}
    waiting = [state]
    while waiting:
        following = NEXT[waiting.pop()] - found
        found |= following
        waiting += following
    return found


class RunLife(RuleBasedStateMachine):
    """Two workers, maintenance and people, one event after the other, and a clock that steps."""

    url: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.database = self.await_(lambda: Database.open(self.url, size=2))
        self.scene = Scene(self.database)
        self.workers: list[UUID] = []
        self.claims: list[tuple[UUID, Claimed]] = []
        self.asked: set[UUID] = set()
        self.seen: dict[UUID, Row] = {}

    def await_(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run one piece of asynchronous work to its end."""
        return self.runner.run(work())

    def teardown(self) -> None:
        """Empty the database for the next example."""
        self.await_(self._empty)
        self.await_(self.database.close)
        self.runner.close()

    async def _empty(self) -> None:
        await self.scene.later(-self.scene.offset)
        await self.scene.sql("TRUNCATE " + ", ".join(f"headway.{table}" for table in TABLES) + " CASCADE")

    @initialize()
    def begin(self) -> None:
        """Three kinds of definition, two workers."""
        backoff = Backoff(BackoffKind.FIXED, 3 * SECOND)
        self.await_(lambda: self.scene.define("plain", attempts=3, backoff=backoff, timeout=40 * SECOND))
        self.await_(lambda: self.scene.define("limited", attempts=2, backoff=backoff, max_concurrent_runs=LIMIT))
        self.await_(lambda: self.scene.define("fragile", restartable=False))
        self.workers = [self.await_(self.scene.worker) for _ in range(2)]

    @rule(name=st.sampled_from(("plain", "limited", "fragile")), count=st.integers(1, 3), delay=st.sampled_from((None, 4 * SECOND)))
    def enqueue(self, name: str, count: int, delay: timedelta | None) -> None:
        """Somebody asks for runs."""
        self.asked |= set(self.await_(lambda: self.scene.enqueue(count, name, delay=delay)))

    @rule(worker=st.integers(0, 1), by_id=st.booleans(), limit=st.integers(1, 4))
    def claim(self, worker: int, by_id: bool, limit: int) -> None:
        """A worker takes what a hint names, or what it finds; one that is no longer live registers anew."""
        session = self.workers[worker]
        wanted = sorted(self.asked)[-limit:]
        try:
            claimed = self.await_(lambda: self.scene.claim(session, wanted) if by_id else self.scene.claim_next(session, limit))
        except LeaseLost:
            self.workers[worker] = self.await_(self.scene.worker)
            return
        assert len(claimed) <= limit
        assert all(run.attempt == self.seen[run.id]["attempt"] + 1 and run.id in self.asked for run in claimed)
        self.claims += [(session, run) for run in claimed]

    @precondition(lambda self: self.claims)
    @rule(which=st.integers(0, 99), outcome=st.sampled_from(OUTCOMES), again=st.booleans())
    def settle(self, which: int, outcome: Outcome, again: bool) -> None:
        """A worker settles an attempt, be it long over: only one whose fence stands changes anything."""
        at = which % len(self.claims)
        session, claimed = self.claims[at] if again else self.claims.pop(at)
        row = self.seen[claimed.id]
        stands = (row["state"], row["session"], row["attempt"]) == (State.RUNNING, session, claimed.attempt)
        moved = self.await_(lambda: self.scene.settle(session, claimed, outcome))
        assert [one.id for one in moved] == ([claimed.id] if stands else [])

    @precondition(lambda self: self.asked)
    @rule(which=st.integers(0, 99))
    def cancel(self, which: int) -> None:
        """Somebody wants a run cancelled."""
        id_ = sorted(self.asked)[which % len(self.asked)]
        done = self.await_(lambda: self.database.transact(lambda tx: cancel.cancel(tx, [id_], actor="ann")))
        was = self.seen[id_]["state"]
        assert [one.id for one in done.ended] == ([id_] if was < State.RUNNING else [])
        assert was == State.RUNNING or not done.wished

    @rule(worker=st.integers(0, 1))
    def renew(self, worker: int) -> None:
        """A worker renews its lease, if it still has one."""

        async def renewed() -> None:
            async with self.database.once() as tx:
                await sessions.renew(tx, self.workers[worker], LEASE)

        try:
            self.await_(renewed)
        except LeaseLost:
            self.workers[worker] = self.await_(self.scene.worker)

    @rule(by=st.sampled_from((SECOND, 5 * SECOND, LEASE + SECOND, -2 * SECOND)))
    def step_the_clock(self, by: timedelta) -> None:
        """Time passes, leases lapse, runs come due; now and then the clock is set back."""
        self.await_(lambda: self.scene.later(by))

    @rule()
    def maintain(self) -> None:
        """Maintenance looks at everything: due runs, dead sessions, deadlines, wishes that nobody heard."""
        self.await_(self._maintain)

    async def _maintain(self) -> None:
        await self.database.transact(due.release)
        async with self.database.begin() as tx:
            dead = await rescue.dead_sessions(tx)
        for session in dead:
            await self.database.transact(lambda tx, session=session: rescue.rescue(tx, session))  # type: ignore[misc]  # bound at once
        await self.database.transact(lambda tx: rescue.end_overdue(tx, 10 * SECOND))
        await self.database.transact(lambda tx: cancel.force(tx, 10 * SECOND))

    @invariant()
    def what_was_asked_for_is_in_one_place(self) -> None:
        """Invariant 5: every run is open or finished, never both, never neither; nothing else is there."""
        rows = self.await_(lambda: self.scene.sql(EVERYTHING))
        assert sorted(row["id"] for row in rows) == sorted(self.asked)
        assert all((row["state"] in FINAL) == row["done"] for row in rows)
        for row in rows:
            self._moved_rightly(self.seen.get(row["id"]), row)
        assert sum(row["definition"] == "limited" and row["state"] in (State.QUEUED, State.RUNNING) for row in rows) <= LIMIT
        self.seen = {row["id"]: row for row in rows}

    def _moved_rightly(self, before: Row | None, after: Row) -> None:
        """Invariants 3, 4 and 6: along NEXT, never back in attempts and counters, never out of a final state, always with a future."""
        if before is not None:
            assert State(after["state"]) in reachable(State(before["state"]))
            assert all(after[name] >= before[name] for name in ("attempt", "failures", "crashes"))
            assert not before["done"] or dict(after) == dict(before)
        if after["state"] == State.RUNNING:
            assert after["session"] is not None
            assert after["deadline_at"] is not None
        assert after["state"] != State.HELD or after["cause"]


def test_the_life_of_runs(database_url: str) -> None:
    """Invariants 3, 4, 5, 6 and 7 hold whatever two workers, maintenance, people and the clock do, in whatever order."""

    class Here(RunLife):
        url = database_url

    chosen = settings(max_examples=12, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Here, settings=chosen)
