"""Definitions that must not be active together."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import pytest

from headway.core.ask import Ask
from headway.core.definition import DefinitionDraft
from headway.core.errors import Conflict, Invalid, NotFound
from headway.core.outcome import Failure, SafeError
from headway.core.retry import Backoff
from headway.core.run import Cause, State
from headway.store import cancel, catalogue, definitions, due, gates, restrictions
from headway.store.accept import accept
from headway.store.definitions import Saved
from headway.store.doctor import examine
from headway.store.enqueue import Accepted
from headway.store.restrictions import Edited, Pair
from headway.store.tx import Row, Tx
from tests.store.scene import Scene

AHEAD = timedelta(hours=1)
Result = TypeVar("Result")


async def keep_apart(scene: Scene, *pairs: tuple[str, str]) -> Edited:
    """Restrict pairs of definitions."""
    paths = [f"restrictions[{index}]." for index in range(len(pairs))]
    return await scene.database.transact(
        lambda tx: restrictions.apply(tx, [Pair(*pair) for pair in pairs], actor="ann", paths=paths),
    )


async def restricted(scene: Scene, *names: str) -> list[UUID]:
    """Save definitions of which no two may be active together, a lone one with itself."""
    ids = [await scene.define(name) for name in names]
    pairs = [(one, other) for index, one in enumerate(names) for other in names[index + 1 :]]
    await keep_apart(scene, *(pairs or [(names[0], names[0])]))
    return ids


async def one(scene: Scene, name: str, **fields: Any) -> UUID:
    """Accept one run of a definition."""
    (id_,) = await scene.enqueue(name=name, **fields)
    return id_


async def standing(scene: Scene, id_: UUID) -> tuple[int, int]:
    """State and cause of a run."""
    row = await scene.run(id_)
    return row["state"], row["cause"]


async def definition(scene: Scene, name: str) -> Row:
    """A definition's row."""
    async with scene.database.begin() as tx:
        row = await definitions.get(tx, name)
    assert row is not None
    return row


async def active(scene: Scene) -> set[str]:
    """The definitions that have a run that is queued or running."""
    return {row["definition"] for row in await scene.sql("SELECT DISTINCT definition FROM headway.run WHERE state IN (2, 3)")}


async def once(scene: Scene, act: Callable[[Tx], Awaitable[Result]]) -> Result:
    """Do something in a transaction that is not tried again."""
    async with scene.database.begin() as tx:
        return await act(tx)


HELD = (State.HELD, Cause.GATE)
APART: tuple[set[str], ...] = ({"a"}, {"b"}, {"c"}, {"d"}, {"a", "c"}, {"b", "d"})


async def test_a_run_waits_while_one_of_the_other_is_queued_or_running(scene: Scene) -> None:
    """DEF-20: held with cause gate from the moment the other is queued to its end, then let in by that settle; in both directions."""
    await restricted(scene, "load", "vacuum")
    load, vacuum = await one(scene, "load"), await one(scene, "vacuum")
    assert (await scene.state(load), await standing(scene, vacuum)) == (State.QUEUED, HELD)
    worker = await scene.worker()
    (claimed,) = await scene.claim_next(worker)
    late = await one(scene, "load")
    assert (await scene.state(late), await standing(scene, vacuum)) == (State.QUEUED, HELD)
    await scene.settle(worker, claimed)
    assert await standing(scene, vacuum) == HELD
    (claimed,) = await scene.claim_next(worker)
    await scene.settle(worker, claimed)
    assert await scene.state(vacuum) is State.QUEUED
    assert await standing(scene, await one(scene, "load")) == HELD


async def test_a_definition_that_is_restricted_with_itself_runs_alone(scene: Scene) -> None:
    """DEF-20: a self restriction is a limit of one, in the order of asking."""
    await restricted(scene, "migrate")
    first, second, third = await scene.enqueue(3, name="migrate")
    assert [await standing(scene, id_) for id_ in (second, third)] == [HELD, HELD]
    worker = await scene.worker()
    for claimed, following in ((first, second), (second, third)):
        (run,) = await scene.claim(worker, [claimed])
        await scene.settle(worker, run)
        assert await scene.state(following) is State.QUEUED


async def test_of_waiters_on_both_sides_one_side_is_let_in(scene: Scene) -> None:
    """DEF-20: when what kept both out ends, one promotion never lets in two partners: priority, then the instant of asking."""
    await restricted(scene, "a", "b", "c")
    first = await one(scene, "a")
    waiting = [await one(scene, "b"), await one(scene, "c"), await one(scene, "b", priority=9), await one(scene, "c")]
    worker = await scene.worker()
    (claimed,) = await scene.claim(worker, [first])
    await scene.settle(worker, claimed)
    assert await scene.states(waiting) == [State.QUEUED, State.HELD, State.QUEUED, State.HELD]


async def test_runs_from_before_the_restriction_count(scene: Scene) -> None:
    """DEF-20: what was queued or claimed when the restriction was made keeps the other out, also runs that know of no gates; the scan
    of maintenance lets in whoever waits for those."""
    ids = [await scene.define("load"), await scene.define("vacuum")]
    before = await one(scene, "load")
    worker = await scene.worker()
    (claimed,) = await scene.claim(worker, [before])
    stray = await one(scene, "load")
    await keep_apart(scene, ("load", "vacuum"))
    await scene.sql("UPDATE headway.run SET gated = false")
    vacuum = await one(scene, "vacuum")
    assert await standing(scene, vacuum) == HELD
    await scene.settle(worker, claimed)
    (claimed,) = await scene.claim(worker, [stray])
    assert await scene.database.transact(lambda tx: gates.promote(tx, ids)) == []
    await scene.settle(worker, claimed)
    assert await standing(scene, vacuum) == HELD
    assert await scene.database.transact(gates.waited_for) == [ids[1]]
    assert [run.id for run in await scene.database.transact(lambda tx: gates.promote(tx, ids[1:]))] == [vacuum]


async def test_retries_and_delays_ask_again(scene: Scene) -> None:
    """DEF-20: a run that waits for its next attempt frees the other, and then waits for it in its turn; so does one that was delayed."""
    await restricted(scene, "load", "vacuum")
    await scene.define("load", attempts=5, backoff=Backoff(base=timedelta(minutes=1)))
    delayed = await one(scene, "load", delay=timedelta(minutes=1))
    load, vacuum = await one(scene, "load"), await one(scene, "vacuum")
    worker = await scene.worker(AHEAD)
    (claimed,) = await scene.claim(worker, [load])
    await scene.settle(worker, claimed, Failure(SafeError("E", "no")))
    assert await scene.states([load, vacuum]) == [State.SCHEDULED, State.QUEUED]
    await scene.later(timedelta(minutes=2))
    await scene.database.transact(due.release)
    assert [await standing(scene, id_) for id_ in (load, delayed)] == [HELD, HELD]


async def test_force_passes_restrictions_and_is_kept(scene: Scene) -> None:
    """DEF-20: a forced run starts beside the other, also after its delay, and keeps the other out itself; who forced it is audited."""
    await restricted(scene, "load", "vacuum")
    await scene.define("load", max_concurrent_runs=1)
    await one(scene, "vacuum")
    forced = await one(scene, "load", forced=True, created_by="bob", key="k")
    assert await scene.state(forced) is State.QUEUED
    assert await one(scene, "load", forced=True, created_by="eve", key="k") == forced
    assert (await standing(scene, await one(scene, "vacuum"))) == HELD
    later = await one(scene, "load", forced=True, created_by="bob", delay=timedelta(minutes=1))
    await scene.later(timedelta(minutes=2))
    await scene.database.transact(due.release)
    assert await standing(scene, later) == (State.HELD, Cause.CONCURRENCY)
    entries = await scene.sql("SELECT actor, subject FROM headway.audit WHERE action = 'run.forced' ORDER BY id")
    assert [(row["actor"], row["subject"]) for row in entries] == [("bob", f"run:{forced}"), ("bob", f"run:{later}")]


async def test_a_restriction_that_is_taken_away_frees_whoever_waits(scene: Scene) -> None:
    """DEF-20: deleting it lets the waiters in, says which to announce, and the runs of neither ask any more."""
    await restricted(scene, "load", "vacuum")
    await one(scene, "load")
    vacuum = await one(scene, "vacuum")
    async with scene.database.begin() as tx:
        (row,) = await restrictions.listed(tx, of="vacuum")
    edited = await scene.database.transact(lambda tx: restrictions.remove(tx, row["id"], actor="ann"))
    assert [run.id for saved in edited.concerned for run in saved.queued] == [vacuum]
    assert not (await definition(scene, "load"))["gated"] and not (await definition(scene, "vacuum"))["gated"]
    with pytest.raises(NotFound):
        await scene.database.transact(lambda tx: restrictions.remove(tx, row["id"], actor="ann"))


async def test_each_edit_begins_a_version_of_both_and_is_audited(scene: Scene) -> None:
    """DEF-03, DEF-20: create, change and delete are named in the trail, and the snapshots of both definitions tell of the other."""
    await scene.define("load", max_runs_per_hour=100)
    await scene.define("vacuum")
    made = await keep_apart(scene, ("vacuum", "load"))
    assert [(saved.name, saved.version, saved.change) for saved in made.concerned] == [("load", 2, "updated"), ("vacuum", 2, "updated")]
    assert (await keep_apart(scene, ("load", "vacuum"))).concerned == []
    named = await scene.database.transact(lambda tx: restrictions.apply(tx, [Pair("load", "vacuum", "locks")], actor="ann", paths=[""]))
    assert [one.change for one in named.changes] == ["updated"]
    await scene.database.transact(lambda tx: restrictions.remove(tx, made.changes[0].id, actor="bob"))
    assert [(row["gated"], row["restrictions"]) for row in [await definition(scene, "load"), await definition(scene, "vacuum")]] == [
        (True, []),
        (False, []),
    ]
    trail = await scene.sql("SELECT actor, action FROM headway.audit WHERE subject LIKE 'restriction:%' ORDER BY id")
    assert [(row["actor"], row["action"]) for row in trail] == [
        ("ann", "restriction.created"),
        ("ann", "restriction.updated"),
        ("bob", "restriction.deleted"),
    ]
    kept = await scene.sql("SELECT snapshot FROM headway.definition_version WHERE definition = $1 AND version = 2", made.concerned[0].id)
    assert kept[0]["snapshot"]["restrictions"] == ["vacuum"]


async def test_what_cannot_be_restricted_is_named(scene: Scene) -> None:
    """DEF-20: names that there are not, all at once; a pair that is restricted already, in either order; nothing is half written."""
    await scene.define("load")
    await scene.define("vacuum")
    with pytest.raises(Invalid) as refusal:
        await keep_apart(scene, ("load", "vacuum"), ("x", "load"), ("y", "y"))
    assert [problem.field for problem in refusal.value.problems] == [
        "restrictions[1].first",
        "restrictions[2].first",
        "restrictions[2].second",
    ]
    with pytest.raises(Invalid, match="named twice"):
        await keep_apart(scene, ("load", "vacuum"), ("vacuum", "load"))
    assert not await scene.sql("SELECT 1 FROM headway.restriction")
    await scene.database.transact(lambda tx: restrictions.create(tx, Pair("load", "vacuum"), actor="ann"))
    with pytest.raises(Conflict, match="restricted already"):
        await scene.database.transact(lambda tx: restrictions.create(tx, Pair("vacuum", "load"), actor="ann"))


async def save(scene: Scene, *drafts: DefinitionDraft) -> list[Saved]:
    """Save definitions together."""
    return await scene.database.transact(lambda tx: catalogue.save_all(tx, drafts, actor="ann"))


async def test_a_document_says_what_a_definition_is_restricted_with(scene: Scene) -> None:
    """DEF-02, DEF-20: its list replaces the pairs of that definition, names may be of the same document, no list leaves all as it is."""
    await scene.define("other")
    saved = await save(scene, DefinitionDraft("a", "job", restrictions=("b", "other", "a")), DefinitionDraft("b", "job"))
    assert [(one.name, one.change) for one in saved] == [("a", "created"), ("b", "created"), ("other", "updated")]
    assert [(await definition(scene, name))["restrictions"] for name in ("a", "b", "other")] == [["a", "b", "other"], ["a"], ["a"]]
    again = await save(scene, DefinitionDraft("a", "job", restrictions=("b", "other", "a")), DefinitionDraft("b", "job"))
    assert [one.change for one in again] == ["", ""]
    changed = await save(scene, DefinitionDraft("b", "job", description="x"))
    assert [one.change for one in changed] == ["updated"] and (await definition(scene, "b"))["gated"]
    fewer = await save(scene, DefinitionDraft("a", "job", restrictions=("b",)))
    assert [(one.name, one.change) for one in fewer] == [("a", "updated"), ("other", "updated")]
    assert not (await definition(scene, "other"))["gated"]
    with pytest.raises(Invalid, match="restrictions: there is no definition 'x'"):
        await save(scene, DefinitionDraft("c", "job"), DefinitionDraft("d", "job", restrictions=("x",)))
    assert not await scene.sql("SELECT 1 FROM headway.definition WHERE name IN ('c', 'd')")


async def test_a_definition_that_is_deleted_frees_its_partners(scene: Scene) -> None:
    """DEF-22: its restrictions go with it, and the others begin a version without them."""
    await restricted(scene, "load", "vacuum")

    async def remove(tx: Tx) -> list[Saved]:
        row = await definitions.lock(tx, "load")
        assert row is not None
        return await catalogue.remove(tx, row, actor="ann")

    assert [(one.name, one.version) for one in await scene.database.transact(remove)] == [("vacuum", 3)]
    assert not (await definition(scene, "vacuum"))["gated"]


async def test_partners_never_meet_though_everything_happens_at_once(scene: Scene) -> None:
    """DEF-20, invariant 7: partners in a ring, asked for, cancelled and settled by transactions at once, round after round: no two
    neighbours are ever active together.  No transaction here is tried again: a deadlock would come out."""
    names = ("a", "b", "c", "d")
    for name in names:
        await scene.define(name)
    await keep_apart(scene, ("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "a"))
    worker = await scene.worker(AHEAD)
    for turn in range(15):
        order = names[turn % 4 :] + names[: turn % 4]
        asked = await asyncio.gather(*[once(scene, partial(accept, asks=[Ask(name)])) for name in order])
        assert await active(scene) in APART
        first = [one.id for one in asked[0] if isinstance(one, Accepted)]
        claimed = await scene.claim_next(worker, limit=2)
        await asyncio.gather(
            *[scene.settle(worker, run) for run in claimed],
            once(scene, partial(cancel.cancel, ids=first, actor="ann")),
            *[once(scene, partial(accept, asks=[Ask(name)])) for name in order[:2]],
        )
        assert await active(scene) in APART
        broken = [finding for finding in await scene.database.transact(examine) if finding.name == "restrictions" and not finding.ok]
        assert broken == []
