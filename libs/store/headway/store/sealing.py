"""Secret parameters of what is asked for: sealed by the specification that stands when the run is made."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import Text, select

from headway.core.ask import Ask
from headway.core.errors import Invalid
from headway.core.secret import Vault, marked, sealed
from headway.core.secret_names import NONE, Secrets, secrets_in
from headway.store.schema import definition
from headway.store.statement import given, statement
from headway.store.tx import Tx

_named = given("named", owner=Text, wanted=Text)
SPECS: Final = statement(
    "definition_secrets",
    select(definition.c.tenant, definition.c.name, definition.c.version, definition.c.parameter_spec)
    .select_from(_named.join(definition, (definition.c.tenant == _named.c.owner) & (definition.c.name == _named.c.wanted)))
    .where(definition.c.secret),
)


class Sealing(NamedTuple):
    """Which parameters of a definition are secret, by which version of it."""

    version: int = 0
    secrets: Secrets = NONE


Sealings = Mapping[tuple[str, str], Sealing]


async def sealings_of(tx: Tx, asks: Iterable[Ask]) -> dict[tuple[str, str], Sealing]:
    """Return, by owner and name, what is secret of the definitions that have secret parameters."""
    wanted = sorted({(ask.owner, ask.definition) for ask in asks})
    if not wanted:
        return {}
    rows = await tx.fetch(SPECS, owner=[owner for owner, _ in wanted], wanted=[name for _, name in wanted])
    return {(row["tenant"], row["name"]): Sealing(row["version"], secrets_in(row["parameter_spec"])) for row in rows}


async def sealed_asks(tx: Tx, asks: Mapping[UUID, Ask]) -> dict[UUID, Ask | Invalid]:
    """Return the asks for definitions that have secret parameters, sealed, or what keeps one from being; others are left out."""
    known = await sealings_of(tx, asks.values())
    secret = {id_: (ask, known[ask.owner, ask.definition]) for id_, ask in asks.items() if (ask.owner, ask.definition) in known}
    return {id_: _sealed_or_refused(ask, sealing, tx.vault) for id_, (ask, sealing) in secret.items()}


def _sealed_or_refused(ask: Ask, sealing: Sealing, vault: Vault | None) -> Ask | Invalid:
    try:
        return _sealed(ask, sealing, vault)
    except Invalid as error:
        return error


def _sealed(ask: Ask, sealing: Sealing, vault: Vault | None) -> Ask:
    values = values_of(ask.params)
    if not values:
        return ask._replace(sealed=sealing.version)
    kept = sealed(values, sealing.secrets, vault, path="parameters")
    return ask._replace(params=ask.params if kept == values else orjson.dumps(kept).decode(), sealed=sealing.version)


def canonical(params: str | None, secrets: Secrets, vault: Vault | None) -> list[bytes]:
    """Return parameters in the one way of writing them, with marks for secrets: once for each key, the newest first."""
    if params is None:
        return [b""]
    values = orjson.loads(params)
    forms = marked(values, secrets, vault) if vault is not None and isinstance(values, dict) else [values]
    return [orjson.dumps(form, option=orjson.OPT_SORT_KEYS) for form in forms]


def values_of(params: str | None) -> dict[str, Any]:
    """Return parameters as a mapping; what is none has no secrets."""
    values = None if params is None else orjson.loads(params)
    return values if isinstance(values, dict) else {}
