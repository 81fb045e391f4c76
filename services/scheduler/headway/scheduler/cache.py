"""What a scheduler keeps in memory: every schedule that can fire, in a heap by the instant at which it is due."""

from collections.abc import Iterable
from datetime import datetime
from heapq import heapify, heappop, heappush
from uuid import UUID

from headway.store.known import Known


class Schedules:
    """The schedules by id, and the heap of their next slots.  Entries of the heap that no longer hold are passed over."""

    def __init__(self) -> None:
        self._known: dict[UUID, Known] = {}
        self._next: dict[UUID, datetime] = {}
        self._heap: list[tuple[datetime, UUID]] = []

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._known

    def ids(self) -> set[UUID]:
        """The ids of all schedules."""
        return set(self._known)

    def definitions(self) -> int:
        """How many definitions the schedules belong to."""
        return len({(known.definition_tenant, known.definition) for known in self._known.values()})

    def get(self, id_: UUID) -> Known | None:
        """Return a schedule, or None."""
        return self._known.get(id_)

    def put(self, known: Known) -> None:
        """Add a schedule or replace it; its next slot is computed from where it was decided.  Raises Invalid when it cannot be."""
        slot_at = known.timeline.next(known.decided_until)
        self._known[known.id] = known
        if slot_at is None:
            self._next.pop(known.id, None)
        elif self._next.get(known.id) != slot_at:
            self._next[known.id] = slot_at
            heappush(self._heap, (slot_at, known.id))
            self._tidy()

    def remove(self, ids: Iterable[UUID]) -> None:
        """Forget schedules."""
        for id_ in ids:
            self._known.pop(id_, None)
            self._next.pop(id_, None)

    def next_due(self) -> datetime | None:
        """Return the instant of the earliest next slot, or None."""
        while self._heap and self._next.get(self._heap[0][1]) != self._heap[0][0]:
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def due(self, now: datetime, limit: int) -> list[Known]:
        """Return at most `limit` schedules whose next slot has come; they stay due until they are put again."""
        found: list[tuple[datetime, UUID]] = []
        while len(found) < limit and (due_at := self.next_due()) is not None and due_at <= now:
            found.append(heappop(self._heap))
        for entry in found:
            heappush(self._heap, entry)
        return [self._known[id_] for _, id_ in found]

    def _tidy(self) -> None:
        if len(self._heap) > 2 * len(self._next) + 1000:
            self._heap = [(slot_at, id_) for id_, slot_at in self._next.items()]
            heapify(self._heap)
