"""What Headway asks of a broker, and nothing more.

Two adapters stand behind these protocols, `memory` and `rabbit`; one suite (`tests/broker/conformance.py`) holds both to them.
Every message is a hint: an adapter may lose, repeat, delay or reorder it, and says what it knows about the outcome.

Exchanges and queues go by the names in `headway.messages.channels`, without the prefix: the adapter alone adds it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, Protocol

from headway.broker.counts import BrokerCounts
from headway.broker.topology import Topology

REQUEUES: Final = "headway-requeues"
"""The header that counts how often a message was sent back."""


class Receipt(Enum):
    """What became of a publish: `UNKNOWN` may or may not have been delivered (timeout, lost connection)."""

    CONFIRMED = "confirmed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Letter:
    """One message on its way out.  `at` is the instant of the fact that it tells of; the adapter gives it its `message_id`."""

    exchange: str
    routing_key: str
    body: bytes
    type: str
    priority: int = 0
    mandatory: bool = False
    headers: Mapping[str, str | int] = field(default_factory=dict)
    at: datetime | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Delivery:
    """One message as it came in; it ends by exactly one verb of the consumer that gave it."""

    body: bytes
    type: str
    routing_key: str
    headers: Mapping[str, str | int]
    tag: int
    at: datetime | None = None

    @property
    def tries(self) -> int:
        """How often this message was requeued with a count; malformed counts as 0."""
        value = self.headers.get(REQUEUES, 0)
        return value if isinstance(value, int) and value >= 0 else 0


class Consumer(Protocol):
    """One subscription to one queue.  It survives reconnects, server cancels and a deleted queue by declaring and consuming again."""

    queue: str
    """What is consumed: the queue, or the exchange that is listened to."""

    @property
    def address(self) -> str:
        """The name of the queue at this moment; an exclusive one has another name on each connection."""

    @property
    def alive(self) -> bool:
        """Whether the broker has confirmed a consumer tag and it still stands."""

    async def receive(self, limit: int = 1_000_000) -> Sequence[Delivery]:
        """Wait for at least one delivery and return all that have arrived, at most `limit`.  Cancelling it loses none.

        While paused it waits; nothing is returned only once the consumer is closed."""

    async def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Settle these deliveries.  A tag of a closed channel is ignored: the claim decided.

        When they are all that is outstanding up to the highest tag, it is one frame (`multiple`)."""

    async def reject(self, deliveries: Sequence[Delivery]) -> None:
        """Drop these deliveries without requeue."""

    async def pause(self) -> None:
        """Cancel the subscription and give back every unsettled delivery, received or not, with requeue."""

    async def resume(self) -> None:
        """Consume again after `pause`; no effect while consuming."""

    async def close(self) -> None:
        """End the subscription for good, giving back what is unsettled."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One message of the dead queue: the original bytes, with the queue it came from, why it died, and how often it was tried."""

    id: str
    body: bytes
    type: str
    origin: str
    reason: str
    tries: int


class Broker(Protocol):
    """A connection to a broker: publish never raises for a broker that is away, everything else raises `Unavailable`."""

    volatile: bool
    counts: BrokerCounts
    topology: Topology

    @property
    def connected(self) -> bool:
        """Whether both connections stand at this moment."""

    async def open(self) -> None:
        """Start connecting, in the background and for ever, with jitter.  Returns at once, whether or not a broker answers."""

    async def close(self) -> None:
        """Close consumers, then connections, within a bounded time."""

    async def ready(self, within: timedelta) -> None:
        """Wait until connected and the topology is declared.  Raises Unavailable when that takes longer.

        Raises Invalid when the broker holds a queue or exchange of another kind (declaration mismatch)."""

    async def declare_run_queues(self, queues: Sequence[str]) -> None:
        """Declare and bind the queue of each name, now if connected and after every reconnect.  Idempotent."""

    async def publish(self, letter: Letter) -> Receipt:
        """Publish with confirm, bounded by the adapter's timeout (5 s).  Unroutable mandatory letters are `REFUSED`.

        While the broker is away it is `REFUSED` at once: nobody waits for a hint."""

    async def consume(self, queue: str, *, prefetch: int) -> Consumer:
        """Consume one of the durable queues of the topology, or a run queue.  `prefetch` counts messages.

        The subscription stands when this returns if the broker is connected, otherwise as soon as it is: see `alive`."""

    async def listen(self, exchange: str, routing_key: str = "#") -> Consumer:
        """Consume an exclusive queue of this process bound to a fanout or topic exchange, as `consume` does."""

    async def round_trip(self) -> None:
        """Have the broker confirm the whole topology, whose missing parts are made again.  Raises Unavailable, or Invalid as `ready`."""

    async def dead(self, limit: int = 50) -> Sequence[DeadLetter]:
        """Look at the dead queue without taking anything from it."""

    async def requeue_dead(self, ids: Sequence[str] | None = None) -> int:
        """Send dead messages back to the queues they came from, count reset; None means all.  Returns how many."""

    async def purge_dead(self) -> int:
        """Empty the dead queue and say how many messages it held."""

    async def depth(self, queue: str) -> int | None:
        """Messages ready in a queue, or None when it does not exist."""
