"""The parameters of a run: layers that are merged, and templates in them that are put into words."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from headway.core.ids import token_for
from headway.core.template import MOST_FACTS, Facts, Rendered, flat, is_template, render

NEW: Final = "-"
# As JSON Schema says of text that it holds a document: braces in it are its own.
_DOCUMENTS: Final = frozenset({"application/json", "application/xml", "text/xml"})


@dataclass(frozen=True, slots=True)
class Disabled:
    """A value that somebody switched off: it is as if it were not there."""

    value: Any = None


class SlotOf(NamedTuple):
    """A slot as templates know it: whose it is, and its instant in the schedule's zone."""

    definition: str
    schedule: str
    id: UUID
    at: datetime
    zone: ZoneInfo


def merged(*layers: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return layers as one: definition, schedule, trigger, call; the last one to name a parameter wins.

    Names are compared without case and spelt as the first layer does that has them.
    """
    spelling: dict[str, str] = {}
    values: dict[str, Any] = {}
    for layer in layers:
        for name, value in (layer or {}).items():
            if not isinstance(value, Disabled):
                values[spelling.setdefault(name.casefold(), name)] = value
    return values


def facts_of_slot(slot: SlotOf, now: datetime, last: Mapping[str, Mapping[str, Any]] | None = None) -> Facts:
    """Return what templates of a slot's run may name.

    `last` adds what is known of other runs under `LastRun`, `LastSuccess`, `LastFailure` or `TriggeredBy`, at most `MOST_FACTS` in all.
    `{-}` is a uuid that is new for each slot, and the same however often the slot is decided.
    """
    told = (fact for name, known in (last or {}).items() for fact in flat(name, known))
    return dict(islice(told, MOST_FACTS)) | {
        "definition.name": slot.definition,
        "schedule.name": slot.schedule,
        "schedule.id": slot.id,
        "slot.at": slot.at.astimezone(UTC),
        "slot.local": slot.at.astimezone(slot.zone),
        "datetime.utcnow": now.astimezone(UTC),
        NEW: token_for("template", slot.id, slot.at.astimezone(UTC).isoformat()),
    }


def documents_in(spec: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the names, casefolded, of parameters that a specification says hold XML or JSON: their text is not a template."""
    properties = spec.get("properties") if spec else None
    if not isinstance(properties, Mapping):
        return frozenset()
    return frozenset(name.casefold() for name, one in properties.items() if _is_document(one))


def rendered(parameters: Mapping[str, Any], facts: Facts, untouched: Set[str] = frozenset()) -> Rendered:
    """Put facts into the texts of parameters but those in `untouched`; `{-}` differs from parameter to parameter."""
    values: dict[str, Any] = {}
    faults: list[str] = []
    for name, value in parameters.items():
        if name.casefold() in untouched or not is_template(value):
            values[name] = value
            continue
        values[name], wrong = render(value, _own(facts, name))
        faults += _named(name, wrong)
    return Rendered(values, faults)


def _own(facts: Facts, name: str) -> Facts:
    return facts if NEW not in facts else {**facts, NEW: token_for(facts[NEW], name.casefold())}


def _named(name: str, faults: Iterable[str]) -> list[str]:
    return [f"{name}: {fault}" for fault in faults]


def _is_document(property_: Any) -> bool:
    return isinstance(property_, Mapping) and property_.get("contentMediaType") in _DOCUMENTS
