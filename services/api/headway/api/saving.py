"""Changes to definitions: checked against the version that they build on, saved in one transaction, announced after it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

from headway.api.documents import document_of, parse
from headway.api.platform import Caller
from headway.api.problems import PRECONDITION_FAILED, PRECONDITION_REQUIRED
from headway.broker import hints
from headway.broker.announcer import Announcer
from headway.core.definition import DefinitionDraft
from headway.core.errors import Conflict, NotFound
from headway.messages import DefinitionChanged
from headway.store import catalogue, definitions, schedules
from headway.store.definitions import Saved
from headway.store.gates import Placed
from headway.store.tx import Database, Row, Tx

CREATED: Final = "created"
DELETED: Final = "deleted"
T = TypeVar("T")
Edit = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Outcome(NamedTuple):
    """What a transaction made of definitions, and when."""

    saved: list[Saved]
    at: datetime


class _Undo(Exception):
    """Carries out of a transaction what it would have made, and rolls it back."""

    def __init__(self, made: Any) -> None:
        super().__init__("a dry run")
        self.made = made


async def perform(database: Database, act: Callable[[Tx], Awaitable[T]], *, dry_run: bool) -> T:
    """Do something in one transaction and return what it made; a dry run returns the same and keeps nothing."""

    async def perhaps(tx: Tx) -> T:
        made = await act(tx)
        if dry_run:
            raise _Undo(made)
        return made

    try:
        return await database.transact(perhaps)
    except _Undo as undo:
        would: T = undo.made
        return would


async def save_all(database: Database, drafts: Sequence[DefinitionDraft], who: Caller, *, dry_run: bool = False) -> Outcome:
    """Save definitions in one transaction, or only say what that would make of them; the answer is in the order of the drafts.

    Behind them stand definitions whose restrictions have changed with theirs.
    """

    async def save(tx: Tx) -> Outcome:
        return Outcome(await catalogue.save_all(tx, drafts, actor=who.actor), tx.now)

    return await perform(database, save, dry_run=dry_run)


async def put(database: Database, draft: DefinitionDraft, who: Caller, if_match: str | None) -> Outcome:
    """Create a definition, or replace the one whose version the caller knows."""

    async def save(tx: Tx) -> Outcome:
        row = await definitions.lock(tx, draft.name, who.tenant)
        require_version(row, if_match, needed=row is not None)
        saved = await catalogue.save_all(tx, [draft], actor=who.actor)
        if row is None and saved[0].change != CREATED:  # somebody else created it between the two
            require_version(row, None, needed=True)
        return Outcome(saved, tx.now)

    return await database.transact(save)


async def edit(database: Database, name: str, who: Caller, change: Edit, *, if_match: str | None, needed: bool) -> Outcome:
    """Save what `change` makes of a definition's document; `needed` demands that the caller knows its version."""

    async def save(tx: Tx) -> Outcome:
        row = await locked(tx, name, who)
        require_version(row, if_match, needed=needed)
        document = document_of(row, await schedules.of_definition(tx, row["id"]))
        # Its document has restrictions: a change that has none takes them away.
        draft = parse({"restrictions": [], **change(document), "name": name}, who.tenant)
        return Outcome(await catalogue.save_all(tx, [draft], actor=who.actor), tx.now)

    return await database.transact(save)


async def delete(database: Database, name: str, who: Caller, if_match: str | None) -> Outcome:
    """Delete a definition with its schedules; what waits of its runs is skipped.  Raises Conflict while one of them is running."""

    async def remove(tx: Tx) -> Outcome:
        row = await locked(tx, name, who)
        require_version(row, if_match, needed=False)
        freed = await catalogue.remove(tx, row, actor=who.actor)
        return Outcome([Saved(row["id"], name, row["version"], DELETED), *freed], tx.now)

    return await database.transact(remove)


async def turn(database: Database, name: str, who: Caller, switch: Callable[[Tx, Row], Awaitable[list[Placed]]]) -> Outcome:
    """Turn a switch of a definition that has a verb of its own."""

    async def act(tx: Tx) -> Outcome:
        row = await locked(tx, name, who)
        queued = await switch(tx, row)
        after = found(await definitions.get(tx, name, who.tenant), name)
        change = "updated" if after["version"] != row["version"] else ""
        return Outcome([Saved(row["id"], name, after["version"], change, queued)], tx.now)

    return await database.transact(act)


async def locked(tx: Tx, name: str, who: Caller) -> Row:
    """Lock a definition and return its row.  Raises NotFound."""
    return found(await definitions.lock(tx, name, who.tenant), name)


def found(row: Row | None, name: str) -> Row:
    """Return the row of a definition.  Raises NotFound when there is none."""
    if row is None:
        raise NotFound(f"definition: there is no definition {name!r}", code="definition_unknown")
    return row


def etag(version: int) -> str:
    """Return a version as an entity tag."""
    return f'"{version}"'


def require_version(row: Row | None, if_match: str | None, *, needed: bool, what: str = "definition") -> None:
    """Raise Conflict unless the caller builds on the version that stands; one that is not `needed` may be left out."""
    if if_match is None:
        if needed:
            raise Conflict("If-Match: is required: send the ETag of the version that this change builds on", code=PRECONDITION_REQUIRED)
        return
    tags = {tag.strip().removeprefix("W/") for tag in if_match.split(",")}
    if row is None or not tags & {etag(row["version"]), "*"}:
        standing = "it does not exist" if row is None else f"it is at version {row['version']}"
        raise Conflict(f"If-Match: the {what} has changed: {standing}", code=PRECONDITION_FAILED)


def announce(announcer: Announcer, outcome: Outcome, tenant: str) -> None:
    """Tell every scheduler what changed, after this; one that does not hear it looks within 30 s."""
    for saved in outcome.saved:
        announcer.put(hints.created((hints.Queued(run.id, run.queue, run.priority) for run in saved.queued), at=outcome.at))
        if saved.change:
            change = {"tenant": tenant, "definition": saved.name, "version": saved.version, "change": saved.change}
            announcer.put([hints.letter(DefinitionChanged.model_validate(change), at=outcome.at)])
