"""Everything that stands in the broker, as values: exchanges, queues, their arguments and their bindings.

Callers name exchanges and queues without the prefix; this module alone adds and removes it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from headway.messages.channels import (
    CHANNELS,
    DEAD,
    DEAD_QUEUE,
    DELAYED_RETRY,
    DELAYED_RETURN,
    ENGINE_COMPLETIONS,
    PREFIX,
    RUN_COMPLETE,
    RUN_CREATED,
    SCHEDULER_COMPLETIONS,
    Kind,
    run_queue,
)

Arguments = Mapping[str, str | int]

LEVELS: Final[Mapping[int, timedelta]] = {seconds: timedelta(seconds=seconds) for seconds in (2, 4, 6, 8, 10)}
"""The levels of delayed-retry and how long each holds a message."""

HIGHEST_PRIORITY: Final = 9
LISTENER_PREFETCH: Final = 100
"""How many broadcasts a listener holds unsettled."""
RUN_QUEUE: Final[Arguments] = {"x-max-length": 10_000, "x-overflow": "drop-head", "x-max-priority": HIGHEST_PRIORITY}
QUORUM: Final[Arguments] = {"x-queue-type": "quorum", "x-delivery-limit": 1_000_000}
"""RabbitMQ 4 drops a message after 20 returns unless a limit is named; nothing here counts by the broker's delivery count."""
MOST_DEAD: Final = 100_000
MOST_DELAYED: Final = 100_000
SCHEDULER, ENGINE, BOTH, NONE = "scheduler", "workflow-engine", "both", "none"
"""The routing keys of completions: for whom the reactions are."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One durable exchange, by its full name."""

    name: str
    kind: Kind
    arguments: Arguments = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Binding:
    """What an exchange hands to a queue."""

    exchange: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """One queue, by its full name.  It is durable, or exclusive to one connection and gone with it."""

    name: str
    arguments: Arguments
    bindings: tuple[Binding, ...] = ()
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Topology:
    """The names of one deployment.  Two deployments with different prefixes share a broker and never a message."""

    prefix: str = PREFIX
    levels: Mapping[int, timedelta] = field(default_factory=lambda: LEVELS)

    def full(self, name: str) -> str:
        """Return the name under which the broker knows an exchange or a queue."""
        return self.prefix + name

    def short(self, name: str) -> str:
        """Return the name without the prefix; a foreign name stays as it is."""
        return name.removeprefix(self.prefix)

    def exchanges(self) -> Iterator[Exchange]:
        """Every exchange, in the order in which they can be declared."""
        for name, channel in CHANNELS.items():
            alternate = {"alternate-exchange": self.full(DEAD)} if name == DELAYED_RETURN else {}
            yield Exchange(self.full(name), channel.kind, alternate)

    def queues(self, run_queues: Iterable[str] = ()) -> Iterator[Queue]:
        """Every durable queue, with those of the named queues of runs."""
        for level in self.levels:
            yield self.level_queue(level)
        for name in (DEAD_QUEUE, SCHEDULER_COMPLETIONS, ENGINE_COMPLETIONS, *map(run_queue, run_queues)):
            yield self.queue(name)

    def queue(self, name: str) -> Queue:
        """Return the durable queue of this name: the dead queue, a queue of completions, or a queue of runs."""
        if name == DEAD_QUEUE:
            return Queue(self.full(name), {**QUORUM, "x-max-length": MOST_DEAD}, (Binding(self.full(DEAD)),))
        if name == SCHEDULER_COMPLETIONS:
            return self._destination(name, QUORUM, RUN_COMPLETE, SCHEDULER, BOTH)
        if name == ENGINE_COMPLETIONS:
            return self._destination(name, QUORUM, RUN_COMPLETE, ENGINE, BOTH)
        return self._destination(name, RUN_QUEUE, RUN_CREATED, name.removeprefix(run_queue("")))

    def exclusive(self, name: str, exchange: str, key: str) -> Queue:
        """Return a queue of one connection for what `exchange` hands out; `name` has to be fresh."""
        bindings = (Binding(self.full(exchange), key), self._way_back(name))
        return Queue(self.full(name), {}, bindings, exclusive=True)

    def level_queue(self, level: int) -> Queue:
        """Return the queue that holds messages for one level's delay and then hands them back."""
        arguments: Arguments = {
            **QUORUM,
            "x-message-ttl": round(self.levels[level].total_seconds() * 1000),
            "x-dead-letter-exchange": self.full(DELAYED_RETURN),
            "x-dead-letter-strategy": "at-least-once",
            "x-overflow": "reject-publish",
            "x-max-length": MOST_DELAYED,
        }
        return Queue(self.full(f"{DELAYED_RETRY}.{level}"), arguments, (Binding(self.full(DELAYED_RETRY), f"{level}.#"),))

    def retry_key(self, level: int, queue: str) -> str:
        """Return the routing key that brings a message back to `queue` after a level's delay."""
        return f"{level}.{self.full(queue)}"

    def _destination(self, name: str, arguments: Arguments, exchange: str, *keys: str) -> Queue:
        bindings = tuple(Binding(self.full(exchange), key) for key in keys)
        return Queue(self.full(name), arguments, (*bindings, self._way_back(name)))

    def _way_back(self, name: str) -> Binding:
        return Binding(self.full(DELAYED_RETURN), f"*.{self.full(name)}")


def level_for(tries: int) -> int:
    """Return the level that a message waits in after so many tries: 2 s times the tries, at most the highest level."""
    return min(2 * max(tries, 1), max(LEVELS))
