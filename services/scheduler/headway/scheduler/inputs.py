"""What the run of a slot is given: the parameters of its schedule over those of its definition, templates put into words."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import orjson
import structlog

from headway.core.ask import LARGEST_INPUT
from headway.core.parameters import SlotOf, documents_in, facts_of_slot, merged, rendered
from headway.core.schedule.zones import load_zone
from headway.core.template import is_template
from headway.scheduler.cache import Known
from headway.store.tx import Row

log = structlog.get_logger(__name__)
TOO_LARGE: Final = "all: they would be too large to be stored"


def input_of(known: Known, slot_at: datetime, row: Row | Mapping[str, Any], now: datetime) -> str | None:
    """Return the parameters of a slot's run as JSON text, None for none.  A template that goes wrong is kept, and never keeps a slot."""
    values = merged(row["defaults"], row["parameters"])
    if not values:
        return None
    text = orjson.dumps(values)
    if not is_template(values):
        return text.decode()
    slot = SlotOf(known.definition, known.name, known.id, slot_at, load_zone(known.rule.zone))
    put, faults = rendered(values, facts_of_slot(slot, now), documents_in(row["spec"]))
    worded = orjson.dumps(put)
    if len(worded) > max(LARGEST_INPUT, len(text)):
        worded, faults = text, [*faults, TOO_LARGE]
    if faults:
        log.warning("templates were kept as written", definition=known.definition, schedule=known.name, slot_at=slot_at, faults=faults)
    return worded.decode()
