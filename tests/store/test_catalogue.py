"""Save a definition with everything that belongs to it."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from headway.core.definition import DefinitionDraft, ScheduleDraft, Watch
from headway.core.errors import Conflict, Invalid
from headway.core.retry import Backoff, BackoffKind
from headway.core.run import State
from headway.core.schedule.rule import parse_rule
from headway.store import catalogue, definitions, schedules
from headway.store.definitions import Saved
from headway.store.tx import Row
from tests.store.scene import Scene

MINUTELY = ScheduleDraft("default", parse_rule({"cron": "* * * * *"}))
HOURLY = ScheduleDraft("default", parse_rule({"cron": "0 * * * *"}))
FULL = DefinitionDraft(
    "report",
    "job",
    description="a report",
    timeout=timedelta(minutes=5),
    attempts=4,
    backoff=Backoff(BackoffKind.LIST, delays=(timedelta(seconds=1.5),), jitter=0.1),
    retry_horizon=timedelta(hours=2),
    start_by=timedelta(minutes=15),
    parameters={"list": (1, 2.5, None), "nested": {"b": True}},
    parameter_spec={"day": {"type": "date"}},
    max_concurrent_runs=3,
    watch=Watch(must_start_by=timedelta(minutes=1)),
    schedules=(MINUTELY, ScheduleDraft("often", parse_rule({"every": "90s"}), parameters={"a": (1,)})),
)


async def save(scene: Scene, draft: DefinitionDraft, source: str = "api") -> Saved:
    """Save a draft as Ann."""
    return await scene.database.transact(lambda tx: catalogue.save(tx, draft, actor="ann", source=source))


async def schedule_rows(scene: Scene) -> list[Row]:
    """Every schedule, by name."""
    return await scene.sql("SELECT * FROM headway.schedule ORDER BY name")


async def test_the_first_save_creates_everything(scene: Scene) -> None:
    """DEF-02: a definition and its schedules are created in one call, at version 1, with a snapshot and a line of audit."""
    saved = await save(scene, FULL)
    assert (saved.version, saved.change) == (1, "created")
    assert [row["name"] for row in await schedule_rows(scene)] == ["default", "often"]
    (version,) = await scene.sql("SELECT * FROM headway.definition_version")
    assert (version["version"], version["created_by"]) == (1, "ann")
    assert [one["name"] for one in version["snapshot"]["schedules"]] == ["default", "often"]
    assert version["snapshot"]["timeout"] == 300
    (entry,) = await scene.sql("SELECT * FROM headway.audit")
    assert (entry["actor"], entry["action"], entry["subject"]) == ("ann", "definition.created", "definition:report")


@pytest.mark.parametrize("source", ["api", "code"])
async def test_a_save_without_a_change_changes_nothing(scene: Scene, source: str) -> None:
    """BB-048, DEF-15: saving the same again touches no row, no version and no planned slot."""
    await save(scene, FULL, source)
    everything = "SELECT id, xmin::text FROM headway.definition UNION ALL SELECT id, xmin::text FROM headway.schedule ORDER BY id"
    before = [tuple(row.values()) for row in await scene.sql(everything)]
    assert (await save(scene, FULL, source)).change == ""
    assert [tuple(row.values()) for row in await scene.sql(everything)] == before
    assert len(await scene.sql("SELECT 1 FROM headway.definition_version")) == 1
    assert len(await scene.sql("SELECT 1 FROM headway.audit")) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"description": "other"},
        {"parameters": {"list": [1]}},
        {"watch": Watch()},
        {"backoff": Backoff()},
        {"schedules": (MINUTELY,)},
        {"schedules": (HOURLY, FULL.schedules[1])},
    ],
)
async def test_each_change_is_a_version(scene: Scene, change: dict[str, Any]) -> None:
    """DEF-03: a change to the definition or to any schedule of it is one version more, with its own snapshot; new runs carry it."""
    saved = await save(scene, FULL)
    changed = await save(scene, _with(FULL, change))
    assert (changed.id, changed.version, changed.change) == (saved.id, 2, "updated")
    snapshots = [row["snapshot"] for row in await scene.sql("SELECT snapshot FROM headway.definition_version ORDER BY version")]
    assert snapshots[0]["version"] == 1
    assert snapshots[1]["version"] == 2
    (run,) = await scene.enqueue(name="report")
    assert (await scene.run(run))["definition_version"] == 2


async def test_an_edit_decides_up_to_now_and_begins_a_version(scene: Scene) -> None:
    """BB-048, DEF-14: an edit keeps the id, and everything up to it is decided by the version that was in force."""
    await save(scene, DefinitionDraft("report", "job", schedules=(MINUTELY,)))
    (before,) = await schedule_rows(scene)
    await save(scene, DefinitionDraft("report", "job", schedules=(HOURLY,)))
    (after,) = await schedule_rows(scene)
    assert (after["id"], after["version"]) == (before["id"], 2)
    assert after["decided_until"] > before["decided_until"]
    off = ScheduleDraft("default", HOURLY.rule, enabled=False)
    await save(scene, DefinitionDraft("report", "job", schedules=(off,)))
    await scene.later(timedelta(hours=3))
    await save(scene, DefinitionDraft("report", "job", schedules=(HOURLY,)))
    (back,) = await schedule_rows(scene)
    assert back["decided_until"] - before["decided_until"] >= timedelta(hours=3)


async def test_code_never_switches_on_what_an_operator_switched_off(scene: Scene) -> None:
    """DEF-17: a sync leaves `enabled` of definition and schedules alone, and every field that an operator set over the declared one."""
    await save(scene, FULL, "code")
    off = ScheduleDraft("default", MINUTELY.rule, enabled=False)
    operators = _with(FULL, {"enabled": False, "priority": 7, "schedules": (off, _described(FULL.schedules[1], "mine"))})
    await save(scene, operators)
    await save(scene, _with(FULL, {"attempts": 9, "priority": 2}), "code")
    (row,) = await scene.sql("SELECT * FROM headway.definition")
    assert (row["enabled"], row["priority"], row["attempts"]) == (False, 7, 9)
    assert set(row["overridden"]) == {"enabled", "priority"}
    default, often = await schedule_rows(scene)
    assert (default["enabled"], often["description"]) == (False, "mine")
    assert (await save(scene, _with(FULL, {"attempts": 9, "priority": 2}), "code")).change == ""


async def test_an_operator_may_change_his_mind(scene: Scene) -> None:
    """DEF-17: what an operator overrode once he can set again; a field that he never touched follows the code."""
    await save(scene, FULL, "code")
    for description in ("first", "second"):
        await save(scene, _with(FULL, {"schedules": (_described(MINUTELY, description), FULL.schedules[1])}))
        assert (await schedule_rows(scene))[0]["description"] == description
    await save(scene, _with(FULL, {"schedules": (ScheduleDraft("default", HOURLY.rule), FULL.schedules[1])}), "code")
    default, _ = await schedule_rows(scene)
    assert (default["description"], default["rule"]["cron"]) == ("second", "0 * * * *")


async def test_code_and_operator_keep_schedules_apart(scene: Scene) -> None:
    """DEF-15: a schedule that an operator added stays when the code that declares the definition is synced, and the other way round."""
    await save(scene, DefinitionDraft("report", "job", schedules=(MINUTELY,)), "code")
    added = ScheduleDraft("extra", HOURLY.rule)
    await save(scene, DefinitionDraft("report", "job", schedules=(MINUTELY, added)))
    await save(scene, DefinitionDraft("report", "job", schedules=(MINUTELY,)), "code")
    assert [row["name"] for row in await schedule_rows(scene)] == ["default", "extra"]
    await save(scene, DefinitionDraft("report", "job"))
    assert [row["name"] for row in await schedule_rows(scene)] == ["default"]


async def test_disabling_skips_what_nobody_holds(scene: Scene) -> None:
    """DEF-18: pending runs are settled as skipped with the reason; a running one goes on; new ones are refused meanwhile."""
    await scene.define()
    claimed = await scene.started()
    queued, delayed = (await scene.enqueue())[0], (await scene.enqueue(delay=timedelta(hours=1)))[0]
    saved = await save(scene, DefinitionDraft("job", "job", enabled=False))
    assert saved.change == "disabled"
    assert await scene.states([claimed.id, queued, delayed]) == [State.RUNNING, State.SKIPPED, State.SKIPPED]
    assert (await scene.run(queued))["reason"] == "definition disabled"
    with pytest.raises(Conflict):
        await scene.enqueue()
    assert (await save(scene, DefinitionDraft("job", "job"))).change == "enabled"
    assert await scene.enqueue()


async def test_two_processes_that_declare_the_same_at_once_agree(scene: Scene) -> None:
    """DEF-15, DEF-17: of syncs of one new definition at once one creates it and the others find it."""
    saved = await asyncio.gather(*[save(scene, FULL, "code") for _ in range(4)])
    assert sorted(one.change for one in saved) == ["", "", "", "created"]
    assert len({one.id for one in saved}) == 1


async def test_what_cannot_be_stored_is_named(scene: Scene) -> None:
    """A parameter that JSON does not have is Invalid with its field, and nothing is written."""
    with pytest.raises(Invalid) as refused:
        await save(scene, DefinitionDraft("report", "job", parameters={"bad": object()}))
    assert refused.value.problems[0].field == "parameters"
    assert not await scene.sql("SELECT 1 FROM headway.definition")


async def test_a_definition_goes_with_its_schedules(scene: Scene) -> None:
    """DEF-22: a removed definition leaves no schedule behind; removing it again finds nothing."""
    await save(scene, FULL)
    assert await scene.database.transact(lambda tx: definitions.remove(tx, "report"))
    assert not await schedule_rows(scene)
    assert not await scene.database.transact(lambda tx: definitions.remove(tx, "report"))


async def test_definitions_are_listed_by_name(scene: Scene) -> None:
    """DEF-01: pages follow one another by name; source and tenant narrow."""
    for name in ("c", "a", "b"):
        await save(scene, DefinitionDraft(name, "job"), "code" if name == "b" else "api")
    await save(scene, DefinitionDraft("z", "job", tenant="acme"))
    async with scene.database.begin() as tx:
        first = await definitions.listed(tx, limit=2)
        rest = await definitions.listed(tx, after=first[-1]["name"])
        code = await definitions.listed(tx, source="code")
        foreign = await definitions.listed(tx, "acme")
        assert await definitions.get(tx, "z") is None
        assert await schedules.listed(tx, of="a") == []
    assert [row["name"] for row in [*first, *rest]] == ["a", "b", "c"]
    assert ([row["name"] for row in code], [row["name"] for row in foreign]) == (["b"], ["z"])


def _with(draft: DefinitionDraft, change: dict[str, Any]) -> DefinitionDraft:
    fields = {name: getattr(draft, name) for name in DefinitionDraft.__slots__}
    return DefinitionDraft(**(fields | change))


def _described(draft: ScheduleDraft, description: str) -> ScheduleDraft:
    return ScheduleDraft(draft.name, draft.rule, description, parameters=draft.parameters)
