"""A slot that comes due while runs of its schedule are open."""

from datetime import timedelta
from uuid import UUID

from headway.core.run import Cause, State
from headway.store import switches, waiting
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

MINUTE = timedelta(minutes=1)
TEN = timedelta(minutes=10)


async def test_skip_leaves_the_slot_out_and_says_which_run_was_in_the_way(scene: Scene) -> None:
    """DEF-11, BB-032, OBS-06: a claimed, a rescued and a retried run are all open; the slot's sentence names it."""
    ledger = await Ledger(scene).begin({"every": "10m"})
    await ledger.decide(START + TEN)
    [first] = await ledger.runs()
    worker = await scene.worker(timedelta(minutes=1))
    await scene.claim(worker, [first["id"]])
    await ledger.decide(START + 2 * TEN)
    await scene.stop_and_rescue(worker)
    await ledger.decide(START + 3 * TEN)
    assert [(kind, reason) for _, kind, reason in await ledger.slots()] == [(1, ""), (3, "overlap"), (3, "overlap")]
    details = [row["detail"] for row in await scene.sql("SELECT detail FROM headway.slot ORDER BY slot_at")]
    assert all(str(first["id"]) in detail for detail in details[1:])
    await ledger.end(first)
    await ledger.decide(START + 4 * TEN)
    assert len(await ledger.runs()) == 2


async def test_delay_lets_one_slot_wait_until_the_run_has_ended(scene: Scene) -> None:
    """DEF-11, DEF-12: one waits, further ones are skipped, and the settle that frees it queues it."""
    ledger = await Ledger(scene).begin({"every": "10m"}, overlap="delay")
    for number in (1, 2, 3):
        await ledger.decide(START + number * TEN)
        if number == 1:
            [first] = await ledger.runs()
            worker = await scene.worker(timedelta(days=1))
            [claimed] = await scene.claim(worker, [first["id"]])
    first, second = await ledger.runs()
    assert (second["state"], second["cause"]) == (State.HELD, Cause.OVERLAP) if "cause" in second else second["state"] == State.HELD
    assert [(kind, reason) for _, kind, reason in await ledger.slots()] == [(1, ""), (1, ""), (3, "overlap")]
    await scene.settle(worker, claimed)
    assert (await scene.run(second["id"]))["state"] == State.QUEUED


async def test_allow_lets_so_many_run_side_by_side(scene: Scene) -> None:
    """DEF-11: at most `overlap_max` are open, and at most one of them has not started."""
    ledger = await Ledger(scene).begin({"every": "10m"}, overlap="allow", overlap_max=2)
    worker = await scene.worker(timedelta(days=1))
    for number in (1, 2, 3):
        await ledger.decide(START + number * TEN)
        queued = [run["id"] for run in await ledger.runs() if run["state"] == State.QUEUED]
        await scene.claim(worker, queued)
    assert [(kind, reason) for _, kind, reason in await ledger.slots()] == [(1, ""), (1, ""), (3, "overlap")]


async def test_cancel_previous_asks_the_open_run_to_end_and_waits_for_it(scene: Scene) -> None:
    """DEF-11, RUN-06: a running run gets the wish, one that has not started is cancelled at once; the new run starts behind them."""
    ledger = await Ledger(scene).begin({"every": "10m"}, overlap="cancel_previous")
    worker = await scene.worker(timedelta(days=1))
    await ledger.decide(START + TEN)
    [first] = await ledger.runs()
    [claimed] = await scene.claim(worker, [first["id"]])
    decided = await ledger.decide(START + 2 * TEN)
    assert decided.wished == [first["id"]]
    first, second = await ledger.runs()
    assert (first["cancel_by"], second["state"]) == ("scheduler", State.HELD)
    await scene.settle(worker, claimed)
    assert (await scene.run(second["id"]))["state"] == State.QUEUED


async def test_a_waiting_run_has_a_second_chance(scene: Scene) -> None:
    """Invariant 6: a run that nobody let in is let in by maintenance, once nothing of its schedule is open before it."""
    ledger = await Ledger(scene).begin({"every": "10m"}, overlap="delay")
    worker = await scene.worker(timedelta(days=1))
    await ledger.decide(START + TEN)
    [first] = await ledger.runs()
    await scene.claim(worker, [first["id"]])
    await ledger.decide(START + 2 * TEN)
    _, second = await ledger.runs()
    assert await scene.database.transact(waiting.second_chance) == []
    await scene.sql("DELETE FROM headway.run WHERE id = $1 RETURNING 1", first["id"])
    [let_in] = await scene.database.transact(waiting.second_chance)
    assert (let_in.id, let_in.state) == (second["id"], State.QUEUED)


async def test_missed_slots_are_caught_up_one_after_another(scene: Scene) -> None:
    """CAL-08: run_all holds the runs of missed slots and lets them in one at a time, oldest first, below others, outside overlap."""
    ledger = await Ledger(scene).begin({"every": "10m"}, misfire="run_all", misfire_limit=3)
    await ledger.decide(START + 6 * TEN + timedelta(seconds=5))
    runs = await ledger.runs()
    assert [run["slot_at"] for run in runs] == [START + number * TEN for number in (1, 2, 3, 6)]
    assert [run["state"] for run in runs] == [State.HELD] * 3 + [State.QUEUED]
    assert [run["origin"] for run in runs] == [2, 2, 2, 1]
    turns: list[UUID] = []
    for _ in range(5):
        turns += [one.id for one in await scene.database.transact(waiting.second_chance)]
    assert turns == [runs[0]["id"]]
    await ledger.end(runs[0])
    turns += [one.id for one in await scene.database.transact(waiting.second_chance)]
    assert turns == [runs[0]["id"], runs[1]["id"]]
    assert [one[2:] for one in await ledger.ranges()] == [(2, "over the limit")]


async def test_a_paused_definition_holds_what_waits_and_lets_it_in_again(scene: Scene) -> None:
    """Model "Pause": queued runs are held with that cause, slots are paused, resume queues what was held and misses nothing."""
    ledger = await Ledger(scene).begin({"every": "10m"}, misfire="run_once")
    [waiting_run] = await scene.enqueue()
    async with scene.database.begin() as tx:
        [row] = await tx.connection.fetch("SELECT * FROM headway.definition")
        await switches.pause_definition(tx, row, switches.Pause("ann", "stocktaking"))
    assert await scene.state(waiting_run) is State.HELD
    await ledger.set(START + 5 * TEN)
    async with scene.database.begin() as tx:
        [row] = await tx.connection.fetch("SELECT * FROM headway.definition")
        queued = await switches.resume_definition(tx, row, actor="ann")
    assert [one.id for one in queued] == [waiting_run]
    assert await scene.state(waiting_run) is State.QUEUED
    assert [one[2:] for one in await ledger.ranges()] == [(4, "paused")]
    assert [reason for _, _, reason in await ledger.slots()] == ["paused"]
    assert await ledger.decide(START + 5 * TEN + MINUTE) is not None
    assert len(await ledger.runs()) == 0
