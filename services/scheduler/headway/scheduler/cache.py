"""What a scheduler keeps in memory: every schedule that can fire, in a heap by the instant at which this scheduler looks at it."""

from collections.abc import Iterable
from datetime import datetime
from heapq import heapify, heappop, heappush
from uuid import UUID

from headway.store.known import Known


class Schedules:
    """The schedules by id, and the heap of their next looks.  Entries of the heap that no longer hold are passed over.

    A schedule is looked at when its slot has come, and a while later if it was left to another scheduler.
    """

    def __init__(self) -> None:
        self._known: dict[UUID, Known] = {}
        self._look: dict[UUID, datetime] = {}
        self._heap: list[tuple[datetime, UUID]] = []
        self._left: set[UUID] = set()

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._known

    def ids(self) -> set[UUID]:
        """The ids of all schedules."""
        return set(self._known)

    def definitions(self) -> int:
        """How many definitions the schedules belong to."""
        return len({known.definition_id for known in self._known.values()})

    def get(self, id_: UUID) -> Known | None:
        """Return a schedule, or None."""
        return self._known.get(id_)

    def put(self, known: Known) -> None:
        """Add a schedule or replace it; its next slot is computed from where it was decided.  Raises Invalid when it cannot be."""
        slot_at = known.timeline.next(known.decided_until)
        self._known[known.id] = known
        self._left.discard(known.id)
        if slot_at is None:
            self._look.pop(known.id, None)
        elif self._look.get(known.id) != slot_at:
            self._look_at(known.id, slot_at)

    def leave(self, id_: UUID, until: datetime) -> None:
        """Leave the slot that a schedule is due for to another scheduler until an instant: then it is due again."""
        if id_ in self._known:
            self._left.add(id_)
            self._look_at(id_, until)

    def was_left(self, id_: UUID) -> bool:
        """Whether the slot that a schedule is due for has been left to another scheduler."""
        return id_ in self._left

    def remove(self, ids: Iterable[UUID]) -> None:
        """Forget schedules."""
        for id_ in ids:
            self._known.pop(id_, None)
            self._look.pop(id_, None)
            self._left.discard(id_)

    def next_due(self) -> datetime | None:
        """Return the instant of the earliest next look, or None."""
        while self._heap and self._look.get(self._heap[0][1]) != self._heap[0][0]:
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def due(self, now: datetime, limit: int) -> list[Known]:
        """Return at most `limit` schedules that are to be looked at; they stay due until they are put again, or left."""
        found: dict[UUID, tuple[datetime, UUID]] = {}
        while len(found) < limit and (due_at := self.next_due()) is not None and due_at <= now:
            entry = heappop(self._heap)
            found[entry[1]] = entry
        for entry in found.values():
            heappush(self._heap, entry)
        return [self._known[id_] for id_ in found]

    def _look_at(self, id_: UUID, instant: datetime) -> None:
        self._look[id_] = instant
        heappush(self._heap, (instant, id_))
        if len(self._heap) > 2 * len(self._look) + 1000:
            self._heap = [(look_at, id_) for id_, look_at in self._look.items()]
            heapify(self._heap)
