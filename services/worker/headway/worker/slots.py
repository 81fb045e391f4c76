"""How many attempts a worker may hold at once, and who gets the free slots.

A slot is taken by a claim and given back when the settle has committed, not when the handler returns: otherwise handlers run ahead
of what is durable.
"""

import math
from collections.abc import Mapping


class Slots:
    """`total` slots for all queues together; a queue with a cap never holds more than that."""

    def __init__(self, total: int, caps: Mapping[str, int] | None = None) -> None:
        self.total = total
        self.caps = dict(caps or {})
        self.held: dict[str, int] = {}
        self.in_use = 0
        self._hungry: set[str] = set()

    def take(self, queue: str, most: int) -> int:
        """Take at most `most` slots for a queue and say how many.

        While other queues wait for slots each gets its share, so that a flooded queue cannot starve another.
        """
        free = self.total - self.in_use
        self._hungry.add(queue)
        share = math.ceil(free / len(self._hungry))
        granted = max(0, min(most, share, self.caps.get(queue, self.total) - self.held.get(queue, 0)))
        if granted:
            self._hungry.discard(queue)
            self.in_use += granted
            self.held[queue] = self.held.get(queue, 0) + granted
        return granted

    def give(self, queue: str, count: int) -> None:
        """Give slots of a queue back."""
        self.in_use -= count
        self.held[queue] = self.held.get(queue, 0) - count

    def occupy(self, queue: str, change: int) -> None:
        """Add slots of a queue to those in use, beyond what claims took, or take such away again."""
        self.in_use += change
        self.held[queue] = self.held.get(queue, 0) + change

    def content(self, queue: str) -> None:
        """Note that a queue has nothing to do: its share goes to the others."""
        self._hungry.discard(queue)
