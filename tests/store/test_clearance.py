"""What keeps slots and runs out beside limits: runs of restricted definitions, and open breakers."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from headway.core.ask import Ask
from headway.core.breaker import BreakerState
from headway.core.definition import ScheduleDraft
from headway.core.run import Cause, State
from headway.core.schedule.rule import parse_rule
from headway.store import due, gates, restrictions, schedules
from headway.store.accept import accept
from headway.store.decide import decide_due
from headway.store.known import Manner
from headway.store.restrictions import Pair
from headway.store.statement import Statement
from headway.store.tx import Row, Tx
from tests.store.scene import Scene
from tests.store.test_decide import decide, loaded

EVERY = timedelta(hours=1)


async def scheduled(scene: Scene, *names: str) -> None:
    """Definitions with a schedule each, all of which fire every hour from now on and allow many runs."""
    async with scene.database.begin() as tx:
        rule = parse_rule({"every": "1h", "anchor": tx.now.isoformat()})
    draft = ScheduleDraft("default", rule, overlap="allow", overlap_max=100)
    for name in names:
        await scene.define(name, schedules=(draft,))


async def keep_apart(scene: Scene, first: str, second: str) -> None:
    """Restrict two definitions."""
    await scene.database.transact(lambda tx: restrictions.create(tx, Pair(first, second), actor="ann"))


async def decisions(scene: Scene) -> list[Row]:
    """What was decided of all slots, oldest first, with their definitions."""
    return await scene.sql(
        """SELECT d.name, s.decision, s.reason, s.detail, s.run FROM headway.slot s JOIN headway.schedule c ON c.id = s.schedule
        JOIN headway.definition d ON d.id = c.definition ORDER BY s.slot_at, d.name"""
    )


async def trip(scene: Scene, definition: UUID, state: BreakerState) -> None:
    """Set a breaker, as whoever counts failures does."""
    await scene.sql("UPDATE headway.definition SET tripped = $2 WHERE id = $1", definition, state is not BreakerState.CLOSED)
    await scene.sql(
        """INSERT INTO headway.breaker VALUES ($1, $2, '2026-03-01T12:00:00Z', 5, '2026-03-01T12:00:00Z', '2026-03-01T12:05:00Z')
        ON CONFLICT (definition) DO UPDATE SET state = excluded.state""",
        definition,
        int(state),
    )


async def standing(scene: Scene, id_: UUID) -> tuple[int, int]:
    """State and cause of a run."""
    row = await scene.run(id_)
    return row["state"], row["cause"]


async def test_a_slot_is_skipped_while_a_run_of_the_other_is_active(scene: Scene) -> None:
    """DEF-20, OBS-06: `skipped: restriction`, the run in the way is named; when it has ended slots fire again."""
    await scheduled(scene, "load")
    await scene.define("vacuum")
    await keep_apart(scene, "load", "vacuum")
    (vacuum,) = await scene.enqueue(name="vacuum")
    cache = await loaded(scene)
    await scene.later(EVERY)
    await decide(scene, cache)
    (slot,) = await decisions(scene)
    assert (slot["decision"], slot["reason"], slot["run"]) == (3, "restriction", None)
    assert f"run {vacuum} of 'vacuum'" in slot["detail"]
    worker = await scene.worker()
    (claimed,) = await scene.claim(worker, [vacuum])
    await scene.settle(worker, claimed)
    await scene.later(EVERY)
    assert len((await decide(scene, cache)).queued) == 1


async def test_of_two_slots_in_one_pass_one_fires(scene: Scene) -> None:
    """DEF-20: slots of partners that are due together are decided one after the other, also two schedules of one definition."""
    await scheduled(scene, "load", "vacuum")
    await keep_apart(scene, "load", "vacuum")
    cache = await loaded(scene)
    await scene.later(EVERY)
    assert len((await decide(scene, cache)).queued) == 1
    fired, skipped = sorted(await decisions(scene), key=lambda row: row["decision"])
    assert (fired["decision"], skipped["decision"], skipped["reason"]) == (1, 3, "restriction")
    assert f"of '{fired['name']}' is active" in skipped["detail"]


async def test_two_schedulers_never_fire_both_partners(scene: Scene) -> None:
    """DEF-20: two deciders at once, each with the schedule of one partner: each slot is decided, and never do both fire."""
    await scheduled(scene, "load", "vacuum")
    await keep_apart(scene, "load", "vacuum")
    cache = await loaded(scene)
    ids = {name: await _schedule(scene, name) for name in ("load", "vacuum")}

    async def decide_one(name: str) -> int:
        async with scene.database.begin() as tx:
            known = [one for one in cache.due(tx.now, 10) if one.id == ids[name]]
            decided = await decide_due(tx, known, Manner())
        for one in decided.moved:
            cache.put(one)
        return len(decided.queued)

    for _ in range(20):
        await scene.later(EVERY)
        assert sum(await asyncio.gather(*map(decide_one, ids))) == 1
        await scene.sql("DELETE FROM headway.run")
    assert Counter((row["decision"], row["reason"]) for row in await decisions(scene)) == {(1, ""): 20, (3, "restriction"): 20}


async def _schedule(scene: Scene, of: str) -> UUID:
    async with scene.database.begin() as tx:
        (row,) = await schedules.listed(tx, of=of)
    found: UUID = row["id"]
    return found


async def test_an_open_breaker_holds_runs_and_skips_slots(scene: Scene) -> None:
    """Open: runs are held with cause breaker, slots are `skipped: breaker` and say since when, after what and until when."""
    await scheduled(scene, "load")
    definition = await scene.define("load2")
    (row,) = await scene.sql("SELECT id FROM headway.definition WHERE name = 'load'")
    for id_ in (definition, row["id"]):
        await trip(scene, id_, BreakerState.OPEN)
    (held,) = await scene.enqueue(name="load2")
    assert await standing(scene, held) == (State.HELD, Cause.BREAKER)
    cache = await loaded(scene)
    await scene.later(EVERY)
    await decide(scene, cache)
    (slot,) = await decisions(scene)
    assert (slot["decision"], slot["reason"]) == (3, "breaker")
    for part in ("breaker of 'load' is open since 2026-03-01T12:00:00+00:00", "5 failures", "next probe at 2026-03-01T12:05:00+00:00"):
        assert part in slot["detail"]
    assert await scene.database.transact(gates.waited_for) == [definition]
    await trip(scene, definition, BreakerState.CLOSED)
    assert [run.id for run in await scene.database.transact(lambda tx: gates.promote(tx, [definition]))] == [held]


async def test_a_half_open_breaker_lets_one_probe_through(scene: Scene) -> None:
    """Half-open: one run is let in of those that wait, a second when the first has ended; a slot beside it is skipped and names it."""
    await scheduled(scene, "load")
    (row,) = await scene.sql("SELECT id FROM headway.definition WHERE name = 'load'")
    await trip(scene, row["id"], BreakerState.OPEN)
    held = await scene.enqueue(3, name="load")
    await trip(scene, row["id"], BreakerState.HALF_OPEN)
    (probe,) = await scene.database.transact(lambda tx: gates.promote(tx, [row["id"]]))
    assert await scene.states(held) == [State.QUEUED, State.HELD, State.HELD]
    cache = await loaded(scene)
    await scene.later(EVERY)
    await decide(scene, cache)
    (slot,) = await decisions(scene)
    assert slot["reason"] == "breaker" and f"run {probe.id} of 'load' probes it" in slot["detail"]
    worker = await scene.worker()
    (claimed,) = await scene.claim(worker, [probe.id])
    await scene.settle(worker, claimed)
    assert await scene.states(held[1:]) == [State.QUEUED, State.HELD]


async def test_a_slot_may_be_the_probe(scene: Scene) -> None:
    """Half-open with nothing active: the slot fires, and its run is the probe that keeps others out."""
    await scheduled(scene, "load")
    (row,) = await scene.sql("SELECT id FROM headway.definition WHERE name = 'load'")
    await trip(scene, row["id"], BreakerState.HALF_OPEN)
    cache = await loaded(scene)
    await scene.later(EVERY)
    assert len((await decide(scene, cache)).queued) == 1
    (second,) = await scene.enqueue(name="load")
    assert await standing(scene, second) == (State.HELD, Cause.BREAKER)


async def test_a_run_from_before_the_breaker_opened_counts_as_the_probe(scene: Scene) -> None:
    """A run that was queued or claimed while the breaker was closed, and asks no gate, is active all the same."""
    definition = await scene.define()
    claimed = await scene.started()
    await trip(scene, definition, BreakerState.HALF_OPEN)
    (held,) = await scene.enqueue()
    assert await standing(scene, held) == (State.HELD, Cause.BREAKER)
    await scene.sql("UPDATE headway.run SET state = 2, session = NULL WHERE id = $1", claimed.id)
    (also,) = await scene.enqueue()
    assert await standing(scene, also) == (State.HELD, Cause.BREAKER)


class Counting(Tx):
    """A transaction that notes what is sent through it."""

    def __init__(self, tx: Tx, sent: list[str]) -> None:
        super().__init__(tx.connection, tx.schema, tx.now)
        self.sent = sent

    async def fetch(self, statement: Statement, **values: Any) -> Any:
        """Note a statement and run it."""
        self.sent.append(statement.name)
        return await super().fetch(statement, **values)

    async def execute(self, statement: Statement, **values: Any) -> int:
        """Note a statement and run it."""
        self.sent.append(statement.name)
        return await super().execute(statement, **values)


async def test_who_has_no_restriction_pays_nothing(scene: Scene) -> None:
    """A slot of a definition without restrictions takes no lock and looks at nothing more, though there are restrictions elsewhere."""
    await scheduled(scene, "plain")
    await scene.define("load")
    await keep_apart(scene, "load", "load")
    cache = await loaded(scene)
    await scene.later(EVERY)
    sent: list[str] = []
    async with scene.database.begin() as tx:
        await decide_due(Counting(tx, sent), cache.due(tx.now, 10), Manner())
    assert sent == ["schedule_advance", "schedule_facts", "run_create", "slot_record"]


@pytest.mark.parametrize("limit", [{}, {"max_concurrent_runs": 5}])
async def test_a_run_without_restrictions_asks_no_partner(scene: Scene, limit: dict[str, Any]) -> None:
    """Without limits a run is accepted by one statement, and released by two that look; limits alone take one lock and count once."""
    await scene.define(**limit)
    await scene.enqueue(delay=EVERY)
    await scene.later(EVERY)
    released, asked = list[str](), list[str]()
    async with scene.database.begin() as tx:
        await due.release(Counting(tx, released), 10)
        await accept(Counting(tx, asked), [Ask("job")])
    steps = ("definitions", "lock", "passed_over", "limits", "candidates", "place")
    admitted = [f"gate_{step}" for step in steps] if limit else []
    assert (released, asked) == (["due_release", "due_gated", *admitted], ["run_create", *admitted])
