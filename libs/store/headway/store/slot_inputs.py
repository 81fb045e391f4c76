"""What the run of a slot or a trigger is given: parameters of its own over those of its definition, templates put into words."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson

from headway.core.ask import LARGEST_INPUT
from headway.core.parameters import SlotOf, documents_in, facts_of_slot, merged, rendered
from headway.core.schedule.zones import load_zone
from headway.core.template import Facts as TemplateFacts
from headway.core.template import is_template
from headway.store.known import Known
from headway.store.last_facts import Facts
from headway.store.tx import Row

TOO_LARGE: Final = "all: they would be too large to be stored"


class Worded(NamedTuple):
    """Parameters as JSON text, None for none, and what was wrong with the templates that were kept as written."""

    text: str | None
    faults: list[str]


def input_of(known: Known, slot_at: datetime, row: Row | Mapping[str, Any], now: datetime, last: Facts | None = None) -> Worded:
    """Return what the run of a slot is given.  A template that goes wrong is kept, and never keeps a slot."""

    def facts() -> TemplateFacts:
        slot = SlotOf(known.definition, known.name, known.id, slot_at, load_zone(known.timeline.rule.zone))
        return facts_of_slot(slot, now, last)

    return worded(merged(row["defaults"], row["parameters"]), row["spec"], facts)


def worded(values: Mapping[str, Any], spec: Mapping[str, Any] | None, facts: Callable[[], TemplateFacts]) -> Worded:
    """Return parameters with their templates put into words; `facts` are asked for only where there are any."""
    if not values:
        return Worded(None, [])
    text = orjson.dumps(values)
    if not is_template(values):
        return Worded(text.decode(), [])
    put, faults = rendered(values, facts(), documents_in(spec))
    said = orjson.dumps(put)
    if len(said) > max(LARGEST_INPUT, len(text)):
        said, faults = text, [*faults, TOO_LARGE]
    return Worded(said.decode(), faults)
