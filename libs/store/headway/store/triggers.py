"""Triggers: kept with the definition whose runs fire them; no way along enabled ones leads back to where it began."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Integer, Select, Text, Uuid, and_, case, delete, exists, func, insert, literal_column, or_, select, update

from headway.core.condition import condition_document, read_condition
from headway.core.errors import Problem
from headway.core.ids import make_ids
from headway.core.reading import demand
from headway.core.secret import Vault, sealed
from headway.core.secret_names import NONE, Secrets, secrets_in
from headway.core.trigger import TriggerDraft, circle
from headway.store.documents import as_stored
from headway.store.reactions import Kind
from headway.store.schedules import Change, Seal, change_of
from headway.store.schema import definition, trigger
from headway.store.statement import INSTANT, array, const, param, statement
from headway.store.tx import Row, Tx

_MEANING: Final = ("description", "target", "condition", "parameters", "enabled")
_source, _target = definition.alias("source"), definition.alias("target")
_named: Select[Any] = select(trigger, _source.c.name.label("source_name"), _target.c.name.label("target_name")).select_from(
    trigger.join(_source, _source.c.id == trigger.c.source).join(_target, _target.c.id == trigger.c.target)
)
OF_DEFINITION: Final = statement("trigger_of_definition", _named.where(trigger.c.source == param("of", Uuid)).order_by(trigger.c.name))
AIMED_AT: Final = statement(
    "trigger_aimed_at",
    _named.where(trigger.c.target == param("at", Uuid)).order_by(_source.c.name, trigger.c.name),
)
_one = _named.where(trigger.c.id == param("id", Uuid), trigger.c.tenant == param("tenant", Text))
GET: Final = statement("trigger_get", _one)
LIST: Final = statement(
    "trigger_list",
    _named.where(
        trigger.c.tenant == param("tenant", Text),
        or_(param("source", Text).is_(None), _source.c.name == param("source", Text)),
        or_(param("target", Text).is_(None), _target.c.name == param("target", Text)),
        or_(param("after", Uuid).is_(None), trigger.c.id > param("after", Uuid)),
    )
    .order_by(trigger.c.id)
    .limit(param("limit", Integer)),
)
# Two saves that each close one half of a circle would not see one another: whoever adds a way waits for the others.
LOCK: Final = statement(
    "trigger_lock", select(func.pg_advisory_xact_lock(func.hashtextextended(literal_column("'headway triggers'", Text), const(0))))
)
TARGETS: Final = statement(
    "trigger_targets",
    select(definition.c.id, definition.c.name)
    .where(definition.c.tenant == param("tenant", Text), definition.c.name == func.any(array("names", Text)))
    .order_by(definition.c.id)
    .with_for_update(key_share=True, read=True),
)
SECRETS: Final = statement(
    "trigger_secrets",
    select(definition.c.id, definition.c.parameter_spec).where(definition.c.id == func.any(array("ids", Uuid)), definition.c.secret),
)
SEAL: Final = statement(
    "trigger_seal",
    update(trigger).where(trigger.c.id == param("id", Uuid)).values(parameters=param("parameters", trigger.c.parameters.type)),
)
CREATE: Final = statement(
    "trigger_create",
    insert(trigger).values(
        id=param("id", Uuid),
        tenant=param("tenant", Text),
        name=param("name", Text),
        source=param("of", Uuid),
        declared=param("declared", Text),
        created_at=param("now", INSTANT),
        updated_at=param("now", INSTANT),
        **{name: param(f"new_{name}", trigger.c[name].type) for name in _MEANING},
    ),
)
CHANGE: Final = statement(
    "trigger_change",
    update(trigger)
    .where(trigger.c.id == param("id", Uuid))
    .values(
        version=trigger.c.version + const(1),
        updated_at=param("now", INSTANT),
        overridden=array("overridden", Text),
        **{name: param(f"new_{name}", trigger.c[name].type) for name in _MEANING},
    ),
)
REMOVE: Final = statement("trigger_remove", delete(trigger).where(trigger.c.id == func.any(array("ids", Uuid))))
TRIGGER_BIT: Final = const(1 << Kind.TRIGGER)
_OTHER_BITS: Final = const(~(1 << Kind.TRIGGER))
MAY_FIRE: Final = and_(definition.c.allow_triggers, exists().where(trigger.c.source == definition.c.id, trigger.c.enabled))
OWE: Final = statement(
    "trigger_owe",
    update(definition)
    .where(definition.c.id == param("of", Uuid))
    .values(owes=case((MAY_FIRE, definition.c.owes.op("|")(TRIGGER_BIT)), else_=definition.c.owes.op("&")(_OTHER_BITS))),
)
_step = select(trigger.c.source, trigger.c.target).where(trigger.c.enabled)
_ways = _step.where(trigger.c.source == func.any(array("ids", Uuid))).cte("ways", recursive=True)
_ways = _ways.union(_step.join(_ways, _ways.c.target == trigger.c.source))
WAYS: Final = statement(
    "trigger_ways",
    select(_ways.c.source, _source.c.name.label("source_name"), _ways.c.target, _target.c.name.label("target_name"))
    .select_from(_ways.join(_source, _source.c.id == _ways.c.source).join(_target, _target.c.id == _ways.c.target))
    .order_by(_source.c.name, _target.c.name),
)


class Edits(NamedTuple):
    """Triggers of one definition to create by name, to change, and to remove."""

    declared: str
    created: Mapping[str, Mapping[str, Any]]
    changed: Mapping[UUID, Change]
    gone: frozenset[UUID]

    def __bool__(self) -> bool:
        return bool(self.created or self.changed or self.gone)


class Wanted(NamedTuple):
    """What is wanted of the triggers of a locked definition: drafts by the path of their fields in problems.

    Of those that stand and are not named, the ones that were declared by the same side go, unless `others` are left alone.
    """

    owner: Mapping[str, Any]
    drafts: Mapping[str, TriggerDraft]
    declared: str
    others: bool = False


async def of_definition(tx: Tx, definition_id: UUID) -> Sequence[Row]:
    """Return the triggers that runs of a definition fire, by name."""
    return await tx.fetch(OF_DEFINITION, of=definition_id)


async def aimed_at(tx: Tx, definition_id: UUID) -> Sequence[Row]:
    """Return the triggers that ask for runs of a definition."""
    return await tx.fetch(AIMED_AT, at=definition_id)


async def get(tx: Tx, trigger_id: UUID, tenant: str = "") -> Row | None:
    """Return one trigger with the names of its source and target, or None."""
    return await tx.fetch_one(GET, id=trigger_id, tenant=tenant)


async def listed(
    tx: Tx, tenant: str = "", *, source: str | None = None, target: str | None = None, after: UUID | None = None, limit: int = 50
) -> Sequence[Row]:
    """Return triggers by id, after the given one, optionally of one source or target."""
    return await tx.fetch(LIST, tenant=tenant, source=source, target=target, after=after, limit=limit)


async def lock(tx: Tx) -> None:
    """Keep everybody else from adding triggers until the transaction ends; it comes before the locks of definitions."""
    await tx.execute(LOCK)


async def edits_for(tx: Tx, wanted: Sequence[Wanted]) -> list[Edits]:
    """Say what makes the triggers of locked definitions be what is wanted.

    Code never changes `enabled`, nor a field that an operator set over what it declares.  Raises Invalid with every target that is
    not there.
    """
    tenants = sorted({one.owner["tenant"] for one in wanted if one.drafts})
    names = sorted({draft.target for one in wanted for draft in one.drafts.values()})
    known = {(tenant, row["name"]): row["id"] for tenant in tenants for row in await tx.fetch(TARGETS, tenant=tenant, names=names)}
    demand(
        [
            Problem(f"{path}target", f"there is no definition {draft.target!r}")
            for one in wanted
            for path, draft in one.drafts.items()
            if (one.owner["tenant"], draft.target) not in known
        ]
    )
    rows = {one.owner["id"]: await of_definition(tx, one.owner["id"]) for one in wanted}
    targets = {*known.values(), *(row["target"] for each in rows.values() for row in each)}
    secrets = {row["id"]: secrets_in(row["parameter_spec"]) for row in await tx.fetch(SECRETS, ids=sorted(targets))}
    return [_edits(one, rows[one.owner["id"]], known, partial(_sealed, secrets, tx.vault)) for one in wanted]


async def replace(tx: Tx, owner: Mapping[str, Any], edits: Edits) -> None:
    """Make the edits of a locked definition's triggers."""
    if edits.gone:
        await tx.execute(REMOVE, ids=sorted(edits.gone))
    for id_, change in edits.changed.items():
        await tx.execute(CHANGE, id=id_, now=tx.now, overridden=change.overridden, **_new(change.columns))
    for id_, (name, columns) in zip(make_ids(tx.now, len(edits.created)), edits.created.items(), strict=True):
        values = {"id": id_, "tenant": owner["tenant"], "name": name, "of": owner["id"], "declared": edits.declared}
        await tx.execute(CREATE, **values, now=tx.now, **_new(columns))


async def seal_aimed_at(tx: Tx, definition_id: UUID, spec: Mapping[str, Any] | None) -> None:
    """Seal what triggers give to runs of a definition whose specification calls it secret now.  Raises Invalid without a key."""
    secrets = secrets_in(spec)
    for row in await aimed_at(tx, definition_id) if secrets else ():
        kept = sealed(row["parameters"], secrets, tx.vault, path="triggers.parameters", kept=row["parameters"])
        if kept != row["parameters"]:
            await tx.execute(SEAL, id=row["id"], parameters=kept)


async def owe(tx: Tx, definition_id: UUID) -> None:
    """Have every end of a definition's runs owe its triggers, as long as it has some that may fire, and not otherwise."""
    await tx.execute(OWE, of=definition_id)


async def require_no_circle(tx: Tx, wanted: Sequence[Wanted]) -> None:
    """Raise Invalid when enabled triggers, as this transaction leaves them, lead from one of these definitions back to it."""
    ways: dict[UUID, list[UUID]] = {}
    names: dict[UUID, str] = {}
    for row in await tx.fetch(WAYS, ids=sorted({one.owner["id"] for one in wanted if one.drafts})):
        ways.setdefault(row["source"], []).append(row["target"])
        names |= {row["source"]: row["source_name"], row["target"]: row["target_name"]}
    problems = []
    for one in wanted:
        own = {names[target]: target for target in ways.get(one.owner["id"], ())}
        for path, draft in one.drafts.items():
            if draft.target in own and (found := circle({**ways, one.owner["id"]: [own[draft.target]]}, one.owner["id"])):
                problems.append(Problem(f"{path}target", f"closes a circle: {' -> '.join(names[id_] for id_ in found)}"))
    demand(problems)


def draft_of(row: Row) -> TriggerDraft:
    """Return the draft that would make a trigger what its row says."""
    condition = None if row["condition"] is None else read_condition(row["condition"])
    return TriggerDraft(row["name"], row["target_name"], condition, row["parameters"], row["description"], row["enabled"])


def _edits(wanted: Wanted, rows: Sequence[Row], known: Mapping[tuple[str, str], UUID], seal: Callable[[str], Seal]) -> Edits:
    standing = {row["name"]: row for row in rows}
    meant = {
        draft.name: (_meaning(draft, known[wanted.owner["tenant"], draft.target]), seal(f"{path}parameters"))
        for path, draft in wanted.drafts.items()
    }
    changed = {
        row["id"]: change
        for name, row in standing.items()
        if name in meant and (change := change_of(row, meant[name][0], wanted.declared, meant[name][1], row["declared"]))
    }
    gone = {row["id"] for name, row in standing.items() if row["declared"] == wanted.declared and name not in meant and not wanted.others}
    created = {name: own(columns, {}) for name, (columns, own) in meant.items() if name not in standing}
    return Edits(wanted.declared, created, changed, frozenset(gone))


def _sealed(secrets: Mapping[UUID, Secrets], vault: Vault | None, path: str) -> Seal:
    """Return what seals the parameters among the columns of a trigger as its target's specification asks."""

    def seal(columns: Mapping[str, Any], row: Row | Mapping[str, Any]) -> dict[str, Any]:
        kept = sealed(columns["parameters"], secrets.get(columns["target"], NONE), vault, path=path, kept=row.get("parameters"))
        return {**columns, "parameters": kept}

    return seal


def _meaning(draft: TriggerDraft, target: UUID) -> dict[str, Any]:
    condition = None if draft.condition is None else as_stored(condition_document(draft.condition), "condition")
    parameters = as_stored(dict(draft.parameters), "parameters")
    return {name: getattr(draft, name) for name in _MEANING} | {"target": target, "condition": condition, "parameters": parameters}


def _new(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {f"new_{name}": value for name, value in columns.items()}
