"""What triggers fired: counted, and logged where it went wrong."""

import structlog

from headway.runtime.metrics import TRIGGER_FIRED
from headway.store.triggering import Fired

log = structlog.get_logger(__name__)


def tell(fired: Fired) -> None:
    """Count what the end of a run fired, and say which triggers fired in vain."""
    TRIGGER_FIRED.labels(fired.definition, "accepted").inc(len(fired.runs))
    TRIGGER_FIRED.labels(fired.definition, "refused").inc(len(fired.refused))
    for name, why in fired.refused.items():
        log.warning("trigger fired in vain", definition=fired.definition, trigger=name, by_run=str(fired.run), reason=why)
    for name, faults in fired.faults.items():
        log.warning("templates were kept as written", definition=fired.definition, trigger=name, by_run=str(fired.run), faults=faults)
