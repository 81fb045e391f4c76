"""The ways of a message that could not be handled, as values: back with a count, to the dead queue, and out of it again."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from headway.broker.port import REQUEUES, DeadLetter, Delivery, Letter
from headway.broker.topology import Topology, level_for
from headway.messages.channels import DEAD, DELAYED_RETRY, DELAYED_RETURN

REASON: Final = "headway-reason"
ORIGIN: Final = "headway-origin"
LONGEST_REASON: Final = 500
AT_ONCE: Final = 0
UNRETURNABLE: Final = "the queue it should have returned to is gone"

Headers = Mapping[str, str | int]


def requeued(delivery: Delivery, *, queue: str, topology: Topology) -> Letter:
    """Return the letter that brings a message back to its queue after 2 s times its tries, counted."""
    tries = delivery.tries + 1
    return Letter(
        DELAYED_RETRY,
        topology.retry_key(level_for(tries), queue),
        delivery.body,
        delivery.type,
        mandatory=True,
        headers=_carried(delivery) | {REQUEUES: tries},
        at=delivery.at,
    )


def burial(delivery: Delivery, *, queue: str, reason: str) -> Letter:
    """Return the letter that keeps a message in the dead queue: original bytes, reason, origin, tries."""
    headers = _carried(delivery) | {REASON: reason[:LONGEST_REASON], ORIGIN: queue, REQUEUES: delivery.tries}
    return Letter(DEAD, "", delivery.body, delivery.type, mandatory=True, headers=headers, at=delivery.at)


def dead_letter(delivery: Delivery, *, message: str, topology: Topology) -> DeadLetter:
    """Return what an operator sees of the dead message with this id."""
    reason = delivery.headers.get(REASON, UNRETURNABLE)
    return DeadLetter(message, delivery.body, delivery.type, origin_of(delivery, topology), str(reason), delivery.tries)


def origin_of(delivery: Delivery, topology: Topology) -> str:
    """Return the queue that a dead message came from; one that could not be returned has it in its routing key alone."""
    origin = delivery.headers.get(ORIGIN)
    return str(origin) if origin is not None else topology.short(delivery.routing_key.partition(".")[2])


def revival(delivery: Delivery, *, topology: Topology) -> Letter:
    """Return the letter that brings a dead message back to its queue at once, count reset."""
    kept = {name: value for name, value in _carried(delivery).items() if name not in (REASON, ORIGIN, REQUEUES)}
    key = topology.retry_key(AT_ONCE, origin_of(delivery, topology))
    return Letter(DELAYED_RETURN, key, delivery.body, delivery.type, mandatory=True, headers=kept, at=delivery.at)


def _carried(delivery: Delivery) -> dict[str, str | int]:
    """Return the headers that go along; those that the broker set on the message's last way stay behind."""
    return {name: value for name, value in delivery.headers.items() if not name.startswith("x-")}


def plain(headers: Mapping[str, object] | None) -> Headers:
    """Return the headers that are strings or whole numbers: the broker's own tables are of no use to anybody here."""
    return {name: value for name, value in headers.items() if isinstance(value, str | int)} if headers else {}


def whole(at: object) -> datetime | None:
    """Return a message's timestamp where it is one."""
    return at if isinstance(at, datetime) else None
