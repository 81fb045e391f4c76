"""Slots that the clock brings: those of a rule held against those that were decided, in work that grows with the latter."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from headway.core.proof.ledger import Checked, Finding, Kind, Single
from headway.core.schedule.evaluate import count, next_slot, previous_slot, walk
from headway.core.schedule.kinds import Rule

_TICK: Final = timedelta(microseconds=1)


def check(rule: Rule, after: datetime, until: datetime, decided: Sequence[Single]) -> Checked:
    """Say what is wrong with the single decisions in (after, until], which come in order and once each, where no range lies."""
    return Checked(list(_findings(rule, after, until, decided)), count(rule, after, until))


def _findings(rule: Rule, after: datetime, until: datetime, decided: Sequence[Single]) -> Iterator[Finding]:
    slots = walk(rule, after, until)
    for one in decided:
        slot = next(slots, None)
        if slot is None or slot != one.slot_at:
            before = one.slot_at - _TICK
            yield from _missing(rule, after, before)
            slots = walk(rule, before, until)
            if next(slots, None) != one.slot_at:
                yield Finding(Kind.UNEXPECTED, one.slot_at, "is decided, and is no slot of the version in force", one.tzdata)
                slots = walk(rule, one.slot_at, until)
        after = one.slot_at
    yield from _missing(rule, after, until)


def _missing(rule: Rule, after: datetime, until: datetime) -> Iterator[Finding]:
    number = count(rule, after, until) if after < until else 0
    first = next_slot(rule, after) if number else None
    if first is None:
        return
    last = previous_slot(rule, until + _TICK) if number > 1 else None
    yield Finding(
        Kind.MISSING,
        first,
        "has no decision" if last is None else f"and the slots up to {last.isoformat()}, {number} of them, have no decision",
    )
