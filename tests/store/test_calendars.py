"""Calendars as they are kept: saved in versions, used by name or inline, deleted when nothing uses them."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from headway.core.calendar.draft import CalendarDraft, parse_calendar_draft
from headway.core.definition import DefinitionDraft, ScheduleDraft
from headway.core.draft import parse_definition
from headway.core.errors import Conflict, Invalid, NotFound
from headway.core.schedule.rule import parse_rule
from headway.store import calendar_edits, calendars, catalogue, definitions, inline_calendars, schedules
from headway.store.calendar_edits import Edited
from headway.store.tx import Row
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

WEEKENDS: dict[str, Any] = {"name": "weekends", "windows": [{"weekdays": ["sat", "sun"]}]}
NIGHTS: dict[str, Any] = {"name": "nights", "windows": [{"weekdays": ["mon"], "start": "22:00", "end": "06:00", "policy": "defer"}]}
MONDAYS: dict[str, Any] = {"windows": [{"weekdays": ["mon"]}]}
EVERYTHING = {"name": "always", "windows": [{"weekdays": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]}]}
TEN = timedelta(minutes=10)


async def save(scene: Scene, *documents: dict[str, Any], tenant: str = "") -> Edited:
    """Save calendars as Ann."""
    drafts = [parse_calendar_draft(document, tenant=tenant) for document in documents]
    return await scene.database.transact(lambda tx: calendar_edits.save(tx, drafts, actor="ann"))


async def define(scene: Scene, document: dict[str, Any]) -> Row:
    """Save a definition from its document and return its row."""
    draft = parse_definition(document)
    await scene.database.transact(lambda tx: catalogue.save(tx, draft, actor="ann"))
    async with scene.database.begin() as tx:
        row = await definitions.get(tx, draft.name)
    assert row is not None
    return row


async def delete(scene: Scene, name: str) -> None:
    """Delete a calendar as Ann."""

    async with scene.database.begin() as tx:
        await calendar_edits.remove(tx, await calendars.get(tx, name, locked=True), actor="ann")


async def collect(scene: Scene) -> int:
    """Collect what is not used."""
    return await scene.database.transact(lambda tx: inline_calendars.collect(tx, actor="maintenance"))


async def test_a_calendar_is_kept_in_versions(scene: Scene) -> None:
    """CAL-01: a save creates, a change of windows is the next version, each is kept for ever and audited."""
    created = await save(scene, WEEKENDS)
    changed = await save(scene, {**WEEKENDS, "windows": NIGHTS["windows"]})
    assert [one.saved[0][1:] for one in (created, changed)] == [(1, "created"), (2, "updated")]
    versions = await scene.sql("SELECT version, windows, created_by FROM headway.calendar_version ORDER BY version")
    assert [(row["version"], row["windows"][0]["policy"], row["created_by"]) for row in versions] == [
        (1, "skip", "ann"),
        (2, "defer", "ann"),
    ]
    actions = await scene.sql("SELECT action, subject FROM headway.audit ORDER BY at")
    assert [tuple(row.values()) for row in actions] == [
        ("calendar.created", "calendar:weekends"),
        ("calendar.updated", "calendar:weekends"),
    ]


async def test_a_save_that_changes_no_meaning_changes_nothing(scene: Scene) -> None:
    """BB-048: the same windows in other words touch neither the calendar nor the schedules that use it."""
    await save(scene, WEEKENDS)
    await define(scene, {"name": "job", "calendars": ["weekends"], "schedules": [{"every": "1h"}]})
    everything = "SELECT id, xmin::text FROM headway.calendar UNION ALL SELECT id, xmin::text FROM headway.schedule ORDER BY id"
    before = [tuple(row.values()) for row in await scene.sql(everything)]
    again = await save(scene, {**WEEKENDS, "windows": [{"weekdays": ["sun", "sat"], "all_day": True}]})
    assert (again.saved[0].change, again.concerned, list(again.queued)) == ("", [], [])
    assert [tuple(row.values()) for row in await scene.sql(everything)] == before


async def test_what_is_wrong_with_calendars_is_said_at_once(scene: Scene) -> None:
    """A calendar that leaves no time is refused in words, beside a holiday that nobody knows, and none of them is kept."""
    unknown = {"name": "off", "windows": [{"holiday": "DE-BE:labour-day"}]}
    with pytest.raises(Invalid) as refused:
        await save(scene, EVERYTHING, WEEKENDS, unknown)
    messages = [problem.message for problem in refused.value.problems]
    assert messages[0].startswith("leave no time at all")
    assert "DE-BE:labour-day is not a holiday" in messages[1] and "DE-BE:labor-day" in messages[1]
    assert await scene.sql("SELECT 1 FROM headway.calendar") == []


async def test_an_edit_is_a_decision_for_every_schedule_that_uses_the_calendar(scene: Scene) -> None:
    """VER-01: by its definition's default or of its own, each begins a version; one that overrides the default does not; the due slot
    is decided by the version that was in force."""
    await save(scene, WEEKENDS, NIGHTS)
    ledger = Ledger(scene)
    await ledger.set(START)
    hourly = {"every": "10m"}
    default = [
        {"name": "default", **hourly},
        {"name": "own", **hourly, "calendars": ["nights"]},
        {"name": "free", **hourly, "calendars": []},
    ]
    await define(scene, {"name": "a", "calendars": ["weekends"], "schedules": default})
    await define(scene, {"name": "b", "schedules": [{"name": "b", **hourly, "calendars": ["nights", "weekends"]}]})
    await ledger.set(START + TEN + timedelta(milliseconds=50))
    edited = await save(scene, {**WEEKENDS, "windows": MONDAYS["windows"]})
    assert {(one.name, one.version) for one in edited.concerned} == {("a", 1), ("b", 1)}
    assert len(edited.queued) == 2
    versions = await scene.sql("SELECT name, version FROM headway.schedule ORDER BY name")
    assert [tuple(row.values()) for row in versions] == [("b", 2), ("default", 2), ("free", 1), ("own", 1)]
    slots = await scene.sql("SELECT DISTINCT decision, calendar_versions, decided_by FROM headway.slot ORDER BY calendar_versions")
    assert [tuple(row.values()) for row in slots] == [(1, "nights 1, weekends 1", "ann"), (1, "weekends 1", "ann")]
    kept = await scene.sql("SELECT calendars FROM headway.schedule_version WHERE name = 'default' ORDER BY version")
    assert [row["calendars"][0]["version"] for row in kept] == [1, 2]


async def test_slots_before_an_edit_stay_as_the_old_version_decided_them(scene: Scene) -> None:
    """CAL-04, OBS-06: skipped with the calendar's name and window; after an edit the next slot is judged by the new windows."""
    await save(scene, {"name": "off", "windows": MONDAYS["windows"]})
    ledger = await Ledger(scene).begin({"every": "10m"}, calendars=("off",), overlap="allow")
    await ledger.decide(START + TEN)
    await ledger.set(START + 2 * TEN + timedelta(milliseconds=50))
    await save(scene, {"name": "off", "windows": [{"weekdays": ["mon"], "start": "12:25", "end": "12:37", "policy": "defer"}]})
    await ledger.decide(START + 3 * TEN)
    rows = await scene.sql("SELECT slot_at, decision, reason, detail, calendar_versions, effective_at FROM headway.slot ORDER BY slot_at")
    assert [(row["decision"], row["reason"], row["detail"], row["calendar_versions"]) for row in rows] == [
        (3, "calendar", "calendar off: mon", "off 1"),
        (3, "calendar", "calendar off: mon", "off 1"),
        (2, "calendar", "calendar off: mon 12:25-12:37", "off 2"),
    ]
    assert rows[2]["effective_at"] == START + timedelta(minutes=37)


async def test_a_calendar_in_use_stays(scene: Scene) -> None:
    """CAL-07: deleting it is a conflict that names who uses it, also when only a default names it; then it goes, and its versions stay."""
    await save(scene, WEEKENDS)
    await define(scene, {"name": "a", "calendars": ["weekends"]})
    await define(scene, {"name": "b", "schedules": [{"every": "1h", "calendars": ["weekends"]}]})
    with pytest.raises(Conflict, match="used by definition a, schedule b/default") as refused:
        await delete(scene, "weekends")
    assert refused.value.code == "calendar_in_use"
    for name in ("a", "b"):
        await define(scene, {"name": name, "schedules": []})
    await delete(scene, "weekends")
    with pytest.raises(NotFound):
        await delete(scene, "weekends")
    assert len(await scene.sql("SELECT 1 FROM headway.calendar_version")) == 1


async def test_a_name_is_a_tenants_own_before_nobodys(scene: Scene) -> None:
    """CAL-06: a tenant's calendar stands before one of the same name that belongs to nobody; others see nobody's."""
    await save(scene, WEEKENDS)
    await save(scene, WEEKENDS, tenant="acme")
    async with scene.database.begin() as tx:
        own, nobodys = await calendars.named(tx, ["weekends"], "acme"), await calendars.named(tx, ["weekends"], "other")
        [kept] = await calendars.listed(tx, "acme")
        assert own == [kept["id"]] != nobodys
        with pytest.raises(Invalid, match="there is no calendar 'nights'"):
            await calendars.named(tx, ["weekends", "nights"], "acme")


async def test_calendars_are_listed_by_name(scene: Scene) -> None:
    """API-01: pages follow one another by name; inline ones are not listed."""
    await save(scene, *({**WEEKENDS, "name": name} for name in ("c", "a", "b")))
    await define(scene, {"name": "job", "calendar": MONDAYS})
    async with scene.database.begin() as tx:
        first = await calendars.listed(tx, limit=2)
        rest = await calendars.listed(tx, after=first[-1]["name"])
    assert [row["name"] for row in [*first, *rest]] == ["a", "b", "c"]


async def test_an_inline_calendar_is_kept_once(scene: Scene) -> None:
    """DEF-02, CAL-06: the same windows in a definition, in another and in a schedule are one calendar; schedules inherit it as any other;
    saving them again changes nothing."""
    document = {"name": "a", "calendar": MONDAYS, "schedules": [{"every": "1h"}, {"name": "own", "every": "1h", "calendar": MONDAYS}]}
    first = await define(scene, document)
    second = await define(scene, {"name": "b", "calendar": MONDAYS})
    assert first["calendars"] == second["calendars"]
    assert (await define(scene, document))["version"] == 1
    [kept] = await scene.sql("SELECT id, shared FROM headway.calendar")
    assert not kept["shared"]
    async with scene.database.begin() as tx:
        rows = await schedules.of_definition(tx, first["id"])
    assert [row["calendars"] for row in rows] == [None, [kept["id"]]]
    [used] = first["used"]
    assert (used["version"], used["windows"][0]["weekdays"]) == (1, ["mon"])


async def test_inline_windows_stand_behind_named_calendars(scene: Scene) -> None:
    """CAL-06: both apply, in that order; windows that leave no time are refused there as well."""
    await save(scene, WEEKENDS)
    row = await define(scene, {"name": "job", "calendars": ["weekends"], "calendar": MONDAYS})
    assert [one["windows"] is None for one in row["used"]] == [True, False]
    with pytest.raises(Invalid) as refused:
        await define(scene, {"name": "job", "calendar": {"windows": EVERYTHING["windows"]}})
    assert refused.value.problems[0].field == "calendar"


async def test_unused_inline_calendars_are_collected_and_shared_ones_survive(scene: Scene) -> None:
    """DEF-22: deleting a definition leaves the shared calendar; its inline one goes as soon as nobody else uses it."""
    await save(scene, WEEKENDS)
    for name in ("a", "b"):
        await define(scene, {"name": name, "calendars": ["weekends"], "calendar": MONDAYS})
    await scene.database.transact(lambda tx: definitions.remove(tx, "a"))
    assert await collect(scene) == 0
    await define(scene, {"name": "b", "schedules": [{"every": "1h", "calendar": MONDAYS}]})
    assert await collect(scene) == 0
    await define(scene, {"name": "b", "schedules": []})
    assert (await collect(scene), await collect(scene)) == (1, 0)
    assert [row["name"] for row in await scene.sql("SELECT name FROM headway.calendar")] == ["weekends"]
    [entry] = await scene.sql("SELECT actor, reason FROM headway.audit WHERE action = 'calendar.deleted'")
    assert tuple(entry.values()) == ("maintenance", "inline, and not used")


async def test_a_calendar_that_comes_into_use_meanwhile_is_not_collected(scene: Scene) -> None:
    """DEF-22: a save that names the windows again and a collection at the same time: whoever comes second sees what the first did."""
    await define(scene, {"name": "a", "calendar": MONDAYS})
    await define(scene, {"name": "a"})
    async with scene.database.begin() as tx:
        await catalogue.save(tx, parse_definition({"name": "b", "calendar": MONDAYS}), actor="ann")
        assert await collect(scene) == 0
    assert await collect(scene) == 0
    assert len(await scene.sql("SELECT 1 FROM headway.calendar")) == 1


async def test_an_edit_and_a_new_use_wait_for_one_another(scene: Scene) -> None:
    """VER-01: a schedule that is saved with a calendar while it is edited is one of those that the edit concerns, or begins with it."""
    await save(scene, WEEKENDS)
    async with scene.database.begin() as tx:
        await catalogue.save(tx, DefinitionDraft("job", "job", schedules=(_using("weekends"),)), actor="ann")
        editing = asyncio.create_task(save(scene, {**WEEKENDS, "windows": MONDAYS["windows"]}))
        await scene.somebody_waits()
    assert [one.name for one in (await editing).concerned] == ["job"]
    async with scene.database.begin() as tx:
        await calendar_edits.save(tx, [CalendarDraft("weekends", parse_calendar_draft(NIGHTS).windows)], actor="ann")
        using = asyncio.create_task(define(scene, {"name": "late", "schedules": [{"every": "1h", "calendars": ["weekends"]}]}))
        await scene.somebody_waits()
    await using
    [kept] = await scene.sql(
        "SELECT kept.calendars FROM headway.schedule_version kept JOIN headway.schedule ON id = kept.schedule"
        " JOIN headway.definition of ON of.id = schedule.definition WHERE of.name = 'late'"
    )
    assert kept["calendars"][0]["version"] == 3


async def test_two_that_create_the_same_calendar_create_one(scene: Scene) -> None:
    """BB-035: of two saves of a new name one creates, and the other finds it."""
    saved = await asyncio.gather(*(save(scene, WEEKENDS) for _ in range(4)))
    assert sorted(one.saved[0].change for one in saved) == ["", "", "", "created"]
    await asyncio.gather(*(define(scene, {"name": f"job{number}", "calendar": MONDAYS}) for number in range(4)))
    assert len(await scene.sql("SELECT 1 FROM headway.calendar WHERE NOT shared")) == 1


def _using(*names: str) -> ScheduleDraft:
    return ScheduleDraft("default", parse_rule({"every": "1h"}), calendars=names)
