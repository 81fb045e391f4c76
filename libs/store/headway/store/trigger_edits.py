"""Triggers changed one by one, or several beside their definitions: each change is a new version of the definition that fires them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from headway.core.errors import Conflict, Problem
from headway.core.reading import demand
from headway.core.secret import masked
from headway.core.trigger import TriggerDraft
from headway.store import audit, definitions, triggers
from headway.store.definitions import Saved
from headway.store.snapshots import versioned
from headway.store.triggers import Edits, Wanted
from headway.store.tx import Row, Tx


class SavedTrigger(NamedTuple):
    """A trigger after a save: `change` is created, updated, enabled, disabled, deleted, or empty when nothing changed."""

    id: UUID
    source: str
    name: str
    version: int
    change: str


class Edited(NamedTuple):
    """What an edit came to: the triggers in the order of the drafts, and the definitions whom schedulers are to be told of."""

    saved: list[SavedTrigger]
    concerned: list[Saved]


async def save(tx: Tx, drafts: Mapping[str, tuple[str, TriggerDraft]], *, tenant: str, actor: str) -> Edited:
    """Create triggers or bring them to their drafts, all or none; others stay.

    `drafts` has by the path of its fields what each is, with the name of the definition whose runs fire it.  Raises Invalid with every
    definition that is not there, or with the circles that the triggers would close.
    """
    await triggers.lock(tx)
    owners = await _owners(tx, {path: source for path, (source, _) in drafts.items()}, tenant)
    wanted = [Wanted(row, _of(source, drafts), "api", others=True) for source, row in owners.items()]
    edits = await triggers.edits_for(tx, wanted)
    before = {one.owner["id"]: {row["name"]: row for row in await triggers.of_definition(tx, one.owner["id"])} for one in wanted}
    concerned = [await _write(tx, one.owner, edit, actor) for one, edit in zip(wanted, edits, strict=True) if edit]
    await triggers.require_no_circle(tx, [one for one, edit in zip(wanted, edits, strict=True) if edit])
    saved: dict[str, SavedTrigger] = {}
    for one in wanted:
        after = {row["name"]: row for row in await triggers.of_definition(tx, one.owner["id"])}
        for path, draft in one.drafts.items():
            saved[path] = await _told(tx, before[one.owner["id"]].get(draft.name), after[draft.name], actor)
    return Edited([saved[path] for path in drafts], concerned)


async def create(tx: Tx, source: str, draft: TriggerDraft, *, tenant: str, actor: str) -> Edited:
    """Create a trigger.  Raises Conflict when its definition has one of that name, and what `save` raises."""
    edited = await save(tx, {"": (source, draft)}, tenant=tenant, actor=actor)
    if edited.saved[0].change != "created":
        raise Conflict(f"name: {source!r} has a trigger {draft.name!r} already", code="trigger_exists")
    return edited


async def switch(tx: Tx, row: Row, *, enabled: bool, actor: str) -> Edited:
    """Switch a trigger on or off; raises Invalid when that would close a circle."""
    draft = replace(triggers.draft_of(row), enabled=enabled)
    return await save(tx, {"": (row["source_name"], draft)}, tenant=row["tenant"], actor=actor)


async def remove(tx: Tx, row: Row, *, actor: str) -> Edited:
    """Delete a trigger; the runs that it made go on."""
    owner = await definitions.lock(tx, row["source_name"], row["tenant"])
    gone = Edits("api", {}, {}, frozenset({row["id"]}))
    concerned = [] if owner is None else [await _write(tx, owner, gone, actor)]
    await audit.write(tx, audit.Entry(actor, "trigger.deleted", f"trigger:{row['id']}", row["tenant"], old=_facts(row)))
    return Edited([SavedTrigger(row["id"], row["source_name"], row["name"], row["version"], "deleted")], concerned)


async def _owners(tx: Tx, sources: Mapping[str, str], tenant: str) -> dict[str, Row]:
    """Lock the definitions that are named, by name."""
    found = {name: row for name in sorted(set(sources.values())) if (row := await definitions.lock(tx, name, tenant)) is not None}
    demand([Problem(f"{path}source", f"there is no definition {name!r}") for path, name in sources.items() if name not in found])
    return found


def _of(source: str, drafts: Mapping[str, tuple[str, TriggerDraft]]) -> dict[str, TriggerDraft]:
    return {path: draft for path, (of, draft) in drafts.items() if of == source}


async def _write(tx: Tx, owner: Mapping[str, object], edits: Edits, actor: str) -> Saved:
    await triggers.replace(tx, owner, edits)
    id_, name, tenant = owner["id"], str(owner["name"]), str(owner["tenant"])
    assert isinstance(id_, UUID), "it is a row's"
    saved = Saved(id_, name, await definitions.touch(tx, id_), "updated")
    return await versioned(tx, saved, tenant, actor)


async def _told(tx: Tx, before: Row | None, after: Row, actor: str) -> SavedTrigger:
    """Say what became of a trigger, here and on the trail."""
    change = _change(before, after)
    if change:
        old = None if before is None else _facts(before)
        entry = audit.Entry(actor, f"trigger.{change}", f"trigger:{after['id']}", after["tenant"], old=old, new=_facts(after))
        await audit.write(tx, entry)
    return SavedTrigger(after["id"], after["source_name"], after["name"], after["version"], change)


def _change(before: Row | None, after: Row) -> str:
    if before is None:
        return "created"
    if before["version"] == after["version"]:
        return ""
    switched: Sequence[str] = ("disabled", "enabled")
    return switched[after["enabled"]] if before["enabled"] != after["enabled"] else "updated"


def _facts(row: Row) -> dict[str, object]:
    names = ("source_name", "target_name", "condition", "enabled", "version")
    facts: dict[str, object] = {name.removesuffix("_name"): row[name] for name in ("name", *names)}
    return facts | {"parameters": masked(row["parameters"])}
