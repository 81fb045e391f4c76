"""Save a definition with everything that belongs to it, atomically; the one way in for code, API, command and import."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from headway.core.definition import DefinitionDraft, ScheduleDraft
from headway.core.errors import Conflict
from headway.core.outcome import Skipped
from headway.core.run import State
from headway.core.run import settle as decide
from headway.store import audit, definitions, editing, holding, inline_calendars, restrictions, schedules, triggers
from headway.store.definitions import Saved
from headway.store.gates import Placed
from headway.store.settle import Settled, Verdict, settle
from headway.store.snapshots import versioned
from headway.store.tx import Row, Tx


class SavedSchedule(NamedTuple):
    """A schedule after a save: `change` is created, updated, or empty when nothing changed; `queued` runs are to be announced."""

    id: UUID
    change: str
    queued: list[Placed]


async def save(tx: Tx, draft: DefinitionDraft, *, actor: str, source: str = "api") -> Saved:
    """Create a definition or bring it to the draft, as `save_all` does."""
    return (await save_all(tx, [draft], actor=actor, source=source))[0]


async def save_all(tx: Tx, drafts: Sequence[DefinitionDraft], *, actor: str, source: str = "api") -> list[Saved]:
    """Create definitions or bring them to their drafts, with all that belongs to them; a save that changes no meaning changes nothing.

    What triggers and restrictions name may stand among the drafts.  Answers in the order of the drafts; behind them stand other
    definitions whose restrictions have changed.  From code (`source="code"`) it never changes `enabled`, nor a field that an operator
    overrode; from elsewhere, a field of a definition that came from code is remembered as overridden.  Raises Invalid for names that
    there are not, and for triggers that close a circle.
    """
    if any(draft.triggers for draft in drafts):
        await triggers.lock(tx)
    ordered = sorted(range(len(drafts)), key=lambda number: (drafts[number].tenant, drafts[number].name))
    begun = {number: await _save(tx, drafts[number], actor=actor, source=source) for number in ordered}
    fired = {number: _fired(drafts, number, begun[number], source) for number in ordered if drafts[number].triggers is not None}
    edits = dict(zip(fired, await triggers.edits_for(tx, list(fired.values())), strict=True))
    done = {number: await _conclude(tx, drafts[number], begun[number], edits.get(number), actor) for number in ordered}
    await triggers.require_no_circle(tx, [fired[number] for number in fired if edits[number]])
    saved = {done[number].id: done[number] for number in range(len(drafts))}
    for one in await _restrict(tx, drafts, actor):
        before = saved.get(one.id, one._replace(queued=()))
        saved[one.id] = one._replace(change=before.change or one.change, queued=[*before.queued, *one.queued])
    return list(saved.values())


async def _restrict(tx: Tx, drafts: Sequence[DefinitionDraft], actor: str) -> list[Saved]:
    """Tie definitions as their drafts say, when all that they may name are there."""
    concerned: list[Saved] = []
    for tenant in sorted({draft.tenant for draft in drafts if draft.restrictions is not None}):
        wanted = {draft.name: draft.restrictions for draft in drafts if draft.tenant == tenant and draft.restrictions is not None}
        concerned += (await restrictions.replace(tx, wanted, tenant=tenant, actor=actor)).concerned
    return concerned


def _fired(drafts: Sequence[DefinitionDraft], number: int, saved: Saved, source: str) -> triggers.Wanted:
    draft = drafts[number]
    path = f"definitions[{number}]." if len(drafts) > 1 else ""
    paths = {f"{path}triggers[{index}].": one for index, one in enumerate(draft.triggers or ())}
    return triggers.Wanted({"id": saved.id, "tenant": draft.tenant}, paths, source)


async def _conclude(tx: Tx, draft: DefinitionDraft, saved: Saved, edits: triggers.Edits | None, actor: str) -> Saved:
    """Write a definition's triggers, and the record of its new version if it has one."""
    if edits:
        await triggers.replace(tx, {"id": saved.id, "tenant": draft.tenant}, edits)
        if not saved.change:
            saved = saved._replace(version=await definitions.touch(tx, saved.id), change="updated")
    return await versioned(tx, saved, draft.tenant, actor) if saved.change else saved


async def _save(tx: Tx, draft: DefinitionDraft, *, actor: str, source: str) -> Saved:
    """Save a definition with its schedules; of its new version nothing is recorded yet."""
    row = await definitions.reserve(tx, draft.name, draft.tenant)
    if row is None:
        meaning = definitions.guarded(await _meaning(tx, draft), tx.vault, {})
        id_ = await definitions.create(tx, draft, source, meaning)
        owner = {"id": id_, "tenant": draft.tenant, "parameter_spec": meaning["parameter_spec"]}
        await schedules.replace(tx, owner, await schedules.edits_for(tx, owner, draft.schedules, source), actor=actor)
        return Saved(id_, draft.name, 1, "created")
    meaning = await _meaning(tx, draft) | {"gated": draft.gated or bool(row["restrictions"])}
    wanted = definitions.guarded(_kept(row, meaning) if source == "code" else meaning, tx.vault, row["parameters"])
    differing = definitions.differing(row, wanted)
    edits = await schedules.edits_for(tx, {**row, "parameter_spec": wanted["parameter_spec"]}, draft.schedules, source)
    if not differing and not edits:
        return Saved(row["id"], draft.name, row["version"], "")
    if differing:
        edits = edits._replace(touched=edits.standing - edits.changed.keys())
    queued = await editing.close(tx, edits.standing | edits.gone if differing else {*edits.changed, *edits.gone}, actor=actor)
    version = await (definitions.change(tx, row, wanted) if differing else definitions.touch(tx, row["id"]))
    if source != "code" and row["source"] == "code":
        await definitions.override(tx, row, differing)
    if "enabled" in differing and not wanted["enabled"]:
        await skip_pending(tx, row["id"], "definition disabled")
    await schedules.replace(tx, row, edits, actor=actor)
    if "parameter_spec" in differing:
        await triggers.seal_aimed_at(tx, row["id"], wanted["parameter_spec"])
    return Saved(row["id"], draft.name, version, _change(row, differing), queued)


async def save_schedule(tx: Tx, owner: Row, draft: ScheduleDraft, row: Row | None, *, tenant: str, actor: str) -> SavedSchedule:
    """Create a schedule of a locked definition, or bring it to the draft; one that changes no meaning changes nothing.

    Raises Conflict when `tenant` has a schedule of that name already.
    """
    standing = {one["name"] for one in await schedules.of_definition(tx, owner["id"], locked=True) if one["tenant"] == tenant}
    if row is None and draft.name in standing:
        raise Conflict(f"name: {owner['name']!r} has a schedule {draft.name!r} already", code="schedule_exists")
    kept = {**owner, "tenant": tenant}
    edits = await schedules.edit_of(tx, kept, draft, row)
    if row is not None and not edits:
        return SavedSchedule(row["id"], "", [])
    queued = await editing.close(tx, edits.changed, actor=actor)
    created = await schedules.replace(tx, kept, edits, actor=actor)
    version = await definitions.touch(tx, owner["id"])
    await versioned(tx, Saved(owner["id"], owner["name"], version, "updated"), owner["tenant"], actor)
    id_ = created[0] if row is None else row["id"]
    action = "schedule.created" if row is None else "schedule.updated"
    await audit.write(tx, audit.Entry(actor, action, f"schedule:{id_}", tenant))
    return SavedSchedule(id_, "created" if row is None else "updated", queued)


async def remove(tx: Tx, row: Row, *, actor: str) -> list[Saved]:
    """Delete a locked definition with its schedules, whose slots are decided up to now; raises Conflict while runs of it are running.

    Returns those that it was restricted with, and those that asked for its runs by a trigger, which they lose.
    """
    ids = [one["id"] for one in await schedules.of_definition(tx, row["id"], locked=True)]
    await editing.close(tx, ids, actor=actor)
    await skip_pending(tx, row["id"], "definition deleted")
    if running := await definitions.count_open(tx, row["id"]):
        raise Conflict(
            f"definition: {running} of its runs are running; disable it, and delete it when they have ended", code="definition_busy"
        )
    await editing.end(tx, ids, actor=actor)
    freed = await _untie(tx, row, actor) if row["restrictions"] else []
    freed += await _without_target(tx, row, actor)
    await definitions.remove(tx, row["name"], row["tenant"])
    await audit.write(
        tx, audit.Entry(actor, "definition.deleted", f"definition:{row['name']}", row["tenant"], old={"version": row["version"]})
    )
    return freed


async def _untie(tx: Tx, row: Row, actor: str) -> list[Saved]:
    edited = await restrictions.replace(tx, {row["name"]: ()}, tenant=row["tenant"], actor=actor)
    return [one for one in edited.concerned if one.id != row["id"]]


async def _without_target(tx: Tx, row: Row, actor: str) -> list[Saved]:
    sources = {}
    for one in await triggers.aimed_at(tx, row["id"]):
        if one["source"] == row["id"]:
            continue
        sources[one["source"]] = one["source_name"]
        await tx.execute(triggers.REMOVE, ids=[one["id"]])
        await audit.write(tx, audit.Entry(actor, "trigger.deleted", f"trigger:{one['id']}", row["tenant"], "its target was deleted"))
    poorer = [Saved(id_, name, await definitions.touch(tx, id_), "updated") for id_, name in sources.items()]
    return [await versioned(tx, saved, row["tenant"], actor) for saved in poorer]


async def _meaning(tx: Tx, draft: DefinitionDraft) -> dict[str, Any]:
    chosen = await inline_calendars.chosen(tx, draft.calendars, draft.calendar, draft.tenant)
    return definitions.meaning(draft) | {"calendars": chosen}


async def skip_pending(tx: Tx, definition_id: UUID, why: str) -> list[Settled]:
    """Settle every run of a definition that nobody holds as skipped."""
    held = await holding.listed(tx, await definitions.open_runs(tx, definition_id))
    idle = [one.open for one in held if one.open.state is not State.RUNNING]
    return await settle(tx, [Verdict(run.id, run.attempt, decide(run, Skipped(why), tx.now)) for run in idle])


def _kept(row: Row, wanted: dict[str, Any]) -> dict[str, Any]:
    mine = {"enabled", *row["overridden"]}
    return {name: row[name] if name in mine else value for name, value in wanted.items()}


def _change(row: Row, differing: Mapping[str, Any]) -> str:
    if "enabled" in differing:
        return "enabled" if differing["enabled"] else "disabled"
    return "updated"
