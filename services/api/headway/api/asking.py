"""From requests for runs to asks that the store takes: nothing is written before all of them are known to be right."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import orjson
from pydantic import Field, ValidationInfo, field_validator

from headway.api.inputs import Asked, Correlation, Delay, Instant, Key, Text, storable
from headway.api.params import problems_of
from headway.api.platform import Caller
from headway.core.ask import LARGEST_INPUT, QUIET, Ask
from headway.core.errors import Conflict, Invalid, Problem
from headway.core.parameters import merged
from headway.core.reading import demand
from headway.core.secret import Vault, lookalikes, refusals, sealed
from headway.core.secret_names import secrets_in
from headway.runtime.tracing import current_traceparent
from headway.store import definitions
from headway.store.tx import Database, Row


class RunItem(Asked):
    """One run that is wanted.  `params` are checked against the definition; a `payload` is text that nobody reads but the handler."""

    definition: Annotated[Text, Field(min_length=1, max_length=128)]
    params: dict[str, Any] | None = None
    payload: str | None = Field(None, max_length=LARGEST_INPUT)
    priority: Annotated[int, Field(ge=0, le=9)] | None = None
    at: Instant | None = None
    delay: Delay | None = None
    key: Key | None = None
    correlation: Correlation | None = None
    force: Annotated[bool, Field(description="Start although a restriction forbids it; that is kept.")] = False
    no_triggers: Annotated[bool, Field(description="Its end fires no triggers.")] = False

    @field_validator("payload")
    @classmethod
    def _instead_of_params(cls, payload: str | None, info: ValidationInfo) -> str | None:
        if payload is None:
            return None
        if info.data.get("params") is not None:
            raise ValueError("cannot be given together with params")
        if len(payload.encode(errors="replace")) > LARGEST_INPUT:
            raise ValueError(f"must be at most {LARGEST_INPUT} bytes")
        return storable(payload)

    @field_validator("delay")
    @classmethod
    def _instead_of_at(cls, delay: Any, info: ValidationInfo) -> Any:
        if delay is not None and info.data.get("at") is not None:
            raise ValueError("cannot be given together with at")
        return delay


class RunRequest(RunItem):
    """A run that is wanted; with `dry_run` everything is checked and nothing is kept."""

    dry_run: bool = False


class BulkRequest(Asked):
    """Runs that are wanted, all of them or none."""

    runs: Annotated[list[RunItem], Field(min_length=1, max_length=10_000)]
    dry_run: bool = False


class Prepared(NamedTuple):
    """What the store is asked for, and the row of the definition behind it."""

    ask: Ask
    definition: Row


async def prepare(database: Database, wanted: Sequence[RunItem], caller: Caller, *, paths: Sequence[str]) -> list[Prepared]:
    """Turn requests into asks; `paths` says what stands before each one's fields in problems.

    Raises Invalid with every problem of all of them, and Conflict when a definition is disabled.
    """
    async with database.once() as tx:
        known = {name: await definitions.brief(tx, name, caller.tenant) for name in {one.definition for one in wanted}}
    vault = database.vault
    demand([problem for one, path in zip(wanted, paths, strict=True) for problem in _problems(one, known[one.definition], path, vault)])
    return [_prepared(one, caller, known, vault) for one in wanted]


def with_headers(wanted: RunRequest, key: str | None, correlation: str | None) -> RunRequest:
    """Return a request with what its headers say.  Raises Invalid when the body says otherwise."""
    if key is not None and wanted.key not in (None, key):
        raise Invalid.field("Idempotency-Key", "differs from the key in the body")
    return wanted.model_copy(update={"key": key or wanted.key, "correlation": wanted.correlation or correlation})


def _problems(wanted: RunItem, definition: Row | None, path: str, vault: Vault | None) -> list[Problem]:
    if definition is None:
        return [Problem(f"{path}definition", f"there is no definition {wanted.definition!r}")]
    if wanted.payload is not None:
        return []
    given, spec, path = wanted.params or {}, definition["parameter_spec"], f"{path}params"
    unfit = lookalikes(given, path) + refusals(given, secrets_in(spec), vault, path=path)
    return unfit + problems_of(merged(definition["parameters"], given), spec, path)


def _prepared(wanted: RunItem, caller: Caller, known: Mapping[str, Row | None], vault: Vault | None) -> Prepared:
    definition = known[wanted.definition]
    assert definition is not None, "one that is not known is a problem"
    if not definition["enabled"]:
        raise Conflict(f"definition: {wanted.definition!r} is disabled", code="definition_disabled")
    params = None if wanted.payload is not None else merged(definition["parameters"], wanted.params)
    kept = sealed(params or {}, secrets_in(definition["parameter_spec"]), vault, path="params")
    ask = Ask(
        wanted.definition,
        tenant=caller.tenant,
        params=orjson.dumps(kept).decode() if kept else None,
        payload=None if wanted.payload is None else wanted.payload.encode(),
        at=wanted.at,
        delay=wanted.delay,
        priority=wanted.priority,
        key=wanted.key,
        correlation=wanted.correlation,
        forced=wanted.force,
        created_by=caller.actor,
        traceparent=current_traceparent(),
        sealed=definition["version"],
        owes=QUIET if wanted.no_triggers else 0,
    )
    return Prepared(ask, definition)
