"""The planner trap (performance.md): statistics taken while a state was empty must not turn a keyed statement into a scan."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import pytest
from sqlalchemy import Uuid, func, update

from headway.core.run import State
from headway.store import advance, cancel, claim, due, fence, finish, gates, holding, limits, progress, sessions
from headway.store.schema import run
from headway.store.statement import Statement, array, const, param
from headway.store.tx import Database
from tests.store.plans import complaints, plan_of

ROWS: Final = 20_000
# A custom plan knows how large its batch is, and a large one may rightly read all of a small table: only hot connections forbid that.
BATCHES: Final = {"force_generic_plan": 500, "force_custom_plan": 20}
HOT_BATCH: Final = 500
SESSION: Final = UUID(int=1)
AT: Final = datetime(2026, 3, 1, tzinfo=UTC)

Case = tuple[Statement, str, set[str]]
# What workers send, over connections that forbid plans without a key.
HOT: Final[Sequence[Case]] = (
    (claim.CLAIM_BY_ID, "run", {"run_pkey"}),
    (claim.CLAIM_BY_ORDER, "run", {"run_queued", "run_pkey"}),
    (finish.FINISH_PLAIN, "run", {"run_pkey"}),
    (finish.FINISH_HELD, "run", {"run_pkey"}),
    (finish.RELEASE, "run", {"run_pkey"}),
    (fence.HOLDS, "run", {"run_pkey"}),
    (progress.REPORT, "run", {"run_pkey"}),
    (holding.HELD, "run", {"run_pkey"}),
    (sessions.RENEW, "run", {"run_running"}),
    (gates.WAITERS, "run", {"run_held"}),
    (gates.PASSED_OVER, "run", {"run_held"}),
    (limits.HOLDERS, "run", {"run_gated", "run_running"}),
    (limits.HOLDERS_AND_STRAYS, "run", {"run_gated", "run_queued", "run_running"}),
)
# What every other process sends, over connections that plan freely.
PLAIN: Final[Sequence[Case]] = (
    (finish.FINISH_HELD, "run", {"run_pkey"}),
    (finish.FINISH_IDLE, "run", {"run_pkey"}),
    (finish.RELEASE, "run", {"run_pkey"}),
    (holding.LISTED, "run", {"run_pkey"}),
    (holding.OF_SESSION, "run", {"run_running"}),
    (cancel.WISH, "run", {"run_pkey"}),
    (due.RELEASE_DUE, "run", {"run_due", "run_pkey"}),
    (due.GATED_DUE, "run", {"run_due"}),
    (sessions.RENEW, "run", {"run_running"}),
    (advance.ADVANCE, "schedule", {"schedule_pkey"}),
    (advance.FACTS, "schedule", {"schedule_pkey"}),
)
KINDS: Final = {"hot": (HOT, dict.fromkeys(BATCHES, HOT_BATCH)), "plain": (PLAIN, BATCHES)}
BROKEN: Final[Sequence[Case]] = (
    (
        Statement(
            "repeats_the_predicate",
            update(run)
            .where(run.c.id == func.any(array("ids", Uuid)), run.c.session == param("session", Uuid), run.c.state == const(State.RUNNING))
            .values(cause=const(0)),
        ),
        "run",
        {"run_pkey"},
    ),
    (
        Statement("has_no_key", update(run).where(run.c.correlation == param("actor", run.c.correlation.type)).values(cause=const(0))),
        "run",
        {"run_pkey"},
    ),
)


def values(batch: int) -> Mapping[str, Any]:
    """Arguments of every statement here: a batch of runs of one session."""
    ids = [UUID(int=number) for number in range(1, batch + 1)]
    nothing = [None] * batch
    return {
        "session": SESSION,
        "ids": ids,
        "definitions": ids,
        "handlers": ["job"],
        "queue": "default",
        "limit": 500,
        "now": AT,
        "before": AT,
        "lease": timedelta(seconds=30),
        "in_flight": 1,
        "run": ids[0],
        "attempt": 1,
        "percent": 50,
        "message": "half",
        "actor": "ann",
        "reason": "no",
        "attempts": [1] * batch,
        "states": [int(State.SUCCEEDED)] * batch,
        "outcomes": [1] * batch,
        "versions": [1] * batch,
        "decided": [AT] * batch,
        "until": [AT] * batch,
        **dict.fromkeys(("failures", "crashes", "reasons", "results", "errors", "dues"), nothing),
    }


FILL: Final = """
INSERT INTO headway.run (id, state, tenant, definition, definition_id, definition_version, handler, queue, priority, available_at,
    created_at, created_by, origin, session, deadline_at, attempt, timeout, keep_days)
SELECT lpad(to_hex(n), 32, '0')::uuid, $1::int, '', 'job', md5((n % 50)::text)::uuid, 1, 'job', 'default', 0,
    '2026-03-01'::timestamptz - n * interval '1 second', '2026-03-01', 'test', 0,
    CASE $1::int WHEN 3 THEN lpad(to_hex(1 + n / 1000), 32, '0')::uuid END, '2026-03-01', 1, '1 day', 30
FROM generate_series(1, $2::int) AS n
"""
SCHEDULES: Final = """
INSERT INTO headway.schedule (id, definition, name, decided_until, created_at, updated_at)
SELECT lpad(to_hex(n), 32, '0')::uuid, d.id, n::text, '2026-03-01', '2026-03-01', '2026-03-01'
FROM headway.definition d, generate_series(1, $1::int) AS n
"""
DEFINITION: Final = """
INSERT INTO headway.definition (id, name, handler, created_at, updated_at) VALUES (md5('0')::uuid, 'job', 'job', '2026-03-01', '2026-03-01')
"""
STATES: Final = {"queued": State.QUEUED, "scheduled": State.SCHEDULED, "running": State.RUNNING}


@asynccontextmanager
async def prepared(url: str, before: str, state: State, *, hot: bool) -> AsyncIterator[Database]:
    """A database whose statistics know nothing of the rows that are in it.

    They were taken while the tables were empty, or while all runs were in another state.
    """
    database = await Database.open(url, size=1, hot=hot)
    try:
        async with database.once() as tx:
            for table in ("run", "schedule"):
                await tx.run(f"ALTER TABLE headway.{table} SET (autovacuum_enabled = false)")
            await tx.run(DEFINITION)
            if before == "other state":
                await tx.run(FILL, int(State.SCHEDULED if state is not State.SCHEDULED else State.QUEUED), ROWS)
            await tx.run("VACUUM ANALYZE headway.run, headway.schedule, headway.session")
            await tx.run("DELETE FROM headway.run")
            await tx.run(FILL, int(state), ROWS)
            await tx.run(SCHEDULES, ROWS)
        yield database
    finally:
        await database.close()


async def found_wrong(database: Database, cases: Sequence[Case], batches: Mapping[str, int]) -> dict[str, list[str]]:
    """What is wrong with the plans of these statements, by statement and plan mode."""
    wrong = {}
    for statement, table, indexes in cases:
        for mode, batch in batches.items():
            async with database.begin() as tx:
                plan = await plan_of(tx, statement, values(batch), mode)
            if found := complaints(plan, table, indexes):
                wrong[f"{statement.name} {mode}"] = found
    return wrong


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("before", ["empty table", "other state"])
@pytest.mark.parametrize("kind", KINDS)
async def test_statements_keep_to_their_index(database_url: str, kind: str, before: str, state: str) -> None:
    """Every hot statement goes by its key, custom or generic, whatever the statistics missed: 20,000 rows make no difference."""
    async with prepared(database_url, before, STATES[state], hot=kind == "hot") as database:
        assert await found_wrong(database, *KINDS[kind]) == {}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_broken_statement_is_seen(database_url: str, kind: str) -> None:
    """The check is worth something: a guard that repeats a partial index's predicate, and a missing key, are both found."""
    async with prepared(database_url, "empty table", State.RUNNING, hot=kind == "hot") as database:
        wrong = await found_wrong(database, BROKEN, KINDS[kind][1])
    assert set(wrong) >= {"repeats_the_predicate force_custom_plan", "has_no_key force_custom_plan", "has_no_key force_generic_plan"}
