"""The slots of one schedule: its rule's, and for a rule that follows completions the one slot that is known to come."""

from dataclasses import dataclass
from datetime import datetime

from headway.core.schedule import evaluate
from headway.core.schedule.kinds import AfterCompletion, Rule


@dataclass(frozen=True, slots=True)
class Timeline:
    """Answers for a rule as `evaluate` does; `chained_at` is the next slot of an after-completion rule, None while a run is open."""

    rule: Rule
    chained_at: datetime | None = None

    @property
    def chained(self) -> bool:
        """Whether finished runs bring forth the slots."""
        return isinstance(self.rule, AfterCompletion)

    def next(self, after: datetime) -> datetime | None:
        """Return the first slot after an instant, or None."""
        if self.chained:
            return self.chained_at if self.chained_at is not None and self.chained_at > after else None
        return evaluate.next_slot(self.rule, after)

    def previous(self, before: datetime) -> datetime | None:
        """Return the last slot before an instant, or None."""
        if self.chained:
            return self.chained_at if self.chained_at is not None and self.chained_at < before else None
        return evaluate.previous_slot(self.rule, before)

    def between(self, after: datetime, until: datetime, limit: int) -> list[datetime]:
        """Return the slots in (after, until], oldest first, at most `limit` of them."""
        if self.chained:
            slot = self.next(after)
            return [slot] if slot is not None and slot <= until and limit else []
        return evaluate.between(self.rule, after, until, limit)

    def count(self, after: datetime, until: datetime) -> int:
        """Return how many slots lie in (after, until]."""
        return len(self.between(after, until, 1)) if self.chained else evaluate.count(self.rule, after, until)
