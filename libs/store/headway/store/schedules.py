"""Schedules: kept with their definition, loaded by schedulers, moved on by compare-and-set."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID

from sqlalchemy import Integer, Text, Uuid, delete, func, insert, null, or_, select, update

from headway.core.definition import ScheduleDraft
from headway.core.ids import make_id
from headway.core.schedule.rule import to_mapping
from headway.core.secret import Vault, sealed
from headway.core.secret_names import Secrets, secrets_in
from headway.store import calendars, editing, inline_calendars
from headway.store.documents import as_stored
from headway.store.schema import definition, schedule
from headway.store.statement import INSTANT, array, param, statement
from headway.store.tx import Row, Tx

_MEANING: Final = (
    "description",
    "owner",
    "rule",
    "misfire",
    "misfire_max_age",
    "misfire_limit",
    "overlap",
    "overlap_max",
    "calendars",
    "parameters",
    "payload",
    "allowed_delay",
    "retry_horizon",
    "completion_target",
    "enabled",
)
OF_DEFINITION: Final = statement(
    "schedule_of_definition",
    select(schedule).where(schedule.c.definition == param("of", Uuid)).order_by(schedule.c.id).with_for_update(),
)
READ_OF_DEFINITION: Final = statement(
    "schedule_read_of_definition",
    select(schedule, calendars.used(schedule.c.calendars)).where(schedule.c.definition == param("of", Uuid)).order_by(schedule.c.name),
)
CREATE: Final = statement(
    "schedule_create",
    insert(schedule).values(
        id=param("id", Uuid),
        definition=param("of", Uuid),
        tenant=param("tenant", Text),
        name=param("name", Text),
        source=param("source", Text),
        decided_until=param("now", INSTANT),
        created_at=param("now", INSTANT),
        updated_at=param("now", INSTANT),
        **{name: param(f"new_{name}", schedule.c[name].type) for name in _MEANING},
    ),
)
CHANGE: Final = statement(
    "schedule_change",
    update(schedule)
    .where(schedule.c.id == param("schedule", Uuid))
    .values(
        broken=null(),
        overridden=array("overridden", Text),
        **{name: param(f"new_{name}", schedule.c[name].type) for name in _MEANING},
    ),
)
REMOVE: Final = statement("schedule_remove", delete(schedule).where(schedule.c.id == func.any(array("ids", Uuid))))
JOINED: Final = schedule.join(definition, definition.c.id == schedule.c.definition)
LIST: Final = statement(
    "schedule_list",
    select(schedule, definition.c.name.label("definition_name"), calendars.used(schedule.c.calendars))
    .select_from(JOINED)
    .where(
        schedule.c.tenant == param("tenant", Text),
        or_(param("of", Text).is_(None), definition.c.name == param("of", Text)),
        or_(param("after", Uuid).is_(None), schedule.c.id > param("after", Uuid)),
    )
    .order_by(schedule.c.id)
    .limit(param("limit", Integer)),
)
_one = (
    select(
        schedule,
        definition.c.name.label("definition_name"),
        definition.c.tenant.label("definition_tenant"),
        calendars.used(schedule.c.calendars),
    )
    .select_from(JOINED)
    .where(schedule.c.id == param("id", Uuid), schedule.c.tenant == param("tenant", Text))
)
GET: Final = statement("schedule_get", _one)
LOCK_ONE: Final = statement("schedule_lock_one", _one.with_for_update(of=schedule))


Seal: TypeAlias = Callable[[Mapping[str, Any], Row | Mapping[str, Any]], dict[str, Any]]


class Change(NamedTuple):
    """What a schedule or a trigger is to be, and the fields of it that an operator set over what code declares."""

    columns: Mapping[str, Any]
    overridden: list[str]


class Edits(NamedTuple):
    """Schedules to create by name, to change, and to remove; `touched` ones begin a new version as they are, out of all that `stand`."""

    source: str
    created: Mapping[str, Mapping[str, Any]]
    changed: Mapping[UUID, Change]
    gone: frozenset[UUID]
    touched: frozenset[UUID]
    standing: frozenset[UUID]

    def __bool__(self) -> bool:
        return bool(self.created or self.changed or self.gone)


async def of_definition(tx: Tx, definition_id: UUID, *, locked: bool = False) -> Sequence[Row]:
    """Return a definition's schedules, by name, or locked by id."""
    return await tx.fetch(OF_DEFINITION if locked else READ_OF_DEFINITION, of=definition_id)


async def listed(tx: Tx, tenant: str = "", *, of: str | None = None, after: UUID | None = None, limit: int = 50) -> Sequence[Row]:
    """Return schedules by id, after the given one, optionally of one definition."""
    return await tx.fetch(LIST, tenant=tenant, of=of, after=after, limit=limit)


async def get(tx: Tx, schedule_id: UUID, tenant: str = "", *, locked: bool = False) -> Row | None:
    """Return one schedule, or None."""
    return await tx.fetch_one(LOCK_ONE if locked else GET, id=schedule_id, tenant=tenant)


async def replace(tx: Tx, owner: Row | Mapping[str, Any], edits: Edits, *, actor: str) -> list[UUID]:
    """Make the edits and return what is new; `editing.close` has decided the slots of every schedule concerned up to now."""
    await editing.end(tx, edits.gone, actor=actor)
    if edits.gone:
        await tx.execute(REMOVE, ids=sorted(edits.gone))
    for id_, change in edits.changed.items():
        await tx.execute(CHANGE, schedule=id_, overridden=change.overridden, **_new(change.columns))
    await editing.begin(tx, {*edits.changed, *edits.touched}, actor=actor)
    created = [await _create(tx, owner, name, columns, edits.source) for name, columns in edits.created.items()]
    await editing.record(tx, created, actor=actor)
    return created


async def edits_for(tx: Tx, owner: Row | Mapping[str, Any], drafts: Sequence[ScheduleDraft], source: str) -> Edits:
    """Say what makes a definition's schedules be exactly these, by name; its schedules are locked.

    An unchanged schedule is not touched and keeps its planned slot.  Schedules that came from elsewhere (`source`) stay.  Code never
    changes `enabled`, nor a field that an operator set over what it declares.  Raises Invalid for a calendar that does not exist.
    """
    rows = await of_definition(tx, owner["id"], locked=True)
    standing = {row["name"]: row for row in rows if row["tenant"] == owner["tenant"]}
    wanted = {draft.name: await _meant(tx, owner, draft) for draft in drafts}
    seal = partial(_sealed, secrets_in(owner["parameter_spec"]), tx.vault, "schedules.parameters")
    changed = {
        row["id"]: change
        for name, row in standing.items()
        if name in wanted and (change := change_of(row, wanted[name], source, seal, row["source"]))
    }
    gone = frozenset(row["id"] for name, row in standing.items() if row["source"] == source and name not in wanted)
    changed |= _bared([row for row in rows if row["id"] not in changed and row["id"] not in gone], seal)
    created = {name: seal(columns, {}) for name, columns in wanted.items() if name not in standing}
    return Edits(source, created, changed, gone, frozenset(), frozenset(row["id"] for row in rows) - gone)


async def edit_of(tx: Tx, owner: Row | Mapping[str, Any], draft: ScheduleDraft, row: Row | None) -> Edits:
    """Say what makes one schedule, which does not stand yet when `row` is None, be what a draft says; all others stay."""
    wanted = await _meant(tx, owner, draft)
    seal = partial(_sealed, secrets_in(owner["parameter_spec"]), tx.vault, "parameters")
    if row is None:
        return Edits("api", {draft.name: seal(wanted, {})}, {}, frozenset(), frozenset(), frozenset())
    change = change_of(row, wanted, "api", seal, row["source"])
    return Edits("api", {}, {row["id"]: change} if change else {}, frozenset(), frozenset(), frozenset())


def _sealed(secrets: Secrets, vault: Vault | None, path: str, columns: Mapping[str, Any], row: Row | Mapping[str, Any]) -> dict[str, Any]:
    """Columns with their secret parameters sealed; one that is the same in the schedule's row stays the same token."""
    return {**columns, "parameters": sealed(columns["parameters"], secrets, vault, path=path, kept=row.get("parameters"))}


def _bared(rows: Sequence[Row], seal: Seal) -> dict[UUID, Change]:
    """What seals the parameters of schedules that nobody changes, when their definition's specification calls them secret now."""
    kept = {row["id"]: (row, seal({name: row[name] for name in _MEANING}, row)) for row in rows}
    return {id_: Change(columns, row["overridden"]) for id_, (row, columns) in kept.items() if columns["parameters"] != row["parameters"]}


def change_of(row: Row, wanted: Mapping[str, Any], source: str, seal: Seal, declared: str) -> Change | None:
    """Say what makes a row that was `declared` somewhere be what is wanted by a `source`; None when it is that already."""
    mine = {"enabled", *row["overridden"]} if source == "code" else set()
    kept = seal({name: row[name] if name in mine else value for name, value in wanted.items()}, row)
    differing = {name for name, value in kept.items() if row[name] != value}
    if not differing:
        return None
    by_operator = differing if source != "code" and declared == "code" else set()
    return Change(kept, sorted({*row["overridden"], *by_operator}))


async def _create(tx: Tx, owner: Row | Mapping[str, Any], name: str, columns: Mapping[str, Any], source: str) -> UUID:
    id_ = make_id(tx.now)
    await tx.execute(CREATE, id=id_, of=owner["id"], tenant=owner["tenant"], name=name, source=source, now=tx.now, **_new(columns))
    return id_


async def _meant(tx: Tx, owner: Row | Mapping[str, Any], draft: ScheduleDraft) -> dict[str, Any]:
    if draft.calendars is None and not draft.calendar:
        return meaning(draft)
    chosen = await inline_calendars.chosen(tx, draft.calendars or (), draft.calendar, owner["tenant"])
    return meaning(draft) | {"calendars": chosen}


def meaning(draft: ScheduleDraft) -> dict[str, Any]:
    """Return the columns that carry a schedule's meaning."""
    return {name: getattr(draft, name) for name in _MEANING} | {
        "calendars": None,
        "payload": draft.payload.encode() or None,
        "rule": to_mapping(draft.rule),
        "parameters": as_stored(dict(draft.parameters), "parameters"),
    }


def _new(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {f"new_{name}": value for name, value in columns.items()}
