"""Save a definition with everything that belongs to it, atomically; the one way in for code, API, command and import."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from headway.core.definition import DefinitionDraft, ScheduleDraft
from headway.core.errors import Conflict
from headway.core.outcome import Skipped
from headway.core.run import State
from headway.core.run import settle as decide
from headway.store import audit, definitions, editing, holding, inline_calendars, restrictions, schedules
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
    """Create definitions or bring them to their drafts, with schedules and restrictions; a save that changes no meaning changes nothing.

    Answers in the order of the drafts; behind them stand other definitions whose restrictions have changed.  From code
    (`source="code"`) it never changes `enabled`, nor a field that an operator overrode; from elsewhere, a field of a definition that
    came from code is remembered as overridden.
    """
    by_name = {draft.name: await _save(tx, draft, actor=actor, source=source) for draft in sorted(drafts, key=lambda draft: draft.name)}
    saved = {by_name[draft.name].id: by_name[draft.name] for draft in drafts}
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


async def _save(tx: Tx, draft: DefinitionDraft, *, actor: str, source: str) -> Saved:
    row = await definitions.reserve(tx, draft.name, draft.tenant)
    if row is None:
        meaning = definitions.guarded(await _meaning(tx, draft), tx.vault, {})
        id_ = await definitions.create(tx, draft, source, meaning)
        owner = {"id": id_, "tenant": draft.tenant, "parameter_spec": meaning["parameter_spec"]}
        await schedules.replace(tx, owner, await schedules.edits_for(tx, owner, draft.schedules, source), actor=actor)
        return await versioned(tx, Saved(id_, draft.name, 1, "created"), draft.tenant, actor)
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
    return await versioned(tx, Saved(row["id"], draft.name, version, _change(row, differing), queued), draft.tenant, actor)


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

    Returns those that it was restricted with.
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
    await definitions.remove(tx, row["name"], row["tenant"])
    await audit.write(
        tx, audit.Entry(actor, "definition.deleted", f"definition:{row['name']}", row["tenant"], old={"version": row["version"]})
    )
    return freed


async def _untie(tx: Tx, row: Row, actor: str) -> list[Saved]:
    edited = await restrictions.replace(tx, {row["name"]: ()}, tenant=row["tenant"], actor=actor)
    return [one for one in edited.concerned if one.id != row["id"]]


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
