"""Slots that finished runs bring forth: an after-completion rule's first slot, and the one that follows a finish.

The clock alone knows no more of such a rule than its `starts_at`; every later slot is decided by what happened.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from headway.core.schedule.kinds import AfterCompletion

_TICK: Final = timedelta(microseconds=1)
_END: Final = datetime.max.replace(tzinfo=UTC)


def first_slot(rule: AfterCompletion, created_at: datetime) -> datetime | None:
    """Return the slot that a schedule begins with: its start, or the instant right behind its making; None when that is past its end.

    It is later than `created_at` in any case, because everything up to then is decided when a schedule is made.
    """
    at = created_at + _TICK
    return _bounded(rule, max(rule.starts_at, at) if rule.starts_at is not None else at)


def following_finish(rule: AfterCompletion, finished_at: datetime) -> datetime | None:
    """Return the slot that a finish brings forth, `gap` later; None when the rule has no gap, or when that is past its end."""
    if rule.gap is None or rule.gap > _END - finished_at:
        return None
    return _bounded(rule, finished_at + rule.gap)


def _bounded(rule: AfterCompletion, at: datetime) -> datetime | None:
    return None if rule.ends_at is not None and at > rule.ends_at else at
