"""The AsyncAPI 3 description of everything that travels over the broker, derived from the models and the channels."""

from collections.abc import Iterator
from typing import Any, Final

from headway.messages.bodies import MESSAGES, Message, type_of
from headway.messages.channels import CHANNELS, PREFIX, Channel

Json = dict[str, Any]

HEADERS: Final[Json] = {
    "type": "object",
    "properties": {
        "traceparent": {"type": "string", "description": "W3C trace context"},
        "tracestate": {"type": "string", "description": "W3C trace context"},
        "headway-requeues": {"type": "integer", "minimum": 0, "description": "How often the message was requeued with a count"},
    },
}


def document() -> Json:
    """Return the whole document as plain JSON values."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Headway",
            "version": "1",
            "description": "Every message is a hint about something that is already true in PostgreSQL.",
        },
        "defaultContentType": "application/json",
        "channels": dict(_channels()),
        "operations": dict(_operations()),
        "components": {"messages": {type_of(kind): _message(kind) for kind in MESSAGES}},
    }


def _channels() -> Iterator[tuple[str, Json]]:
    for name, channel in CHANNELS.items():
        yield name, _exchange(name, channel)
        for queue in channel.queues:
            yield f"{name}/{queue}", _queue(queue, channel)


def _exchange(name: str, channel: Channel) -> Json:
    exchange = {"name": PREFIX + name, "type": channel.kind, "durable": True, "autoDelete": False}
    return _channel(channel, address=channel.key or PREFIX + name) | {
        "bindings": {"amqp": {"is": "routingKey", "exchange": exchange, "bindingVersion": "0.3.0"}}
    }


def _queue(queue: str, channel: Channel) -> Json:
    bound = {"name": PREFIX + queue, "durable": True, "exclusive": False, "autoDelete": False}
    return _channel(channel, address=PREFIX + queue) | {"bindings": {"amqp": {"is": "queue", "queue": bound, "bindingVersion": "0.3.0"}}}


def _channel(channel: Channel, *, address: str) -> Json:
    parameters = [part.split("}")[0] for part in address.split("{")[1:]]
    described: Json = {
        "address": address,
        "description": channel.summary,
        "messages": {type_of(kind): {"$ref": f"#/components/messages/{type_of(kind)}"} for kind in channel.carries},
    }
    return described | ({"parameters": {name: {} for name in parameters}} if parameters else {})


def _operations() -> Iterator[tuple[str, Json]]:
    for name, channel in CHANNELS.items():
        for kind in channel.carries:
            reference = name.replace("/", "~1")
            yield (
                f"send.{type_of(kind)}",
                {
                    "action": "send",
                    "channel": {"$ref": f"#/channels/{reference}"},
                    "messages": [{"$ref": f"#/channels/{reference}/messages/{type_of(kind)}"}],
                },
            )


def _message(kind: type[Message]) -> Json:
    return {
        "name": type_of(kind),
        "contentType": "application/json",
        "summary": (kind.__doc__ or "").split("\n")[0],
        "headers": HEADERS,
        "payload": {"schemaFormat": "application/schema+json;version=draft-2020-12", "schema": kind.model_json_schema()},
    }
