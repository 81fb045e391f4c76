"""The wire: message models, one union, contract writer."""

from headway.messages.bodies import (
    MESSAGES,
    MOST_RUNS,
    AlertRaised,
    CompletedRun,
    DefinitionChanged,
    Message,
    QueuePaused,
    RunCancel,
    RunCompleted,
    RunCreated,
    SessionDrain,
    type_of,
)
from headway.messages.parse import Unparseable, encode, parse

__all__ = [
    "MESSAGES",
    "MOST_RUNS",
    "AlertRaised",
    "CompletedRun",
    "DefinitionChanged",
    "Message",
    "QueuePaused",
    "RunCancel",
    "RunCompleted",
    "RunCreated",
    "SessionDrain",
    "Unparseable",
    "encode",
    "parse",
    "type_of",
]
