"""What an adapter counted since it was made; whoever exports metrics reads it."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class BrokerCounts:
    """Plain counters that only rise.  Queues and exchanges go by their names without the prefix."""

    published: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By exchange and receipt."""
    delivered: Counter[str] = field(default_factory=Counter)
    """By queue, when they were received by whoever consumes."""
    requeued: Counter[str] = field(default_factory=Counter)
    """Messages that were sent back with a count, by queue."""
    buried: Counter[str] = field(default_factory=Counter)
    """Messages that were sent to the dead queue, by the queue they came from."""
    reconnects: int = 0
    """Connections that were lost and made again."""
    consumer_cancelled: int = 0
    """Consumers that the broker cancelled, such as for a queue that was deleted."""
    reconsumed: int = 0
    """Subscriptions that were declared and made again after a loss of any kind."""
    stale_settles: int = 0
    """Acknowledgements and rejections of deliveries that the broker had taken back before."""
