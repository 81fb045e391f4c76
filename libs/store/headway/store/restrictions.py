"""Restrictions: pairs of definitions that must not be active together; each edit is audited and begins a version of both."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import Integer, Text, Uuid, delete, func, insert, or_, select, update

from headway.core.errors import Conflict, NotFound, Problem
from headway.core.ids import make_ids
from headway.core.reading import demand
from headway.store import audit, definitions, gates
from headway.store.definitions import Saved
from headway.store.schema import definition, restriction
from headway.store.snapshots import versioned
from headway.store.statement import array, now, param, statement
from headway.store.tx import Row, Tx

_first: Final = definition.alias("one")
_second: Final = definition.alias("two")
_shown: Final = (
    select(restriction, _first.c.name.label("first_name"), _second.c.name.label("second_name"))
    .join(_first, _first.c.id == restriction.c.first)
    .join(_second, _second.c.id == restriction.c.second)
)
_tenant: Final = restriction.c.tenant == param("tenant", Text)
GET: Final = statement("restriction_get", _shown.where(restriction.c.id == param("id", Uuid), _tenant))
LIST: Final = statement(
    "restriction_list",
    _shown.where(
        _tenant,
        or_(param("after", Uuid).is_(None), restriction.c.id > param("after", Uuid)),
        or_(
            param("definition", Text).is_(None),
            _first.c.name == param("definition", Text),
            _second.c.name == param("definition", Text),
        ),
    )
    .order_by(restriction.c.id)
    .limit(param("limit", Integer)),
)
_either: Final = or_(restriction.c.first == func.any(array("ids", Uuid)), restriction.c.second == func.any(array("ids", Uuid)))
OF: Final = statement("restriction_of", _shown.where(_either).order_by(restriction.c.id))
CREATE: Final = statement(
    "restriction_create",
    insert(restriction).values(
        id=param("id", Uuid),
        tenant=param("tenant", Text),
        first=param("first", Uuid),
        second=param("second", Uuid),
        description=param("description", Text),
        created_at=now(),
        created_by=param("actor", Text),
    ),
)
DESCRIBE: Final = statement(
    "restriction_describe",
    update(restriction).where(restriction.c.id == param("id", Uuid)).values(description=param("description", Text)),
)
REMOVE: Final = statement("restriction_remove", delete(restriction).where(restriction.c.id == param("id", Uuid)))


class Pair(NamedTuple):
    """Two definitions, by name and in no order, that must not be active together; both may be the same one."""

    first: str
    second: str
    description: str = ""


class Change(NamedTuple):
    """What an edit made of a pair: created, updated, deleted, or nothing."""

    id: UUID
    pair: Pair
    change: str


class Edited(NamedTuple):
    """What an edit came to: the pairs in the order asked for, and the definitions that begin a version, with the runs to announce."""

    changes: list[Change]
    concerned: list[Saved]


async def get(tx: Tx, restriction_id: UUID, tenant: str = "") -> Row:
    """Return a restriction with the names of both definitions.  Raises NotFound."""
    row = await tx.fetch_one(GET, id=restriction_id, tenant=tenant)
    if row is None:
        raise NotFound(f"restriction: there is no restriction {restriction_id}", code="restriction_unknown")
    return row


async def listed(tx: Tx, tenant: str = "", *, of: str | None = None, after: UUID | None = None, limit: int = 50) -> Sequence[Row]:
    """Return restrictions by id, after the given one; all, or those of one definition."""
    return await tx.fetch(LIST, tenant=tenant, definition=of, after=after, limit=limit)


async def create(tx: Tx, pair: Pair, *, tenant: str = "", actor: str) -> Edited:
    """Keep two definitions apart from now on; runs that are active already go on.

    Raises Invalid for names that there are not, Conflict when they are kept apart already.
    """
    edited = await apply(tx, [pair], tenant=tenant, actor=actor, paths=[""])
    if edited.changes[0].change != "created":
        raise Conflict(f"restriction: {pair.first!r} and {pair.second!r} are restricted already", code="restriction_exists")
    return edited


async def apply(tx: Tx, pairs: Sequence[Pair], *, tenant: str = "", actor: str, paths: Sequence[str]) -> Edited:
    """Create restrictions or change what is said of them; others stay.

    Raises Invalid with every name that there is not; `paths` says what stands before the fields of each pair.
    """
    rows = await _locked(tx, {name for pair in pairs for name in pair[:2]}, tenant)
    _check(pairs, rows, paths)
    standing = await _standing(tx, [row["id"] for row in rows.values()])
    keys = [_key(rows[pair.first], rows[pair.second]) for pair in pairs]
    ids = make_ids(tx.now, len(pairs))
    changes = [_change(id_, pair, standing.get(key)) for id_, pair, key in zip(ids, pairs, keys, strict=True)]
    return await _write(tx, changes, rows, tenant=tenant, actor=actor)


async def remove(tx: Tx, restriction_id: UUID, *, tenant: str = "", actor: str) -> Edited:
    """Let two definitions be active together again, and whoever waits for that in.  Raises NotFound."""
    seen = await get(tx, restriction_id, tenant)
    rows = await _locked(tx, {seen["first_name"], seen["second_name"]}, tenant)
    gone = _gone(await get(tx, restriction_id, tenant))
    return await _write(tx, [gone], rows, tenant=tenant, actor=actor)


async def replace(tx: Tx, wanted: Mapping[str, Iterable[str]], *, tenant: str = "", actor: str) -> Edited:
    """Make the restrictions of definitions what their lists of names say: a pair stands if either's list has it.

    Raises Invalid with every name that there is not.
    """
    pairs = sorted({(min(name, other), max(name, other)) for name, others in wanted.items() for other in others})
    names = {name for pair in pairs for name in pair} | wanted.keys()
    rows = await _locked(tx, names, tenant)
    demand([Problem("restrictions", f"there is no definition {name!r}") for name in sorted(names) if name not in rows])
    standing = await _standing(tx, [rows[name]["id"] for name in wanted])
    kept = {_key(rows[first], rows[second]): Pair(first, second) for first, second in pairs}
    new = [key for key in kept if key not in standing]
    changes = [_gone(row) for key, row in standing.items() if key not in kept]
    changes += [Change(id_, kept[key], "created") for id_, key in zip(make_ids(tx.now, len(new)), new, strict=True)]
    rows |= await _locked(tx, {name for one in changes for name in one.pair[:2]} - rows.keys(), tenant)
    return await _write(tx, changes, rows, tenant=tenant, actor=actor)


async def _locked(tx: Tx, names: Collection[str], tenant: str) -> dict[str, Row]:
    """Lock definitions in the order in which whoever saves several does."""
    found = {name: await definitions.lock(tx, name, tenant) for name in sorted(names)}
    return {name: row for name, row in found.items() if row is not None}


def _check(pairs: Sequence[Pair], rows: Mapping[str, Row], paths: Sequence[str]) -> None:
    problems = [
        Problem(f"{path}{field}", f"there is no definition {name!r}")
        for pair, path in zip(pairs, paths, strict=True)
        for field, name in (("first", pair.first), ("second", pair.second))
        if name not in rows
    ]
    times = Counter(tuple(sorted(pair[:2])) for pair in pairs)
    problems += [Problem("restrictions", f"{one!r} and {other!r} are named twice") for (one, other), count in times.items() if count > 1]
    demand(problems)


async def _standing(tx: Tx, ids: Sequence[UUID]) -> dict[tuple[UUID, UUID], Row]:
    return {(row["first"], row["second"]): row for row in await tx.fetch(OF, ids=sorted(ids))}


def _key(one: Row, other: Row) -> tuple[UUID, UUID]:
    return min(one["id"], other["id"]), max(one["id"], other["id"])


def _change(new_id: UUID, pair: Pair, standing: Row | None) -> Change:
    if standing is None:
        return Change(new_id, pair, "created")
    return Change(standing["id"], pair, "" if standing["description"] == pair.description else "updated")


def _gone(row: Row) -> Change:
    return Change(row["id"], Pair(row["first_name"], row["second_name"], row["description"]), "deleted")


async def _write(tx: Tx, changes: list[Change], rows: Mapping[str, Row], *, tenant: str, actor: str) -> Edited:
    """Write changes of pairs whose definitions are locked, with all that follows from them."""
    names = sorted({name for one in changes if one.change for name in one.pair[:2]})
    ids = [rows[name]["id"] for name in names]
    await gates.lock(tx, ids)
    for one in changes:
        await _write_one(tx, one, rows, tenant, actor)
    concerned = [await _next_version(tx, name, tenant, actor) for name in names]
    if any(one.change == "deleted" for one in changes):
        concerned[0] = concerned[0]._replace(queued=await gates.promote(tx, ids))
    return Edited(changes, concerned)


async def _write_one(tx: Tx, one: Change, rows: Mapping[str, Row], tenant: str, actor: str) -> None:
    match one.change:
        case "created":
            first, second = _key(rows[one.pair.first], rows[one.pair.second])
            await tx.execute(CREATE, id=one.id, tenant=tenant, first=first, second=second, description=one.pair.description, actor=actor)
        case "updated":
            await tx.execute(DESCRIBE, id=one.id, description=one.pair.description)
        case "deleted":
            await tx.execute(REMOVE, id=one.id)
        case _:
            return
    await audit.write(tx, audit.Entry(actor, f"restriction.{one.change}", f"restriction:{one.id}", tenant, new=one.pair._asdict()))


async def _next_version(tx: Tx, name: str, tenant: str, actor: str) -> Saved:
    row = await definitions.lock(tx, name, tenant)
    assert row is not None, "it is locked in this transaction"
    return await versioned(tx, Saved(row["id"], name, await definitions.regate(tx, row), "updated"), tenant, actor)
