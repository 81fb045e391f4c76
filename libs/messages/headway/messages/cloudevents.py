"""CloudEvents 1.0, AMQP protocol binding, binary mode: the headers that public events carry beside Headway's own."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from headway.messages.bodies import AlertRaised, DefinitionChanged, Message, RunCompleted

PREFIX: Final = "cloudEvents:"
SOURCE: Final = "/headway"


def headers(message: Message, *, event: str, at: datetime | None, source: str = SOURCE) -> Mapping[str, str]:
    """Return the headers of a public event, or none for a message that only Headway's own processes understand.

    `event` is its id: who gets the same source and id twice got a repetition.
    """
    if not message.public:
        return {}
    attributes = {
        "specversion": "1.0",
        "id": event,
        "source": source,
        "type": f"headway.{message.type}",
    }
    if at is not None:
        attributes["time"] = at.isoformat()
    if subject := _subject(message):
        attributes["subject"] = subject
    return {PREFIX + name: value for name, value in attributes.items()}


def _subject(message: Message) -> str:
    match message:
        case RunCompleted(runs=(only,)):
            return str(only.id)
        case DefinitionChanged():
            return message.definition
        case AlertRaised():
            return message.subject
        case _:
            return ""
