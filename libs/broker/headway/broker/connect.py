"""Choose the adapter by the URL."""

from collections.abc import Mapping
from datetime import timedelta
from urllib.parse import SplitResult, urlsplit

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
    address = _read(url)
    topology = Topology(prefix, levels)
    match address.scheme:
        case "amqp" | "amqps" if address.hostname:
            return RabbitBroker(url, topology)
        case "amqp" | "amqps":
            raise Invalid.field("broker_url", "it names no host")
        case "memory":
            return MemoryBroker(node_named(address.netloc), topology)
        case other:
            raise Invalid.field("broker_url", f"the scheme must be amqp, amqps or memory, not {other!r}")


def _read(url: str) -> SplitResult:
    try:
        address = urlsplit(url)
        _ = address.port  # it is read only when it is asked for
    except ValueError as error:
        raise Invalid.field("broker_url", "host or port cannot be read") from error
    return address
