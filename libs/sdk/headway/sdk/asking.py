"""From what a caller says to an ask."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, TypedDict, Unpack

import orjson

from headway.core.ask import Ask
from headway.core.errors import Invalid
from headway.core.reading import demand
from headway.core.secret import SEAL, lookalikes
from headway.runtime.tracing import current_traceparent
from headway.sdk.ambient import ambient_correlation
from headway.sdk.revealing import revealed
from headway.sdk.storable import json_text


class AskOptions(TypedDict, total=False):
    """How a run is asked for, beside its parameters."""

    delay: timedelta
    at: datetime
    key: str
    priority: int
    unique_while: Literal["open"]
    correlation: str | None
    tenant: str
    created_by: str


class Askable(Protocol):
    """A job: it turns parameters into an ask and refuses what its handler would refuse."""

    @property
    def name(self) -> str: ...

    def ask(self, params: Any = None, **options: Unpack[AskOptions]) -> Ask:
        """Return the ask for one run.  Raises Invalid with every parameter that is wrong."""


def ask_of(definition: str, params: str | None, payload: bytes | None, options: AskOptions) -> Ask:
    """Return the ask that the options describe, in the trace and under the correlation id of whatever is executing here."""
    given: dict[str, Any] = dict(options)
    if unique_while := given.pop("unique_while", None):
        if unique_while != "open":
            raise Invalid.field("unique_while", "must be open")
        given["unique_while_open"] = True
    if params is not None and SEAL in params:
        values = orjson.loads(params)
        demand(lookalikes(values, "parameters") if isinstance(values, dict) else [])
    given["correlation"] = given.get("correlation") or ambient_correlation()
    return Ask(definition, params=params, payload=payload, traceparent=current_traceparent(), **given)


def ask_by_name(
    definition: str, params: Mapping[str, Any] | None = None, payload: bytes | str | None = None, **options: Unpack[AskOptions]
) -> Ask:
    """Return the ask for a run of a definition that may live elsewhere: its parameters are stored as they are."""
    text = None if params is None else json_text(revealed(params), "parameters")
    return ask_of(definition, text, payload.encode() if isinstance(payload, str) else payload, options)
