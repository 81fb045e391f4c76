"""Triggers saved: with their definition or alone, never in a circle, and owed by the ends that may fire them."""

import asyncio
import itertools
from typing import Any
from uuid import UUID

import pytest

from headway.core.condition import Condition, Operator
from headway.core.definition import DefinitionDraft
from headway.core.errors import Conflict, Invalid
from headway.core.trigger import TriggerDraft
from headway.store import catalogue, definitions, trigger_edits, triggers
from headway.store.definitions import Saved
from headway.store.reactions import Kind
from headway.store.trigger_edits import Edited
from headway.store.tx import Row, Tx
from tests.store.scene import Scene

BIT = 1 << Kind.TRIGGER
FEW = Condition("rows", Operator.LESS, 5)


async def save(scene: Scene, *drafts: DefinitionDraft, source: str = "api") -> list[Saved]:
    """Save definitions together."""
    return await scene.database.transact(lambda tx: catalogue.save_all(tx, drafts, actor="ann", source=source))


async def add(scene: Scene, source: str, target: str, **fields: Any) -> Edited:
    """Save a trigger alone, named after its target."""
    draft = TriggerDraft(target, target, **fields)
    return await scene.database.transact(lambda tx: trigger_edits.save(tx, {"": (source, draft)}, tenant="", actor="ann"))


async def rows(scene: Scene, source: str = "a") -> list[Row]:
    """The triggers of a definition."""
    async with scene.database.begin() as tx:
        return list(await triggers.listed(tx, source=source))


async def row(scene: Scene, name: str = "a") -> Row:
    """A definition."""
    async with scene.database.begin() as tx:
        found = await definitions.get(tx, name)
    assert found is not None
    return found


async def define(scene: Scene, *names: str) -> None:
    """Definitions without triggers."""
    for name in names:
        await scene.define(name)


async def owes(scene: Scene, name: str = "a") -> bool:
    """Whether every end of a definition's runs owes its triggers."""
    return bool((await row(scene, name))["owes"] & BIT)


async def test_definitions_are_saved_with_triggers_that_name_one_another(scene: Scene) -> None:
    """DEF-02, DEF-03: targets may stand in the same call, whatever the order; snapshot and version are those of one save."""
    draft = TriggerDraft("few", "z", FEW, {"n": (1,)}, "few rows")
    saved = await save(scene, DefinitionDraft("a", "job", triggers=(draft,)), DefinitionDraft("z", "job"))
    assert [(one.name, one.version, one.change) for one in saved] == [("a", 1, "created"), ("z", 1, "created")]
    (kept,) = await rows(scene)
    assert triggers.draft_of(kept) == TriggerDraft("few", "z", FEW, {"n": [1]}, "few rows")
    (version,) = await scene.sql("SELECT snapshot FROM headway.definition_version WHERE definition = $1", saved[0].id)
    assert [(one["name"], one["target_name"]) for one in version["snapshot"]["triggers"]] == [("few", "z")]
    again = await save(scene, DefinitionDraft("a", "job", triggers=(draft,)), DefinitionDraft("z", "job"))
    assert [one.change for one in again] == ["", ""]


async def test_what_is_not_said_stays_and_what_is_left_out_goes(scene: Scene) -> None:
    """DEF-02, DEF-03: a save without a list leaves triggers alone; a list is all there are; each change is a new version."""
    await define(scene, "b", "c")
    both = (TriggerDraft("b", "b"), TriggerDraft("c", "c"))
    await save(scene, DefinitionDraft("a", "job", triggers=both))
    await save(scene, DefinitionDraft("a", "job", description="other"))
    assert [one["name"] for one in await rows(scene)] == ["b", "c"]
    (saved,) = await save(scene, DefinitionDraft("a", "job", description="other", triggers=(TriggerDraft("b", "c"),)))
    assert (saved.version, saved.change) == (3, "updated")
    assert [(one["name"], one["target_name"], one["version"]) for one in await rows(scene)] == [("b", "c", 2)]
    assert len(await scene.sql("SELECT 1 FROM headway.definition_version WHERE definition = $1", saved.id)) == 3


async def test_code_leaves_alone_what_operators_set(scene: Scene) -> None:
    """DEF-17: a sync changes neither `enabled` nor a field that was set over it, and takes away only what code declared."""
    await define(scene, "b", "c")
    mine = DefinitionDraft("a", "job", triggers=(TriggerDraft("b", "b"), TriggerDraft("gone", "b")))
    await save(scene, mine, source="code")
    await add(scene, "a", "c")
    await add(scene, "a", "b", parameters={"n": 1}, enabled=False)
    wanted = DefinitionDraft("a", "job", triggers=(TriggerDraft("b", "b", FEW, {"n": 2}),))
    await save(scene, wanted, source="code")
    (b, c) = sorted(await rows(scene), key=lambda one: str(one["name"]))
    assert (b["parameters"], b["enabled"], b["overridden"]) == ({"n": 1}, False, ["enabled", "parameters"])
    assert b["condition"] == {"key": "rows", "operator": "less", "value": 5}
    assert (c["name"], c["declared"]) == ("c", "api")


async def test_every_target_that_is_missing_is_named_and_nothing_is_kept(scene: Scene) -> None:
    """DEF-08: all at once, by the place where they stand."""
    one = DefinitionDraft("a", "job", triggers=(TriggerDraft("x", "x"), TriggerDraft("a2", "b")))
    with pytest.raises(Invalid) as refused:
        await save(scene, one, DefinitionDraft("b", "job", triggers=(TriggerDraft("y", "y"),)))
    assert [str(problem) for problem in refused.value.problems] == [
        "definitions[0].triggers[0].target: there is no definition 'x'",
        "definitions[1].triggers[0].target: there is no definition 'y'",
    ]
    assert await scene.sql("SELECT 1 FROM headway.definition") == []
    await define(scene, "a")
    for source, field in (("a", "target"), ("nobody", "source")):
        with pytest.raises(Invalid) as alone:
            await add(scene, source, "x")
        assert [problem.field for problem in alone.value.problems] == [field]


async def test_the_bit_follows_the_triggers(scene: Scene) -> None:
    """TRG-01: ends owe triggers exactly while the definition has one that is on and allows them."""
    await define(scene, "a", "b")
    assert not await owes(scene)
    edited = await add(scene, "a", "b")
    assert (await owes(scene), await owes(scene, "b")) == (True, False)
    await scene.define("a", allow_triggers=False)
    assert not await owes(scene)
    await scene.define("a")
    assert await owes(scene)
    for enabled in (False, True):
        await switch(scene, edited.saved[0].id, enabled=enabled)
        assert await owes(scene) is enabled
    await scene.database.transact(lambda tx: _remove(tx, edited.saved[0].id))
    assert not await owes(scene)
    assert (await row(scene))["version"] == 7


async def switch(scene: Scene, id_: UUID, *, enabled: bool) -> Edited:
    """Switch a trigger."""

    async def act(tx: Tx) -> Edited:
        found = await triggers.get(tx, id_)
        assert found is not None
        return await trigger_edits.switch(tx, found, enabled=enabled, actor="ann")

    return await scene.database.transact(act)


async def _remove(tx: Tx, id_: UUID) -> Edited:
    found = await triggers.get(tx, id_)
    assert found is not None
    return await trigger_edits.remove(tx, found, actor="ann")


async def test_the_trail_has_every_change(scene: Scene) -> None:
    """API-06: who created, changed, switched and deleted a trigger, with what it was and became."""
    await define(scene, "a", "b")
    edited = await add(scene, "a", "b")
    id_ = edited.saved[0].id
    assert [(one.name, one.version, one.change) for one in edited.concerned] == [("a", 2, "updated")]
    assert (await add(scene, "a", "b")).saved[0].change == ""
    await add(scene, "a", "b", condition=FEW)
    await switch(scene, id_, enabled=False)
    await scene.database.transact(lambda tx: _remove(tx, id_))
    trail = await scene.sql("SELECT * FROM headway.audit WHERE subject = $1 ORDER BY id", f"trigger:{id_}")
    actions = ["trigger.created", "trigger.updated", "trigger.disabled", "trigger.deleted"]
    assert [(one["actor"], one["action"]) for one in trail] == [("ann", action) for action in actions]
    assert (trail[1]["old"]["condition"], trail[1]["new"]["condition"]["key"]) == (None, "rows")
    assert len(await scene.sql("SELECT 1 FROM headway.definition_version WHERE definition = $1", edited.concerned[0].id)) == 5


async def test_a_name_is_created_once(scene: Scene) -> None:
    """A trigger that is there already is a conflict for whoever creates it, and stays as it is."""
    await define(scene, "a", "b", "c")
    await add(scene, "a", "b")
    with pytest.raises(Conflict, match="'a' has a trigger 'b' already"):
        await scene.database.transact(lambda tx: trigger_edits.create(tx, "a", TriggerDraft("b", "c"), tenant="", actor="ann"))
    assert [one["target_name"] for one in await rows(scene)] == ["b"]


@pytest.mark.parametrize("names", [("a",), ("a", "b"), ("a", "b", "c")])
async def test_a_circle_is_refused_with_its_path(scene: Scene, names: tuple[str, ...]) -> None:
    """TRG-04: the trigger that would close it is refused, alone, in a document and when it is switched on; what is off closes nothing."""
    await define(scene, *names)
    for source, target in itertools.pairwise(names):
        await add(scene, source, target)
    path = " -> ".join([names[-1], *names])
    with pytest.raises(Invalid) as alone:
        await add(scene, names[-1], "a")
    assert str(alone.value) == f"target: closes a circle: {path}"
    with pytest.raises(Invalid) as together:
        await save(scene, DefinitionDraft(names[-1], "job", triggers=(TriggerDraft("back", "a"),)))
    assert str(together.value) == f"triggers[0].target: closes a circle: {path}"
    off = await add(scene, names[-1], "a", enabled=False)
    with pytest.raises(Invalid, match="closes a circle"):
        await switch(scene, off.saved[0].id, enabled=True)


async def halves(scene: Scene, number: int = 0) -> list[str]:
    """Four definitions a, b, c and d, of which b triggers c and d triggers a: who adds a -> b has no row in common with who adds c -> d."""
    a, b, c, d = names = [f"{letter}{number}" for letter in "abcd"]
    await define(scene, *names)
    await add(scene, b, c)
    await add(scene, d, a)
    return names


async def test_two_saves_that_close_a_circle_together_cannot_both_win(scene: Scene) -> None:
    """TRG-04: a -> b and c -> d at the same time, many times over: one of them is refused, whichever way they are saved."""
    for number in range(6):
        a, b, c, d = await halves(scene, number)
        second = save(scene, DefinitionDraft(c, "job", triggers=(TriggerDraft("back", d),)))
        done = await asyncio.gather(add(scene, a, b), second, return_exceptions=True)
        assert [type(result) for result in done if isinstance(result, Exception)] == [Invalid], done


@pytest.mark.parametrize("alone", [True, False])
async def test_a_save_waits_for_the_one_that_might_close_the_circle(scene: Scene, alone: bool) -> None:
    """TRG-04: a half that is not committed yet is waited for, then seen."""
    a, b, c, d = await halves(scene)
    other = add(scene, c, d) if alone else save(scene, DefinitionDraft(c, "job", triggers=(TriggerDraft("back", d),)))
    async with scene.database.begin() as tx:
        await trigger_edits.save(tx, {"": (a, TriggerDraft(b, b))}, tenant="", actor="ann")
        waiting = asyncio.ensure_future(other)
        await scene.somebody_waits()
    with pytest.raises(Invalid, match=f"{c} -> {d} -> {a} -> {b} -> {c}"):
        await waiting


async def test_a_target_that_is_deleted_takes_its_triggers_along(scene: Scene) -> None:
    """DEF-22, DEF-03: the definitions that lose one get a new version and owe it no more; the trail says why."""
    await define(scene, "a", "b", "c")
    await add(scene, "a", "b")
    await add(scene, "b", "c")

    async def delete(tx: Tx) -> list[Saved]:
        found = await definitions.lock(tx, "b")
        assert found is not None
        return await catalogue.remove(tx, found, actor="ann")

    poorer = await scene.database.transact(delete)
    assert [(one.name, one.version, one.change) for one in poorer] == [("a", 3, "updated")]
    assert (await rows(scene), await owes(scene)) == ([], False)
    assert await scene.sql("SELECT 1 FROM headway.trigger") == []
    (entry,) = await scene.sql("SELECT reason FROM headway.audit WHERE action = 'trigger.deleted'")
    assert entry["reason"] == "its target was deleted"
