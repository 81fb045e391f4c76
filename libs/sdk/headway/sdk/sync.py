"""Write what code declares into the catalogue; what an operator set over it stays."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import get_args

import structlog

from headway.broker import hints
from headway.broker.announcer import Announcer
from headway.core.definition import DefinitionDraft
from headway.core.errors import Problem
from headway.core.reading import demand
from headway.messages import DefinitionChanged
from headway.messages.bodies import Change
from headway.sdk.app import Headway
from headway.store.catalogue import save_all
from headway.store.definitions import Saved
from headway.store.tx import Database, Tx

log = structlog.get_logger(__name__)


async def sync(
    database: Database, app: Headway, actor: str, *, announcer: Announcer | None = None, strict_schedules: bool = False
) -> list[Saved]:
    """Save every job of an application, all or none, and say what changed; a repetition changes nothing.

    `announcer` tells the schedulers.  `strict_schedules` refuses schedules that name no owner, which else are warned of.  Raises Invalid
    with every problem of all jobs, Unavailable.
    """
    drafts = app.drafts()
    if strict_schedules:
        demand([Problem(f"{name}.owner", "is required of every schedule: whom to ask about it") for name in _unowned(drafts)])
    saved, at = await database.transact(partial(_save_all, drafts=drafts, actor=actor))
    changed = [(draft, one) for draft, one in zip(drafts, saved, strict=True) if one.change]
    for draft, one in changed:
        for schedule in _unowned([draft]):
            log.warning("schedule names no owner", schedule=schedule)
        log.info("definition synced", definition=one.name, tenant=draft.tenant, change=one.change, version=one.version)
    if announcer is not None:
        announcer.put(hints.letter(_message(draft, one), at=at) for draft, one in changed)
    return saved


def _unowned(drafts: Sequence[DefinitionDraft]) -> list[str]:
    return [f"{draft.name}.{one.name}" for draft in drafts for one in draft.schedules if not (one.owner or draft.owner)]


async def _save_all(tx: Tx, drafts: Sequence[DefinitionDraft], actor: str) -> tuple[list[Saved], datetime]:
    return await save_all(tx, drafts, actor=actor, source="code"), tx.now


def _message(draft: DefinitionDraft, saved: Saved) -> DefinitionChanged:
    change: Change = next(one for one in get_args(Change) if one == saved.change)
    return DefinitionChanged(tenant=draft.tenant, definition=saved.name, version=saved.version, change=change)
