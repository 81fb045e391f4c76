"""After-completion schedules: each end of a run brings forth the next slot."""

from datetime import timedelta

from headway.core.outcome import Failure, SafeError
from headway.store import reactions
from headway.store.chaining import chaining, second_chance
from headway.store.reactions import Kind
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

MINUTE = timedelta(minutes=1)


async def react(scene: Scene) -> int:
    """Do what is owed."""
    return await reactions.work_off(scene.database, {Kind.SCHEDULE: chaining(lambda schedule: None)})


async def test_the_next_slot_is_a_gap_after_the_end(scene: Scene) -> None:
    """DEF-07, COR-03: the first slot comes at once, each further one `gap` after a finish, after success and failure alike."""
    ledger = await Ledger(scene).begin({"after_completion": "5m"})
    await ledger.decide(START + timedelta(seconds=1))
    [first] = await ledger.runs()
    assert (await ledger.row())["chained_at"] is None
    await ledger.set(START + 2 * MINUTE)
    await ledger.end(first)
    assert await react(scene) == 1
    finished = (await ledger.runs())[0]["finished_at"]
    assert (await ledger.row())["chained_at"] == finished + 5 * MINUTE
    await ledger.decide(START + 4 * MINUTE)
    assert len(await ledger.runs()) == 1
    await ledger.decide(finished + 5 * MINUTE + timedelta(seconds=1))
    _, second = await ledger.runs()
    assert second["slot_at"] == finished + 5 * MINUTE
    worker = await scene.worker(timedelta(days=400))
    [claimed] = await scene.claim(worker, [second["id"]])
    await scene.settle(worker, claimed, Failure(SafeError("oops", "no"), permanent=True))
    await react(scene)
    assert (await ledger.row())["chained_at"] == (await ledger.runs())[1]["finished_at"] + 5 * MINUTE


async def test_never_means_once(scene: Scene) -> None:
    """COR-03: an infinite gap makes one slot."""
    ledger = await Ledger(scene).begin({"after_completion": "never"})
    await ledger.decide(START + timedelta(seconds=1))
    [only] = await ledger.runs()
    await ledger.end(only)
    await react(scene)
    assert (await ledger.row())["chained_at"] is None
    await ledger.decide(START + timedelta(days=30))
    assert len(await ledger.runs()) == 1


async def test_a_chain_goes_on_after_an_outage(scene: Scene) -> None:
    """CAL-08: a chained slot that was missed counts as an end at the instant of its decision."""
    ledger = await Ledger(scene).begin({"after_completion": "5m"})
    await ledger.decide(START + 10 * MINUTE)
    assert [one[2:] for one in await ledger.ranges()] == [(1, "missed")]
    assert (await ledger.row())["chained_at"] > START + 14 * MINUTE
    await ledger.decide(START + 15.5 * MINUTE)
    assert len(await ledger.runs()) == 1


async def test_a_reaction_that_is_told_of_twice_chains_once(scene: Scene) -> None:
    """MSG-10: the end of one run brings forth one slot, however often it is told."""
    ledger = await Ledger(scene).begin({"after_completion": "5m"})
    await ledger.decide(START + timedelta(seconds=1))
    [first] = await ledger.runs()
    await ledger.end(first)
    assert [await react(scene) for _ in range(3)] == [1, 0, 0]
    at = (await ledger.row())["chained_at"]
    await ledger.decide(START + 6 * MINUTE)
    await ledger.decide(START + 7 * MINUTE)
    assert [run["slot_at"] for run in await ledger.runs()][1:] == [at]


async def test_an_edit_starts_a_chain_anew(scene: Scene) -> None:
    """An edit without an open run begins with a slot at once; with one, its end goes by the new gap."""
    ledger = await Ledger(scene).begin({"after_completion": "5m"})
    await ledger.decide(START + timedelta(seconds=1))
    [first] = await ledger.runs()
    await ledger.save({"after_completion": "1m"})
    assert (await ledger.row())["chained_at"] is None
    await ledger.end(first)
    await react(scene)
    assert (await ledger.row())["chained_at"] == (await ledger.runs())[0]["finished_at"] + MINUTE


async def test_a_chain_that_broke_off_goes_on(scene: Scene) -> None:
    """Invariant 6: a schedule that became a chain while a run without a reaction was open is found by maintenance."""
    ledger = await Ledger(scene).begin({"every": "10m"})
    await ledger.decide(START + 10 * MINUTE)
    [first] = await ledger.runs()
    await ledger.save({"after_completion": "5m"})
    assert await scene.database.transact(second_chance) == 0
    await ledger.end(first)
    assert await react(scene) == 0
    assert await scene.database.transact(second_chance) == 1
    assert (await ledger.row())["chained_at"] > START + 15 * MINUTE
