"""Watch a broker from inside a service: a round trip now and then, its state in health, its counts in the metrics.

The broker is known by its shape alone: adapters do not know one another.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Final, Protocol

from prometheus_client import Counter as PrometheusCounter

from headway.runtime.health import Scope
from headway.runtime.life import Life
from headway.runtime.metrics import BROKER_BURIED, BROKER_DELIVERED, BROKER_PUBLISHED, BROKER_RECONNECTS, BROKER_REQUEUED

PERIOD: Final = timedelta(seconds=10)


class Counts(Protocol):
    """What a broker counted since it was made."""

    published: Counter[tuple[str, str]]
    delivered: Counter[str]
    requeued: Counter[str]
    buried: Counter[str]
    reconnects: int
    reconsumed: int


class Watched(Protocol):
    """What is asked of a broker."""

    @property
    def counts(self) -> Counts: ...
    @property
    def connected(self) -> bool: ...
    @property
    def round_trip(self) -> Callable[[], Awaitable[None]]: ...


class BrokerWatch:
    """Exports what has been counted since the last look, and asks the broker for an answer."""

    def __init__(self, broker: Watched) -> None:
        self.broker = broker
        self._exported: Counter[tuple[Any, ...]] = Counter()

    async def step(self) -> int:
        """Have the broker confirm its topology, which repairs what is missing.  Raises Unavailable."""
        self.export()
        await self.broker.round_trip()
        return 1

    def export(self) -> None:
        """Add to the metrics what was counted since the last time."""
        for metric, labels, count in self._counted():
            key = (id(metric), *labels)
            if grown := count - self._exported[key]:
                (metric.labels(*labels) if labels else metric).inc(grown)
                self._exported[key] = count

    def check(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether both connections stand.  Work goes on without, by fill."""
        return self.broker.connected, {"connected": self.broker.connected, "reconnects": self.broker.counts.reconnects}

    def _counted(self) -> Iterator[tuple[PrometheusCounter, tuple[str, ...], int]]:
        counts = self.broker.counts
        yield from ((BROKER_PUBLISHED, labels, count) for labels, count in counts.published.items())
        yield from ((BROKER_DELIVERED, (queue,), count) for queue, count in counts.delivered.items())
        yield from ((BROKER_REQUEUED, (queue,), count) for queue, count in counts.requeued.items())
        yield from ((BROKER_BURIED, (queue,), count) for queue, count in counts.buried.items())
        yield BROKER_RECONNECTS, (), counts.reconnects + counts.reconsumed


def watch_broker(life: Life, broker: Watched) -> None:
    """Watch a broker for as long as a life lasts; its state is reported, and does not make the process unready."""
    watch = BrokerWatch(broker)
    life.health.add(f"{life.name}.broker", watch.check, Scope.REPORT)
    life.start_loop("broker", watch.step, PERIOD)
