"""Definitions: saved with all their schedules in one transaction, each change a new version with its snapshot."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, Integer, Text, Uuid, and_, delete, func, insert, literal_column, or_, select, true, update
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by

from headway.core.definition import DefinitionDraft, backoff_document, is_limited
from headway.core.ids import make_id
from headway.core.run import Cause, State
from headway.core.secret import Vault, sealed
from headway.core.secret_names import secrets_in
from headway.store.calendars import used
from headway.store.documents import as_stored
from headway.store.gates import Placed
from headway.store.limits import PARTNER, RESTRICTS
from headway.store.schema import definition, definition_version, restriction, run
from headway.store.statement import array, const, now, param, statement
from headway.store.tx import Row, Tx

_MEANING: Final = (
    "description",
    "owner",
    "handler",
    "queue",
    "priority",
    "timeout",
    "attempts",
    "backoff",
    "retry_horizon",
    "start_by",
    "parameters",
    "parameter_spec",
    "restartable",
    "allow_triggers",
    "max_concurrent_runs",
    "max_runs_per_hour",
    "over_limit",
    "gated",
    "secret",
    "retention_days",
    "overlap",
    "watch",
    "calendars",
    "enabled",
)
_mine: Final = and_(definition.c.tenant == param("tenant", Text), definition.c.name == param("name", Text))
_other: Final = definition.alias("other")
_restricted_with = (
    select(func.coalesce(func.array_agg(aggregate_order_by(_other.c.name, _other.c.name)), literal_column("'{}'::text[]", ARRAY(Text))))
    .select_from(restriction.join(_other, _other.c.id == PARTNER))
    .where(RESTRICTS)
    .scalar_subquery()
    .label("restrictions")
)
_shown: Final = (definition, used(definition.c.calendars), _restricted_with)
GET: Final = statement("definition_get", select(*_shown).where(_mine))
# Asked for with each request for runs: what nobody looks at there is not read.
BRIEF: Final = statement("definition_brief", select(definition).where(_mine))
LOCK: Final = statement("definition_lock", select(*_shown).where(_mine).with_for_update(of=definition))
# A name that does not exist yet has no row to lock.
_claimed_name: Final = literal_column("'definition:'", Text) + param("tenant", Text) + literal_column("'/'", Text) + param("name", Text)
RESERVE: Final = statement("definition_reserve", select(func.pg_advisory_xact_lock(func.hashtextextended(_claimed_name, const(0)))))
CREATE: Final = statement(
    "definition_create",
    insert(definition).values(
        id=param("id", Uuid),
        tenant=param("tenant", Text),
        name=param("name", Text),
        source=param("source", Text),
        created_at=now(),
        updated_at=now(),
        **{name: param(f"new_{name}", definition.c[name].type) for name in _MEANING},
    ),
)
CHANGE: Final = statement(
    "definition_change",
    update(definition)
    .where(definition.c.id == param("definition", Uuid))
    .values(
        version=definition.c.version + const(1),
        updated_at=now(),
        **{name: param(f"new_{name}", definition.c[name].type) for name in _MEANING},
    )
    .returning(definition.c.version),
)
TOUCH: Final = statement(
    "definition_touch",
    update(definition)
    .where(definition.c.id == param("definition", Uuid))
    .values(version=definition.c.version + const(1), updated_at=now())
    .returning(definition.c.version),
)
OVERRIDE: Final = statement(
    "definition_override",
    update(definition).where(definition.c.id == param("definition", Uuid)).values(overridden=array("names", Text)),
)
SNAPSHOT: Final = statement(
    "definition_snapshot",
    insert(definition_version).values(
        definition=param("of", Uuid),
        version=param("number", Integer),
        snapshot=param("snapshot", JSONB),
        created_at=now(),
        created_by=param("actor", Text),
    ),
)
LIST: Final = statement(
    "definition_list",
    select(*_shown)
    .where(
        definition.c.tenant == param("tenant", Text),
        or_(param("after", Text).is_(None), definition.c.name > param("after", Text)),
        or_(param("source", Text).is_(None), definition.c.source == param("source", Text)),
    )
    .order_by(definition.c.name)
    .limit(param("limit", Integer)),
)
REMOVE: Final = statement("definition_remove", delete(definition).where(_mine).returning(definition.c.id))
_gateless = (
    select(run.c.id)
    .where(run.c.definition_id == param("of", Uuid), ~run.c.gated)
    .order_by(run.c.id)
    .with_for_update()
    .cte("gateless")
    .prefix_with("MATERIALIZED")
)
GATE_RUNS: Final = statement("definition_gate_runs", update(run).where(run.c.id == _gateless.c.id).values(gated=true()))
OPEN_RUNS: Final = statement(
    "definition_open_runs",
    select(run.c.id)
    .where(run.c.definition_id == param("of", Uuid), run.c.state < const(State.RUNNING), run.c.cause != const(Cause.CHILDREN))
    .order_by(run.c.id),
)
COUNT_OPEN: Final = statement(
    "definition_count_open", select(func.count()).select_from(run).where(run.c.definition_id == param("of", Uuid))
)


class Saved(NamedTuple):
    """A definition after a save: `change` is created, updated, enabled, disabled, or empty when nothing changed.

    `queued` runs are to be announced.
    """

    id: UUID
    name: str
    version: int
    change: str
    queued: Sequence[Placed] = ()


def meaning(draft: DefinitionDraft) -> dict[str, Any]:
    """Return the columns that carry a draft's meaning."""
    watch = {name: _plain(getattr(draft.watch, name)) for name in draft.watch.__slots__}
    columns = {name: getattr(draft, name) for name in _MEANING}
    return columns | {
        "backoff": backoff_document(draft.backoff),
        "parameters": as_stored(dict(draft.parameters), "parameters"),
        "parameter_spec": as_stored(dict(draft.parameter_spec), "parameter_spec") if draft.parameter_spec else None,
        "watch": watch,
    }


def guarded(wanted: Mapping[str, Any], vault: Vault | None, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return meaning with its secret parameters sealed; one that is the same in `kept` stays the same token.  Raises Invalid."""
    secrets = secrets_in(wanted["parameter_spec"])
    parameters = sealed(wanted["parameters"], secrets, vault, path="parameters", kept=kept)
    return {**wanted, "parameters": parameters, "secret": bool(secrets)}


def _plain(value: Any) -> Any:
    return value.total_seconds() if isinstance(value, timedelta) else value


async def get(tx: Tx, name: str, tenant: str = "") -> Row | None:
    """Return a definition's row with the calendars that it uses and the names that it is restricted with, or None."""
    return await tx.fetch_one(GET, tenant=tenant, name=name)


async def brief(tx: Tx, name: str, tenant: str = "") -> Row | None:
    """Return a definition's row alone, or None."""
    return await tx.fetch_one(BRIEF, tenant=tenant, name=name)


async def reserve(tx: Tx, name: str, tenant: str = "") -> Row | None:
    """Keep a name from everybody else who would save it until the transaction ends, and return its locked row, or None."""
    await tx.execute(RESERVE, tenant=tenant, name=name)
    return await lock(tx, name, tenant)


async def lock(tx: Tx, name: str, tenant: str = "") -> Row | None:
    """Lock a definition's row until the transaction ends, and return it; None when there is none."""
    return await tx.fetch_one(LOCK, tenant=tenant, name=name)


async def listed(tx: Tx, tenant: str = "", *, after: str | None = None, source: str | None = None, limit: int = 50) -> Sequence[Row]:
    """Return definitions by name, after the given one."""
    return await tx.fetch(LIST, tenant=tenant, after=after, source=source, limit=limit)


async def create(tx: Tx, draft: DefinitionDraft, source: str, columns: Mapping[str, Any]) -> UUID:
    """Insert a definition that does not exist yet."""
    id_ = make_id(tx.now)
    await tx.execute(CREATE, id=id_, tenant=draft.tenant, name=draft.name, source=source, **_new(columns))
    return id_


async def change(tx: Tx, row: Row, wanted: Mapping[str, Any]) -> int:
    """Write new meaning over a locked definition and return its new version; its open runs ask its gates from now on.

    Runs that ask already go on asking when it has none any more: a pause, a breaker or their schedule may want them to.
    """
    if wanted["gated"] and not row["gated"]:
        await tx.execute(GATE_RUNS, of=row["id"])
    return int(await tx.fetch_value(CHANGE, definition=row["id"], **_new(wanted)))


async def regate(tx: Tx, row: Row) -> int:
    """Raise a locked definition's version because its restrictions have changed, and return it; its runs ask as those demand."""
    gated = is_limited(row["max_concurrent_runs"], row["max_runs_per_hour"]) or bool(row["restrictions"])
    return await change(tx, row, {name: row[name] for name in _MEANING} | {"gated": gated})


async def override(tx: Tx, row: Row, names: Iterable[str]) -> None:
    """Remember fields that an operator set over what code declares: sync leaves them alone from now on."""
    await tx.execute(OVERRIDE, definition=row["id"], names=sorted({*row["overridden"], *names}))


async def touch(tx: Tx, definition_id: UUID) -> int:
    """Raise a definition's version because one of its children changed, and return it."""
    return int(await tx.fetch_value(TOUCH, definition=definition_id))


async def keep_snapshot(tx: Tx, definition_id: UUID, version: int, snapshot: Mapping[str, Any], actor: str) -> None:
    """Write the immutable record of a version."""
    await tx.execute(SNAPSHOT, of=definition_id, number=version, snapshot=dict(snapshot), actor=actor)


async def remove(tx: Tx, name: str, tenant: str = "") -> bool:
    """Delete a definition with its schedules; its finished runs stay."""
    return await tx.fetch_one(REMOVE, tenant=tenant, name=name) is not None


async def open_runs(tx: Tx, definition_id: UUID) -> list[UUID]:
    """Return the open runs of a definition that nobody holds; a parent that waits for its children is none of them, and ends by them."""
    return [row["id"] for row in await tx.fetch(OPEN_RUNS, of=definition_id)]


async def count_open(tx: Tx, definition_id: UUID) -> int:
    """Return how many runs of a definition are open."""
    return int(await tx.fetch_value(COUNT_OPEN, of=definition_id))


def differing(row: Row, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns whose stored value differs from the wanted one, with the wanted value."""
    return {name: value for name, value in wanted.items() if row[name] != value}


def _new(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {f"new_{name}": value for name, value in columns.items()}
