"""The memory broker's other side: exchanges and queues that the brokers of one process share."""

from collections import defaultdict
from dataclasses import replace
from functools import partial
from itertools import count
from uuid import uuid4
from weakref import WeakValueDictionary

from headway.broker.memory.queue import MemoryQueue, Parcel
from headway.broker.memory.routing import matches
from headway.broker.port import Letter
from headway.broker.topology import Binding, Exchange, Queue


class Node:
    """Routes parcels from exchanges to queues; it lives as long as a broker knows it."""

    def __init__(self) -> None:
        self.queues: dict[str, MemoryQueue] = {}
        self._exchanges: dict[str, Exchange] = {}
        self._bindings: defaultdict[str, list[tuple[Binding, MemoryQueue]]] = defaultdict(list)
        self._sequence = count(1)

    def declare_exchange(self, exchange: Exchange) -> None:
        """Hold this exchange."""
        self._exchanges[exchange.name] = exchange

    def declare_queue(self, queue: Queue) -> MemoryQueue:
        """Hold this queue, bound as it says, and return it."""
        if queue.name not in self.queues:
            self.queues[queue.name] = held = MemoryQueue(queue, partial(self._expired, queue))
            for binding in queue.bindings:
                self._bindings[binding.exchange].append((binding, held))
        return self.queues[queue.name]

    def delete_queue(self, name: str) -> None:
        """Forget a queue, its bindings and what it held."""
        gone = self.queues.pop(name, None)
        for exchange, bound in self._bindings.items():
            self._bindings[exchange] = [(binding, queue) for binding, queue in bound if queue is not gone]

    def post(self, exchange: str, letter: Letter) -> bool:
        """Hand a letter to the queues that the exchange, by its full name, has for it; says whether there was any."""
        parcel = Parcel(-letter.priority, 0, uuid4().hex, letter.body, letter.type, letter.routing_key, dict(letter.headers), letter.at)
        return self._route(exchange, parcel)

    def _route(self, name: str, parcel: Parcel) -> bool:
        exchange = self._exchanges.get(name)
        if exchange is None:
            return False
        bound = [queue for binding, queue in self._bindings[name] if matches(exchange.kind, binding.key, parcel.routing_key)]
        for queue in dict.fromkeys(bound):
            queue.push(self._ranked(queue, parcel))
        alternate = exchange.arguments.get("alternate-exchange")
        return bool(bound) or (alternate is not None and self._route(str(alternate), parcel))

    def _ranked(self, queue: MemoryQueue, parcel: Parcel) -> Parcel:
        highest = int(queue.declared.arguments.get("x-max-priority", 0))
        return replace(parcel, rank=max(parcel.rank, -highest), sequence=next(self._sequence))

    def _expired(self, queue: Queue, parcel: Parcel) -> None:
        self._route(str(queue.arguments["x-dead-letter-exchange"]), parcel)


_NODES: WeakValueDictionary[str, Node] = WeakValueDictionary()


def node_named(name: str) -> Node:
    """Return the node of this name, in this process; a nameless one is nobody else's."""
    return _NODES.setdefault(name, Node()) if name else Node()
