"""Choose the adapter by the URL."""

from collections.abc import Mapping
from datetime import timedelta
from urllib.parse import urlsplit

from headway.broker.memory.broker import MemoryBroker
from headway.broker.memory.node import node_named
from headway.broker.port import Broker
from headway.broker.rabbit.broker import RabbitBroker
from headway.broker.topology import LEVELS, Topology
from headway.core.errors import Invalid
from headway.messages.channels import PREFIX


def connect(url: str, *, prefix: str = PREFIX, levels: Mapping[int, timedelta] = LEVELS) -> Broker:
    """Return a broker that is not yet open: `amqp://` and `amqps://` are RabbitMQ, `memory://name` is one node of this process.

    Brokers of one process that name the same memory node talk to one another.  `levels` says how long each level of delayed-retry
    holds a message.  Raises Invalid for any other URL, without repeating it: it may hold a password.
    """
    topology = Topology(prefix, levels)
    match urlsplit(url).scheme:
        case "amqp" | "amqps":
            return RabbitBroker(url, topology)
        case "memory":
            return MemoryBroker(node_named(urlsplit(url).netloc), topology)
        case other:
            raise Invalid.field("broker_url", f"the scheme must be amqp, amqps or memory, not {other!r}")
